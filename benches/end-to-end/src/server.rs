//! One test body, many servers.

use crate::{Address, Client, Edge, Host, Place, RedisServer};

/// What a test talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The host, directly.
    Host,
    /// The host, through an edge.
    Edge,
    /// redis-server: whether the expectation is Redis's at all.
    Redis,
}

/// How the servers are started. The flags have Redis's names where Redis has the thing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// For whatever clients connect to: host, edge and redis-server.
    pub clients: &'a [&'a str],
    /// For whatever holds data and users: host and redis-server.
    pub authority: &'a [&'a str],
    /// For edges.
    pub edge: &'a [&'a str],
}

/// A server under test. Host and edge always run both: [`Server::connect`] goes to the one that is
/// tested, [`Server::connect_elsewhere`] to the other, and both are one server to their clients.
pub struct Server {
    /// What is tested.
    pub target: Target,
    /// The host, unless redis-server is tested.
    pub host: Option<Host>,
    /// The edge, unless redis-server is tested.
    pub edge: Option<Edge>,
    /// redis-server, when it is tested.
    pub redis: Option<RedisServer>,
    /// Last, so that it outlives the processes.
    pub place: Place,
}

impl Server {
    /// Starts the servers with their defaults.
    #[track_caller]
    pub fn start(target: Target) -> Server {
        Server::start_with(target, Options::default())
    }

    /// Starts the servers.
    #[track_caller]
    pub fn start_with(target: Target, options: Options<'_>) -> Server {
        let authority = [options.clients, options.authority].concat();
        let mut server = Server {
            target,
            host: None,
            edge: None,
            redis: None,
            place: Place::new(),
        };
        if target == Target::Redis {
            server.redis = Some(RedisServer::start(&server.place, &authority));
        } else {
            let host = Host::start(&server.place, &authority);
            let edge = [options.clients, options.edge].concat();
            server.edge = Some(Edge::start(&server.place, &host, &edge));
            server.host = Some(host);
        }
        server
    }

    /// Where the clients of the tested server connect.
    pub fn address(&self) -> &Address {
        self.addresses().0
    }

    /// A client of the tested server.
    #[track_caller]
    pub fn connect(&self) -> Client {
        Client::connect(self.addresses().0)
    }

    /// A client of the tested server that speaks RESP3.
    #[track_caller]
    pub fn connect_resp3(&self) -> Client {
        let mut client = self.connect();
        client.speak_resp3();
        client
    }

    /// A client of the other one: of the edge when the host is tested, of the host when the edge is.
    #[track_caller]
    pub fn connect_elsewhere(&self) -> Client {
        Client::connect(self.addresses().1)
    }

    fn addresses(&self) -> (&Address, &Address) {
        match (&self.host, &self.edge, &self.redis) {
            (Some(host), Some(edge), _) if self.target == Target::Host => {
                (&host.clients, &edge.clients)
            }
            (Some(host), Some(edge), _) => (&edge.clients, &host.clients),
            (_, _, Some(redis)) => (&redis.clients, &redis.clients),
            _ => unreachable!("started with a pair or with redis-server"),
        }
    }
}

/// Makes a function that takes a [`Target`] a test on the host and a test through an edge.
#[macro_export]
macro_rules! on_the_pair {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn on_the_host() {
                super::$name($crate::Target::Host);
            }

            #[test]
            fn through_an_edge() {
                super::$name($crate::Target::Edge);
            }
        }
    )+};
}

/// Like [`on_the_pair!`], and on redis-server too, to prove that the expectation is Redis's: for what
/// is the same in Redis 7.0 and 7.2.
#[macro_export]
macro_rules! on_every_server {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn on_the_host() {
                super::$name($crate::Target::Host);
            }

            #[test]
            fn through_an_edge() {
                super::$name($crate::Target::Edge);
            }

            #[test]
            fn on_redis() {
                super::$name($crate::Target::Redis);
            }
        }
    )+};
}
