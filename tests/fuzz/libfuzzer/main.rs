//! Gives the target that `PLYBOOK_FUZZ_TARGET` names whatever libFuzzer thinks of.

#![no_main]

use std::sync::OnceLock;

use plybook_fuzz::{TARGETS, Target};

fn target() -> Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    *TARGET.get_or_init(|| {
        let name = std::env::var("PLYBOOK_FUZZ_TARGET").unwrap_or_default();
        let found = TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target);
        found.unwrap_or_else(|| panic!("PLYBOOK_FUZZ_TARGET is one of {:?}", TARGETS.iter().map(|(name, _)| *name).collect::<Vec<_>>()))
    })
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| target()(data));
