//! Limits of connections, bytes and time, and who pays when one is reached.

use std::process::Command;
use std::time::{Duration, Instant};

use goblin_end_to_end::{
    Client, Edge, Host, Options, Place, Process, Reply, Server, Target, on_every_server,
    on_the_pair,
};

on_every_server!(
    timeout_closes_the_idle_but_never_a_subscriber,
    a_client_beyond_the_limit_is_told_so,
    only_the_slow_consumer_is_closed,
    a_query_beyond_the_buffer_limit_closes,
    an_argument_beyond_the_bulk_limit_is_refused,
);
on_the_pair!(
    accepted_sockets_are_kept_alive,
    ten_thousand_silent_connections_are_cheap,
    without_descriptors_new_connections_are_refused_and_nothing_spins,
);

fn timeout_closes_the_idle_but_never_a_subscriber(target: Target) {
    let options = Options {
        clients: &["--timeout", "1"],
        ..Options::default()
    };
    let server = Server::start_with(target, options);
    let mut subscriber = server.connect();
    subscriber.subscribe(&["a"]);
    let mut pattern = server.connect();
    pattern.psubscribe(&["a*"]);
    // Opened later and closed first: the subscribers have been idle for longer by then.
    let mut idle = server.connect();
    let before = Instant::now();
    idle.exchange("PING\r\n", "+PONG\r\n");
    idle.expect_closed();
    assert!(before.elapsed() >= Duration::from_millis(900));
    assert_eq!(server.connect_elsewhere().publish("a", "x"), 2);
    subscriber.expect_message("a", "x");
    pattern.reply();
}

fn a_client_beyond_the_limit_is_told_so(target: Target) {
    let options = Options {
        clients: &["--maxclients", "3"],
        ..Options::default()
    };
    let server = Server::start_with(target, options);
    let mut clients = [(); 3].map(|()| server.connect());
    for client in &mut clients {
        client.exchange("PING\r\n", "+PONG\r\n");
    }
    let mut refused = server.connect();
    refused.expect("-ERR max number of clients reached\r\n");
    refused.expect_closed();
    for client in &mut clients {
        client.exchange("PING\r\n", "+PONG\r\n");
    }
}

fn only_the_slow_consumer_is_closed(target: Target) {
    const MESSAGES_MAX: usize = 4000;
    let options = Options {
        clients: &["--client-output-buffer-limit", "pubsub 1mb 0 0"],
        ..Options::default()
    };
    let server = Server::start_with(target, options);
    let mut stuck = server.connect();
    stuck.subscribe(&["a"]);
    let mut live = [server.connect(), server.connect(), server.connect()];
    for subscriber in &mut live {
        subscriber.subscribe(&["a"]);
    }
    let mut publisher = server.connect();
    let mut slowest = Duration::ZERO;
    let mut published = 0;
    // The socket's own buffers fill first, so how many it takes is the kernel's affair.
    loop {
        let payload = format!("{published:016384}");
        let before = Instant::now();
        publisher.send(&["PUBLISH", "a", &payload]);
        for subscriber in &mut live {
            subscriber.expect_message("a", &payload);
            slowest = slowest.max(before.elapsed());
        }
        published += 1;
        if publisher.reply().integer() == 3 {
            break;
        }
        assert!(
            published < MESSAGES_MAX,
            "the stuck subscriber is still there"
        );
    }
    assert!(
        slowest < Duration::from_secs(2),
        "a live one waited {slowest:?}"
    );
    // It was sent whole messages, in order, up to where it was closed.
    let mut received = 0;
    while let Ok(message) = stuck.try_reply() {
        assert_eq!(message.elements()[2].text(), format!("{received:016384}"));
        received += 1;
    }
    assert!(received < published);
    publisher.exchange("PUBSUB NUMSUB a\r\n", "*2\r\n$1\r\na\r\n:3\r\n");
    // The log names whom it closed.
    if let (Target::Edge, Some(edge)) = (target, &server.edge) {
        edge.process
            .log_line(&format!("127.0.0.1:{}", stuck.local_port()));
    }
    if let (Target::Host, Some(host)) = (target, &server.host) {
        host.process
            .log_line(&format!("127.0.0.1:{}", stuck.local_port()));
    }
}

fn a_query_beyond_the_buffer_limit_closes(target: Target) {
    let options = Options {
        clients: &["--client-query-buffer-limit", "1mb"],
        ..Options::default()
    };
    let server = Server::start_with(target, options);
    let mut client = server.connect();
    client.send_bytes(b"*2\r\n$4\r\nECHO\r\n$4194304\r\n");
    // The close may come before everything is written.
    let _ = client.try_send_bytes(&vec![b'a'; 4 << 20]);
    client.expect_closed();
    server.connect().exchange("PING\r\n", "+PONG\r\n");
}

fn an_argument_beyond_the_bulk_limit_is_refused(target: Target) {
    let options = Options {
        clients: &["--proto-max-bulk-len", "1mb"],
        ..Options::default()
    };
    let server = Server::start_with(target, options);
    let mut client = server.connect();
    client.exchange(
        "*2\r\n$4\r\nECHO\r\n$1048577\r\n",
        "-ERR Protocol error: invalid bulk length\r\n",
    );
    client.expect_closed();
    let largest = vec![b'a'; 1 << 20];
    let echoed = server.connect().call(&[b"ECHO", &largest[..]]);
    assert_eq!(echoed, Reply::Bulk(largest));
}

