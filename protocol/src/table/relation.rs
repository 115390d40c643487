//! The two ends of a subscription, and how they are found, joined and cut.

use super::list::List;
use super::names::Edge;
use super::{Kind, SubscriberId, SubscriptionTable, hash};

/// One subscriber's side. Of the items, those that are neither pattern nor shard are channels.
#[derive(Default)]
pub(super) struct Subscriber {
    pub(super) items: List<Item>,
    pub(super) patterns: u32,
    pub(super) shards: u32,
}

/// One end of a subscription, kept with the subscriber.
#[derive(Clone, Copy, Default)]
pub(super) struct Item {
    pub(super) name: NameId,
    /// Where the other end is in the name's list.
    pub(super) position: u32,
}

/// A kind, in the upper two bits, and an index into its names.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NameId(u32);

impl NameId {
    const INDEX_BITS: u32 = 30;

    /// `index` is less than 2^30: as many names fit into no memory.
    pub(super) const fn new(kind: Kind, index: u32) -> Self {
        Self((kind as u32) << Self::INDEX_BITS | index)
    }

    pub(super) const fn kind(self) -> Kind {
        match self.0 >> Self::INDEX_BITS {
            0 => Kind::Channel,
            1 => Kind::Pattern,
            _ => Kind::Shard,
        }
    }

    pub(super) const fn index(self) -> u32 {
        self.0 & ((1 << Self::INDEX_BITS) - 1)
    }
}

impl<W: Copy + Default> SubscriptionTable<W> {
    pub(super) fn find(&self, kind: Kind, name: &[u8]) -> Option<NameId> {
        self.names[kind as usize]
            .find(hash(&self.hasher, name), name)
            .map(|(index, _)| NameId::new(kind, index))
    }

    pub(super) fn name(&self, id: NameId) -> &[u8] {
        &self.names[id.kind() as usize].entry(id.index()).name
    }

    pub(super) fn edges(&self, id: NameId) -> &[Edge<W>] {
        self.edges
            .items(&self.names[id.kind() as usize].entry(id.index()).edges)
    }

    pub(super) fn edges_mut(&mut self, id: NameId) -> &mut [Edge<W>] {
        self.edges
            .items_mut(self.names[id.kind() as usize].edges_mut(id.index()))
    }

    pub(super) fn items_of(&self, who: SubscriberId) -> &[Item] {
        self.subscribers
            .get(who.0)
            .map_or(&[], |subscriber| self.items.items(&subscriber.items))
    }

    /// Position and slot of the subscription, if there is one.
    pub(super) fn ends(&self, who: SubscriberId, id: NameId) -> Option<(u32, u32)> {
        let (edges, items) = (self.edges(id), self.items_of(who));
        if edges.len() <= items.len() {
            let position = edges.iter().position(|edge| edge.who == who.0)?;
            Some((position as u32, edges[position].slot))
        } else {
            let slot = items.iter().position(|item| item.name == id)?;
            Some((items[slot].position, slot as u32))
        }
    }

    pub(super) fn insert_name(&mut self, kind: Kind, hash: u64, name: &[u8]) -> NameId {
        let index = self.names[kind as usize].insert(&self.hasher, hash, name);
        if kind == Kind::Pattern {
            self.patterns.insert(index, name);
        }
        NameId::new(kind, index)
    }

    pub(super) fn remove_name(&mut self, id: NameId) -> Box<[u8]> {
        let name = self.names[id.kind() as usize].remove(&self.hasher, id.index());
        if id.kind() == Kind::Pattern {
            self.patterns.remove(id.index(), &name);
        }
        name
    }

    /// Adds both ends of a subscription and returns how many the name has now.
    pub(super) fn connect(&mut self, who: SubscriberId, id: NameId, weight: W) -> usize {
        while self.subscribers.len() <= who.0 as usize {
            self.subscribers.push(Subscriber::default());
        }
        let subscriber = &mut self.subscribers[who.0];
        let edges = self.names[id.kind() as usize].edges_mut(id.index());
        let (position, slot) = (edges.len() as u32, subscriber.items.len() as u32);
        let edge = Edge {
            who: who.0,
            slot,
            weight,
        };
        self.edges.push(edges, edge);
        let item = Item { name: id, position };
        self.items.push(&mut subscriber.items, item);
        match id.kind() {
            Kind::Channel => {}
            Kind::Pattern => subscriber.patterns += 1,
            Kind::Shard => subscriber.shards += 1,
        }
        position as usize + 1
    }

    /// Removes the name's end and returns how many are left.
    pub(super) fn cut_edge(&mut self, id: NameId, position: u32) -> usize {
        let edges = self.names[id.kind() as usize].edges_mut(id.index());
        self.edges.swap_remove(edges, position as usize);
        let (left, moved) = (
            edges.len(),
            self.edges.items(edges).get(position as usize).copied(),
        );
        if let Some(Edge { who, slot, .. }) = moved {
            let items = &mut self.subscribers[who].items;
            self.items.items_mut(items)[slot as usize].position = position;
        }
        left
    }

    /// Removes the subscriber's end.
    pub(super) fn cut_item(&mut self, who: SubscriberId, id: NameId, slot: u32) {
        let subscriber = &mut self.subscribers[who.0];
        match id.kind() {
            Kind::Channel => {}
            Kind::Pattern => subscriber.patterns -= 1,
            Kind::Shard => subscriber.shards -= 1,
        }
        let items = &mut subscriber.items;
        self.items.swap_remove(items, slot as usize);
        let moved = self.items.items(items).get(slot as usize).copied();
        if let Some(Item { name, position }) = moved {
            self.edges_mut(name)[position as usize].slot = slot;
        }
    }
}
