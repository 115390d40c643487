//! What clients do, chosen by chance from what is sensible for each of them.
//!
//! A RESP2 client either subscribes or talks, as its protocol wants it; a RESP3 client does both.

use goblin_protocol::table::Kind;

use crate::history::{Ask, History, Place};
use crate::names::{FLOOD, Name, PUBLISHED, SUBSCRIBED};
use crate::random::Random;
use crate::world::World;

/// A flood is this many publications of [`FLOOD_BYTES`]: clearly more than a subscriber may leave
/// unread, the network's buffers included.
const FLOOD_PUBLICATIONS: usize = 110;
const FLOOD_BYTES: usize = 4 * 1024;
/// Fewer clients than this are joined by another.
const CLIENTS_MIN: usize = 10;

/// What a client is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Subscriber,
    Talker,
    Both,
}

/// The chooser.
pub(crate) struct Workload {
    random: Random,
    token: u64,
    roles: Vec<Role>,
}

impl Workload {
    pub(crate) fn new(random: Random) -> Self {
        Self {
            random,
            token: 0,
            roles: Vec::new(),
        }
    }

    /// One client connects and, as the case may be, subscribes.
    pub(crate) fn join(&mut self, world: &mut World) {
        let place = match self.random.below(world.plan.edges.len() + 1) {
            0 => Place::Host,
            edge => Place::Edge(edge - 1),
        };
        let resp3 = self.random.chance(60);
        let role = match (resp3, self.random.chance(60)) {
            (true, _) => Role::Both,
            (false, true) => Role::Subscriber,
            (false, false) => Role::Talker,
        };
        let client = world.connect(place, resp3);
        self.roles.push(role);
        let now = world.now();
        let (clients, history) = (&mut world.clients, &mut world.history);
        if resp3 {
            clients[client].ask(history, now, Ask::Hello);
        }
        if role != Role::Talker {
            let flooded = self.random.chance(25);
            for _ in 0..self.random.between(1, 3) {
                let names = self.names();
                clients[client].subscribe(history, now, &names);
            }
            if flooded {
                clients[client].subscribe(history, now, &[FLOOD]);
            }
        }
        clients[client].flush();
    }

    /// Some names of one kind, now and then one of them twice.
    fn names(&mut self) -> Vec<Name> {
        let first = self.random.pick(SUBSCRIBED);
        let kind = first.map_or(Kind::Channel, |name| name.kind);
        let mut names: Vec<Name> = first.into_iter().collect();
        while self.random.chance(35) {
            names.extend(
                self.random
                    .pick(SUBSCRIBED)
                    .filter(|name| name.kind == kind),
            );
        }
        names
    }

    /// One operation of some client.
    pub(crate) fn step(&mut self, world: &mut World) {
        let open: Vec<usize> = (0..world.clients.len())
            .filter(|client| self.is_usable(world, *client))
            .collect();
        if open.len() < CLIENTS_MIN {
            return self.join(world);
        }
        let Some(client) = self.random.pick(&open) else {
            return;
        };
        match self.random.between(0, 99) {
            0..3 => self.join(world),
            3..5 => leave(world, client, self.random.chance(50)),
            5 => self.change_user(world),
            _ => self.act(world, client),
        }
    }

    fn is_usable(&self, world: &World, client: usize) -> bool {
        let scripted = &world.clients[client];
        let connection = &world.history.connections[scripted.number];
        scripted.reads && connection.is_open() && connection.cut.is_none()
    }

    fn act(&mut self, world: &mut World, client: usize) {
        match self.roles[client] {
            Role::Subscriber => self.change_subscriptions(world, client),
            Role::Talker => self.talk(world, client),
            Role::Both if self.random.chance(20) => self.change_subscriptions(world, client),
            Role::Both => self.talk(world, client),
        }
        world.clients[client].flush();
    }

    fn change_subscriptions(&mut self, world: &mut World, client: usize) {
        let now = world.now();
        let scripted = &mut world.clients[client];
        let history = &mut world.history;
        match self.random.between(0, 19) {
            0..6 => scripted.ask(history, now, Ask::Ping),
            6..12 => {
                let names = self.names();
                scripted.subscribe(history, now, &names);
            }
            12 if scripted.is_idle() => {
                let kind = self.random.pick(&Kind::ALL).unwrap_or(Kind::Channel);
                let mut held = held_names(history, scripted.number);
                held.retain(|name| name.kind == kind);
                let held = held.len();
                scripted.ask(history, now, Ask::UnsubscribeAll { kind, held });
            }
            13 => {
                scripted.ask(history, now, Ask::Reset);
                if history.connections[scripted.number].resp3 {
                    scripted.ask(history, now, Ask::Hello);
                }
            }
            _ => {
                let held = held_names(history, scripted.number);
                if let Some(name) = self.random.pick(&held)
                    && held.len() > 1
                {
                    scripted.ask(history, now, Ask::Unsubscribe(name));
                }
            }
        }
    }

    fn talk(&mut self, world: &mut World, client: usize) {
        match self.random.between(0, 9) {
            0..5 => self.publish(world, client),
            5 => self.tell(world, client),
            6 => self.transact(world, client),
            7 => self.ask(world, client),
            _ => {
                for _ in 0..self.random.between(2, 8) {
                    if self.random.chance(50) {
                        self.publish(world, client);
                    } else {
                        self.ask(world, client);
                    }
                }
            }
        }
    }

