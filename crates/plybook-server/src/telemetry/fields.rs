//! What a span knows, as JSON for log lines.
//!
//! Every call has a span and few calls have a log line, so this is written for every call and read for few: the formatter
//! that comes with logs makes a tree of each span, and reads and writes it again for every field that is recorded later.
//! Here what is new is put behind what is there; of a name that stands twice, whoever reads the object takes the last.
//!
//! Invariant: what is written is one JSON object.

use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FormatFields, FormattedFields};

/// About what a call's span takes.
const SPAN_BYTES: usize = 192;

/// In the place of [`JsonFields`](tracing_subscriber::fmt::format::JsonFields).
#[derive(Debug, Default)]
pub(super) struct Fields;

impl<'writer> FormatFields<'writer> for Fields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut object = Object(String::with_capacity(SPAN_BYTES));
        fields.record(&mut object);
        write!(writer, "{{{}}}", object.0)
    }

    fn add_fields(&self, current: &'writer mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        let mut object = Object(std::mem::take(&mut current.fields));
        if object.0.pop().is_none() {
            object.0.push('{');
        }
        fields.record(&mut object);
        object.0.push('}');
        current.fields = object.0;
        Ok(())
    }
}

/// The inside of a JSON object, or its beginning.
struct Object(String);

impl Object {
    /// Names are those of our own code: nothing in them needs escaping.
    fn name(&mut self, field: &Field) {
        if !matches!(self.0.as_bytes().last(), None | Some(b'{')) {
            self.0.push(',');
        }
        let name = field.name();
        self.0.extend(["\"", name.strip_prefix("r#").unwrap_or(name), "\":"]);
    }

    fn bare(&mut self, field: &Field, value: impl fmt::Display) {
        self.name(field);
        // A string takes whatever is written.
        let _ = write!(self.0, "{value}");
    }

    fn quoted(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        self.name(field);
        self.0.push('"');
        let _ = Quoted(&mut self.0).write_fmt(value);
        self.0.push('"');
    }
}

impl Visit for Object {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.bare(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.bare(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.bare(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.quoted(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.quoted(field, format_args!("{value:?}"));
    }
}

/// The inside of a JSON string.
struct Quoted<'a>(&'a mut String);

impl fmt::Write for Quoted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            self.0.push_str(&rest[..at]);
            match rest.as_bytes()[at] {
                byte @ (b'"' | b'\\') => self.0.extend(['\\', char::from(byte)]),
                byte => write!(self.0, "\\u{byte:04x}")?,
            }
            rest = &rest[at + 1..];
        }
        self.0.push_str(rest);
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
        let layer = tracing_subscriber::fmt::layer().with_writer(lines.clone()).json().fmt_fields(Fields);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let span = tracing::info_span!("call", path = "a \"b\" \\ \n\u{1}é }", n = 1, yes = true, odd = 0.5, said = ?"x", id = Empty, seq = Empty);
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
        for told in [
            r#""path":"a \"b\" \\ \n\u0001é }""#,
            r#""n":1"#,
            r#""yes":true"#,
            r#""odd":"0.5""#,
            r#""said":"\"x\"""#,
            r#""id":"last""#,
            r#""seq":7"#,
            r#""other":4"#,
            r#""message":"said""#,
        ] {
            assert!(line.contains(told), "{told} {line}");
        }
        assert!(!line.contains(r#""id":"{""#) && !line.contains("error"), "{line}");
    }
}
