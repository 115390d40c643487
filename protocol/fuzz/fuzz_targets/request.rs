//! Requests cut anywhere are the requests that an obvious reader finds.

#![no_main]

#[path = "../checks/request.rs"]
mod request;

libfuzzer_sys::fuzz_target!(|input: &[u8]| request::check(input));
