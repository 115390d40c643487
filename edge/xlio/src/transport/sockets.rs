//! The sockets of a transport, by tag and by connection.

use std::collections::VecDeque;

use goblin_protocol::service::{ConnectionId, ListenerId};
use goblin_protocol::time::Time;

use crate::callbacks::Tag;

/// What a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Listening(ListenerId),
    Dialing(ConnectionId),
    Open(ConnectionId),
    /// Destroyed at that time; waits for `TERMINATED`.
    Closing(Time),
}

/// A socket.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) socket: usize,
    pub(super) state: State,
    /// A write fell short, and `writable` has not been told since.
    pub(super) blocked: bool,
    /// The key of registered memory, once it was asked for.
    pub(super) key: Option<Option<u32>>,
    pub(super) outstanding: Outstanding,
}

impl Place {
    pub(super) fn new(socket: usize, state: State) -> Self {
        Self {
            socket,
            state,
            blocked: false,
            key: None,
            outstanding: Outstanding::default(),
        }
    }
}

/// Bytes sent and not known to be acknowledged.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    bytes: usize,
    /// Inline bytes behind the last zero-copy send.
    inline: usize,
    /// Chunk of each zero-copy send, and the bytes that its completion settles.
    sends: VecDeque<(u32, usize)>,
}

impl Outstanding {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn inline(&self) -> usize {
        self.inline
    }

    pub(super) fn add_inline(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.inline += bytes;
    }

    pub(super) fn add_chunk(&mut self, chunk: u32, bytes: usize) {
        self.bytes += bytes;
        let settles = bytes + std::mem::take(&mut self.inline);
        self.sends.push_back((chunk, settles));
    }

    /// A send that failed: its inline bytes are outstanding still.
    pub(super) fn take_back(&mut self, chunk: u32, bytes: usize) {
        if let Some((_, settles)) = self.sends.back().copied().filter(|it| it.0 == chunk) {
            self.sends.pop_back();
            self.bytes -= bytes;
            self.inline = settles - bytes;
        }
    }

    /// Completions come in order; whether this is one of ours.
    pub(super) fn complete(&mut self, chunk: u32) -> bool {
        let Some(position) = self.sends.iter().position(|it| it.0 == chunk) else {
            return false;
        };
        for (_, settles) in self.sends.drain(..=position) {
            self.bytes -= settles;
        }
        true
    }
}

/// The table.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    places: Vec<Option<(Tag, Place)>>,
    count: usize,
    names: Vec<Option<(ConnectionId, Tag)>>,
}

impl Sockets {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn insert(&mut self, tag: Tag, place: Place) {
        let index = tag.index();
        if self.places.len() <= index {
            self.places.resize_with(index + 1, || None);
        }
        if let Some(slot) = self.places.get_mut(index) {
            *slot = Some((tag, place));
            self.count += 1;
        }
    }

    pub(super) fn get_mut(&mut self, tag: Tag) -> Option<&mut Place> {
        let (owner, place) = self.places.get_mut(tag.index())?.as_mut()?;
        (*owner == tag).then_some(place)
    }

    pub(super) fn remove(&mut self, tag: Tag) -> Option<Place> {
        let slot = self.places.get_mut(tag.index())?;
        let (_, place) = slot.take_if(|it| it.0 == tag)?;
        self.count -= 1;
        Some(place)
    }

    pub(super) fn name(&mut self, id: ConnectionId, tag: Tag) {
        let index = id.index as usize;
        if self.names.len() <= index {
            self.names.resize(index + 1, None);
        }
        if let Some(slot) = self.names.get_mut(index) {
            *slot = Some((id, tag));
        }
    }

    pub(super) fn tag_of(&self, id: ConnectionId) -> Option<Tag> {
        let (owner, tag) = (*self.names.get(id.index as usize)?)?;
        (owner == id).then_some(tag)
    }

    pub(super) fn forget_name(&mut self, id: ConnectionId) -> Option<Tag> {
        let slot = self.names.get_mut(id.index as usize)?;
        slot.take_if(|it| it.0 == id).map(|it| it.1)
    }

    pub(super) fn of(&mut self, id: ConnectionId) -> Option<&mut Place> {
        self.get_mut(self.tag_of(id)?)
    }

    fn all(&self) -> impl Iterator<Item = &(Tag, Place)> {
        self.places.iter().flatten()
    }

    pub(super) fn listener(&self, listener: ListenerId) -> Option<usize> {
        let mut all = self.all();
        let found = all.find(|it| it.1.state == State::Listening(listener))?;
        Some(found.1.socket)
    }

    pub(super) fn listeners(&self) -> Vec<Tag> {
        let listening = |it: &&(Tag, Place)| matches!(it.1.state, State::Listening(_));
        self.all().filter(listening).map(|it| it.0).collect()
    }

    pub(super) fn outstanding_bytes(&self) -> usize {
        self.all().map(|it| it.1.outstanding.bytes).sum()
    }

    /// Whether zero-copy sends are in flight.
    pub(super) fn owe(&self) -> bool {
        self.all().any(|it| !it.1.outstanding.sends.is_empty())
    }

    /// Everything that was not destroyed yet.
    pub(super) fn alive(&self) -> Vec<Tag> {
        let alive = |it: &&(Tag, Place)| !matches!(it.1.state, State::Closing(_));
        self.all().filter(alive).map(|it| it.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_bytes_are_settled_by_the_next_zero_copy_send() {
        let mut outstanding = Outstanding::default();
        outstanding.add_inline(10);
        outstanding.add_chunk(7, 100);
        outstanding.add_inline(5);
        outstanding.add_chunk(8, 50);
        assert_eq!((outstanding.bytes(), outstanding.inline()), (165, 0));
        assert!(!outstanding.complete(9));
        assert!(outstanding.complete(7));
        assert_eq!(outstanding.bytes(), 55);
        outstanding.take_back(8, 50);
        assert_eq!((outstanding.bytes(), outstanding.inline()), (5, 5));
    }
}
