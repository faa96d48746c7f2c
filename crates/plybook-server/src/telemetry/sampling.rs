//! Which traces are kept.
//!
//! Invariant: the names and meanings are those of OpenTelemetry's own setting, `OTEL_TRACES_SAMPLER`.

use opentelemetry_sdk::trace::Sampler as SdkSampler;

/// Who decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampler {
    /// Every trace is kept.
    AlwaysOn,
    /// None is.
    AlwaysOff,
    /// A part of them, whatever the caller has decided.
    Ratio,
    /// As the caller has decided; else every one.
    #[default]
    ParentOrOn,
    /// As the caller has decided; else none.
    ParentOrOff,
    /// As the caller has decided; else a part of them.
    ParentOrRatio,
}

/// Which traces are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Who decides.
    pub sampler: Sampler,
    /// The part that is kept, from 0 to 1, where a part is.
    pub ratio: f64,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling { sampler: Sampler::default(), ratio: 1.0 }
    }
}

impl Sampling {
    pub(super) fn sampler(self) -> SdkSampler {
        let after_the_caller = |root| SdkSampler::ParentBased(Box::new(root));
        match self.sampler {
            Sampler::AlwaysOn => SdkSampler::AlwaysOn,
            Sampler::AlwaysOff => SdkSampler::AlwaysOff,
            Sampler::Ratio => SdkSampler::TraceIdRatioBased(self.ratio),
            Sampler::ParentOrOn => after_the_caller(SdkSampler::AlwaysOn),
            Sampler::ParentOrOff => after_the_caller(SdkSampler::AlwaysOff),
            Sampler::ParentOrRatio => after_the_caller(SdkSampler::TraceIdRatioBased(self.ratio)),
        }
    }
}
