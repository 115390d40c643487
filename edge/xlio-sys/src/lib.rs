//! NVIDIA's XLIO Ultra API (libxlio 3.40 to 3.70), declared by hand: no behaviour except loading.
//!
//! * [`types`] has the structures, constants and callback types;
//! * [`table`] has the three layouts that the library's function table has had, and how to tell
//!   them apart;
//! * [`functions`] has the types of the functions and the set of them that a program calls;
//! * [`load`] opens a library and finds that set.
//!
//! The layouts are the same on x86-64 and aarch64 (64-bit, natural alignment, little-endian) and
//! are checked when this crate is compiled. What the functions require of their caller is in the
//! project's `docs/xlio.md`; the wrapper `goblin-xlio` keeps to it.

pub mod functions;
pub mod load;
pub mod table;
pub mod types;

pub use functions::Functions;
pub use load::{Library, LoadError, Origin};
pub use types::*;

#[cfg(not(all(target_pointer_width = "64", target_endian = "little")))]
compile_error!("libxlio exists for 64-bit little-endian machines only");
