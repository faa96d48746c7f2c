//! Compiles the contract without protoc: protox parses, prost and tonic generate.

use std::path::PathBuf;

use prost_types::FileDescriptorSet;
use prost_types::field_descriptor_proto::Label;

const FILES: [&str; 17] = [
    "advice",
    "audit_service",
    "board",
    "bot",
    "clock",
    "compare",
    "error_reason",
    "event",
    "feed",
    "game_service",
    "joining",
    "life",
    "offer",
    "presence",
    "receipt",
    "ruleset",
    "terms",
];

const LARGE: [&str; 4] = [".plybook.v1.Event", ".plybook.v1.Game", ".plybook.v1.Position", ".plybook.v1.Receipt"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    let files: Vec<PathBuf> = FILES.iter().map(|name| root.join(format!("plybook/v1/{name}.proto"))).collect();
    println!("cargo::rerun-if-changed={}", root.display());

    let descriptors =
        protox::Compiler::new([&root])?.include_imports(true).include_source_info(true).open_files(&files)?.file_descriptor_set();
    let out = PathBuf::from(std::env::var("OUT_DIR")?).join("plybook.binpb");
    std::fs::write(&out, prost::Message::encode_to_vec(&descriptors))?;

    let mut generated = tonic_prost_build::configure().codec_path("crate::codec::SmallCodec");
    // Six to nine pieces of 32 bytes: as slices of one buffer they cost no allocation each, at either end.
    generated = generated.bytes(".plybook.v1.Inclusion.path");
    for part in large_in_answers(&descriptors) {
        generated = generated.boxed(part);
    }
    generated.compile_fds(descriptors)?;
    Ok(())
}

/// Where answers hold large messages. An answer passes through a dozen hands before it is encoded, and each copies it whole.
/// Members of a oneof go by another path, and stay as they are.
fn large_in_answers(descriptors: &FileDescriptorSet) -> Vec<String> {
    let messages = descriptors.file.iter().filter(|file| file.package() == "plybook.v1").flat_map(|file| &file.message_type);
    let answers = messages.filter(|message| message.name().ends_with("Response"));
    answers
        .flat_map(|answer| answer.field.iter().map(move |field| (answer, field)))
        .filter(|(_, field)| field.label() != Label::Repeated && LARGE.contains(&field.type_name()))
        .map(|(answer, field)| format!(".plybook.v1.{}.{}", answer.name(), field.name()))
        .collect()
}
