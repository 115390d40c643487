//! Faults to plant, each of which some checker must find.
//!
//! Messages cannot be added on a link whose frames are numbered, so what is said late or twice is said
//! in place of a message that nobody misses: the rights of a user whom nobody uses toward the edge
//! (the workload changes them now and then), statistics toward the host.

use goblin_edge::Delivery;
use goblin_protocol::link::message::{ClientReply, Interest, Message};
use goblin_protocol::session::OutputLimit;

use crate::tap::Tamper;

/// A planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// After a reconnect, a delivery that the host sends again does not arrive.
    LostResume,
    /// After a reconnect, a delivery arrives twice.
    Duplicate,
    /// Two deliveries arrive in the other order.
    Swapped,
    /// The host confirms an interest that it learns later.
    EarlyConfirmation,
    /// The number of deliveries is wrong.
    WrongCount,
    /// A publication that was delivered is answered as if it had been refused.
    DeliveredOnReject,
    /// The answer to a command never comes.
    AnswerLost,
    /// A reply of the host comes again in the place of the next.
    RepeatedReply,
    /// Edges have no limit on what their clients leave unread.
    NoOutputLimit,
    /// Edges wait for the host before they deliver.
    WaitsForHost,
}

impl Plant {
    /// Every one.
    pub const ALL: [Self; 10] = [
        Self::LostResume,
        Self::Duplicate,
        Self::Swapped,
        Self::EarlyConfirmation,
        Self::WrongCount,
        Self::DeliveredOnReject,
        Self::AnswerLost,
        Self::RepeatedReply,
        Self::NoOutputLimit,
        Self::WaitsForHost,
    ];

    /// The promise that the fault breaks.
    #[must_use]
    pub fn breaks(self) -> &'static str {
        match self {
            Self::WaitsForHost => "P1",
            Self::WrongCount => "P2",
            Self::EarlyConfirmation => "P3",
            Self::Swapped | Self::RepeatedReply => "P4",
            Self::LostResume | Self::Duplicate => "P5",
            Self::DeliveredOnReject | Self::AnswerLost => "P6",
            Self::NoOutputLimit => "P7",
        }
    }

    /// A word of the violation that must be found: a fault often breaks other promises, too.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::LostResume => "did not come",
            Self::Duplicate => "twice",
            Self::Swapped => "order",
            Self::EarlyConfirmation => "did not come",
            Self::WrongCount => "was answered with",
            Self::DeliveredOnReject => "was refused, and came",
            Self::AnswerLost => "not answered",
            Self::RepeatedReply => "and got",
            Self::NoOutputLimit => "was not closed",
            Self::WaitsForHost => "came to its subscriber",
        }
    }

    /// Who rewrites what the edges receive.
    pub(crate) fn at_edge(self) -> Option<Box<dyn Tamper>> {
        let tamper: Box<dyn Tamper> = match self {
            Self::LostResume => Box::new(Once::after_reconnect(lose_delivery)),
            Self::Duplicate => Box::new(SayAgain::after_reconnect(true)),
            Self::Swapped => Box::new(SayAgain {
                skip: 20,
                ..SayAgain::after_reconnect(false)
            }),
            Self::WrongCount => Box::new(Always(count_one_more)),
            Self::DeliveredOnReject => Box::new(Always(refuse)),
            Self::AnswerLost => Box::new(Once::at_once(lose_reply)),
            Self::RepeatedReply => Box::new(RepeatReply::default()),
            _ => return None,
        };
        Some(tamper)
    }

    /// Who rewrites what the host receives.
    pub(crate) fn at_host(self) -> Option<Box<dyn Tamper>> {
        (self == Self::EarlyConfirmation)
            .then(|| Box::new(LateInterest::default()) as Box<dyn Tamper>)
    }

    /// Changes how an edge is set up, behind the checkers' back.
    pub(crate) fn configure(self, config: &mut goblin_edge::Config) {
        match self {
            Self::NoOutputLimit => config.clients.output_subscribers = OutputLimit::default(),
            Self::WaitsForHost => config.delivery = Delivery::Host,
            _ => {}
        }
    }
}

