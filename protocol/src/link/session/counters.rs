//! What a session counts.

/// Counted since the session's value was made; a restart does not reset them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Numbered frames that came when they were due.
    pub in_order: u64,
    /// Numbered frames that came early and were kept. A byte stream has none.
    pub kept_aside: u64,
    /// Numbered frames that had come before, and were dropped.
    pub duplicate: u64,
    /// Times that a bound was exceeded: of what waits to be sent, or of what came early.
    pub overflow: u64,
    /// Times that frames were found missing.
    pub gap: u64,
    /// Numbered frames sent, or ready to be, and not acknowledged.
    pub pending_frames: u64,
    /// Bytes kept for the peer: those frames and the messages that wait behind them.
    pub pending_bytes: u64,
    /// Frames put together for sending; a frame that is sent again does not count again.
    pub frames_sent: u64,
    /// Frames received on accepted connections.
    pub frames_received: u64,
    /// Bytes handed to the transport, of handshakes and of what is sent again too.
    pub bytes_sent: u64,
    /// Bytes received, of handshakes too.
    pub bytes_received: u64,
    /// Accepted connections after the first.
    pub reconnects: u64,
    /// Those of them on which a session went on.
    pub resumes: u64,
    /// Sessions that ended without a goodbye.
    pub losses: u64,
}
