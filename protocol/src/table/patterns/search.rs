//! The walk of one name down the trie.
//!
//! The recursion is as deep as a pattern in the trie has wild tokens: literals are followed in the
//! loop, after everything else.

use super::super::PatternId;
use super::node::{Content, Node, Ref, Star, Wild};
use super::{PatternIndex, ROOT};
use crate::glob::{self, Token};

/// One query.
struct Search<'a> {
    index: &'a PatternIndex,
    name: &'a [u8],
    /// Its number; no other query of the index has it.
    query: u64,
    into: &'a mut Vec<PatternId>,
}

impl PatternIndex {
    /// Appends every pattern that matches `name`, each once.
    #[inline]
    pub(in super::super) fn matching(&self, name: &[u8], into: &mut Vec<PatternId>) {
        if self.patterns > 0 {
            self.search(name, into);
        }
    }

    fn search(&self, name: &[u8], into: &mut Vec<PatternId>) {
        if name.is_empty() {
            // Not even a star matches the empty name.
            let root = self.nodes[ROOT as usize].extra.as_deref();
            into.extend(root.and_then(|root| root.end).map(PatternId));
            return;
        }
        let query = self.queries.get() + 1;
        self.queries.set(query);
        let mut search = Search {
            index: self,
            name,
            query,
            into,
        };
        search.walk(Ref::node(ROOT), 0, false);
        self.twins.extend(into);
    }
}

impl Search<'_> {
    /// Follows what `reference` leads to with the name from `position` on. `swept`: below a star,
    /// so that the same place may be walked from other positions too. Returns how many places that
    /// need to be reached only once were reached for the first time.
    fn walk(&mut self, mut reference: Ref, mut position: usize, swept: bool) -> u32 {
        let (index, name) = (self.index, self.name);
        let mut reached = 0;
        loop {
            let node = match reference.content() {
                Content::Node(node) => &index.nodes[node as usize],
                Content::Tail(id) => return reached + self.find_once(id, swept),
                Content::End(id) => {
                    if position == name.len() {
                        self.into.push(PatternId(id));
                    }
                    return reached;
                }
                Content::Nothing => return reached,
            };
            if let Some(extra) = &node.extra {
                if !name[position..].starts_with(&extra.label) {
                    return reached;
                }
                position += extra.label.len();
                if let Some(id) = extra.tail {
                    reached += self.find_once(id, swept);
                }
                if let Some(wild) = &extra.wild {
                    reached += self.branch(wild, position, swept);
                }
                if let (Some(id), true) = (extra.end, position == name.len()) {
                    self.into.push(PatternId(id));
                }
            }
            let Some(byte) = name.get(position) else {
                return reached;
            };
            reference = node.child(*byte);
            position += 1;
        }
    }

    /// Notes a pattern, unless this query has found it already.
    fn find_once(&mut self, id: u32, swept: bool) -> u32 {
        if swept && self.index.found[id as usize].replace(self.query) == self.query {
            return 0;
        }
        self.into.push(PatternId(id));
        1
    }

    /// Follows everything but literals.
    fn branch(&mut self, wild: &Wild, position: usize, swept: bool) -> u32 {
        let mut reached = 0;
        if wild.star.root != Ref::NONE && wild.star.reached.replace(self.query) != self.query {
            reached += 1;
            self.sweep(&wild.star, position);
        }
        for (id, pattern) in &wild.crowd {
            if swept && self.index.found[*id as usize].replace(self.query) == self.query {
                continue;
            }
            reached += 1;
            if glob::matches(pattern, self.name) {
                self.into.push(PatternId(*id));
            }
        }
        if let Some(byte) = self.name.get(position) {
            reached += self.walk(wild.any, position + 1, swept);
            for (inside, next) in &wild.classes {
                if Token::Class(inside).accepts(*byte) {
                    reached += self.walk(*next, position + 1, swept);
                }
            }
        }
        reached
    }

    /// Tries what follows a star from `from` and every later position, as far as that can still
    /// find anything.
    fn sweep(&mut self, star: &Star, from: usize) {
        let Content::Node(root) = star.root.content() else {
            return;
        };
        let node: &Node = &self.index.nodes[root as usize];
        let mut pending = star.onces;
        let mut position = from;
        loop {
            if pending == 0 {
                if star.ends == 0 {
                    return;
                }
                let last = self.name.len().saturating_sub(star.width_max as usize);
                position = position.max(last);
            }
            let Some(start) = node.next_start(self.name, position) else {
                return;
            };
            if let Some(wild) = node.wild() {
                pending -= self.branch(wild, start, true);
            }
            position = start + 1;
            pending -= self.walk(node.child(self.name[start]), position, true);
        }
    }
}
