use goblin_protocol::service::Closed;

use super::*;
use crate::conformance::Probe;
use crate::counters::TransportCounters;

/// A transport that tells what it was given and remembers what it was asked.
#[derive(Debug, Default)]
struct Script {
    /// Told by the next poll.
    open: Vec<ConnectionId>,
    writable: Vec<ConnectionId>,
    /// Bytes that a write takes at most.
    room: usize,
    writes: Vec<(ConnectionId, usize)>,
    waits: Vec<Option<Duration>>,
    calls: Vec<Action>,
    counters: TransportCounters,
}

impl Transport for Script {
    fn poll<E: Events>(&mut self, _now: Now, events: &mut E) -> bool {
        let happened = !self.open.is_empty() || !self.writable.is_empty();
        for id in self.open.drain(..) {
            events.opened(id, Opened::Dialed);
        }
        for id in self.writable.drain(..) {
            events.writable(id);
        }
        happened
    }

    fn write(&mut self, id: ConnectionId, slices: &[IoSlice<'_>]) -> usize {
        let offered: usize = slices.iter().map(|slice| slice.len()).sum();
        let taken = offered.min(self.room);
        self.writes.push((id, taken));
        taken
    }

    fn close(&mut self, id: ConnectionId) {
        self.calls.push(Action::Close(id));
    }

    fn can_pause(&self) -> bool {
        true
    }

    fn pause(&mut self, id: ConnectionId) {
        self.calls.push(Action::Pause(id));
    }

    fn resume(&mut self, id: ConnectionId) {
        self.calls.push(Action::Resume(id));
    }

    fn dial(&mut self) {
        self.calls.push(Action::Dial);
    }

    fn close_listeners(&mut self) {}

    fn wait(&mut self, timeout: Option<Duration>) {
        self.waits.push(timeout);
    }

    fn counters(&self) -> &TransportCounters {
        &self.counters
    }
}

fn id(index: u32) -> ConnectionId {
    ConnectionId {
        index,
        generation: 0,
    }
}

/// A turn with open connections 0, 1, … and a transport that takes everything.
fn with_connections(count: u32) -> Turn<Probe, Script> {
    let script = Script {
        open: (0..count).map(id).collect(),
        room: usize::MAX,
        ..Script::default()
    };
    let mut turn = Turn::new(Probe::default(), script);
    turn.turn(Now::default());
    turn
}

#[test]
fn actions_reach_the_transport_in_order() {
    let mut turn = with_connections(1);
    let actions = [
        Action::Pause(id(0)),
        Action::Dial,
        Action::Resume(id(0)),
        Action::Close(id(0)),
    ];
    for action in actions {
        turn.service_mut().act(action);
    }
    assert!(turn.turn(Now::default()));
    assert_eq!(turn.transport().calls, actions);
    assert!(!turn.turn(Now::default()));
}

#[test]
fn a_short_write_goes_on_when_there_is_room_and_not_before() {
    let mut turn = with_connections(1);
    turn.transport_mut().room = 3;
    turn.service_mut().send(id(0), vec![0; 10]);
    turn.turn(Now::default());
    assert_eq!(turn.transport().writes, [(id(0), 3)]);
    assert!(!turn.turn(Now::default()));
    turn.transport_mut().room = 100;
    turn.transport_mut().writable.push(id(0));
    assert!(turn.turn(Now::default()));
    assert_eq!(turn.transport().writes, [(id(0), 3), (id(0), 7)]);
    assert_eq!(turn.service().heard(id(0)).written, 10);
}

#[test]
fn a_flush_that_moves_nothing_does_not_count_as_work() {
    let mut turn = with_connections(1);
    turn.transport_mut().room = 0;
    turn.service_mut().send(id(0), vec![0; 10]);
    assert!(
        !turn.turn(Now::default()),
        "a blocked connection keeps nobody awake"
    );
    assert_eq!(turn.transport().writes, [(id(0), 0)]);
}

#[test]
fn a_long_backlog_is_written_in_shares() {
    let mut turn = with_connections(2);
    let slices = OUTPUT_SLICES_MAX * WRITES_PER_FLUSH * 2 + 1;
    for _ in 0..slices {
        turn.service_mut().send(id(0), vec![0; 1]);
    }
    turn.service_mut().send(id(1), vec![0; 1]);
    assert!(turn.turn(Now::default()));
    // The second connection had its turn although the first was not done.
    assert_eq!(turn.transport().writes.len(), WRITES_PER_FLUSH + 1);
    assert!(turn.turn(Now::default()), "the rest is to be done at once");
    assert!(turn.turn(Now::default()));
    assert_eq!(turn.service().heard(id(0)).written, slices);
    assert!(!turn.turn(Now::default()));
}

#[test]
fn the_backlog_forgets_nothing_when_an_index_is_reused() {
    let mut backlog = Backlog::default();
    let successor = ConnectionId {
        index: 0,
        generation: 1,
    };
    backlog.push(id(0));
    backlog.push(id(0));
    backlog.push(successor);
    assert_eq!(backlog.pop(), Some(id(0)));
    assert_eq!(backlog.pop(), Some(successor));
    assert_eq!(backlog.pop(), None);
    backlog.push(successor);
    assert_eq!(backlog.pop(), Some(successor));
}

#[test]
fn busy_polling_never_sleeps() {
    let mut turn = with_connections(0);
    let mut left = 1_000;
    turn.run_until(PollMode::Busy, |_| {
        left -= 1;
        left == 0
    });
    assert!(turn.transport().waits.is_empty());
    assert_eq!(turn.counters().turns, 1_000);
}

#[test]
fn adaptive_polling_spins_first_and_sleeps_until_the_deadline() {
    let mut turn = with_connections(0);
    let deadline = Clock::new().now().monotonic + Duration::from_secs(1_000);
    turn.service_mut().deadline = Some(deadline);
    let mut turns = 0;
    let mut clock = Clock::new();
    let started = clock.now().monotonic;
    turn.run_until(PollMode::Adaptive, |_| {
        turns += 1;
        clock.now().monotonic.since(started) > SPIN * 20
    });
    let waits = &turn.transport().waits;
    assert!(!waits.is_empty() && waits.len() < turns);
    let (shortest, longest) = (Duration::from_secs(900), Duration::from_secs(1_000));
    let in_range = |wait: &Option<Duration>| wait.is_some_and(|it| shortest < it && it <= longest);
    assert!(waits.iter().all(in_range));
}

#[test]
fn a_deadline_that_is_due_is_not_slept_for() {
    let mut turn = with_connections(0);
    turn.service_mut().deadline = Some(Time::ZERO);
    let mut clock = Clock::new();
    let started = clock.now().monotonic;
    turn.run_until(PollMode::Adaptive, |_| {
        clock.now().monotonic.since(started) > SPIN * 4
    });
    assert!(turn.transport().waits.is_empty());
}

#[test]
fn closed_connections_are_told() {
    let mut service = Probe::default();
    let mut backlog = Backlog::default();
    let mut feed = Feed {
        now: Now::default(),
        service: &mut service,
        backlog: &mut backlog,
    };
    feed.opened(id(3), Opened::Dialed);
    feed.received(id(3), b"x");
    feed.closed(id(3), Closed::ByPeer);
    assert_eq!(service.heard(id(3)).received, b"x");
    assert_eq!(service.heard(id(3)).closed, Some(Closed::ByPeer));
}
