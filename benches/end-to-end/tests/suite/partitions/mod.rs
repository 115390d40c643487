//! A host and two edges in three network namespaces, under a steady load of numbered publications,
//! while cables are pulled and processes killed. What the subscribers heard proves order and
//! exactly-once: see [`logs::check`].

mod load;
mod logs;

use std::fs;
use std::time::Duration;

use goblin_end_to_end::{Address, Edge, Host, Namespaces, Place, as_root};

use load::Load;
use logs::Log;

/// Short, so that a partition that outlasts it need not last long.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_millis(600);
/// How long a session waits for its link; longer than any partition that it has to survive.
const PATIENT: [&str; 2] = ["--link-resume-timeout-ms", "30000"];
/// Shorter than a partition that it must not survive.
const IMPATIENT: [&str; 2] = ["--link-resume-timeout-ms", "800"];
/// How long the load runs undisturbed before and after, in publications of each publisher.
const STEADY: u64 = 200;

/// The cable is pulled for less than the heartbeat timeout: the connection itself survives.
#[test]
fn a_short_partition_loses_nothing() {
    as_root("partitions::a_short_partition_loses_nothing", || {
        nothing_is_lost(HEARTBEAT_TIMEOUT / 3);
    });
}

/// For longer than that: both sides give the connection up, and the session resumes on the next.
#[test]
fn a_partition_within_the_window_loses_nothing() {
    as_root(
        "partitions::a_partition_within_the_window_loses_nothing",
        || {
            nothing_is_lost(HEARTBEAT_TIMEOUT * 4);
        },
    );
}

fn nothing_is_lost(partition: Duration) {
    let scene = Scene::new(&PATIENT);
    let load = Load::start(&scene.addresses());
    load.run(STEADY);
    scene.namespaces.cut(1);
    load.hold(partition);
    scene.namespaces.mend(1);
    load.run(STEADY);
    let (published, heard) = load.finish();
    for publisher in &published {
        assert!(publisher.all_accepted(), "{publisher:?}");
    }
    for log in &heard {
        assert_eq!(log.sessions(), 1, "nobody was closed");
        logs::check(log, &published);
    }
}

/// For longer than the session waits: the subscribers of the edge behind it are closed, so that they
/// know; nobody else notices.
#[test]
fn a_partition_beyond_the_window_is_a_visible_gap() {
    as_root(
        "partitions::a_partition_beyond_the_window_is_a_visible_gap",
        || {
            let scene = Scene::new(&IMPATIENT);
            let load = Load::start(&scene.addresses());
            load.run(STEADY);
            scene.namespaces.cut(1);
            load.hold(Duration::from_millis(800) + HEARTBEAT_TIMEOUT * 3);
            scene.namespaces.mend(1);
            load.wait_for_sessions(1, 2);
            load.run(STEADY);
            let (published, heard) = load.finish();
            assert!(published[0].all_accepted() && published[2].all_accepted());
            assert!(
                !published[1].all_accepted(),
                "the edge cut off cannot have accepted all"
            );
            assert_eq!(
                heard.iter().map(Log::sessions).collect::<Vec<_>>(),
                [1, 2, 1]
            );
            for log in &heard {
                logs::check(log, &published);
            }
        },
    );
}

/// The host dies and comes back empty: every subscriber of an edge is closed and comes back.
#[test]
fn a_killed_host_is_a_visible_gap() {
    as_root("partitions::a_killed_host_is_a_visible_gap", || {
        let mut scene = Scene::new(&PATIENT);
        let load = Load::start(&scene.addresses());
        load.run(STEADY);
        scene.host.process.kill();
        load.hold(HEARTBEAT_TIMEOUT);
        scene.start_host_again();
        for subscriber in 0..3 {
            load.wait_for_sessions(subscriber, 2);
        }
        load.run(STEADY);
        let (published, heard) = load.finish();
        for log in &heard {
            assert_eq!(log.sessions(), 2);
            logs::check(log, &published);
        }
    });
}

/// An edge dies: its own clients lose their connections, nobody else notices.
#[test]
fn a_killed_edge_harms_only_its_own_clients() {
    as_root(
        "partitions::a_killed_edge_harms_only_its_own_clients",
        || {
            let mut scene = Scene::new(&PATIENT);
            let load = Load::start(&scene.addresses());
            load.run(STEADY);
            scene.edges[0].process.kill();
            load.hold(HEARTBEAT_TIMEOUT);
            scene.start_edge_again(0);
            load.wait_for_sessions(0, 2);
            load.run(STEADY);
            let (published, heard) = load.finish();
            assert!(published[1].all_accepted() && published[2].all_accepted());
            assert_eq!(
                heard.iter().map(Log::sessions).collect::<Vec<_>>(),
                [2, 1, 1]
            );
            for log in &heard {
                logs::check(log, &published);
            }
        },
    );
}

/// The processes first, then what they stand on.
struct Scene {
    edges: Vec<Edge>,
    host: Host,
    flags: Vec<String>,
    namespaces: Namespaces,
    place: Place,
}

impl Scene {
    fn new(flags: &[&str]) -> Scene {
        let (place, namespaces) = (Place::new(), Namespaces::new(2));
        let heartbeat = HEARTBEAT_TIMEOUT.as_millis().to_string();
        let mut flags: Vec<_> = flags.iter().map(ToString::to_string).collect();
        flags.extend(["--heartbeat-timeout-ms".to_owned(), heartbeat]);
        let host = start_host(&place, &namespaces, &flags);
        let edges = (0..2)
            .map(|number| start_edge(&place, &namespaces, number, &flags))
            .collect();
        Scene {
            edges,
            host,
            flags,
            namespaces,
            place,
        }
    }

    /// Both edges, then the host.
    fn addresses(&self) -> Vec<Address> {
        let mut addresses: Vec<_> = self.edges.iter().map(|edge| edge.clients.clone()).collect();
        addresses.push(self.host.clients.clone());
        addresses
    }

    fn start_host_again(&mut self) {
        self.host = start_host(&self.place, &self.namespaces, &self.flags);
    }

    fn start_edge_again(&mut self, number: u8) {
        self.edges[usize::from(number)] =
            start_edge(&self.place, &self.namespaces, number, &self.flags);
    }
}

fn start_host(place: &Place, namespaces: &Namespaces, flags: &[String]) -> Host {
    let mut command = Host::command(place);
    command.args(["--unix", &fresh_socket(place, "host.sock")]);
    command.args(["--edge-listen", &namespaces.edge_listen().to_string()]);
    Host::run(&namespaces.in_host(command.args(flags)))
}

fn start_edge(place: &Place, namespaces: &Namespaces, number: u8, flags: &[String]) -> Edge {
    let mut command = Edge::command(place, namespaces.upstream(number));
    command.args([
        "--unix",
        &fresh_socket(place, &format!("edge{number}.sock")),
    ]);
    // Beyond every partition: a publication that waits for a resume must not time out.
    command.args(["--upstream-timeout-ms", "20000"]);
    let edge = Edge::run(&namespaces.in_edge(number, command.args(flags)));
    edge.wait_for_link();
    edge
}

/// A killed process leaves its socket behind.
fn fresh_socket(place: &Place, name: &str) -> String {
    let _ = fs::remove_file(place.path(name));
    place.text(name)
}
