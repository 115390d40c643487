//! What is counted: one steady round of a core, again and again.
//!
//! A case first plays its rounds in a whole system and keeps what happened to the core in question;
//! then that script, as far as a number of rounds, is played to a fresh core of the same kind. So the
//! difference between playing it for `n` and for `2n` rounds is what one core does in `n` rounds, and
//! nothing else: starting, connecting, subscribing, and the rest of the system cancel out.

use goblin_bench::cores::{Script, System, new_edge, new_host, play};
use goblin_protocol::service::ConnectionId;

/// Rounds before those that may be counted.
const WARM_UP: usize = 300;

/// Whose instructions are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    Edge,
    Host,
}

/// What a client sends, and where.
#[derive(Clone, Copy)]
enum Sent {
    Ping,
    Get,
    Set,
    /// To a channel with so many subscribers, beside the publisher.
    Publish(usize),
    /// To a channel that one of so many patterns of one subscriber matches.
    PublishToPattern(usize),
}

/// One thing to count.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// Its key in the file of figures.
    pub(crate) name: &'static str,
    counted: Counted,
    /// Whether the client is connected to the edge.
    at_edge: bool,
    sent: Sent,
}

const fn at_edge(name: &'static str, sent: Sent) -> Case {
    Case {
        name,
        counted: Counted::Edge,
        at_edge: true,
        sent,
    }
}

const fn at_host(name: &'static str, sent: Sent) -> Case {
    Case {
        name,
        counted: Counted::Host,
        at_edge: false,
        sent,
    }
}

/// Everything that is counted, in the order of the table.
pub(crate) const CASES: &[Case] = &[
    at_edge("edge-ping", Sent::Ping),
    at_edge("edge-publish-1", Sent::Publish(1)),
    at_edge("edge-publish-8", Sent::Publish(8)),
    at_edge("edge-publish-64", Sent::Publish(64)),
    at_edge("edge-pattern-of-1", Sent::PublishToPattern(1)),
    at_edge("edge-pattern-of-8192", Sent::PublishToPattern(8_192)),
    at_edge("edge-get", Sent::Get),
    at_host("host-ping", Sent::Ping),
    at_host("host-get", Sent::Get),
    at_host("host-set", Sent::Set),
    at_host("host-publish-1", Sent::Publish(1)),
    at_host("host-publish-8", Sent::Publish(8)),
    at_host("host-publish-64", Sent::Publish(64)),
    Case {
        name: "host-forwarded-publish",
        counted: Counted::Host,
        at_edge: true,
        sent: Sent::Publish(1),
    },
    Case {
        name: "host-forwarded-get",
        counted: Counted::Host,
        at_edge: true,
        sent: Sent::Get,
    },
];

