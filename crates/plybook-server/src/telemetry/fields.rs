//! What a span knows, as JSON for log lines.
//!
//! The formatter that comes with logs reads and writes the whole object again for every field that is recorded later,
//! which a move does five times. Here what is new is put behind what is there; of a name that stands twice, whoever reads
//! the object takes the last.
//!
//! Invariant: what is written is one JSON object.

use std::fmt;

use tracing::span::Record;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::{JsonFields, Writer};
use tracing_subscriber::fmt::{FormatFields, FormattedFields};

/// In the place of [`JsonFields`].
#[derive(Debug, Default)]
pub(super) struct Fields(JsonFields);

impl<'writer> FormatFields<'writer> for Fields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        self.0.format_fields(writer, fields)
    }

    fn add_fields(&self, current: &'writer mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        let mut more = String::new();
        self.0.format_fields(Writer::new(&mut more), fields)?;
        let known = &mut current.fields;
        match (known.strip_suffix('}'), more.strip_prefix('{')) {
            (None, _) => *known = more,
            (_, None | Some("}")) => {}
            (Some("{"), _) => *known = more,
            (Some(_), Some(new)) => {
                known.pop();
                known.push(',');
                known.push_str(new);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing::field::Empty;
    use tracing_subscriber::fmt::MakeWriter;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::Fields;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Lines {
        type Writer = Lines;

        fn make_writer(&self) -> Lines {
            self.clone()
        }
    }

    #[test]
    fn what_is_recorded_later_stands_beside_what_was_there() {
        let lines = Lines::default();
        let layer = tracing_subscriber::fmt::layer().with_writer(lines.clone()).json().fmt_fields(Fields::default());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let span = tracing::info_span!("call", path = "a \"b\" }", id = Empty, seq = Empty);
            for id in ["{", "last"] {
                span.record("id", id);
            }
            let bare = tracing::info_span!(parent: &span, "bare", other = Empty);
            bare.record("other", 4);
            let _entered = (span.enter(), bare.enter());
            span.record("seq", 7);
            tracing::warn!("said");
        });
        let line = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        // The formatter of lines reads the object before it writes it again.
        for told in [r#""path":"a \"b\" }""#, r#""id":"last""#, r#""seq":7"#, r#""other":4"#, r#""message":"said""#] {
            assert!(line.contains(told), "{told} {line}");
        }
        assert!(!line.contains(r#""id":"{""#) && !line.contains("error"), "{line}");
    }
}
