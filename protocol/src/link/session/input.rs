//! Received bytes, taken apart where they were received.
//!
//! A frame that lies whole in the received bytes is not copied, nor is a message that lies whole in a
//! frame. Copied are the beginning of a frame whose end has not come, and fragments.

use std::ops::Range;

use crate::link::error::{LinkError, Loss};
use crate::link::frame::{self, Flags, Frame};
use crate::link::message::Message;
use crate::time::Now;

use super::receive::Received;
use super::{Connected, Event, Session};

/// A buffer that is not needed and larger than this gives its memory back.
const IDLE_BYTES_MAX: usize = 1024 * 1024;

/// What was received and is not complete.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// The beginning of a frame; from one connection.
    partial: Vec<u8>,
    /// The fragments of a message, from one connection or several.
    assembly: Vec<u8>,
    /// The first fragment of a message came, the last did not.
    assembling: bool,
}

impl Inbox {
    /// The connection that the partial frame came from is gone.
    pub(super) fn forget_partial(&mut self) {
        self.partial.clear();
    }
}

/// Where the bytes of something are.
#[derive(Clone, Debug)]
enum Place {
    /// In the received bytes.
    Received(Range<usize>),
    /// In a frame that came in pieces.
    Partial(Range<usize>),
    /// A message that came in fragments.
    Assembly,
}

impl Place {
    /// The part of a frame's place that begins `offset` bytes behind its start.
    fn part(self, offset: usize, length: usize) -> Self {
        let part = |frame: Range<usize>| frame.start + offset..frame.start + offset + length;
        match self {
            Self::Received(frame) => Self::Received(part(frame)),
            Self::Partial(frame) => Self::Partial(part(frame)),
            Self::Assembly => Self::Assembly,
        }
    }
}

/// What ends a call of `next`.
enum Found {
    Message(Place),
    Connected(Connected),
    Goodbye,
}

/// Received bytes being read; made by [`Session::open`].
#[derive(Debug)]
pub struct Input<'b> {
    bytes: &'b [u8],
    position: usize,
    inbox: Inbox,
    /// The session and the connection that the bytes came from.
    session: u64,
    connection: u64,
    /// What the last event may have borrowed and is now free.
    lent: Option<Place>,
    /// The inbox went back.
    over: bool,
}

impl<'b> Input<'b> {
    pub(super) fn new(bytes: &'b [u8], inbox: Inbox, session: u64, connection: u64) -> Self {
        Self {
            bytes,
            position: 0,
            inbox,
            session,
            connection,
            lent: None,
            over: false,
        }
    }

