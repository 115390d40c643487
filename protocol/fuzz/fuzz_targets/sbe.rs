//! Whatever a client sends as SBE is understood or refused, in pieces as in one.

#![no_main]

#[path = "../checks/sbe.rs"]
mod sbe;

libfuzzer_sys::fuzz_target!(|input: &[u8]| sbe::check(input));
