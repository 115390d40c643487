//! Who is subscribed to what: channels, patterns and shard channels, with the way back from a
//! subscriber to its own subscriptions, and the index that finds the patterns a channel matches.
//!
//! The relation is kept at both ends. A name has a contiguous list of edges `(subscriber, slot)`;
//! a subscriber has one list of items `(name, position)` for all kinds; slot and position point at
//! each other, so that either end is removed by moving the last element into its place.
//!
//! * A name exists exactly as long as it has a subscriber; a pattern is in the index just as long.
//! * `subscribers` is one hash lookup, hashed once. Publishing allocates nothing.
//! * Finding one subscription looks through the shorter of the two lists. `remove` costs what the
//!   subscriber itself has, however many others share its names.
//! * A subscription costs at most 64 bytes beyond its name, in every shape of the relation: 12 for
//!   hashing a name when the hash table has just grown, 32 for the name's entry, 20 for the
//!   subscriber and, where lists are longer than one, 8 to 16 (weights of four bytes: 12 to 24)
//!   and 8 to 16 instead of a part of these. A pattern costs what the index needs besides.
//! * The order of subscribers, and of a subscriber's names, changes when one is removed.
//!
//! Names come from peers, hence the keyed hash; the key is handed in.

mod chunked;
mod list;
mod names;
mod patterns;
mod relation;

use std::slice;

use ahash::RandomState;

use chunked::Chunked;
use list::Pool;
use names::{Edge, Names};
use patterns::PatternIndex;
use relation::{Item, NameId, Subscriber};

/// What a subscription is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A channel: `SUBSCRIBE`.
    Channel,
    /// A pattern of channels: `PSUBSCRIBE`.
    Pattern,
    /// A shard channel: `SSUBSCRIBE`.
    Shard,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Channel, Self::Pattern, Self::Shard];
}

/// Names a subscriber. The owner of the table chooses the numbers and keeps them dense: the table
/// has 20 bytes for each number up to the largest that ever subscribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriberId(pub u32);

/// The key of the table's hash: random, so that no peer can choose names that collide.
#[derive(Clone, Copy)]
pub struct HashSeed(pub [u64; 4]);

/// Names a pattern as long as somebody is subscribed to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatternId(u32);

/// What `subscribe` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscribed {
    /// A new subscription.
    Added {
        /// How many subscribers the name has now.
        subscribers: usize,
    },
    /// There was one; its weight is the new one now.
    Already,
}

/// The subscriptions. `W` is a weight that each of them carries: nothing where a subscriber is one
/// client, a count where it stands for many.
pub struct SubscriptionTable<W = ()> {
    hasher: RandomState,
    /// By kind.
    names: [Names<W>; 3],
    edges: Pool<Edge<W>>,
    subscribers: Chunked<Subscriber>,
    items: Pool<Item>,
    patterns: PatternIndex,
}

impl<W: Copy + Default> SubscriptionTable<W> {
    /// An empty table.
    #[must_use]
    pub fn new(seed: HashSeed) -> Self {
        let HashSeed([a, b, c, d]) = seed;
        Self {
            hasher: RandomState::with_seeds(a, b, c, d),
            names: [Names::new(), Names::new(), Names::new()],
            edges: Pool::new(),
            subscribers: Chunked::new(),
            items: Pool::new(),
            patterns: PatternIndex::new(),
        }
    }

    /// Subscribes `who` to `name`, or gives an existing subscription another weight.
    pub fn subscribe(
        &mut self,
        who: SubscriberId,
        kind: Kind,
        name: &[u8],
        weight: W,
    ) -> Subscribed {
        let hash = hash(&self.hasher, name);
        let id = match self.names[kind as usize].find(hash, name) {
            Some((index, _)) => {
                let id = NameId::new(kind, index);
                if let Some((position, _)) = self.ends(who, id) {
                    self.edges_mut(id)[position as usize].weight = weight;
                    return Subscribed::Already;
                }
                id
            }
            None => self.insert_name(kind, hash, name),
        };
        Subscribed::Added {
            subscribers: self.connect(who, id, weight),
        }
    }

    /// Ends a subscription and returns how many subscribers the name has left; `None` when there
    /// was no such subscription.
    pub fn unsubscribe(&mut self, who: SubscriberId, kind: Kind, name: &[u8]) -> Option<usize> {
        let id = self.find(kind, name)?;
        let (position, slot) = self.ends(who, id)?;
        self.cut_item(who, id, slot);
        let left = self.cut_edge(id, position);
        if left == 0 {
            self.remove_name(id);
        }
        Some(left)
    }

