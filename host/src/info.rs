//! `INFO`.

use goblin_protocol::command::REDIS_VERSION;
use goblin_protocol::resp::{Arguments, Writer};
use goblin_protocol::session::{Flow, Info};
use goblin_protocol::table::Kind;
use goblin_protocol::time::Now;

use crate::client::Caller;
use crate::host::Host;

impl Host {
    /// `INFO [section …]`.
    pub(crate) fn info(
        &mut self,
        now: Now,
        caller: Caller,
        request: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) -> Flow {
        let mut info = Info::new(request.skip(1));
        if let Caller::Direct(id) = caller
            && !self.executes_transaction
            && self.surroundings.are_needed_for(&info)
        {
            self.surroundings.ask(id);
            return Flow::Stall;
        }
        let uptime = now.monotonic.since(self.started.monotonic).as_secs();
        info.section("Server")
            .field("redis_version", REDIS_VERSION)
            .field("redis_mode", "standalone")
            .field("goblin_version", env!("CARGO_PKG_VERSION"))
            .field("goblin_role", "host")
            .field("process_id", std::process::id())
            .field("tcp_port", self.config.port)
            .field("uptime_in_seconds", uptime)
            .field("uptime_in_days", uptime / 86_400);
        info.section("Clients")
            .field("connected_clients", self.clients.len())
            .field("maxclients", self.clients.limits().clients_max)
            .field("remote_clients", self.edges.client_count());
        info.section("Memory")
            .field(
                "used_memory_rss",
                self.surroundings.environment().resident_bytes,
            )
            .field("maxmemory", 0)
            .field("maxmemory_policy", "noeviction");
        info.section("Persistence").field("loading", 0);
        self.write_statistics(&mut info);
        info.section("Replication").field("role", "master");
        self.edges.write_info(&mut info);
        self.surroundings.environment().write_transport(&mut info);
        info.section("Keyspace");
        if !self.store.is_empty() {
            info.field(
                "db0",
                format_args!(
                    "keys={},expires={},avg_ttl=0",
                    self.store.len(),
                    self.store.expiring()
                ),
            );
        }
        reply.verbatim(b"txt", info.text().as_bytes());
        Flow::Next
    }

    fn write_statistics(&self, info: &mut Info) {
        let statistics = &self.statistics;
        info.section("Stats")
            .field("total_connections_received", statistics.connections)
            .field("rejected_connections", statistics.connections_refused)
            .field("total_commands_processed", statistics.commands)
            .field("total_error_replies", statistics.errors)
            .field("acl_access_denied_auth", statistics.logins_refused)
            .field("protocol_errors", statistics.protocol_errors)
            .field(
                "client_output_buffer_limit_disconnections",
                statistics.slow_clients_closed,
            )
            .field("idle_clients_closed", statistics.idle_clients_closed)
            .field("expired_keys", self.store.expired_keys());
        info.section("Pubsub")
            .field("pubsub_channels", self.table.distinct(Kind::Channel))
            .field("pubsub_patterns", self.distinct_patterns())
            .field("pubsubshard_channels", self.table.distinct(Kind::Shard))
            .field("publications", statistics.publications)
            .field("deliveries", statistics.deliveries);
    }
}