fn encoded(message: &Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

/// Says nothing to an edge.
fn nothing() -> Vec<u8> {
    encoded(&Message::InterestConfirmed { token: 0 })
}

type Change = fn(&Message<'_>) -> Option<Vec<u8>>;

fn lose_delivery(message: &Message<'_>) -> Option<Vec<u8>> {
    matches!(message, Message::Delivery(_)).then(nothing)
}

fn lose_reply(message: &Message<'_>) -> Option<Vec<u8>> {
    matches!(message, Message::ClientReply(reply) if reply.last).then(nothing)
}

fn count_one_more(message: &Message<'_>) -> Option<Vec<u8>> {
    match message {
        Message::PublicationResult {
            id,
            deliveries,
            refused,
        } => Some(encoded(&Message::PublicationResult {
            id: *id,
            deliveries: deliveries + 1,
            refused,
        })),
        _ => None,
    }
}

fn refuse(message: &Message<'_>) -> Option<Vec<u8>> {
    match message {
        Message::PublicationResult { id, .. } => Some(encoded(&Message::PublicationResult {
            id: *id,
            deliveries: 0,
            refused: "UPSTREAM refused",
        })),
        _ => None,
    }
}

/// Changes every message that it can.
struct Always(Change);

impl Tamper for Always {
    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        (self.0)(&Message::decode(message).ok()?)
    }
}

/// Changes one message.
struct Once {
    change: Change,
    /// Connections to wait for.
    connections: u32,
    done: bool,
}

impl Once {
    fn at_once(change: Change) -> Self {
        Self {
            change,
            connections: 1,
            done: false,
        }
    }

    fn after_reconnect(change: Change) -> Self {
        Self {
            connections: 2,
            ..Self::at_once(change)
        }
    }
}

impl Tamper for Once {
    fn connected(&mut self) {
        self.connections = self.connections.saturating_sub(1);
    }

    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        if self.done || self.connections > 0 {
            return None;
        }
        let changed = (self.change)(&Message::decode(message).ok()?)?;
        self.done = true;
        Some(changed)
    }
}

/// Says a delivery again, or for the first time, where another message that nobody misses was, behind
/// another delivery.
struct SayAgain {
    connections: u32,
    twice: bool,
    /// Deliveries to let pass first.
    skip: u32,
    held: Option<Vec<u8>>,
    /// Another delivery came after it.
    overtaken: bool,
    done: bool,
}

impl SayAgain {
    fn after_reconnect(twice: bool) -> Self {
        Self {
            connections: if twice { 2 } else { 1 },
            twice,
            skip: 0,
            held: None,
            overtaken: false,
            done: false,
        }
    }
}

impl Tamper for SayAgain {
    fn connected(&mut self) {
        self.connections = self.connections.saturating_sub(1);
    }

    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        if self.done || self.connections > 0 {
            return None;
        }
        match (Message::decode(message).ok()?, &self.held) {
            (Message::Delivery(_), None) if self.skip > 0 => self.skip -= 1,
            (Message::Delivery(_), None) => {
                self.held = Some(message.to_vec());
                return (!self.twice).then(nothing);
            }
            (Message::Delivery(_), Some(_)) => self.overtaken = true,
            (Message::Rights { .. }, Some(_)) if self.overtaken => {
                self.done = true;
                return self.held.take();
            }
            _ => {}
        }
        None
    }
}

/// Gives a client the reply before once more, where the two are of different kinds.
#[derive(Default)]
struct RepeatReply {
    done: bool,
    previous: Option<(u64, Vec<u8>)>,
}

impl Tamper for RepeatReply {
    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        let Message::ClientReply(reply) = Message::decode(message).ok()? else {
            return None;
        };
        if self.done || !reply.last || reply.bytes.len() > 64 {
            return None;
        }
        match self.previous.take() {
            Some((client, bytes))
                if client == reply.client && bytes.first() != reply.bytes.first() =>
            {
                self.done = true;
                let repeated = ClientReply {
                    bytes: &bytes,
                    ..reply
                };
                Some(encoded(&Message::ClientReply(repeated)))
            }
            _ => {
                self.previous = Some((reply.client, reply.bytes.to_vec()));
                None
            }
        }
    }
}

/// The host learns of interests where it would have got statistics; until then it confirms an interest
/// in a name that nobody uses.
#[derive(Default)]
struct LateInterest {
    held: Vec<Vec<u8>>,
}

impl Tamper for LateInterest {
    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        match Message::decode(message).ok()? {
            Message::Interest(interest) if interest.count > 0 && interest.token > 0 => {
                self.held.push(message.to_vec());
                Some(encoded(&Message::Interest(Interest {
                    name: b"nobody",
                    ..interest
                })))
            }
            Message::Statistics(_) => self.held.pop(),
            _ => None,
        }
    }
}
