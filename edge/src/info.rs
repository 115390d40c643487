//! `INFO`: this edge's own sections, and behind them the host's.

use goblin_protocol::command::REDIS_VERSION;
use goblin_protocol::resp::reply::Value;
use goblin_protocol::resp::{Arguments, OwnedRequest, Writer};
use goblin_protocol::service::ConnectionId;
use goblin_protocol::session::{Flow, Info};
use goblin_protocol::table::Kind;
use goblin_protocol::time::Now;

use crate::client::{Exchange, Stall};
use crate::edge::Edge;
use crate::upstream::Gate;

/// The sections that only the host can fill.
const HOST_SECTIONS: [&str; 1] = ["keyspace"];

impl Edge {
    /// `INFO [section …]`. While the link is down the host's sections are missing.
    pub(crate) fn info(&mut self, now: Now, id: ConnectionId, request: Arguments<'_>) -> Flow {
        if self.is_owed_replies(id) {
            return self.wait_for_replies(id);
        }
        let mut info = Info::new(request.skip(1));
        if self.surroundings.are_needed_for(&info) {
            self.surroundings.ask(id);
            if let Some(client) = self.clients.get_mut(id) {
                client.stall = Some(Stall::Surroundings);
            }
            return Flow::Stall;
        }
        self.write_info(now, &mut info);
        let missing: Vec<&[u8]> = HOST_SECTIONS
            .iter()
            .filter(|section| info.wants(section))
            .map(|section| section.as_bytes())
            .collect();
        if missing.is_empty() || self.upstream.gate() != Gate::Open {
            self.reply(id, |reply| reply.verbatim(b"txt", info.text().as_bytes()));
            return Flow::Next;
        }
        let request = OwnedRequest::from_words(std::iter::once(b"INFO".as_slice()).chain(missing));
        if let Err(flow) = self.ask_host(now, id, request.arguments()) {
            return flow;
        }
        if let Some(client) = self.clients.get_mut(id) {
            client.exchange = Some(Box::new(Exchange::Info(info)));
        }
        Flow::Next
    }

    /// The host has answered with its sections, or with an error that takes their place.
    pub(crate) fn finish_info(&mut self, id: ConnectionId, mut info: Info, reply: &[u8]) {
        if let Ok(Some((Value::Bulk(text) | Value::Verbatim { text, .. }, _))) = Value::parse(reply)
        {
            info.append(&String::from_utf8_lossy(&text));
        }
        if let Some(client) = self.clients.get_mut(id) {
            let session = &mut client.session;
            let version = session.version;
            session.replies.fulfil(&mut session.outbox, |out| {
                Writer::new(out, version).verbatim(b"txt", info.text().as_bytes());
            });
        }
    }

    fn write_info(&self, now: Now, info: &mut Info) {
        let statistics = &self.statistics;
        let uptime = now.monotonic.since(self.started).as_secs();
        info.section("Server")
            .field("redis_version", REDIS_VERSION)
            .field("redis_mode", "standalone")
            .field("goblin_version", env!("CARGO_PKG_VERSION"))
            .field("goblin_role", "edge")
            .field("goblin_edge_name", &self.config.name)
            .field("process_id", std::process::id())
            .field("uptime_in_seconds", uptime)
            .field("uptime_in_days", uptime / 86_400);
        info.section("Clients")
            .field("connected_clients", self.clients.len())
            .field("maxclients", self.clients.limits().clients_max)
            .field("clients_waiting_for_link", self.waiting_for_link.len());
        info.section("Memory").field(
            "used_memory_rss",
            self.surroundings.environment().resident_bytes,
        );
        info.section("Persistence").field("loading", 0);
        info.section("Stats")
            .field("total_connections_received", statistics.connections)
            .field("rejected_connections", statistics.connections_refused)
            .field("total_commands_processed", statistics.commands)
            .field("commands_forwarded", statistics.commands_forwarded)
            .field("total_error_replies", statistics.errors)
            .field("upstream_errors", statistics.upstream_errors)
            .field("protocol_errors", statistics.protocol_errors)
            .field(
                "client_output_buffer_limit_disconnections",
                statistics.slow_clients_closed,
            )
            .field("idle_clients_closed", statistics.idle_clients_closed);
        info.section("Pubsub")
            .field("pubsub_channels", self.table.distinct(Kind::Channel))
            .field("pubsub_patterns", self.table.distinct(Kind::Pattern))
            .field("pubsubshard_channels", self.table.distinct(Kind::Shard))
            .field("publications_forwarded", statistics.publications_forwarded)
            .field(
                "publications_kept_local",
                statistics.publications_kept_local,
            )
            .field("publications_received", statistics.publications_received)
            .field("publications_in_flight", self.publications.in_flight())
            .field("publications_lost", statistics.publications_lost)
            .field("deliveries", statistics.deliveries);
        info.section("Replication").field("role", "master");
        self.upstream.write_info(info);
        info.field("link_gaps", statistics.gaps);
        self.surroundings.environment().write_transport(info);
    }
}
