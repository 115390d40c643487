//! The matcher and the pattern index find what the obvious matcher finds.

#![no_main]

#[path = "../checks/glob.rs"]
mod glob;

libfuzzer_sys::fuzz_target!(|input: &[u8]| glob::check_fuzzed(input));
