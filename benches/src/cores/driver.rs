//! One core, driven by hand: what `Turn` and a transport do for it in a process.

use std::io::IoSlice;

use goblin_protocol::service::{Action, ConnectionId, ListenerId, OUTPUT_SLICES_MAX, Service};

use super::script::{Event, Script, Steps, apply};

/// A core and what it has written to each of its connections.
pub struct Driver<S> {
    core: S,
    steps: Steps,
    script: Option<Script>,
    /// By the connection's index.
    sent: Vec<Vec<u8>>,
    connections: u32,
    dials: usize,
    /// Something has happened since its last turn.
    due: bool,
}

impl<S: Service> Driver<S> {
    /// Drives a core from its beginning; writes down what happens to it if `scripted`.
    pub fn new(core: S, scripted: bool) -> Self {
        Self {
            core,
            steps: Steps::default(),
            script: scripted.then(Script::default),
            sent: Vec::new(),
            connections: 0,
            dials: 0,
            due: true,
        }
    }

    /// The core.
    pub fn core(&self) -> &S {
        &self.core
    }

    /// How often it has asked to be connected upstream.
    pub fn dials(&self) -> usize {
        self.dials
    }

    /// What has happened to it so far, if it is written down.
    pub fn script(&self) -> Option<&Script> {
        self.script.as_ref()
    }

    /// What has happened to it, if it was written down.
    pub fn into_script(self) -> Option<Script> {
        self.script
    }

    /// Somebody connects to a listener.
    pub fn accept(&mut self, listener: ListenerId) -> ConnectionId {
        let id = self.next_connection();
        self.happen(Event::Accepted { id, listener });
        id
    }

    /// The connection that the core has asked for is there.
    pub fn dialed(&mut self) -> ConnectionId {
        let id = self.next_connection();
        self.happen(Event::Dialed { id });
        id
    }

    /// Bytes arrive.
    pub fn receive(&mut self, id: ConnectionId, bytes: &[u8]) {
        if let Some(script) = &mut self.script {
            script.keep(id, bytes);
        }
        self.due = true;
        let now = self.steps.next();
        self.core.handle_received(now, id, bytes);
    }

    /// The core takes a turn if something has happened to it; what it writes is kept.
    pub fn turn(&mut self) {
        if !std::mem::take(&mut self.due) {
            return;
        }
        let (sent, dials) = (&mut self.sent, &mut self.dials);
        if let Some(script) = &mut self.script {
            script.events.push(Event::Turn);
        }
        let now = self.steps.next();
        turn(&mut self.core, now, |action, slices| match action {
            Action::Flush(id) => {
                for slice in slices {
                    sent[id.index as usize].extend_from_slice(slice);
                }
            }
            Action::Dial => *dials += 1,
            Action::Close(id) => panic!("the core closes connection {id}"),
            Action::Pause(id) | Action::Resume(id) => panic!("the core pauses connection {id}"),
        });
    }

    /// What the core has written to a connection and nobody has taken.
    #[must_use]
    pub fn sent(&self, id: ConnectionId) -> &[u8] {
        &self.sent[id.index as usize]
    }

    /// Takes what the core has written to a connection, in exchange for `buffer`, which is emptied
    /// before. False if there was nothing.
    pub fn take(&mut self, id: ConnectionId, buffer: &mut Vec<u8>) -> bool {
        buffer.clear();
        std::mem::swap(&mut self.sent[id.index as usize], buffer);
        !buffer.is_empty()
    }

    /// The core has written exactly this to a connection, and it is taken.
    ///
    /// # Panics
    /// It has written something else.
    #[track_caller]
    pub fn expect(&mut self, id: ConnectionId, expected: &[u8]) {
        let sent = &mut self.sent[id.index as usize];
        assert!(
            sent == expected,
            "connection {id}: expected {}, received {}",
            expected.escape_ascii(),
            sent.escape_ascii()
        );
        sent.clear();
    }

    fn next_connection(&mut self) -> ConnectionId {
        let id = ConnectionId {
            index: self.connections,
            generation: 0,
        };
        self.connections += 1;
        self.sent.push(Vec::new());
        id
    }

    fn happen(&mut self, event: Event) {
        self.due = true;
        if let Some(script) = &mut self.script {
            script.events.push(event);
        }
        apply(&mut self.core, self.steps.next(), &event, &[]);
    }
}

/// One turn: the core does what is due, and what it asks for is done. `perform` is shown each action;
/// with a flush, what is to be written, all of which counts as written.
pub(super) fn turn<S: Service>(
    core: &mut S,
    now: goblin_protocol::time::Now,
    mut perform: impl FnMut(Action, &[IoSlice<'_>]),
) {
    core.handle_turn(now);
    while let Some(action) = core.poll_action() {
        let Action::Flush(id) = action else {
            perform(action, &[]);
            continue;
        };
        loop {
            let mut slices = [IoSlice::new(&[]); OUTPUT_SLICES_MAX];
            let filled = core.output(id, &mut slices);
            let slices = &slices[..filled];
            perform(action, slices);
            let written: usize = slices.iter().map(|slice| slice.len()).sum();
            if written > 0 {
                core.handle_written(now, id, written);
            }
            if filled < OUTPUT_SLICES_MAX {
                break;
            }
        }
    }
}
