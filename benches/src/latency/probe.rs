//! One operation at a time: send, wait, check, and how long it took.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::connection::{Connection, Wait};

const PING: &[u8] = b"*1\r\n$4\r\nPING\r\n";
pub(super) const PONG: &[u8] = b"+PONG\r\n";
const CHANNEL: &str = "bench:latency";
/// What stands in a request between here and there is `PUBLISH`; in a message, which is otherwise the
/// same, `message`.
pub(super) const COMMAND: std::ops::Range<usize> = 8..15;
/// The reply to a publication with one subscriber.
pub(super) const ONE: &[u8] = b":1\r\n";

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Operation {
    /// `PING`.
    Ping,
    /// From before `PUBLISH` until a subscriber on a connection of its own has checked the message;
    /// the reply is awaited and checked after that.
    Pubsub,
    /// From before `PUBLISH` until message and reply are checked.
    PubsubWithReply,
}

/// Whom to prepare for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// A server, to be told who subscribes.
    Server,
    /// A floor, which takes the second connection for the subscriber's.
    Floor,
}

/// A client that can take samples of one operation.
#[derive(Debug)]
pub(super) struct Probe {
    operation: Operation,
    /// Sends and gets the reply.
    client: Connection,
    subscriber: Option<Connection>,
    /// How to wait for a reply while the clock does not run.
    untimed: Wait,
    number: u64,
    request: Vec<u8>,
    message: Vec<u8>,
}

impl Probe {
    pub(super) fn new(
        operation: Operation,
        address: SocketAddr,
        peer: Peer,
        untimed: Wait,
    ) -> Result<Self, String> {
        let client = Connection::open(address)?;
        let subscriber = match operation {
            Operation::Ping => None,
            Operation::Pubsub | Operation::PubsubWithReply => {
                let mut subscriber = Connection::open(address)?;
                if peer == Peer::Server {
                    subscribe(&mut subscriber)?;
                }
                Some(subscriber)
            }
        };
        let mut probe = Self {
            operation,
            client,
            subscriber,
            untimed,
            number: 0,
            request: PING.to_vec(),
            message: PONG.to_vec(),
        };
        probe.prepare();
        Ok(probe)
    }

    /// Takes one sample. Everything that was received for it has been checked when this returns.
    #[inline]
    pub(super) fn sample(&mut self) -> Result<Duration, String> {
        let start = Instant::now();
        self.client.send(&self.request)?;
        let Some(subscriber) = &mut self.subscriber else {
            self.client.expect(&self.message, Wait::Spin)?;
            return Ok(start.elapsed());
        };
        subscriber.expect(&self.message, Wait::Spin)?;
        let mut took = start.elapsed();
        if self.operation == Operation::PubsubWithReply {
            self.client.expect(ONE, Wait::Spin)?;
            took = start.elapsed();
        } else {
            self.client.expect(ONE, self.untimed)?;
        }
        self.prepare();
        Ok(took)
    }

    /// Another payload for each publication: a message that is repeated or out of turn is noticed.
    fn prepare(&mut self) {
        if self.subscriber.is_none() {
            return;
        }
        self.number += 1;
        let length = CHANNEL.len();
        self.request = format!(
            "*3\r\n$7\r\nPUBLISH\r\n${length}\r\n{CHANNEL}\r\n$16\r\n{:016}\r\n",
            self.number
        )
        .into_bytes();
        self.message.clone_from(&self.request);
        self.message[COMMAND].copy_from_slice(b"message");
    }
}

fn subscribe(subscriber: &mut Connection) -> Result<(), String> {
    let length = CHANNEL.len();
    let name = format!("${length}\r\n{CHANNEL}\r\n");
    subscriber.send(format!("*2\r\n$9\r\nSUBSCRIBE\r\n{name}").as_bytes())?;
    let confirmation = format!("*3\r\n$9\r\nsubscribe\r\n{name}:1\r\n");
    subscriber.expect(confirmation.as_bytes(), Wait::Sleep)
}
