//! Replies in the order of the commands, whoever answers them.
//!
//! A client may pipeline commands that are answered here and commands whose reply comes from
//! elsewhere (the host, or an interest that the host has yet to confirm). While nothing is awaited a
//! reply goes straight to the outbox; behind an awaited one it is held back until its turn.
//!
//! Invariant: bytes are held exactly for the `Held` slots, in the slots' order, and the front slot
//! is never `Held`.

use std::collections::VecDeque;

use crate::limits::IDLE_BUFFER_BYTES_MAX;
use crate::outbox::Outbox;

/// What an awaited reply answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A command that the host executes.
    Command,
    /// A publication whose number of deliveries the host knows.
    Publication,
    /// One `SUBSCRIBE`-like command: this many names wait for the host's confirmation.
    Subscription {
        /// Names in the command.
        names: u32,
    },
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Awaited { what: Awaited, muted: bool },
    Held { bytes: usize },
}

/// The replies that one client is still owed.
#[derive(Debug, Default)]
pub struct ReplyQueue {
    slots: VecDeque<Slot>,
    held: Vec<u8>,
    released: usize,
    awaited: usize,
}

impl ReplyQueue {
    /// Whether every command so far has been answered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many replies are awaited.
    #[must_use]
    pub fn awaited(&self) -> usize {
        self.awaited
    }

    /// Bytes of replies held back behind an awaited one.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.held.len() - self.released
    }

    /// What the oldest awaited reply answers.
    #[must_use]
    pub fn front(&self) -> Option<Awaited> {
        match self.slots.front() {
            Some(Slot::Awaited { what, .. }) => Some(*what),
            _ => None,
        }
    }

    /// Writes a reply that is known now: to `outbox`, or behind what is awaited.
    pub fn write(&mut self, outbox: &mut Outbox, reply: impl FnOnce(&mut Vec<u8>)) {
        if self.slots.is_empty() {
            return reply(outbox.tail());
        }
        let before = self.held.len();
        reply(&mut self.held);
        let added = self.held.len() - before;
        match self.slots.back_mut() {
            Some(Slot::Held { bytes }) => *bytes += added,
            _ => self.slots.push_back(Slot::Held { bytes: added }),
        }
    }

    /// Reserves the place of a reply that comes later; a `muted` one is awaited but not sent
    /// (`CLIENT REPLY OFF`).
    pub fn expect(&mut self, what: Awaited, muted: bool) {
        self.awaited += 1;
        self.slots.push_back(Slot::Awaited { what, muted });
    }

    /// Writes the oldest awaited reply and releases what was held behind it. Does nothing when
    /// nothing is awaited.
    pub fn fulfil(&mut self, outbox: &mut Outbox, reply: impl FnOnce(&mut Vec<u8>)) {
        let Some(Slot::Awaited { muted, .. }) = self.slots.front().copied() else {
            return;
        };
        self.slots.pop_front();
        self.awaited -= 1;
        if !muted {
            reply(outbox.tail());
        }
        self.release(outbox);
    }

    /// Answers awaited replies out of turn: each for which `answer` writes something takes its place
    /// among what is held, the others stay awaited. For what will never be answered any more.
    pub fn resolve(
        &mut self,
        outbox: &mut Outbox,
        mut answer: impl FnMut(Awaited, &mut Vec<u8>) -> bool,
    ) {
        let before = std::mem::take(self);
        let mut at = before.released;
        for slot in before.slots {
            match slot {
                Slot::Held { bytes } => {
                    let held = &before.held[at..at + bytes];
                    at += bytes;
                    self.write(outbox, |out| out.extend_from_slice(held));
                }
                Slot::Awaited { what, muted } => {
                    let mut reply = Vec::new();
                    if !answer(what, &mut reply) {
                        self.expect(what, muted);
                    } else if !muted {
                        self.write(outbox, |out| out.extend_from_slice(&reply));
                    }
                }
            }
        }
    }

    fn release(&mut self, outbox: &mut Outbox) {
        while let Some(Slot::Held { bytes }) = self.slots.front().copied() {
            self.slots.pop_front();
            let end = self.released + bytes;
            outbox
                .tail()
                .extend_from_slice(&self.held[self.released..end]);
            self.released = end;
        }
        if self.released == self.held.len() {
            self.released = 0;
            if self.held.capacity() > IDLE_BUFFER_BYTES_MAX {
                self.held = Vec::new();
            } else {
                self.held.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(outbox: &mut Outbox) -> String {
        let text = String::from_utf8(outbox.tail().clone()).unwrap();
        outbox.clear();
        text
    }

    #[test]
    fn a_reply_that_is_known_goes_straight_out() {
        let (mut queue, mut outbox) = (ReplyQueue::default(), Outbox::new());
        queue.write(&mut outbox, |out| out.extend_from_slice(b"+PONG\r\n"));
        assert_eq!(sent(&mut outbox), "+PONG\r\n");
        assert!(queue.is_empty());
    }

    #[test]
    fn replies_keep_the_order_of_the_commands() {
        let (mut queue, mut outbox) = (ReplyQueue::default(), Outbox::new());
        queue.expect(Awaited::Command, false);
        queue.write(&mut outbox, |out| out.extend_from_slice(b"b"));
        queue.write(&mut outbox, |out| out.extend_from_slice(b"c"));
        queue.expect(Awaited::Publication, false);
        queue.write(&mut outbox, |out| out.extend_from_slice(b"e"));
        assert!(outbox.is_empty());
        assert_eq!(queue.held_bytes(), 3);
        assert_eq!(queue.front(), Some(Awaited::Command));
        queue.fulfil(&mut outbox, |out| out.extend_from_slice(b"a"));
        assert_eq!(sent(&mut outbox), "abc");
        assert_eq!(queue.front(), Some(Awaited::Publication));
        queue.fulfil(&mut outbox, |out| out.extend_from_slice(b"d"));
        assert_eq!(sent(&mut outbox), "de");
        assert!(queue.is_empty());
        assert_eq!(queue.held_bytes(), 0);
    }

    #[test]
    fn what_is_resolved_keeps_its_place() {
        let (mut queue, mut outbox) = (ReplyQueue::default(), Outbox::new());
        queue.expect(Awaited::Command, false);
        queue.write(&mut outbox, |out| out.extend_from_slice(b"b"));
        queue.expect(Awaited::Subscription { names: 1 }, false);
        queue.write(&mut outbox, |out| out.extend_from_slice(b"d"));
        queue.expect(Awaited::Command, false);
        queue.expect(Awaited::Command, true);
        queue.resolve(&mut outbox, |what, out| {
            out.extend_from_slice(b"lost");
            what == Awaited::Command
        });
        assert_eq!(sent(&mut outbox), "lostb");
        assert_eq!(queue.awaited(), 1);
        queue.fulfil(&mut outbox, |out| out.extend_from_slice(b"c"));
        assert_eq!(sent(&mut outbox), "cdlost");
        assert!(queue.is_empty());
    }

    #[test]
    fn a_muted_reply_is_awaited_and_not_sent() {
        let (mut queue, mut outbox) = (ReplyQueue::default(), Outbox::new());
        queue.expect(Awaited::Command, true);
        queue.write(&mut outbox, |out| out.extend_from_slice(b"next"));
        queue.fulfil(&mut outbox, |out| out.extend_from_slice(b"muted"));
        assert_eq!(sent(&mut outbox), "next");
        assert_eq!(queue.awaited(), 0);
    }
}
