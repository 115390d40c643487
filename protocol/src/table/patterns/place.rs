//! Where a pattern belongs in the trie.

use super::shape::{Step, Via};
use super::{PatternIndex, ROOT, WILDS_MAX};
use crate::glob::{self, Token};

/// Where a pattern is, or goes.
pub(super) struct Place<'a> {
    pub(super) node: u32,
    pub(super) what: What,
    pub(super) steps: Vec<Step<'a>>,
    /// The node with the last star before this place.
    pub(super) owner: Option<u32>,
    /// Bytes of the name between that star and this place.
    pub(super) width: u32,
}

pub(super) enum What {
    End,
    Tail,
    Crowd,
}

impl PatternIndex {
    /// Finds the place of a pattern, building the way there where it does not exist. The last node
    /// is one even if it could be less: `compact` undoes that.
    pub(super) fn place<'a>(&mut self, pattern: &'a [u8]) -> Place<'a> {
        let mut place = Place {
            node: ROOT,
            what: What::End,
            steps: Vec::new(),
            owner: None,
            width: 0,
        };
        let mut literals = Vec::new();
        let mut wilds = 0;
        let mut rest = pattern;
        while let Some((token, after)) = glob::next_token(rest) {
            rest = after;
            if let Token::Literal(byte) = token {
                literals.push(byte);
                continue;
            }
            self.follow_literals(&mut place, &literals);
            literals.clear();
            if token == Token::Star && rest.is_empty() {
                place.what = What::Tail;
                return place;
            }
            if wilds == WILDS_MAX {
                place.what = What::Crowd;
                return place;
            }
            wilds += 1;
            self.follow_wild(&mut place, token);
        }
        self.follow_literals(&mut place, &literals);
        place
    }

    fn follow_literals(&mut self, place: &mut Place<'_>, mut literals: &[u8]) {
        place.width += literals.len() as u32;
        while let [first, rest @ ..] = literals {
            let step = Step {
                parent: place.node,
                via: Via::Byte(*first),
            };
            place.steps.push(step);
            let (node, new) = self.resolve(step);
            if new {
                self.nodes[node as usize].set_label(rest);
            }
            let label = self.nodes[node as usize].label();
            let common = rest.iter().zip(label).take_while(|(a, b)| a == b).count();
            place.node = if common < label.len() {
                self.split(step, node, common)
            } else {
                node
            };
            literals = &rest[common..];
        }
    }

    fn follow_wild<'a>(&mut self, place: &mut Place<'a>, token: Token<'a>) {
        let at = place.node;
        place.width += 1;
        let via = match token {
            Token::Class(inside) => Via::Class(inside),
            Token::Star => Via::Star { owner: place.owner },
            Token::Any | Token::Literal(_) => Via::Any,
        };
        let step = Step { parent: at, via };
        let (node, new) = self.resolve(step);
        if let Via::Star { owner } = via {
            if let (true, Some(owner)) = (new, owner) {
                self.nodes[owner as usize].wild_mut().star.onces += 1;
            }
            place.owner = Some(at);
            place.width = 0;
        }
        place.steps.push(step);
        place.node = node;
    }
}
