//! The cores driven by hand, for what is counted and not timed: allocations and instructions.
//!
//! Nothing here opens a socket or reads a clock. Bytes that one core has written are handed to the
//! core at the other end; everything is the same in every run.

pub mod cores;