    /// The next event; `None` when there is none in what was received. Must be called until then, with
    /// the session that made the input. A session that failed meanwhile, or whose connection was
    /// closed, yields none.
    ///
    /// # Errors
    /// [`LinkError`]; see the module for what to do then.
    #[inline]
    pub fn next(
        &mut self,
        session: &mut Session,
        now: Now,
    ) -> Result<Option<Event<'_>>, LinkError> {
        if self.over {
            return Ok(None);
        }
        if let Some(place) = self.lent.take() {
            self.free(&place);
        }
        let place = match self.find(session, now) {
            Ok(Some(Found::Message(place))) => place,
            Ok(Some(Found::Connected(connected))) => return Ok(Some(Event::Connected(connected))),
            Ok(Some(Found::Goodbye)) => return Ok(Some(Event::Goodbye)),
            Ok(None) => {
                self.close(session);
                return Ok(None);
            }
            Err(error) => {
                session.fail(&error);
                self.close(session);
                return Err(error);
            }
        };
        self.lent = Some(place.clone());
        match self.message(session, &place) {
            Ok(message) => Ok(Some(Event::Message(message))),
            Err(loss) => {
                let error = LinkError::Lost(loss);
                session.fail(&error);
                Err(error)
            }
        }
    }

    /// Whether the bytes still mean something to the session.
    fn is_current(&self, session: &Session) -> bool {
        session.connection == self.connection && session.is_listening()
    }

    /// Reads frames until one of them is of interest to the owner.
    #[inline]
    fn find(&mut self, session: &mut Session, now: Now) -> Result<Option<Found>, LinkError> {
        while self.is_current(session) {
            session.note_heard(now);
            let Some(place) = self.next_frame(session.frame_bytes_max())? else {
                return Ok(None);
            };
            let bytes = self.at(&place);
            let frame = Frame::decode(bytes)?;
            let flags = frame.header.flags;
            let payload = place
                .clone()
                .part(frame::payload_offset(bytes), frame.payload.len());
            let found = match session.receive(now, &frame, bytes.len())? {
                Received::Data => self.take_data(session, payload, flags)?.map(Found::Message),
                Received::Nothing => {
                    self.free(&place);
                    None
                }
                Received::Connected(connected) => {
                    self.free(&place);
                    Some(Found::Connected(connected))
                }
                Received::Goodbye => {
                    self.free(&place);
                    Some(Found::Goodbye)
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The place of the next whole frame. Without one, everything that was received is now in the
    /// inbox.
    #[inline]
    fn next_frame(&mut self, bytes_max: usize) -> Result<Option<Place>, LinkError> {
        if !self.inbox.partial.is_empty() {
            return self.complete_partial(bytes_max);
        }
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let start = self.position;
        match frame::length(rest, bytes_max)? {
            Some(length) if length <= rest.len() => {
                self.position += length;
                Ok(Some(Place::Received(start..self.position)))
            }
            _ => {
                self.inbox.partial.extend_from_slice(rest);
                self.position = self.bytes.len();
                Ok(None)
            }
        }
    }

    fn complete_partial(&mut self, bytes_max: usize) -> Result<Option<Place>, LinkError> {
        self.fill_partial(4);
        let Some(length) = frame::length(&self.inbox.partial, bytes_max)? else {
            return Ok(None);
        };
        self.fill_partial(length);
        Ok((self.inbox.partial.len() == length).then_some(Place::Partial(0..length)))
    }

    /// Copies received bytes until the partial frame has `length`, or there are none.
    fn fill_partial(&mut self, length: usize) {
        let missing = length.saturating_sub(self.inbox.partial.len());
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let taken = rest.get(..missing).unwrap_or(rest);
        self.inbox.partial.extend_from_slice(taken);
        self.position += taken.len();
    }

    /// Takes the payload of a data frame; yields the place of the message that is complete with it.
    #[inline]
    fn take_data(
        &mut self,
        session: &Session,
        payload: Place,
        flags: Flags,
    ) -> Result<Option<Place>, Loss> {
        if flags.is_first() == self.inbox.assembling {
            return Err(Loss::FragmentOrder);
        }
        if flags.is_first() && flags.is_last() {
            return Ok(Some(payload));
        }
        self.append(session, &payload)?;
        self.free(&payload);
        self.inbox.assembling = !flags.is_last();
        Ok(flags.is_last().then_some(Place::Assembly))
    }

    fn append(&mut self, session: &Session, payload: &Place) -> Result<(), Loss> {
        let Inbox {
            partial, assembly, ..
        } = &mut self.inbox;
        let fragment = match payload {
            Place::Received(range) => self.bytes.get(range.clone()),
            Place::Partial(range) => partial.get(range.clone()),
            Place::Assembly => None,
        };
        let fragment = fragment.unwrap_or_default();
        let bytes_max = session.config.message_bytes_max;
        if assembly.len() + fragment.len() > bytes_max {
            return Err(Loss::MessageTooLong { bytes_max });
        }
        assembly.extend_from_slice(fragment);
        Ok(())
    }

    fn message(&self, session: &Session, place: &Place) -> Result<Message<'_>, Loss> {
        let message = Message::decode(self.at(place)).map_err(Loss::Message)?;
        if message.sender() == session.role {
            return Err(Loss::WrongDirection);
        }
        Ok(message)
    }

    fn at(&self, place: &Place) -> &[u8] {
        let bytes = match place {
            Place::Received(range) => self.bytes.get(range.clone()),
            Place::Partial(range) => self.inbox.partial.get(range.clone()),
            Place::Assembly => Some(self.inbox.assembly.as_slice()),
        };
        bytes.unwrap_or_default()
    }

    /// Makes room again where something lay.
    #[inline]
    fn free(&mut self, place: &Place) {
        match place {
            Place::Received(_) => {}
            Place::Partial(_) => self.inbox.partial.clear(),
            Place::Assembly => {
                self.inbox.assembly.clear();
                if self.inbox.assembly.capacity() > IDLE_BYTES_MAX {
                    self.inbox.assembly = Vec::new();
                }
            }
        }
    }

    /// Gives back the inbox. Fragments stay good when the connection broke, the beginning of a frame
    /// does not.
    fn close(&mut self, session: &mut Session) {
        self.over = true;
        if session.id != self.session || session.loss().is_some() {
            return;
        }
        if !self.is_current(session) {
            self.inbox.forget_partial();
        }
        session.receiving.inbox = std::mem::take(&mut self.inbox);
    }
}
