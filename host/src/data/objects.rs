//! `OBJECT`: the inner form of values.

use super::error::DataError;
use super::{Call, Outcome};
use crate::store::{Encoding, Text, Type};

/// What Redis answers for the numbers that it keeps one copy of.
const SHARED_REFERENCES: i64 = 2_147_483_647;
/// How many there are of them, from 0.
const SHARED_INTEGERS: i64 = 10_000;

/// `OBJECT ENCODING key`
pub(super) fn encoding<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    match call.store.encoding(call.argument(2), call.now) {
        Some(encoding) => call.reply.bulk(encoding.name().as_bytes()),
        None => call.reply.null(),
    }
    Ok(())
}

/// `OBJECT REFCOUNT key`
pub(super) fn refcount<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let key = call.argument(2);
    let Some(encoding) = call.store.encoding(key, call.now) else {
        call.reply.null();
        return Ok(());
    };
    let is_shared = encoding == Encoding::Int
        && matches!(
            call.store.string(key, call.now)?.and_then(Text::integer),
            Some(0..SHARED_INTEGERS)
        );
    call.reply
        .integer(if is_shared { SHARED_REFERENCES } else { 1 });
    Ok(())
}

/// `OBJECT IDLETIME key`. Nobody notes when a key was read: none counts as idle.
pub(super) fn idletime<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    match type_of(call) {
        Some(_) => call.reply.integer(0),
        None => call.reply.null(),
    }
    Ok(())
}

/// `OBJECT FREQ key`
pub(super) fn freq<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    if type_of(call).is_some() {
        return Err(DataError::FrequencyNotTracked);
    }
    call.reply.null();
    Ok(())
}

fn type_of(call: &mut Call<'_, '_>) -> Option<Type> {
    call.store.type_of(call.argument(2), call.now)
}
