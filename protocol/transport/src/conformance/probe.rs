//! A core that does what a test tells it and remembers what it heard.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::IoSlice;

use goblin_protocol::service::{Action, Closed, ConnectionId, OUTPUT_SLICES_MAX, Opened, Service};
use goblin_protocol::time::{Now, Time};

use super::HowOpened;

/// What a probe heard of one connection.
#[derive(Debug, Default)]
pub struct Heard {
    /// How it was opened; `None` for a dial that failed.
    pub how: Option<HowOpened>,
    /// Everything that arrived.
    pub received: Vec<u8>,
    /// Bytes that the transport took.
    pub written: usize,
    /// How it ended.
    pub closed: Option<Closed>,
    /// The test ended it: nothing may be heard any more.
    dropped: bool,
    output: VecDeque<Vec<u8>>,
    /// Bytes of the first output that were taken.
    taken: usize,
}

/// The core.
#[derive(Debug, Default)]
pub struct Probe {
    /// Sends back what arrives.
    pub echo: bool,
    /// Connections that were opened, in order.
    pub opened: Vec<ConnectionId>,
    /// Connections that ended and dials that failed, in order.
    pub closed: Vec<ConnectionId>,
    /// What [`Service::next_deadline`] answers.
    pub deadline: Option<Time>,
    /// Turns that were told.
    pub turns: usize,
    heard: BTreeMap<ConnectionId, Heard>,
    actions: VecDeque<Action>,
    flushes: HashSet<ConnectionId>,
}

impl Probe {
    /// What was heard of a connection.
    ///
    /// # Panics
    ///
    /// When the connection was never heard of.
    #[must_use]
    pub fn heard(&self, id: ConnectionId) -> &Heard {
        &self.heard[&id]
    }

    /// Asks for a connection to the upstream.
    pub fn dial(&mut self) {
        self.actions.push_back(Action::Dial);
    }

    /// Sends bytes, as one slice.
    ///
    /// # Panics
    ///
    /// When the connection was never heard of.
    pub fn send(&mut self, id: ConnectionId, bytes: Vec<u8>) {
        let heard = self.heard.get_mut(&id).expect("a connection was opened");
        heard.output.push_back(bytes);
        if self.flushes.insert(id) {
            self.actions.push_back(Action::Flush(id));
        }
    }

    /// Ends a connection.
    ///
    /// # Panics
    ///
    /// When the connection was never heard of.
    pub fn close(&mut self, id: ConnectionId) {
        self.heard.get_mut(&id).expect("a connection").dropped = true;
        self.actions.push_back(Action::Close(id));
    }

    /// Asks for something as it is, also for connections that have ended.
    pub fn act(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    /// Bytes that wait to be taken.
    #[must_use]
    pub fn unwritten(&self, id: ConnectionId) -> usize {
        let heard = self.heard(id);
        heard.output.iter().map(Vec::len).sum::<usize>() - heard.taken
    }

    fn open(&mut self, id: ConnectionId) -> &mut Heard {
        let heard = self.heard.get_mut(&id);
        let heard = heard.unwrap_or_else(|| panic!("{id} was never opened"));
        assert!(heard.closed.is_none() && !heard.dropped, "{id} has ended");
        heard
    }
}

impl Service for Probe {
    fn handle_opened(&mut self, _now: Now, id: ConnectionId, how: Opened<'_>) {
        let heard = Heard {
            how: Some(how.into()),
            ..Heard::default()
        };
        let before = self.heard.insert(id, heard);
        assert!(before.is_none(), "{id} was used before");
        self.opened.push(id);
    }

    fn handle_received(&mut self, _now: Now, id: ConnectionId, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "{id} received nothing");
        self.open(id).received.extend_from_slice(bytes);
        if self.echo {
            self.send(id, bytes.to_vec());
        }
    }

    fn handle_written(&mut self, _now: Now, id: ConnectionId, bytes: usize) {
        let heard = self.open(id);
        heard.written += bytes;
        heard.taken += bytes;
        while let Some(first) = heard.output.front()
            && heard.taken >= first.len()
        {
            heard.taken -= first.len();
            heard.output.pop_front();
        }
    }

    fn handle_closed(&mut self, _now: Now, id: ConnectionId, why: Closed) {
        if matches!(why, Closed::Unreachable(_)) {
            let before = self.heard.insert(id, Heard::default());
            assert!(before.is_none(), "{id} was used before");
        }
        self.open(id).closed = Some(why);
        self.closed.push(id);
    }

    fn handle_turn(&mut self, _now: Now) {
        self.turns += 1;
    }

    fn next_deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn poll_action(&mut self) -> Option<Action> {
        let action = self.actions.pop_front()?;
        if let Action::Flush(id) = action {
            self.flushes.remove(&id);
        }
        Some(action)
    }

    fn output<'a>(
        &'a self,
        id: ConnectionId,
        slices: &mut [IoSlice<'a>; OUTPUT_SLICES_MAX],
    ) -> usize {
        let Some(heard) = self.heard.get(&id).filter(|it| it.closed.is_none()) else {
            return 0;
        };
        let mut filled = 0;
        let mut skip = heard.taken;
        for (slice, bytes) in slices.iter_mut().zip(&heard.output) {
            *slice = IoSlice::new(&bytes[skip..]);
            skip = 0;
            filled += 1;
        }
        filled
    }
}
