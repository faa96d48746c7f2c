//! The caller's deadline, from `grpc-timeout`.
//!
//! Invariant: a call that runs out of time is answered with DEADLINE_EXCEEDED by this service, a
//! moment before the transport would cut it off without a reason.

use std::time::Duration;

use http::HeaderMap;
use tokio::time::Instant;

/// When a call's time is over.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// What the caller asked for, if anything: it ends streams too.
    pub asked: Option<Instant>,
    /// When the answer must have begun.
    pub answer_by: Instant,
}

impl Deadline {
    /// The deadline of a call that begins now.
    pub fn of(headers: &HeaderMap, call_timeout: Duration) -> Deadline {
        let now = Instant::now();
        let asked = headers.get("grpc-timeout").and_then(|value| value.to_str().ok()).and_then(read);
        // The transport enforces the same time without our reason; being a little earlier wins.
        let early = |asked: Duration| asked - (asked / 10).min(Duration::from_millis(5));
        let asked = asked.map(|asked| now + early(asked));
        let answer_by = asked.map_or(now + call_timeout, |asked| asked.min(now + call_timeout));
        Deadline { asked, answer_by }
    }
}

/// Reads `grpc-timeout` as gRPC over HTTP/2 defines it: up to eight digits and a unit.
fn read(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(n * 3600)),
        "M" => Some(Duration::from_secs(n * 60)),
        "S" => Some(Duration::from_secs(n)),
        "m" => Some(Duration::from_millis(n)),
        "u" => Some(Duration::from_micros(n)),
        "n" => Some(Duration::from_nanos(n)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::read;

    #[test]
    fn timeouts_are_read_as_grpc_defines_them() {
        for (text, want) in [
            ("1H", Some(Duration::from_secs(3600))),
            ("2M", Some(Duration::from_secs(120))),
            ("3S", Some(Duration::from_secs(3))),
            ("250m", Some(Duration::from_millis(250))),
            ("99999999u", Some(Duration::from_micros(99_999_999))),
            ("5n", Some(Duration::from_nanos(5))),
            ("", None),
            ("S", None),
            ("123456789S", None),
            ("-1S", None),
            ("1s", None),
            ("1é", None),
        ] {
            assert_eq!(read(text), want, "{text:?}");
        }
    }
}
