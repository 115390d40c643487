//! Hands out the names of connections, for all transports of one process.
//!
//! Indices stay dense: the one freed last is used first. Each use of an index has another
//! generation, and generation `u32::MAX` is never handed out, so a transport may use it to name
//! things that are not connections. After 2³² − 1 uses of one index its generations repeat; a name
//! that old has no holder left.

use std::cell::RefCell;
use std::rc::Rc;

use goblin_protocol::service::ConnectionId;

/// The allocator. A clone is another handle to the same one.
#[derive(Clone, Debug, Default)]
pub struct ConnectionIds {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The generation that each index has, or will have at its next use.
    generations: Vec<u32>,
    free: Vec<u32>,
}

impl ConnectionIds {
    /// An allocator that has handed out nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A name that no living connection has; `None` once 2³² indices are in use.
    pub(crate) fn allocate(&self) -> Option<ConnectionId> {
        let mut inner = self.inner.borrow_mut();
        if let Some(index) = inner.free.pop() {
            let generation = *inner.generations.get(index as usize)?;
            return Some(ConnectionId { index, generation });
        }
        let index = u32::try_from(inner.generations.len()).ok()?;
        inner.generations.push(0);
        Some(ConnectionId {
            index,
            generation: 0,
        })
    }

    /// Takes a name back. A name that is not in use is left alone.
    pub(crate) fn release(&self, id: ConnectionId) {
        let mut inner = self.inner.borrow_mut();
        let Some(generation) = inner.generations.get_mut(id.index as usize) else {
            return;
        };
        if *generation != id.generation {
            return;
        }
        *generation = match id.generation + 1 {
            u32::MAX => 0,
            next => next,
        };
        inner.free.push(id.index);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn two_handles_never_hand_out_the_same_name() {
        let first = ConnectionIds::new();
        let second = first.clone();
        let names: HashSet<_> = (0..100)
            .map(|step| {
                if step % 2 == 0 {
                    first.allocate()
                } else {
                    second.allocate()
                }
            })
            .map(Option::unwrap)
            .collect();
        assert_eq!(names.len(), 100);
        assert!(names.iter().all(|id| id.index < 100));
    }

    #[test]
    fn a_reused_index_carries_another_generation() {
        let ids = ConnectionIds::new();
        let old = ids.allocate().unwrap();
        ids.release(old);
        let new = ids.allocate().unwrap();
        assert_eq!(new.index, old.index);
        assert_ne!(new.generation, old.generation);
    }

    #[test]
    fn releasing_an_old_name_does_not_free_its_successor() {
        let ids = ConnectionIds::new();
        let old = ids.allocate().unwrap();
        ids.release(old);
        let new = ids.allocate().unwrap();
        ids.release(old);
        assert_ne!(ids.allocate().unwrap().index, new.index);
    }

    #[test]
    fn the_last_generation_is_skipped() {
        let ids = ConnectionIds::new();
        ids.inner.borrow_mut().generations.push(u32::MAX - 1);
        ids.release(ConnectionId {
            index: 0,
            generation: u32::MAX - 1,
        });
        assert_eq!(ids.allocate().unwrap().generation, 0);
    }
}
