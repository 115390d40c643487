//! `cargo xtask demo`: a host and two edges on loopback, and what a person wants to see of them.

mod measure;

use std::path::Path;
use std::time::Instant;

use goblin_end_to_end::{Address, Client, Edge, Host, Place, Process, Profile, Reply, build};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::tools::{self, For};

/// Shows the pair. The processes end with this function, or with this process, however it ends.
///
/// # Errors
/// What is missing or did not build. Whatever the pair does wrong is a panic that says what.
pub(crate) fn run(keep: bool, no_install: bool) -> Result<(), String> {
    tools::ensure(For::Demo, no_install)?;
    println!("Building host and edge ...");
    let pair = Pair::start(&build(Profile::Release)?);
    pair.show_topology();
    pair.show_messages();
    println!("\nHow long a message takes to a subscriber of the same edge");
    for line in measure::table(&pair.edge.clients, &pair.forwarding.clients) {
        println!("{line}");
    }
    pair.show_commands(keep);
    if keep {
        let mut signals = Signals::new([SIGINT, SIGTERM])
            .map_err(|error| format!("signals cannot be waited for: {error}"))?;
        println!("\nRunning until Ctrl-C.");
        signals.forever().next();
        println!();
    }
    Ok(())
}

struct Pair {
    edge: Edge,
    /// An edge that leaves all delivery to the host, for comparison.
    forwarding: Edge,
    host: Host,
}

impl Pair {
    fn start(binaries: &Path) -> Pair {
        // The key is read at the start, so nothing has to stay on disk.
        let place = Place::with_binaries(binaries);
        let host = Host::start(&place, &[]);
        Pair {
            edge: Edge::start(&place, &host, &[]),
            forwarding: Edge::start(&place, &host, &["--delivery", "host"]),
            host,
        }
    }

    fn show_topology(&self) {
        let end = |name: &str, address: &Address, process: &Process| {
            let described = format!("{name} {address} (process {})", process.id());
            format!("  clients ──► {described:<48}")
        };
        let (edge, forwarding, host) = (&self.edge, &self.forwarding, &self.host);
        println!("\nTopology");
        let first = end("goblin-edge", &edge.clients, &edge.process);
        println!("{first} ──┐ link");
        let second = end("goblin-edge", &forwarding.clients, &forwarding.process);
        println!("{second} ──┤ link; --delivery host, for comparison");
        let third = end("goblin-host", &host.clients, &host.process);
        println!("{third} ◄─┘ edges connect to {}", host.edges);
    }

    fn show_messages(&self) {
        let (edge, host) = (&self.edge.clients, &self.host.clients);
        let mut subscribers = [
            ("edge", "SUBSCRIBE", "news.today", Client::connect(edge)),
            ("edge", "PSUBSCRIBE", "news.*", Client::connect(edge)),
            ("host", "SUBSCRIBE", "news.today", Client::connect(host)),
        ];
        for (_, command, name, client) in &mut subscribers {
            match *command {
                "SUBSCRIBE" => client.subscribe(&[*name]),
                _ => client.psubscribe(&[*name]),
            }
        }
        println!("\nMessages");
        let publishers = [("edge", edge), ("host", host), ("edge", edge)];
        for (number, (place, address)) in publishers.into_iter().enumerate() {
            let payload = format!("message {}", number + 1);
            let mut publisher = Client::connect(address);
            // A message's way is to be seen, not that of a connection being made.
            publisher.exchange("PING\r\n", "+PONG\r\n");
            println!("  PUBLISH news.today \"{payload}\" on the {place}");
            let start = Instant::now();
            publisher.send(&["PUBLISH", "news.today", &payload]);
            // Printing takes longer than a message: first everything arrives, then it is shown.
            let mut arrived = Vec::new();
            for (place, command, name, client) in &mut subscribers {
                let message = client.reply();
                let took = start.elapsed().as_micros();
                let received = message
                    .elements()
                    .last()
                    .map(Reply::text)
                    .unwrap_or_default();
                assert_eq!(received, payload, "what a subscriber received: {message:?}");
                arrived.push(format!(
                    "    ◄── \"{received}\" on the {place} within {took:>4} µs ({command} {name})"
                ));
            }
            let deliveries = publisher.reply().integer();
            let took = start.elapsed().as_micros();
            println!("{}", arrived.join("\n"));
            println!("    the reply to the publisher, {deliveries} deliveries, within {took} µs");
        }
    }

    fn show_commands(&self, keep: bool) {
        let (edge, host) = (self.edge.clients.port(), self.host.clients.port());
        let ended = if keep {
            ""
        } else {
            " (with --keep; these ports end with the demonstration)"
        };
        println!("\nTo try by hand{ended}");
        for line in [
            format!("redis-cli -p {edge} SUBSCRIBE news"),
            format!("redis-cli -p {edge} PUBLISH news hello"),
            format!("redis-cli -p {host} PUBLISH news 'hello from the host'"),
            format!("redis-cli -p {edge} PUBSUB NUMSUB news"),
            format!("redis-cli -p {edge} SET greeting hello"),
            format!("redis-cli -p {host} GET greeting"),
            format!("redis-cli -p {edge} INFO"),
        ] {
            println!("  {line}");
        }
    }
}
