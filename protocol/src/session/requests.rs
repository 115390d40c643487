//! The loop that turns received bytes into requests.

use crate::resp::{Arguments, Inbox, ProtocolError, RequestLimits, Spans};
use crate::time::Now;

/// What becomes of a connection's further requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The request was executed; the next may follow.
    Next,
    /// The request could not run yet. It and all behind it wait in the inbox.
    Stall,
    /// Nothing more is read from the connection.
    Close,
}

/// Whoever executes the requests of one client.
pub trait Requests {
    /// Names the client.
    type Client: Copy;

    /// The limits that hold for the client's next request; they change when it authenticates.
    fn limits(&self, client: Self::Client) -> RequestLimits;

    /// Executes one request.
    fn execute(&mut self, now: Now, client: Self::Client, request: Arguments<'_>) -> Flow;

    /// The client broke the protocol; nothing after it is read.
    fn refuse(&mut self, now: Now, client: Self::Client, error: ProtocolError);
}

/// Executes what is complete in `inbox` followed by `received`, until a request stalls or closes.
/// What is left stays in `inbox`. The inbox and the scratch `spans` are handed in apart from the
/// executor, which is free to touch everything else while it executes.
pub fn run_requests<R: Requests>(
    executor: &mut R,
    now: Now,
    client: R::Client,
    inbox: &mut Inbox,
    spans: &mut Spans,
    received: &[u8],
) -> Flow {
    let mut feed = inbox.open(received, spans);
    loop {
        match feed.next(&executor.limits(client)) {
            Ok(Some(request)) => match executor.execute(now, client, request) {
                Flow::Next => {}
                Flow::Stall => {
                    feed.unread();
                    return Flow::Stall;
                }
                Flow::Close => {
                    feed.discard();
                    return Flow::Close;
                }
            },
            Ok(None) => return Flow::Next,
            Err(error) => {
                feed.discard();
                executor.refuse(now, client, error);
                return Flow::Close;
            }
        }
    }
}
