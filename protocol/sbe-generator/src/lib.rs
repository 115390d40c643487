//! Rust codecs from an SBE schema, for a build script.
//!
//! ```text
//! schema.xml ── Schema::parse ── codec: structs that implement `Message`, one enum per side
//!                             └─ samples: for tests, random messages of every template
//! ```
//!
//! What is generated is data and calls; how bytes are read and written is `goblin_protocol::sbe`, by
//! hand. Supported is the part of SBE that our schemas use; anything else is refused by name:
//!
//! * little-endian; primitives, enums and booleans in `uint8`; `Bytes` as variable data;
//! * groups of fields and data, not nested; a group of one data and nothing else has no struct;
//! * `sinceVersion` above 0: a field must be optional (its null value stands for its absence), a group
//!   or data of an older peer is empty.
//!
//! Messages whose `semanticType` is neither `request` nor `response` are left to others.

mod codec;
mod names;
mod samples;
mod schema;

pub use codec::codec;
pub use samples::samples;
pub use schema::{Schema, SchemaError};
