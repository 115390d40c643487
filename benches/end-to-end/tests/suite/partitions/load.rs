//! A publisher and a subscriber at each server, until told to stop. Both come back when their
//! connection is closed.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use goblin_end_to_end::{Address, Client, DEADLINE, Reply, Stream};

use super::logs::{Log, Outcome, Published};

/// What the load publishes on.
const CHANNEL: &str = "numbers";
/// What ends a subscriber; published when nothing else is on its way any more.
const END: &str = "end";
/// A steady load, not the heaviest: the time from one reply to the next publication.
const PACE: Duration = Duration::from_millis(1);

/// The running load.
pub(crate) struct Load {
    shared: Arc<Shared>,
    publishers: Vec<JoinHandle<Published>>,
    subscribers: Vec<JoinHandle<Log>>,
    addresses: Vec<Address>,
}

struct Shared {
    stop: AtomicBool,
    /// Accepted publications of each publisher.
    accepted: Vec<AtomicU64>,
    /// Sessions of each subscriber that were confirmed.
    sessions: Vec<AtomicUsize>,
    progress: Mutex<()>,
    changed: Condvar,
}

impl Load {
    /// Starts when every subscriber is confirmed.
    pub(crate) fn start(addresses: &[Address]) -> Load {
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            accepted: addresses.iter().map(|_| AtomicU64::new(0)).collect(),
            sessions: addresses.iter().map(|_| AtomicUsize::new(0)).collect(),
            progress: Mutex::new(()),
            changed: Condvar::new(),
        });
        let mut load = Load {
            shared,
            publishers: Vec::new(),
            subscribers: Vec::new(),
            addresses: addresses.to_vec(),
        };
        for (index, address) in addresses.iter().cloned().enumerate() {
            let shared = Arc::clone(&load.shared);
            load.subscribers
                .push(thread::spawn(move || subscribe(&shared, index, &address)));
        }
        for index in 0..addresses.len() {
            load.wait_for_sessions(index, 1);
        }
        for (index, address) in addresses.iter().cloned().enumerate() {
            let shared = Arc::clone(&load.shared);
            load.publishers
                .push(thread::spawn(move || publish(&shared, index, &address)));
        }
        load
    }

    /// Lets every publisher have `count` more publications accepted.
    #[track_caller]
    pub(crate) fn run(&self, count: u64) {
        for publisher in &self.shared.accepted {
            let enough = publisher.load(Ordering::Relaxed) + count;
            let reached = || publisher.load(Ordering::Relaxed) >= enough;
            assert!(
                self.shared.wait(DEADLINE * 2, reached),
                "the load stands still"
            );
        }
    }

    /// Lets the load run for as long as a disturbance is to last.
    pub(crate) fn hold(&self, length: Duration) {
        self.shared.wait(length, || false);
    }

    /// Waits until a subscriber has been confirmed so many times.
    #[track_caller]
    pub(crate) fn wait_for_sessions(&self, subscriber: usize, count: usize) {
        let sessions = &self.shared.sessions[subscriber];
        let reached = || sessions.load(Ordering::Relaxed) >= count;
        assert!(
            self.shared.wait(DEADLINE * 2, reached),
            "subscriber {subscriber} was not confirmed {count} times"
        );
    }

    /// Ends the load: what was published at each server, and what was heard there.
    #[track_caller]
    pub(crate) fn finish(self) -> (Vec<Published>, Vec<Log>) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.notify();
        let published = joined(self.publishers);
        // Every publication has been answered by the host, so this is the last of all everywhere.
        let last = self.addresses.last().expect("a server to publish at");
        Client::connect(last).publish(END, "");
        (published, joined(self.subscribers))
    }
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn notify(&self) {
        drop(self.progress.lock());
        self.changed.notify_all();
    }

    /// Whether the condition came true in time.
    fn wait(&self, limit: Duration, reached: impl Fn() -> bool) -> bool {
        let deadline = Instant::now() + limit;
        let mut guard = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        while !reached() {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return false;
            };
            guard = self
                .changed
                .wait_timeout(guard, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }
}

fn publish(shared: &Shared, index: usize, address: &Address) -> Published {
    let mut published = Published::default();
    let mut client = None;
    while !shared.stopped() {
        shared.wait(PACE, || shared.stopped());
        let Some(connected) = connected(&mut client, address) else {
            continue;
        };
        let payload = format!("{index}:{}", published.next());
        let sent = connected.try_send(&["PUBLISH", CHANNEL, &payload]);
        let outcome = match sent.and_then(|()| connected.try_reply()) {
            Ok(Reply::Integer(_)) => Outcome::Accepted,
            Ok(Reply::Error(_)) => Outcome::Refused,
            Ok(other) => panic!("no reply to PUBLISH: {other:?}"),
            Err(_) => {
                client = None;
                Outcome::Unknown
            }
        };
        published.push(outcome);
        if outcome == Outcome::Accepted {
            shared.accepted[index].fetch_add(1, Ordering::Relaxed);
        }
        shared.notify();
    }
    published
}

fn subscribe(shared: &Shared, index: usize, address: &Address) -> Log {
    let mut log = Log::default();
    let mut client = None;
    loop {
        assert!(!shared.stopped(), "the load ended without its last message");
        shared.wait(PACE, || false);
        let Some(connected) = connected(&mut client, address) else {
            continue;
        };
        if !confirmed(connected) {
            client = None;
            continue;
        }
        log.begin_session();
        shared.sessions[index].fetch_add(1, Ordering::Relaxed);
        shared.notify();
        while let Ok(message) = connected.try_reply() {
            let [_, channel, payload] = message.elements() else {
                panic!("no message: {message:?}");
            };
            if channel.text() == END {
                return log;
            }
            log.push(&payload.text());
        }
        client = None;
    }
}

/// Whether both subscriptions were confirmed; an edge without its host refuses them.
fn confirmed(client: &mut Client) -> bool {
    let sent = client.try_send(&["SUBSCRIBE", END, CHANNEL]);
    sent.is_ok() && (0..2).all(|_| matches!(client.try_reply(), Ok(Reply::Array(_))))
}

fn connected<'a>(client: &'a mut Option<Client>, address: &Address) -> Option<&'a mut Client> {
    if client.is_none() {
        *client = Stream::connect(address).ok().map(Client::over);
    }
    client.as_mut()
}

fn joined<T>(threads: Vec<JoinHandle<T>>) -> Vec<T> {
    threads
        .into_iter()
        .map(|thread| thread.join().expect("a thread of the load panicked"))
        .collect()
}