    fn publish(&mut self, world: &mut World, client: usize) {
        let now = world.now();
        let bytes = if self.random.chance(5) { 2000 } else { 0 };
        if let Some(name) = self.random.pick(PUBLISHED) {
            world.clients[client].publish(&mut world.history, now, name, bytes, None);
        }
    }

    /// Changes a value and tells of it; whoever hears reads it.
    fn tell(&mut self, world: &mut World, client: usize) {
        let now = world.now();
        let version = world.clients[client].set(&mut world.history, now);
        if let Some(name) = self.random.pick(PUBLISHED) {
            world.clients[client].publish(&mut world.history, now, name, 0, Some(version));
        }
    }

    fn transact(&mut self, world: &mut World, client: usize) {
        let now = world.now();
        let (scripted, history) = (&mut world.clients[client], &mut world.history);
        scripted.ask(history, now, Ask::Multi);
        let mut publications = Vec::new();
        for _ in 0..self.random.between(1, 3) {
            if let Some(name) = self.random.pick(PUBLISHED) {
                let publication = scripted.publish(history, now, name, 0, None);
                history.publications[publication].in_transaction = true;
                publications.push(publication);
            }
        }
        let ask = if self.random.chance(80) {
            Ask::Exec(publications)
        } else {
            Ask::Discard(publications)
        };
        scripted.ask(history, now, ask);
    }

    fn ask(&mut self, world: &mut World, client: usize) {
        self.token += 1;
        let ask = match self.random.between(0, 9) {
            0 => Ask::Ping,
            1..5 => Ask::Echo(self.token),
            _ => Ask::Token(self.token),
        };
        let now = world.now();
        world.clients[client].ask(&mut world.history, now, ask);
    }

    fn direct_talker(&mut self, world: &World) -> Option<usize> {
        let direct: Vec<usize> = (0..world.clients.len())
            .filter(|client| {
                let connection = &world.history.connections[world.clients[*client].number];
                self.is_usable(world, *client)
                    && connection.place == Place::Host
                    && self.roles[*client] != Role::Subscriber
            })
            .collect();
        self.random.pick(&direct)
    }

    /// A change of rights that concerns nobody travels over every link.
    fn change_user(&mut self, world: &mut World) {
        if let Some(client) = self.direct_talker(world) {
            self.token += 1;
            let now = world.now();
            let token = Ask::SetUser(self.token);
            world.clients[client].ask(&mut world.history, now, token);
            world.clients[client].flush();
        }
    }

    /// Somebody publishes more than a subscriber may leave unread, and one subscriber stops reading.
    /// Once in a storm: two floods at a time are more than one who reads can take.
    pub(crate) fn flood(&mut self, world: &mut World) {
        if world.clients.iter().any(|client| !client.reads) {
            return;
        }
        let all: Vec<usize> = (0..world.clients.len())
            .filter(|client| self.is_usable(world, *client))
            .collect();
        let subscribers: Vec<usize> = all
            .iter()
            .copied()
            .filter(|client| holds_flood(world, *client))
            .collect();
        let Some(slow) = self.random.pick(&subscribers) else {
            return;
        };
        let publishers: Vec<usize> = all
            .iter()
            .copied()
            .filter(|client| *client != slow && self.roles[*client] != Role::Subscriber)
            .collect();
        let Some(publisher) = self.random.pick(&publishers) else {
            return;
        };
        let now = world.now();
        world.clients[slow].reads = false;
        let number = world.clients[slow].number;
        world.history.connections[number].slow = Some((now, now));
        world.history.tell(
            now,
            format!("connection {number} stops reading, a flood begins"),
        );
        for _ in 0..FLOOD_PUBLICATIONS {
            let history = &mut world.history;
            world.clients[publisher].publish(history, now, FLOOD, FLOOD_BYTES, None);
        }
        world.clients[publisher].flush();
    }

    /// A publication and a question whose answers are known when nothing else happens.
    pub(crate) fn probe(&mut self, world: &mut World) {
        let talkers: Vec<usize> = (0..world.clients.len())
            .filter(|client| {
                self.is_usable(world, *client) && self.roles[*client] != Role::Subscriber
            })
            .collect();
        let Some(client) = self.random.pick(&talkers) else {
            return;
        };
        self.publish(world, client);
        if let Some(name) = self.random.pick(SUBSCRIBED)
            && name.kind != Kind::Pattern
        {
            let now = world.now();
            world.clients[client].ask(&mut world.history, now, Ask::NumSub(name));
        }
        world.clients[client].flush();
    }
}

fn holds_flood(world: &World, client: usize) -> bool {
    let connection = &world.history.connections[world.clients[client].number];
    let mut subscriptions = connection.subscriptions.iter();
    subscriptions.any(|subscription| subscription.name == FLOOD && subscription.is_held())
}

/// The names that a connection holds, each once.
fn held_names(history: &History, number: usize) -> Vec<Name> {
    let mut names = Vec::new();
    for subscription in &history.connections[number].subscriptions {
        if subscription.is_held() && !names.contains(&subscription.name) {
            names.push(subscription.name);
        }
    }
    names
}

/// A client closes its connection, or has it closed.
fn leave(world: &mut World, client: usize, politely: bool) {
    let now = world.now();
    let scripted = &mut world.clients[client];
    if politely {
        scripted.ask(&mut world.history, now, Ask::Quit);
        scripted.flush();
    } else {
        scripted.network = None;
    }
    world.history.connections[scripted.number].left = Some(now);
}