/// Not on redis-server, which listens on a Unix socket here.
fn accepted_sockets_are_kept_alive(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect();
    client.exchange("PING\r\n", "+PONG\r\n");
    let filter = format!(
        "sport = :{} and dport = :{}",
        server.address().port(),
        client.local_port()
    );
    let output = Command::new("ss")
        .args(["--no-header", "--tcp", "--numeric", "--options", &filter])
        .output()
        .expect("ss starts");
    let sockets = String::from_utf8_lossy(&output.stdout);
    assert!(sockets.contains("timer:(keepalive,"), "{sockets:?}");
}

/// The bound is ours.
fn ten_thousand_silent_connections_are_cheap(target: Target) {
    const CONNECTIONS: u64 = 10_000;
    const KILOBYTES_EACH_MAX: u64 = 8;
    allow_descriptors(CONNECTIONS + 1000);
    let options = Options {
        clients: &["--maxclients", "10100"],
        ..Options::default()
    };
    let server = Server::start_with(target, options);
    let process = tested(&server);
    server.connect().exchange("PING\r\n", "+PONG\r\n");
    let before = resident_kilobytes(process);
    let mut clients: Vec<_> = (0..CONNECTIONS).map(|_| server.connect()).collect();
    // Accepted in order, so the last one's reply says that all are there.
    let last = clients.len() - 1;
    clients[last].exchange("PING\r\n", "+PONG\r\n");
    let grown = resident_kilobytes(process) - before;
    assert!(grown < CONNECTIONS * KILOBYTES_EACH_MAX, "{grown} kB more");
    clients[0].exchange("PING\r\n", "+PONG\r\n");
}

/// redis-server refuses by its own limit long before.
fn without_descriptors_new_connections_are_refused_and_nothing_spins(target: Target) {
    let place = Place::new();
    let host = match target {
        Target::Host => Host::run(&few_descriptors(
            &Host::command(&place),
            &["--listen", "127.0.0.1:0", "--edge-listen", "127.0.0.1:0"],
        )),
        _ => Host::start(&place, &[]),
    };
    let edge = (target == Target::Edge).then(|| {
        let command = Edge::command(&place, host.edges);
        let edge = Edge::run(&few_descriptors(&command, &["--listen", "127.0.0.1:0"]));
        edge.wait_for_link();
        edge
    });
    let (process, address) = match &edge {
        Some(edge) => (&edge.process, &edge.clients),
        None => (&host.process, &host.clients),
    };
    let mut clients = Vec::new();
    let refused = (0..200).find(|_| {
        let mut client = Client::connect(address);
        let served = client.try_send_bytes(b"PING\r\n").is_ok() && client.try_reply().is_ok();
        clients.extend(served.then_some(client));
        !served
    });
    assert!(refused.is_some(), "200 connections in 64 descriptors");
    for _ in 0..20 {
        Client::connect(address).expect_closed();
    }
    let used = processor_time(process);
    clients[0].expect_silence(Duration::from_secs(1));
    let used = processor_time(process) - used;
    assert!(used < Duration::from_millis(200), "{used:?} of a second");
    // Twenty and more were refused, in one breath: that is one line.
    let mut log = process.log();
    log.retain(|line| line.contains("cannot accept connections"));
    assert_eq!(log.len(), 1, "{log:?}");
    for client in &mut clients {
        client.exchange("PING\r\n", "+PONG\r\n");
    }
}

fn few_descriptors(command: &Command, arguments: &[&str]) -> Command {
    let mut limited = Command::new("prlimit");
    limited.arg("--nofile=64:64").arg(command.get_program());
    limited.args(command.get_args()).args(arguments);
    limited
}

fn allow_descriptors(count: u64) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    assert!(
        limit.maximum.is_none_or(|maximum| maximum >= count),
        "{count} file descriptors are needed; the limit of this machine is {:?}",
        limit.maximum
    );
    limit.current = limit.current.max(Some(count));
    setrlimit(Resource::Nofile, limit).expect("within the maximum");
}

fn tested(server: &Server) -> &Process {
    match (server.target, &server.host, &server.edge) {
        (Target::Host, Some(host), _) => &host.process,
        (_, _, Some(edge)) => &edge.process,
        _ => panic!("redis-server is not measured"),
    }
}

fn resident_kilobytes(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id()));
    status
        .ok()
        .and_then(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("VmRSS:"))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        })
        .expect("the kernel says how much memory a process has")
}

/// Processor time used so far, by all threads.
pub(crate) fn processor_time(process: &Process) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.id()));
    let ticks: u64 = stat
        .ok()
        .and_then(|stat| {
            let (_, fields) = stat.rsplit_once(") ")?;
            let mut fields = fields.split(' ').skip(11);
            let user: u64 = fields.next()?.parse().ok()?;
            let system: u64 = fields.next()?.parse().ok()?;
            Some(user + system)
        })
        .expect("the kernel says how much time a process has used");
    // Hundredths of a second, whatever the kernel's own clock: part of its interface.
    Duration::from_millis(10 * ticks)
}