impl Case {
    /// The case with this name.
    pub(crate) fn find(name: &str) -> Option<&'static Case> {
        CASES.iter().find(|case| case.name == name)
    }

    /// Keeps the script of `all` rounds and plays `rounds` of them. The bytes that the core wrote.
    pub(crate) fn play(&self, rounds: usize, all: usize) -> Result<usize, String> {
        let (script, ends) = self.script(all)?;
        let end = ends
            .get(WARM_UP + rounds)
            .ok_or("more rounds to play than there are")?;
        Ok(match self.counted {
            Counted::Edge => play(&mut new_edge(0), &script, *end),
            Counted::Host => play(&mut new_host(), &script, *end),
        })
    }

    /// What happens to the core in so many rounds, and where in it each round begins.
    fn script(&self, rounds: usize) -> Result<(Script, Vec<usize>), String> {
        let mut stage = Stage {
            system: System::new(1, true),
            at_edge: self.at_edge,
        };
        let round = self.prepare(&mut stage);
        let mut starts = Vec::with_capacity(WARM_UP + rounds + 1);
        for _ in 0..=WARM_UP + rounds {
            starts.push(stage.happened(self.counted));
            stage.exchange(round.client, &round.request, &round.reply);
            for (subscriber, message) in &round.messages {
                stage.expect(*subscriber, message);
            }
        }
        let mut system = stage.system;
        let script = match self.counted {
            Counted::Host => system.host.into_script(),
            Counted::Edge => system.edges.remove(0).into_script(),
        };
        Ok((script.ok_or("nothing was written down")?, starts))
    }

    fn prepare(&self, stage: &mut Stage) -> Round {
        let mut messages = Vec::new();
        let (request, reply) = match self.sent {
            Sent::Ping => (words(&["PING"]), b"+PONG\r\n".to_vec()),
            Sent::Get | Sent::Set => {
                let client = stage.connect();
                let set = words(&["SET", "key", PAYLOAD]);
                stage.exchange(client, &set, b"+OK\r\n");
                match self.sent {
                    Sent::Get => (words(&["GET", "key"]), bulk(PAYLOAD)),
                    _ => (set, b"+OK\r\n".to_vec()),
                }
            }
            Sent::Publish(subscribers) => {
                let message = words_of_reply(&["message", CHANNEL, PAYLOAD]);
                for _ in 0..subscribers {
                    let client = stage.connect();
                    stage.subscribe(client, "SUBSCRIBE", CHANNEL, 1);
                    messages.push((client, message.clone()));
                }
                let reply = format!(":{subscribers}\r\n").into_bytes();
                (words(&["PUBLISH", CHANNEL, PAYLOAD]), reply)
            }
            Sent::PublishToPattern(patterns) => {
                let client = stage.connect();
                // The one that matches is there in both cases, and has the same length as the others.
                stage.subscribe(client, "PSUBSCRIBE", "prefix.4711.*", 1);
                let others = (0..10_000).filter(|number| *number != 4711);
                for (number, count) in others.take(patterns - 1).zip(2..) {
                    let pattern = format!("prefix.{number:04}.*");
                    stage.subscribe(client, "PSUBSCRIBE", &pattern, count);
                }
                let channel = "prefix.4711.price";
                let parts = ["pmessage", "prefix.4711.*", channel, PAYLOAD];
                messages.push((client, words_of_reply(&parts)));
                (words(&["PUBLISH", channel, PAYLOAD]), b":1\r\n".to_vec())
            }
        };
        Round {
            client: stage.connect(),
            request,
            reply,
            messages,
        }
    }
}

const CHANNEL: &str = "prices.eurusd.bid";
const PAYLOAD: &str = "sixteen bytes...";

/// What a steady round sends and what comes of it.
struct Round {
    client: ConnectionId,
    request: Vec<u8>,
    reply: Vec<u8>,
    messages: Vec<(ConnectionId, Vec<u8>)>,
}

/// A system whose clients are all in one place.
struct Stage {
    system: System,
    at_edge: bool,
}

impl Stage {
    fn connect(&mut self) -> ConnectionId {
        if self.at_edge {
            self.system.connect_to_edge(0)
        } else {
            self.system.connect_to_host()
        }
    }

    fn exchange(&mut self, client: ConnectionId, request: &[u8], reply: &[u8]) {
        if self.at_edge {
            self.system.edges[0].receive(client, request);
        } else {
            self.system.host.receive(client, request);
        }
        self.system.settle();
        self.expect(client, reply);
    }

    fn expect(&mut self, client: ConnectionId, bytes: &[u8]) {
        if self.at_edge {
            self.system.edges[0].expect(client, bytes);
        } else {
            self.system.host.expect(client, bytes);
        }
    }

    fn subscribe(&mut self, client: ConnectionId, command: &str, name: &str, count: usize) {
        let (kind, length) = (command.to_lowercase(), name.len());
        let confirmation = format!(
            "*3\r\n${}\r\n{kind}\r\n${length}\r\n{name}\r\n:{count}\r\n",
            kind.len()
        );
        self.exchange(client, &words(&[command, name]), confirmation.as_bytes());
    }

    fn happened(&self, counted: Counted) -> usize {
        let script = match counted {
            Counted::Edge => self.system.edges[0].script(),
            Counted::Host => self.system.host.script(),
        };
        script.map_or(0, Script::len)
    }
}

fn words(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(&bulk(word));
    }
    bytes
}

/// A reply in RESP2 is written as a request is.
fn words_of_reply(parts: &[&str]) -> Vec<u8> {
    words(parts)
}

fn bulk(text: &str) -> Vec<u8> {
    format!("${}\r\n{text}\r\n", text.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_writes_the_same_in_every_round() {
        for case in CASES {
            let (few, more) = (10, 20);
            let written = |rounds| case.play(rounds, more).unwrap();
            let (none, half, all) = (written(0), written(few), written(more));
            assert!(half > none, "{}: nothing was written", case.name);
            assert_eq!(all - half, half - none, "{}", case.name);
        }
    }
}