    /// Ends all subscriptions of `who`, and tells `each` the kind, the name, and how many
    /// subscribers the name has left.
    pub fn remove(&mut self, who: SubscriberId, mut each: impl FnMut(Kind, &[u8], usize)) {
        if self.subscribers.get(who.0).is_none() {
            return;
        }
        let mut items = std::mem::take(&mut self.subscribers[who.0]).items;
        for at in 0..items.len() {
            let Item { name: id, position } = self.items.items(&items)[at];
            let left = self.cut_edge(id, position);
            if left == 0 {
                let name = self.remove_name(id);
                each(id.kind(), &name, left);
            } else {
                each(id.kind(), self.name(id), left);
            }
        }
        self.items.release(&mut items);
    }

    /// Whether `who` is subscribed to `name`.
    #[must_use]
    pub fn is_subscribed(&self, who: SubscriberId, kind: Kind, name: &[u8]) -> bool {
        self.find(kind, name)
            .is_some_and(|id| self.ends(who, id).is_some())
    }

    /// How many subscriptions of one kind `who` has.
    #[must_use]
    pub fn count(&self, who: SubscriberId, kind: Kind) -> usize {
        let Some(subscriber) = self.subscribers.get(who.0) else {
            return 0;
        };
        let [patterns, shards] =
            [subscriber.patterns, subscriber.shards].map(|count| count as usize);
        match kind {
            Kind::Channel => subscriber.items.len() - patterns - shards,
            Kind::Pattern => patterns,
            Kind::Shard => shards,
        }
    }

    /// The names of one kind that `who` is subscribed to. Looks through all that it has.
    pub fn names_of(&self, who: SubscriberId, kind: Kind) -> impl Iterator<Item = &[u8]> {
        self.items_of(who)
            .iter()
            .filter(move |item| item.name.kind() == kind)
            .map(|item| self.name(item.name))
    }

    /// Who is subscribed to exactly `name`.
    #[must_use]
    pub fn subscribers(&self, kind: Kind, name: &[u8]) -> Subscribers<'_, W> {
        let found = self.names[kind as usize].find(hash(&self.hasher, name), name);
        Subscribers::new(found.map_or(&[], |(_, entry)| self.edges.items(&entry.edges)))
    }

    /// Replaces what is in `into` by the patterns that match `channel`, each once. Takes time by
    /// the patterns that can match, not by all there are.
    pub fn matching(&self, channel: &[u8], into: &mut Vec<PatternId>) {
        into.clear();
        self.patterns.matching(channel, into);
    }

    /// A pattern and its subscribers. Empty once nobody is subscribed to it.
    #[must_use]
    pub fn pattern(&self, id: PatternId) -> (&[u8], Subscribers<'_, W>) {
        match self.names[Kind::Pattern as usize].get(id.0) {
            Some(entry) => (
                &entry.name,
                Subscribers::new(self.edges.items(&entry.edges)),
            ),
            None => (&[], Subscribers::new(&[])),
        }
    }

    /// All names of one kind that have subscribers.
    pub fn names(&self, kind: Kind) -> impl Iterator<Item = (&[u8], Subscribers<'_, W>)> {
        self.names[kind as usize].iter().map(|entry| {
            let subscribers = Subscribers::new(self.edges.items(&entry.edges));
            (&*entry.name, subscribers)
        })
    }

    /// How many names of one kind have subscribers.
    #[must_use]
    pub fn distinct(&self, kind: Kind) -> usize {
        self.names[kind as usize].len()
    }
}

/// The subscribers of one name, with their weights.
#[derive(Clone)]
pub struct Subscribers<'a, W> {
    edges: slice::Iter<'a, Edge<W>>,
}

impl<'a, W> Subscribers<'a, W> {
    fn new(edges: &'a [Edge<W>]) -> Self {
        Self {
            edges: edges.iter(),
        }
    }
}

impl<W: Copy> Iterator for Subscribers<'_, W> {
    type Item = (SubscriberId, W);

    fn next(&mut self) -> Option<Self::Item> {
        self.edges
            .next()
            .map(|edge| (SubscriberId(edge.who), edge.weight))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.edges.size_hint()
    }
}

impl<W: Copy> ExactSizeIterator for Subscribers<'_, W> {}

/// The table's hash of a name.
#[inline]
fn hash(hasher: &RandomState, name: &[u8]) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = hasher.build_hasher();
    hasher.write(name);
    hasher.finish()
}
