//! Every fixed limit and the default of every settable one, with its reason.
//!
//! A limit that Redis has takes Redis's value, so that whoever is used to Redis meets no surprise.

/// Longest inline command, and longest line that announces a count or a length, in bytes (Redis's
/// `PROTO_INLINE_MAX_SIZE`).
pub const INLINE_BYTES_MAX: usize = 64 * 1024;
/// Most arguments of one command.
pub const ARGUMENTS_MAX: usize = 1_048_576;
/// Longest argument unless `proto-max-bulk-len` says otherwise, in bytes.
pub const BULK_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Most bytes of one client that may wait to be executed, unless `client-query-buffer-limit` says
/// otherwise.
pub const QUERY_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// Most arguments of one command before the client has authenticated.
pub const UNAUTHENTICATED_ARGUMENTS_MAX: usize = 10;
/// Longest argument before the client has authenticated, in bytes.
pub const UNAUTHENTICATED_BULK_BYTES_MAX: usize = 16 * 1024;

/// Payloads of at least this many bytes are shared between the outboxes of their receivers;
/// shorter ones are copied into each, which is cheaper than counting references.
pub const SHARED_PAYLOAD_BYTES_MIN: usize = 16 * 1024;
/// An emptied buffer larger than this gives its memory back.
pub const IDLE_BUFFER_BYTES_MAX: usize = 64 * 1024;

const _: () = assert!(INLINE_BYTES_MAX <= QUERY_BYTES_MAX);
const _: () = assert!(UNAUTHENTICATED_ARGUMENTS_MAX <= ARGUMENTS_MAX);
const _: () = assert!(UNAUTHENTICATED_BULK_BYTES_MAX <= BULK_BYTES_MAX);
const _: () = assert!(SHARED_PAYLOAD_BYTES_MIN <= IDLE_BUFFER_BYTES_MAX);
