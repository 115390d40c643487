//! How long a message takes to a subscriber of the same edge, delivered on the edge or through the
//! host.

use std::time::{Duration, Instant};

use goblin_end_to_end::{Address, Client};

const WARM_UP: usize = 500;
const SAMPLES: usize = 4000;

/// What is measured: a publisher and a subscriber on one edge.
struct Probe {
    name: &'static str,
    publisher: Client,
    subscriber: Client,
    samples: Vec<Duration>,
}

impl Probe {
    fn new(name: &'static str, edge: &Address) -> Probe {
        let mut subscriber = Client::connect(edge);
        subscriber.subscribe(&[channel(name)]);
        Probe {
            name,
            publisher: Client::connect(edge),
            subscriber,
            samples: Vec::with_capacity(SAMPLES),
        }
    }

    /// One message: from before the request is written until the message is there and is the right
    /// one.
    fn sample(&mut self, number: usize, keep: bool) {
        let channel = channel(self.name);
        let payload = format!("{number:016}");
        let start = Instant::now();
        self.publisher.send(&["PUBLISH", &channel, &payload]);
        self.subscriber.expect_message(&channel, &payload);
        let took = start.elapsed();
        self.publisher.expect(":1\r\n");
        if keep {
            self.samples.push(took);
        }
    }

    fn row(&mut self) -> String {
        self.samples.sort();
        let at = |per_cent: usize| {
            let rank = self.samples.len() * per_cent / 100;
            let sample = self.samples.get(rank).copied().unwrap_or_default();
            format!("{:.1} µs", sample.as_secs_f64() * 1e6)
        };
        format!("  {:<28}{:>12}{:>12}", self.name, at(50), at(99))
    }
}

/// Measures both, sample by sample in turn, so that whatever else the machine does hits both.
/// The table, a line each.
pub(crate) fn table(delivering: &Address, forwarding: &Address) -> Vec<String> {
    let mut probes = [
        Probe::new("on the edge", delivering),
        Probe::new("through the host", forwarding),
    ];
    for number in 0..WARM_UP + SAMPLES {
        for probe in &mut probes {
            probe.sample(number, number >= WARM_UP);
        }
    }
    let mut lines = vec![format!("  {:<28}{:>12}{:>12}", "delivered", "p50", "p99")];
    lines.extend(probes.iter_mut().map(Probe::row));
    lines.push(format!(
        "  {SAMPLES} messages each, one at a time, from before PUBLISH until the message was checked;"
    ));
    lines.push(
        "  loopback, adaptive polling, nothing pinned: a demonstration, not a benchmark".to_owned(),
    );
    lines
}

fn channel(name: &str) -> String {
    format!("measured {name}")
}
