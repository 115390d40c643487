//! A run: storms of operations and faults, each followed by a calm, then the end.
//!
//! ```text
//! clients join ─► storm ─► settle ─► calm ─► storm ─► settle ─► calm ─► end
//! ```
//!
//! * A storm: clients act all the time, faults happen when the plan says so.
//! * Settling: nobody starts anything; whatever is owed is answered, what broke comes back, and the
//!   host forgets the edges that will not come back.
//! * Calm: single publications, whose numbers of deliveries are known.

use std::time::Duration;

use goblin_protocol::time::Time;

use crate::plan::{Fault, Plan, Storm};
use crate::plant::Plant;
use crate::random::Random;
use crate::verdict::{Outcome, judge};
use crate::workload::Workload;
use crate::world::World;

/// The longest time between two operations, in microseconds.
const PAUSE_US_MAX: u64 = 1_800;
/// Probes of a calm.
const PROBES: usize = 8;

/// Runs the plan of a seed and judges what happened.
#[must_use]
pub fn run(seed: u64) -> Outcome {
    run_plan(Plan::new(seed), None)
}

/// Runs a plan, with a planted fault if there is one, and judges what happened.
#[must_use]
pub fn run_plan(plan: Plan, plant: Option<Plant>) -> Outcome {
    let mut random = Random::new(plan.seed ^ 0xAC70);
    let mut run = Run {
        workload: Workload::new(random.fork()),
        pauses: random.fork(),
        choices: random,
        ends: Vec::new(),
        last_trouble: Time::ZERO,
        world: World::new(plan, plant),
    };
    run.all();
    let (plan, history) = run.world.finish();
    judge(plan, history)
}

struct Run {
    world: World,
    workload: Workload,
    /// When operations happen.
    pauses: Random,
    /// Whom faults hit.
    choices: Random,
    /// What ends by itself.
    ends: Vec<(Time, End)>,
    last_trouble: Time,
}

/// The end of a fault that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Partition(usize),
    HostDown,
    EdgeDown(usize),
}

impl Run {
    fn all(&mut self) {
        self.run_for(Duration::from_millis(20));
        for _ in 0..self.world.plan.clients {
            self.workload.join(&mut self.world);
            self.run_for(Duration::from_micros(100));
        }
        for storm in self.world.plan.storms.clone() {
            self.storm(&storm);
            self.settle();
            self.calm();
        }
    }

    fn run_for(&mut self, duration: Duration) {
        let until = self.world.now() + duration;
        self.run_until(until);
    }

    /// Lets time pass, and faults end.
    fn run_until(&mut self, until: Time) {
        loop {
            let due = self.ends.iter().map(|end| end.0).min();
            let stop = due.map_or(until, |due| due.min(until));
            self.world.run_until(stop);
            let now = self.world.now();
            while let Some(index) = self.ends.iter().position(|end| end.0 <= now) {
                let (_, end) = self.ends.remove(index);
                self.end(end);
            }
            if now >= until {
                return;
            }
        }
    }

    fn storm(&mut self, storm: &Storm) {
        let begin = self.world.now();
        let end = begin + storm.length;
        let mut faults = storm.faults.clone();
        faults.sort_by_key(|fault| fault.0);
        let mut faults = faults.into_iter().peekable();
        while self.world.now() < end {
            let pause = self.pauses.between(1, PAUSE_US_MAX);
            self.run_for(Duration::from_micros(pause));
            while let Some((_, fault)) =
                faults.next_if(|(after, _)| begin + *after <= self.world.now())
            {
                self.begin(fault);
            }
            self.workload.step(&mut self.world);
        }
    }

