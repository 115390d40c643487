//! The commands on data, as Redis 7.2 executes and answers them.
//!
//! [`execute`] is a list of commands and functions; there is a file per group and a small function
//! per command. A function reads its arguments, whose number the caller has checked against the
//! command's record, works on the [`Store`], and either writes one reply or returns an error before
//! it has written anything.

mod bitfield;
mod bitmaps;
mod error;
mod extended;
mod hashes;
mod keys;
mod lcs;
mod lists;
mod objects;
mod parse;
mod ranges;
mod scan;
mod set_algebra;
mod sets;
mod sorted_sets;
mod strings;
#[cfg(test)]
mod tests;

use goblin_protocol::command::{Command, CommandError, reply};
use goblin_protocol::resp::{Arguments, Writer};
use goblin_protocol::time::Now;

use crate::store::{Digits, End, Store, Text};
use error::DataError;

/// A command being executed.
struct Call<'a, 'w> {
    command: Command,
    arguments: Arguments<'a>,
    store: &'a mut Store,
    now: Now,
    reply: &'a mut Writer<'w>,
}

/// What a command's function returns: its reply is written, or is this error.
type Outcome<'a> = Result<(), DataError<'a>>;

/// Executes a command on data and writes its reply. One that is not a command on data is answered
/// as unknown.
pub fn execute(
    command: Command,
    arguments: Arguments<'_>,
    store: &mut Store,
    now: Now,
    reply: &mut Writer<'_>,
) {
    let call = &mut Call {
        command,
        arguments,
        store,
        now,
        reply,
    };
    let outcome = match command {
        Command::Get => strings::get(call),
        Command::Set => strings::set(call),
        Command::MGet => strings::mget(call),
        Command::MSet => strings::mset(call),
        Command::StrLen => strings::strlen(call),
        Command::Append => strings::append(call),
        Command::GetDel => strings::getdel(call),
        Command::GetSet => strings::getset(call),
        Command::SetNx => strings::setnx(call),
        Command::SetEx => strings::setex(call),
        Command::PSetEx => strings::psetex(call),
        Command::Incr => strings::incr(call),
        Command::Decr => strings::decr(call),
        Command::IncrBy => strings::incrby(call),
        Command::DecrBy => strings::decrby(call),

        Command::GetEx => strings::getex(call),
        Command::SetRange => strings::setrange(call),
        Command::GetRange | Command::SubStr => strings::getrange(call),
        Command::IncrByFloat => strings::incrbyfloat(call),
        Command::MSetNx => strings::msetnx(call),
        Command::Lcs => lcs::lcs(call),

        Command::SetBit => bitmaps::setbit(call),
        Command::GetBit => bitmaps::getbit(call),
        Command::BitCount => bitmaps::bitcount(call),
        Command::BitPos => bitmaps::bitpos(call),
        Command::BitOp => bitmaps::bitop(call),
        Command::BitField => bitfield::bitfield(call),
        Command::BitFieldRo => bitfield::bitfield_ro(call),

        Command::Unlink => keys::del(call),
        Command::Touch => keys::exists(call),
        Command::Rename => keys::rename(call),
        Command::RenameNx => keys::renamenx(call),
        Command::Copy => keys::copy(call),
        Command::RandomKey => keys::randomkey(call),
        Command::Scan => scan::scan(call),
        Command::ObjectEncoding => objects::encoding(call),
        Command::ObjectFreq => objects::freq(call),
        Command::ObjectIdleTime => objects::idletime(call),
        Command::ObjectRefCount => objects::refcount(call),
        Command::ObjectHelp => {
            reply::help(command, call.reply);
            Ok(())
        }
        Command::Del => keys::del(call),
        Command::Exists => keys::exists(call),
        Command::Type => keys::type_of(call),
        Command::Expire => keys::expire(call),
        Command::PExpire => keys::pexpire(call),
        Command::ExpireAt => keys::expireat(call),
        Command::PExpireAt => keys::pexpireat(call),
        Command::Ttl => keys::ttl(call),
        Command::PTtl => keys::pttl(call),
        Command::ExpireTime => keys::expiretime(call),
        Command::PExpireTime => keys::pexpiretime(call),
        Command::Persist => keys::persist(call),
        Command::Keys => keys::keys(call),
        Command::DbSize => keys::dbsize(call),
        Command::FlushAll | Command::FlushDb => keys::flush(call),

        Command::HSet => hashes::hset(call),
        Command::HMSet => hashes::hmset(call),
        Command::HGet => hashes::hget(call),
        Command::HMGet => hashes::hmget(call),
        Command::HDel => hashes::hdel(call),
        Command::HGetAll => hashes::hgetall(call),
        Command::HKeys => hashes::hkeys(call),
        Command::HVals => hashes::hvals(call),
        Command::HLen => hashes::hlen(call),
        Command::HExists => hashes::hexists(call),
        Command::HIncrBy => hashes::hincrby(call),

        Command::HIncrByFloat => hashes::hincrbyfloat(call),
        Command::HRandField => hashes::hrandfield(call),
        Command::HScan => scan::hscan(call),
        Command::HSetNx => hashes::hsetnx(call),
        Command::HStrLen => hashes::hstrlen(call),

        Command::LPush => lists::push(call, End::Left),
        Command::RPush => lists::push(call, End::Right),
        Command::LPushX => lists::pushx(call, End::Left),
        Command::RPushX => lists::pushx(call, End::Right),
        Command::LPop => lists::pop(call, End::Left),
        Command::RPop => lists::pop(call, End::Right),
        Command::LLen => lists::llen(call),
        Command::LRange => lists::lrange(call),
        Command::LTrim => lists::ltrim(call),
        Command::LIndex => lists::lindex(call),
        Command::LSet => lists::lset(call),
        Command::LInsert => lists::linsert(call),
        Command::LRem => lists::lrem(call),
        Command::LPos => lists::lpos(call),
        Command::LMove => lists::lmove(call),
        Command::RPopLPush => lists::rpoplpush(call),
        Command::LMPop => lists::lmpop(call),

        Command::SAdd => sets::sadd(call),
        Command::SRem => sets::srem(call),
        Command::SIsMember => sets::sismember(call),
        Command::SMIsMember => sets::smismember(call),
        Command::SCard => sets::scard(call),
        Command::SMove => sets::smove(call),
        Command::SRandMember => sets::srandmember(call),
        Command::SPop => sets::spop(call),
        Command::SScan => scan::sscan(call),
        Command::SMembers | Command::SInter => set_algebra::sinter(call),
        Command::SUnion => set_algebra::sunion(call),
        Command::SDiff => set_algebra::sdiff(call),
        Command::SInterCard => set_algebra::sintercard(call),
        Command::SInterStore => set_algebra::sinterstore(call),
        Command::SUnionStore => set_algebra::sunionstore(call),
        Command::SDiffStore => set_algebra::sdiffstore(call),

        Command::ZAdd => sorted_sets::zadd(call),
        Command::ZIncrBy => sorted_sets::zincrby(call),
        Command::ZScore => sorted_sets::zscore(call),
        Command::ZMScore => sorted_sets::zmscore(call),
        Command::ZRem => sorted_sets::zrem(call),
        Command::ZCard => sorted_sets::zcard(call),
        Command::ZRank => sorted_sets::zrank(call),
        Command::ZRevRank => sorted_sets::zrevrank(call),
        Command::ZCount => ranges::zcount(call),
        Command::ZRange => ranges::zrange(call),

        _ => Err(CommandError::UnknownCommand(arguments).into()),
    };
    if let Err(error) = outcome {
        call.reply.error(error);
    }
}

impl<'a> Call<'a, '_> {
    /// The argument at `index`, the command's name being at 0; empty beyond the last.
    #[inline]
    fn argument(&self, index: usize) -> &'a [u8] {
        self.arguments.get(index).unwrap_or_default()
    }

    #[inline]
    fn key(&self) -> &'a [u8] {
        self.argument(1)
    }

    fn ok(&mut self) {
        self.reply.simple("OK");
    }

    fn count(&mut self, count: usize) {
        write_count(self.reply, count);
    }
}

fn write_count(reply: &mut Writer<'_>, count: usize) {
    reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
}

#[inline]
fn write_text(reply: &mut Writer<'_>, text: Option<Text<'_>>) {
    match text {
        Some(text) => reply.bulk(text.bytes(&mut Digits::default())),
        None => reply.null(),
    }
}

fn write_score(reply: &mut Writer<'_>, score: Option<f64>) {
    match score {
        Some(score) => reply.double(score),
        None => reply.null(),
    }
}
