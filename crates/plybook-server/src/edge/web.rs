//! gRPC-Web: what browsers can speak.
//!
//! Invariant: where it is off, nothing but HTTP/2 is spoken; where it is on, a page of another origin reads answers only if
//! that origin is listed.

use std::time::Duration;

use http::{HeaderName, HeaderValue, Method, header};
use tonic_web::GrpcWebLayer;
use tower::layer::util::{Identity, Stack};
use tower::util::Either;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::config::ConfigError;

/// What of an answer's head a page may read.
const SHOWN: [HeaderName; 3] =
    [HeaderName::from_static("grpc-status"), HeaderName::from_static("grpc-message"), HeaderName::from_static("grpc-status-details-bin")];
/// What a page may send.
const SENT: [HeaderName; 6] = [
    header::CONTENT_TYPE,
    header::AUTHORIZATION,
    HeaderName::from_static("x-grpc-web"),
    HeaderName::from_static("x-user-agent"),
    HeaderName::from_static("grpc-timeout"),
    HeaderName::from_static("traceparent"),
];
/// How long a browser may remember what it was allowed.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// gRPC-Web, and the pages that may read answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    origins: Vec<HeaderValue>,
}

/// Puts gRPC-Web around a service, or nothing.
pub(crate) type WebLayer = Either<Stack<GrpcWebLayer, CorsLayer>, Identity>;

impl Web {
    /// For pages of these origins, such as `https://play.example`; `*` is every origin, and none is the node's own, behind
    /// a proxy that serves the pages as well.
    pub fn for_pages(origins: &[String]) -> Result<Web, ConfigError> {
        let read = |origin: &String| {
            let is_one = origin == "*" || is_origin(origin);
            let refused = || ConfigError(format!("{origin:?} is no origin: it has the form https://play.example, without a path, or is *"));
            is_one.then(|| HeaderValue::from_str(origin).ok()).flatten().ok_or_else(refused)
        };
        Ok(Web { origins: origins.iter().map(read).collect::<Result<_, _>>()? })
    }

    fn cors(&self) -> CorsLayer {
        let any = HeaderValue::from_static("*");
        let pages = if self.origins.contains(&any) { AllowOrigin::any() } else { AllowOrigin::list(self.origins.clone()) };
        CorsLayer::new().allow_origin(pages).allow_methods([Method::POST]).allow_headers(SENT).expose_headers(SHOWN).max_age(REMEMBERED)
    }
}

fn is_origin(text: &str) -> bool {
    let Ok(uri) = text.parse::<http::Uri>() else { return false };
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    is_web && uri.authority().is_some() && !text.ends_with('/') && uri.path() == "/" && uri.query().is_none()
}

/// Around everything else: a browser's call is made one of the contract before anybody looks at it.
pub(crate) fn layer(web: Option<&Web>) -> WebLayer {
    match web {
        // The outer one comes last.
        Some(web) => Either::Left(Stack::new(GrpcWebLayer::new(), web.cors())),
        None => Either::Right(Identity::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_a_scheme_and_a_host_and_nothing_else() {
        for (text, is_one) in [
            ("https://play.example", true),
            ("http://localhost:8080", true),
            ("*", true),
            ("play.example", false),
            ("https://play.example/", false),
            ("https://play.example/game", false),
            ("ftp://play.example", false),
            ("https://", false),
            ("", false),
        ] {
            assert_eq!(Web::for_pages(&[text.to_owned()]).is_ok(), is_one, "{text}");
        }
    }
}
