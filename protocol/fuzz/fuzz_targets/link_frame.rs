//! Whatever a peer of the link sends is understood or refused, in pieces as in one.

#![no_main]

#[path = "../checks/link_frame.rs"]
mod link_frame;

libfuzzer_sys::fuzz_target!(|input: &[u8]| link_frame::check(input));
