//! Steady traffic allocates nothing: publications, commands on keys that exist, and what they cost at
//! the edge, at the host and on the link between them.
//!
//! The cores run in this thread with bytes carried by hand, so everything that is counted is theirs.
//! Work that is due once a second (statistics, limits over time) is not part of what is counted: a
//! run lasts a few milliseconds of the cores' time.

// A global allocator, which counts what is asked of it, is an unsafe trait.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;

use goblin_bench::cores::System;
use goblin_protocol::service::ConnectionId;

/// Rounds before counting begins: buffers and queues have grown to their size.
const WARM_UP: usize = 3_000;
/// Rounds that are counted. Long enough for the link's acknowledgements to come around.
const ROUNDS: usize = 3_000;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every method hands its arguments to the system's allocator, which keeps the contract, and
// returns what that returned. The counters are thread-local cells without destructor or lazy
// initialisation: touching them neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller vouches for `layout`.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller vouches for `layout`.
        unsafe { Heap.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller vouches that `pointer` came from here, hence from the system's
        // allocator, for `layout`, and for `size`.
        unsafe { Heap.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller vouches that `pointer` came from here, hence from the system's
        // allocator, for `layout`.
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

/// Runs `round` until everything has its size, then counts what it allocates. The numbers of the
/// rounds go on.
#[track_caller]
fn allocates_nothing(mut round: impl FnMut(usize)) {
    for number in 0..WARM_UP {
        round(number);
    }
    let before = ALLOCATIONS.get();
    for number in WARM_UP..WARM_UP + ROUNDS {
        round(number);
    }
    let allocations = ALLOCATIONS.get() - before;
    assert_eq!(allocations, 0, "allocations in {ROUNDS} steady rounds");
}

const PUBLISH: &[u8] = b"*3\r\n$7\r\nPUBLISH\r\n$4\r\nnews\r\n$16\r\nsixteen bytes...\r\n";
const MESSAGE: &[u8] = b"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$16\r\nsixteen bytes...\r\n";

/// A client that has said one thing and received one answer.
fn client_of_edge(system: &mut System, edge: usize, said: &[u8], answer: &[u8]) -> ConnectionId {
    let id = system.connect_to_edge(edge);
    at_edge(system, edge, id, said, answer);
    id
}

fn at_edge(system: &mut System, edge: usize, id: ConnectionId, said: &[u8], answer: &[u8]) {
    system.edges[edge].receive(id, said);
    system.settle();
    system.edges[edge].expect(id, answer);
}

fn at_host(system: &mut System, id: ConnectionId, said: &[u8], answer: &[u8]) {
    system.host.receive(id, said);
    system.settle();
    system.host.expect(id, answer);
}

const SUBSCRIBE: &[u8] = b"*2\r\n$9\r\nSUBSCRIBE\r\n$4\r\nnews\r\n";
const SUBSCRIBED: &[u8] = b"*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n";
const PSUBSCRIBE: &[u8] = b"*2\r\n$10\r\nPSUBSCRIBE\r\n$3\r\nn*s\r\n";
const PSUBSCRIBED: &[u8] = b"*3\r\n$10\r\npsubscribe\r\n$3\r\nn*s\r\n:1\r\n";
const PMESSAGE: &[u8] =
    b"*4\r\n$8\r\npmessage\r\n$3\r\nn*s\r\n$4\r\nnews\r\n$16\r\nsixteen bytes...\r\n";

fn subscribers_of_edge(system: &mut System, edge: usize, count: usize) -> Vec<ConnectionId> {
    (0..count)
        .map(|_| client_of_edge(system, edge, SUBSCRIBE, SUBSCRIBED))
        .collect()
}

fn subscribers_of_host(system: &mut System, count: usize) -> Vec<ConnectionId> {
    (0..count)
        .map(|_| {
            let id = system.connect_to_host();
            at_host(system, id, SUBSCRIBE, SUBSCRIBED);
            id
        })
        .collect()
}

fn integer(value: usize) -> Vec<u8> {
    format!(":{value}\r\n").into_bytes()
}

#[test]
fn a_publication_at_the_edge_allocates_nothing_anywhere() {
    for count in [1, 8, 64] {
        let mut system = System::new(1, false);
        let subscribers = subscribers_of_edge(&mut system, 0, count);
        let publisher = system.connect_to_edge(0);
        let reply = integer(count);
        allocates_nothing(|_| {
            at_edge(&mut system, 0, publisher, PUBLISH, &reply);
            for id in &subscribers {
                system.edges[0].expect(*id, MESSAGE);
            }
        });
    }
}

#[test]
fn a_publication_that_matches_a_pattern_allocates_nothing() {
    let mut system = System::new(1, false);
    let subscriber = client_of_edge(&mut system, 0, PSUBSCRIBE, PSUBSCRIBED);
    let publisher = system.connect_to_edge(0);
    allocates_nothing(|_| {
        at_edge(&mut system, 0, publisher, PUBLISH, b":1\r\n");
        system.edges[0].expect(subscriber, PMESSAGE);
    });
}

#[test]
fn a_burst_of_publications_in_one_read_allocates_nothing() {
    let mut system = System::new(1, false);
    let subscribers = subscribers_of_edge(&mut system, 0, 8);
    let publisher = system.connect_to_edge(0);
    let (burst, replies, messages) = (PUBLISH.repeat(32), b":8\r\n".repeat(32), MESSAGE.repeat(32));
    allocates_nothing(|_| {
        at_edge(&mut system, 0, publisher, &burst, &replies);
        for id in &subscribers {
            system.edges[0].expect(*id, &messages);
        }
    });
}

#[test]
fn a_publication_at_the_host_to_its_own_subscribers_allocates_nothing() {
    for count in [1, 8, 64] {
        let mut system = System::new(0, false);
        let subscribers = subscribers_of_host(&mut system, count);
        let publisher = system.connect_to_host();
        let reply = integer(count);
        allocates_nothing(|_| {
            at_host(&mut system, publisher, PUBLISH, &reply);
            for id in &subscribers {
                system.host.expect(*id, MESSAGE);
            }
        });
    }
}

#[test]
fn a_publication_that_goes_to_another_edge_and_the_host_allocates_nothing() {
    let mut system = System::new(2, false);
    let here = subscribers_of_edge(&mut system, 0, 8);
    let there = subscribers_of_edge(&mut system, 1, 8);
    let at_the_host = subscribers_of_host(&mut system, 8);
    let publisher = system.connect_to_edge(0);
    allocates_nothing(|_| {
        at_edge(&mut system, 0, publisher, PUBLISH, b":24\r\n");
        for (one, other) in here.iter().zip(&there) {
            system.edges[0].expect(*one, MESSAGE);
            system.edges[1].expect(*other, MESSAGE);
        }
        for id in &at_the_host {
            system.host.expect(*id, MESSAGE);
        }
    });
}

#[test]
fn a_publication_at_the_host_for_an_edge_allocates_nothing() {
    let mut system = System::new(1, false);
    let subscribers = subscribers_of_edge(&mut system, 0, 8);
    let publisher = system.connect_to_host();
    allocates_nothing(|_| {
        at_host(&mut system, publisher, PUBLISH, b":8\r\n");
        for id in &subscribers {
            system.edges[0].expect(*id, MESSAGE);
        }
    });
}

#[test]
fn ping_and_commands_on_a_key_that_exists_allocate_nothing() {
    const VALUES: [&[u8]; 2] = [b"first 16 bytes..", b"other 16 bytes.."];
    let sets =
        VALUES.map(|value| [b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$16\r\n", value, b"\r\n"].concat());
    let gets = VALUES.map(|value| [b"$16\r\n", value, b"\r\n"].concat());
    let mut system = System::new(1, false);
    let (remote, direct) = (system.connect_to_edge(0), system.connect_to_host());
    allocates_nothing(|round| {
        let (one, other) = (round % 2, (round + 1) % 2);
        at_host(&mut system, direct, b"*1\r\n$4\r\nPING\r\n", b"+PONG\r\n");
        at_host(&mut system, direct, &sets[one], b"+OK\r\n");
        at_host(
            &mut system,
            direct,
            b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n",
            &gets[one],
        );
        at_edge(
            &mut system,
            0,
            remote,
            b"*1\r\n$4\r\nPING\r\n",
            b"+PONG\r\n",
        );
        at_edge(&mut system, 0, remote, &sets[other], b"+OK\r\n");
        at_edge(
            &mut system,
            0,
            remote,
            b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n",
            &gets[other],
        );
    });
}

#[test]
#[should_panic(expected = "allocations in 3000 steady rounds")]
fn what_allocates_is_counted() {
    allocates_nothing(|round| drop(std::hint::black_box(vec![round as u8])));
}
