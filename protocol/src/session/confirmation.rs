//! What a client is told when it has subscribed or unsubscribed.

use crate::resp::Writer;
use crate::table::Kind;

/// The first words of a kind's confirmations: subscribed, unsubscribed.
#[must_use]
pub const fn subscription_words(kind: Kind) -> (&'static [u8], &'static [u8]) {
    match kind {
        Kind::Channel => (b"subscribe", b"unsubscribe"),
        Kind::Pattern => (b"psubscribe", b"punsubscribe"),
        Kind::Shard => (b"ssubscribe", b"sunsubscribe"),
    }
}

/// Writes one confirmation: the word, the name (none when there was nothing to unsubscribe from) and
/// how many subscriptions are left.
pub fn write_confirmation(reply: &mut Writer<'_>, word: &[u8], name: Option<&[u8]>, count: usize) {
    reply.push(3);
    reply.bulk(word);
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
}
