//! Compiles the contract without protoc: protox parses, prost and tonic generate.

use std::path::PathBuf;

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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    let files: Vec<PathBuf> = FILES.iter().map(|name| root.join(format!("plybook/v1/{name}.proto"))).collect();
    println!("cargo::rerun-if-changed={}", root.display());

    let descriptors =
        protox::Compiler::new([&root])?.include_imports(true).include_source_info(true).open_files(&files)?.file_descriptor_set();
    let out = PathBuf::from(std::env::var("OUT_DIR")?).join("plybook.binpb");
    std::fs::write(&out, prost::Message::encode_to_vec(&descriptors))?;

    // Events and games are large beside heartbeats and snapshots; boxing would only move the cost.
    tonic_prost_build::configure().codec_path("crate::codec::SmallCodec").compile_fds(descriptors)?;
    Ok(())
}
