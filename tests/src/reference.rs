//! A page of the contract, made from its descriptor set: the services, what goes in and what comes out, with the contract's own comments.
//!
//! Invariant: every call, message, field and value of the package is on it, once, under a heading of its own or in a table.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use plybook_proto::DESCRIPTOR_SET;
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, ServiceDescriptorProto,
};

const PACKAGE: &str = "plybook.v1";

/// Numbers of the descriptors' own fields, of which the paths to comments are made.
const MESSAGES: i32 = 4;
const ENUMS: i32 = 5;
const SERVICES: i32 = 6;
const PARTS: i32 = 2;

/// The page.
pub fn page() -> String {
    let set = FileDescriptorSet::decode(DESCRIPTOR_SET).unwrap();
    let mut files: Vec<Pages> = set.file.iter().filter(|file| file.package() == PACKAGE).map(Pages::of).collect();
    files.sort_by(|a, b| a.file.name().cmp(b.file.name()));
    let mut page = String::from(
        "# The contract of `plybook.v1`\n\n\
         Made from the comments in `proto/plybook/v1`, and held equal to them by a test; `PLYBOOK_WRITE=1 ./tests/run house::reference` writes it anew.\n\
         What each reason of a refusal means, and what to do about it, stands under [Errors](../README.md#errors); books are described in\n\
         `proto/book-format.md`.\n",
    );
    files.iter().for_each(|file| file.services(&mut page));
    page.push_str("\n## Messages\n");
    let mut shapes: BTreeMap<&str, String> = BTreeMap::new();
    files.iter().for_each(|file| file.shapes(&mut shapes));
    shapes.into_values().for_each(|shape| page.push_str(&shape));
    page
}

/// A file with the comments at its paths.
struct Pages<'a> {
    file: &'a FileDescriptorProto,
    comments: HashMap<&'a [i32], &'a str>,
}

impl<'a> Pages<'a> {
    fn of(file: &'a FileDescriptorProto) -> Pages<'a> {
        let places = file.source_code_info.iter().flat_map(|info| &info.location);
        let comments = places.filter_map(|place| Some((place.path.as_slice(), place.leading_comments.as_deref()?))).collect();
        Pages { file, comments }
    }

    /// The comment at a path as one line, or as it stands.
    fn line(&self, path: &[i32]) -> String {
        let text = self.comments.get(path).copied().unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        with_links(&text)
    }

    fn paragraphs(&self, path: &[i32]) -> String {
        let text = self.comments.get(path).copied().unwrap_or_default();
        with_links(text.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim())
    }

    fn services(&self, page: &mut String) {
        for (n, service) in (0..).zip(&self.file.service) {
            write!(page, "\n## {}\n\n{}\n", service.name(), self.paragraphs(&[SERVICES, n])).unwrap();
            self.calls(page, n, service);
        }
    }

    fn calls(&self, page: &mut String, n: i32, service: &ServiceDescriptorProto) {
        page.push_str("\n| call | request | answer | |\n| --- | --- | --- | --- |\n");
        for (m, call) in (0..).zip(&service.method) {
            let streamed = |streams: bool| if streams { "stream of " } else { "" };
            let (request, answer) = (named(call.input_type()), named(call.output_type()));
            let (asks, tells) = (streamed(call.client_streaming()), streamed(call.server_streaming()));
            let about = self.line(&[SERVICES, n, PARTS, m]);
            writeln!(page, "| `{}` | {asks}{request} | {tells}{answer} | {about} |", call.name()).unwrap();
        }
    }

    fn shapes(&self, shapes: &mut BTreeMap<&'a str, String>) {
        for (n, message) in (0..).zip(&self.file.message_type) {
            assert!(message.nested_type.iter().all(|nested| nested.options.as_ref().is_some_and(|options| options.map_entry())));
            shapes.insert(message.name(), self.message(&[MESSAGES, n], message));
        }
        for (n, words) in (0..).zip(&self.file.enum_type) {
            shapes.insert(words.name(), self.words(&[ENUMS, n], words));
        }
    }

    fn message(&self, at: &[i32], message: &DescriptorProto) -> String {
        let mut page = format!("\n### {}\n\n{}\n", message.name(), self.paragraphs(at));
        if !message.field.is_empty() {
            page.push_str("\n| no. | field | type | |\n| --- | --- | --- | --- |\n");
        }
        for (n, field) in (0..).zip(&message.field) {
            let about = self.line(&[at, &[PARTS, n]].concat());
            writeln!(page, "| {} | `{}` | {} | {about} |", field.number(), field.name(), kind(message, field)).unwrap();
        }
        page
    }

    fn words(&self, at: &[i32], words: &EnumDescriptorProto) -> String {
        let mut page = format!("\n### {}\n\n{}\n\n| no. | value | |\n| --- | --- | --- |\n", words.name(), self.paragraphs(at));
        for (n, value) in (0..).zip(&words.value) {
            let about = self.line(&[at, &[PARTS, n]].concat());
            let name = match value.name().strip_prefix("ERROR_REASON_") {
                Some(reason) if value.number() != 0 => format!("[`{reason}`](../README.md#{})", reason.to_lowercase()),
                _ => format!("`{}`", value.name()),
            };
            writeln!(page, "| {} | {name} | {about} |", value.number()).unwrap();
        }
        page
    }
}

/// Addresses in comments, as a page wants them; angle brackets are no tags.
fn with_links(text: &str) -> String {
    text.replace('<', "&lt;")
}

/// What a field holds, and whether it may be absent.
fn kind(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let map = message.nested_type.iter().find(|nested| field.type_name().ends_with(&format!(".{}.{}", message.name(), nested.name())));
    if let Some([key, value]) = map.map(|map| map.field.as_slice()) {
        return format!("map of {} to {}", scalar(key), scalar(value));
    }
    let of = match field.oneof_index.filter(|_| !field.proto3_optional()) {
        Some(choice) => format!(", one of `{}`", message.oneof_decl[choice as usize].name()),
        None => String::new(),
    };
    match (field.label(), field.proto3_optional()) {
        (Label::Repeated, _) => format!("repeated {}", scalar(field)),
        (_, true) => format!("optional {}", scalar(field)),
        _ => format!("{}{of}", scalar(field)),
    }
}

fn scalar(field: &FieldDescriptorProto) -> String {
    match field.r#type() {
        Type::Message | Type::Enum => named(field.type_name()),
        other => other.as_str_name().trim_start_matches("TYPE_").to_lowercase(),
    }
}

/// A type's name, linked where it is on this page.
fn named(full: &str) -> String {
    let full = full.trim_start_matches('.');
    match full.strip_prefix(PACKAGE).and_then(|rest| rest.strip_prefix('.')) {
        Some(name) => format!("[{name}](#{})", name.to_lowercase()),
        None => format!("`{full}`"),
    }
}