    fn begin(&mut self, fault: Fault) {
        let now = self.world.now();
        self.last_trouble = now;
        self.world.history.tell(now, format!("fault: {fault:?}"));
        match fault {
            Fault::Stall {
                edge,
                toward_host,
                toward_edge,
                lasts,
            } => {
                let (host, other) = (self.world.host_node(), self.world.edge_node(edge));
                self.world.trouble(edge, lasts, false);
                for wire in self.world.network.wires_between(host, other) {
                    if toward_host {
                        self.world.network.stall(wire, host, now + lasts);
                    }
                    if toward_edge {
                        self.world.network.stall(wire, other, now + lasts);
                    }
                }
                self.last_trouble = now + lasts;
            }
            Fault::Cut { edge } => {
                self.world.trouble(edge, Duration::ZERO, false);
                self.cut(edge);
            }
            Fault::Partition { edge, lasts } => {
                let fatal =
                    lasts + self.world.plan.heartbeat_timeout >= self.world.plan.resume_timeout;
                self.world.trouble(edge, lasts, fatal);
                self.refuse(edge, true);
                self.cut(edge);
                self.ends.push((now + lasts, End::Partition(edge)));
            }
            Fault::RestartEdge { edge, .. } if self.is_ending(End::EdgeDown(edge)) => {}
            Fault::RestartHost { .. } if self.is_ending(End::HostDown) => {}
            Fault::RestartEdge { edge, down } => {
                self.world.trouble(edge, down, true);
                self.world.kill_edge(edge);
                self.ends.push((now + down, End::EdgeDown(edge)));
            }
            Fault::RestartHost { down } => {
                for edge in 0..self.world.plan.edges.len() {
                    self.world.trouble(edge, down, true);
                }
                self.world.kill_host();
                self.ends.push((now + down, End::HostDown));
            }
            Fault::CutClient => self.cut_client(),
            Fault::SlowClient => self.workload.flood(&mut self.world),
        }
    }

    fn end(&mut self, end: End) {
        self.last_trouble = self.world.now();
        match end {
            End::Partition(edge) => self.refuse(edge, false),
            End::HostDown => self.world.start_host(),
            End::EdgeDown(edge) => self.world.start_edge(edge),
        }
    }

    fn is_ending(&self, what: End) -> bool {
        self.ends.iter().any(|(_, end)| *end == what)
    }

    fn refuse(&mut self, edge: usize, refuse: bool) {
        let (from, to) = (self.world.edge_node(edge), self.world.host_node());
        self.world.network.refuse_dials(from, to, refuse);
    }

    fn cut(&mut self, edge: usize) {
        let (host, other) = (self.world.host_node(), self.world.edge_node(edge));
        for wire in self.world.network.wires_between(host, other) {
            self.world.network.cut(wire);
        }
    }

    fn cut_client(&mut self) {
        let connected = self.world.clients.iter().filter(|client| client.reads);
        let wires: Vec<_> = connected
            .filter_map(|client| Some((client.number, client.network.as_ref()?.wire())))
            .collect();
        if let Some((number, wire)) = self.choices.pick(&wires) {
            let now = self.world.now();
            self.world.history.connections[number]
                .cut
                .get_or_insert(now);
            self.world.network.cut(wire);
        }
    }

    /// Nobody starts anything any more; waits until all is well.
    fn settle(&mut self) {
        self.read_again();
        let bound = self.world.plan.answer_time_max() * 3 + Duration::from_secs(3);
        let give_up = self.world.now() + bound;
        while self.world.now() < give_up {
            self.run_for(Duration::from_millis(10));
            let settled = self.last_trouble + self.world.plan.settle_time() <= self.world.now();
            if settled && self.ends.is_empty() && self.world.is_well() && self.is_answered() {
                return;
            }
        }
    }

    fn is_answered(&self) -> bool {
        let mut clients = self.world.clients.iter();
        clients.all(|client| client.network.is_none() || client.is_idle())
    }

    /// Slow clients wake up and find what waited for them.
    fn read_again(&mut self) {
        let now = self.world.now();
        let slow = self.world.clients.iter_mut().filter(|client| !client.reads);
        let awake: Vec<usize> = slow
            .map(|client| {
                client.reads = true;
                client.number
            })
            .collect();
        for number in awake {
            if let Some((_, until)) = &mut self.world.history.connections[number].slow {
                *until = now;
            }
            let text = format!("connection {number} reads again");
            self.world.history.tell(now, text);
        }
    }

    /// Single publications while nothing else happens.
    fn calm(&mut self) {
        let begin = self.world.now();
        let pause = self.world.plan.acknowledge_delay * 2 + Duration::from_millis(10);
        for _ in 0..PROBES {
            self.workload.probe(&mut self.world);
            self.run_for(pause);
        }
        let end = self.world.now();
        self.world.history.calms.push((begin, end));
    }
}
