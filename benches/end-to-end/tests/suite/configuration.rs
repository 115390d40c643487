//! Flags, files and keys: one line that names what is wrong, and exit code 2.

use std::net::TcpListener;
use std::process::Command;

use goblin_end_to_end::{Client, Edge, Host, Place, Process, Server, Target, on_the_pair};

on_the_pair!(
    a_bad_flag_is_named,
    a_bad_file_is_named,
    a_bad_key_is_named,
    an_address_in_use_is_named,
    a_good_configuration_is_checked_and_nothing_started,
    a_unix_socket_serves_like_a_port,
    a_terminated_process_ends_well,
);

/// A loopback listener on any port.
const LISTEN: [&str; 2] = ["--listen", "127.0.0.1:0"];

fn a_bad_flag_is_named(target: Target) {
    let place = Place::new();
    for (flag, value, culprit) in [
        ("--nosuch", "1", "--nosuch"),
        ("--listen", "nonsense", "nonsense"),
        ("--poll", "sometimes", "sometimes"),
        ("--maxclients", "many", "many"),
        ("--timeout", "-1", "-1"),
        (
            "--client-output-buffer-limit",
            "pubsub nonsense",
            "nonsense",
        ),
        ("--log", "loud", "loud"),
    ] {
        refused(&command(target, &place, &[flag, value]), culprit);
    }
    if target == Target::Edge {
        for upstream in ["http://127.0.0.1:1", "127.0.0.1:1", "tcp://nonsense"] {
            let mut command = Command::new(place.binary("goblin-edge"));
            command.args(LISTEN).args(["--upstream", upstream]);
            refused(command.args(["--edge-key-file", &place.key()]), upstream);
        }
    }
}

fn a_bad_file_is_named(target: Target) {
    let place = Place::new();
    let missing = place.text("missing.toml");
    refused(&command(target, &place, &["--config", &missing]), &missing);
    let unknown = place.write("unknown.toml", b"nosuch = 1\n");
    refused(&command(target, &place, &["--config", &unknown]), "nosuch");
    refused(
        &command(target, &place, &["--check-config", "--config", &unknown]),
        "nosuch",
    );
    let broken = place.write("broken.toml", b"timeout = = 1\n");
    refused(&command(target, &place, &["--config", &broken]), &broken);
}

fn a_bad_key_is_named(target: Target) {
    let place = Place::new();
    let short = place.write("short", &[7; 31]);
    for key in [short, place.text("missing")] {
        let mut command = Command::new(place.binary(program(target)));
        match target {
            Target::Edge => command.args(["--upstream", "tcp://127.0.0.1:1"]),
            _ => command.args(["--edge-listen", "127.0.0.1:0"]),
        };
        refused(command.args(LISTEN).args(["--edge-key-file", &key]), &key);
    }
}

fn an_address_in_use_is_named(target: Target) {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it has an address").to_string();
    refused(&command(target, &place, &["--listen", &address]), &address);
}

/// Only the host knows the users, so only the host can know that there is no password.
#[test]
fn an_open_address_of_the_host_needs_a_password() {
    let place = Place::new();
    let open = ["--listen", "0.0.0.0:0"];
    refused(Host::command(&place).args(open), "0.0.0.0:0");
    for consent in [&["--no-auth-tcp"][..], &["--requirepass", "secret"]] {
        let mut command = Host::command(&place);
        command.args(open).args(["--edge-listen", "127.0.0.1:0"]);
        Host::run(command.args(consent));
    }
}

fn a_good_configuration_is_checked_and_nothing_started(target: Target) {
    let place = Place::new();
    let file = place.write("good.toml", b"timeout = 30\nmaxclients = 100\n");
    let arguments = ["--check-config", "--config", &file];
    let mut process = Process::start("check", &command(target, &place, &arguments));
    let status = process.wait();
    assert!(status.success(), "{status}: {:?}", process.log());
    assert!(
        !process
            .output()
            .iter()
            .any(|line| line.starts_with("listening"))
    );
}

fn a_unix_socket_serves_like_a_port(target: Target) {
    let place = Place::new();
    let mut command = Host::command(&place);
    command.args([
        "--edge-listen",
        "127.0.0.1:0",
        "--unix",
        &place.text("host.sock"),
    ]);
    let host = Host::run(&command);
    let mut command = Edge::command(&place, host.edges);
    let edge = Edge::run(command.args(["--unix", &place.text("edge.sock")]));
    edge.wait_for_link();
    let address = match target {
        Target::Edge => &edge.clients,
        _ => &host.clients,
    };
    let (mut subscriber, mut publisher) = (Client::connect(address), Client::connect(address));
    subscriber.subscribe(&["a"]);
    assert_eq!(publisher.publish("a", "x"), 1);
    subscriber.expect_message("a", "x");
}

fn a_terminated_process_ends_well(target: Target) {
    let mut server = Server::start(target);
    let mut client = server.connect();
    client.exchange("PING\r\n", "+PONG\r\n");
    let process = match (target, &mut server.host, &mut server.edge) {
        (Target::Host, Some(host), _) => &mut host.process,
        (_, _, Some(edge)) => &mut edge.process,
        _ => return,
    };
    let status = process.terminate();
    assert_eq!(status.code(), Some(0));
    client.expect_closed();
}

/// A command that would start, but for `arguments`.
fn command(target: Target, place: &Place, arguments: &[&str]) -> Command {
    let mut command = match target {
        Target::Edge => Edge::command(place, ([127, 0, 0, 1], 1).into()),
        _ => Host::command(place),
    };
    if !arguments.contains(&"--listen") {
        command.args(LISTEN);
    }
    command.args(arguments);
    command
}

fn program(target: Target) -> &'static str {
    match target {
        Target::Edge => "goblin-edge",
        _ => "goblin-host",
    }
}

#[track_caller]
fn refused(command: &Command, culprit: &str) {
    let mut process = Process::start("refused", command);
    let status = process.wait();
    let log = process.log();
    assert_eq!(status.code(), Some(2), "{command:?} said {log:?}");
    assert!(
        matches!(&log[..], [line] if line.contains(culprit)),
        "one line that names {culprit:?}, not {log:?}"
    );
}
