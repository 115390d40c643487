//! A client without a core: a script sends bytes and looks at what came back.

use goblin_protocol::service::Closed;

use super::state::{EndpointId, Stage};
use super::{Network, NodeId, WireId};

/// One connection of a script. Dropping it closes the connection.
#[derive(Debug)]
pub struct Client {
    network: Network,
    node: NodeId,
    endpoint: EndpointId,
}

impl Client {
    pub(super) fn new(network: Network, address: &str) -> Self {
        let (node, endpoint) = {
            let mut state = network.state.borrow_mut();
            let node = state.add_node();
            let endpoint = state.dial(node, address);
            if let Some(endpoint) = state.endpoint(endpoint) {
                endpoint.stage = Stage::Open;
            }
            (node, endpoint)
        };
        Self {
            network,
            node,
            endpoint,
        }
    }

    /// The node that is this client alone, for faults.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The client's connection, for faults.
    #[must_use]
    pub fn wire(&self) -> WireId {
        self.endpoint.wire()
    }

    /// Sends bytes. What finds no room in the network waits in the client, without a bound.
    pub fn send(&self, bytes: &[u8]) {
        let mut state = self.network.state.borrow_mut();
        if let Some(endpoint) = state.endpoint(self.endpoint) {
            endpoint.unsent.extend(bytes);
        }
        state.send_unsent(self.endpoint);
    }

    /// Takes everything that has arrived.
    #[must_use]
    pub fn receive(&self) -> Vec<u8> {
        self.receive_at_most(usize::MAX)
    }

    /// Takes at most `limit` of the bytes that have arrived. A client that does not take is a slow
    /// one: the network fills up, and then its peer's writes fall short.
    #[must_use]
    pub fn receive_at_most(&self, limit: usize) -> Vec<u8> {
        self.network.state.borrow_mut().take(self.endpoint, limit)
    }

    /// Why the connection ended, once everything that arrived before was taken. `Unreachable` if
    /// nobody listened.
    #[must_use]
    pub fn closed(&self) -> Option<Closed> {
        let mut state = self.network.state.borrow_mut();
        let now = state.now;
        state.endpoint(self.endpoint)?.inbox.ended(now)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.network.state.borrow_mut().close(self.endpoint);
    }
}
