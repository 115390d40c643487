//! Requests as the words that a RESP client would send, so that everything behind the parser is the
//! same for both.

use super::Group;
use super::messages::{
    Condition, ConfigSetSettings, Expiry, FlushMode, HMSetPairs, HSetPairs, Hello, MSetPairs,
    RangeBy, Request, Set, ZAdd, ZCount, ZRange,
};
use crate::limits;
use crate::resp::{Arguments, OwnedRequest, format_double, format_integer};

/// Room for a request's words, reused from request to request: one per thread serves all its
/// connections. Between requests none of its buffers is larger than [`limits::IDLE_BUFFER_BYTES_MAX`].
#[derive(Debug, Default)]
pub struct Words {
    request: OwnedRequest,
    /// A word under construction.
    number: Vec<u8>,
    /// What an emptied inbox left for the next that needs a buffer.
    pub(super) spare: Vec<u8>,
}

impl Words {
    /// The words of the request last filled in.
    #[must_use]
    pub fn arguments(&self) -> Arguments<'_> {
        self.request.arguments()
    }

    /// Replaces the words by those of `request`.
    pub fn fill(&mut self, request: &Request<'_>) {
        self.request.clear();
        self.put(request);
    }

    /// Gives back what a huge request needed.
    pub(super) fn settle(&mut self) {
        if self.request.memory() > limits::IDLE_BUFFER_BYTES_MAX {
            self.request = OwnedRequest::default();
        }
    }

    /// One arm per template, in the schema's order.
    fn put(&mut self, request: &Request<'_>) -> &mut Self {
        match *request {
            Request::AnyCommand(m) => self.list(&[], m.words),

            Request::Ping(m) => self.with_optional(&[b"PING"], m.message),
            Request::Echo(m) => self.all(&[b"ECHO", m.message]),
            Request::Hello(m) => self.hello(m),
            Request::Auth(m) if m.user.is_empty() => self.all(&[b"AUTH", m.password]),
            Request::Auth(m) => self.all(&[b"AUTH", m.user, m.password]),
            Request::Select(m) => self.all(&[b"SELECT"]).integer(m.index),
            Request::Quit(_) => self.all(&[b"QUIT"]),
            Request::Reset(_) => self.all(&[b"RESET"]),
            Request::ClientId(_) => self.all(&[b"CLIENT", b"ID"]),
            Request::ClientSetName(m) => self.all(&[b"CLIENT", b"SETNAME", m.name]),
            Request::ClientGetName(_) => self.all(&[b"CLIENT", b"GETNAME"]),
            Request::ClientSetInfo(m) => self.all(&[b"CLIENT", b"SETINFO", m.attribute, m.value]),
            Request::ClientInfo(_) => self.all(&[b"CLIENT", b"INFO"]),

            Request::Subscribe(m) => self.list(&[b"SUBSCRIBE"], m.channels),
            Request::PSubscribe(m) => self.list(&[b"PSUBSCRIBE"], m.patterns),
            Request::SSubscribe(m) => self.list(&[b"SSUBSCRIBE"], m.channels),
            Request::Unsubscribe(m) => self.list(&[b"UNSUBSCRIBE"], m.channels),
            Request::PUnsubscribe(m) => self.list(&[b"PUNSUBSCRIBE"], m.patterns),
            Request::SUnsubscribe(m) => self.list(&[b"SUNSUBSCRIBE"], m.channels),
            Request::Publish(m) => self.all(&[b"PUBLISH", m.channel, m.payload]),
            Request::SPublish(m) => self.all(&[b"SPUBLISH", m.channel, m.payload]),
            Request::PubSubChannels(m) => self.with_optional(&[b"PUBSUB", b"CHANNELS"], m.pattern),
            Request::PubSubNumSub(m) => self.list(&[b"PUBSUB", b"NUMSUB"], m.channels),
            Request::PubSubNumPat(_) => self.all(&[b"PUBSUB", b"NUMPAT"]),
            Request::PubSubShardChannels(m) => {
                self.with_optional(&[b"PUBSUB", b"SHARDCHANNELS"], m.pattern)
            }
            Request::PubSubShardNumSub(m) => self.list(&[b"PUBSUB", b"SHARDNUMSUB"], m.channels),

            Request::Del(m) => self.list(&[b"DEL"], m.keys),
            Request::Exists(m) => self.list(&[b"EXISTS"], m.keys),
            Request::Type(m) => self.all(&[b"TYPE", m.key]),
            Request::Expire(m) => self.expire(b"EXPIRE", m.key, m.seconds, m.condition),
            Request::PExpire(m) => self.expire(b"PEXPIRE", m.key, m.milliseconds, m.condition),
            Request::ExpireAt(m) => self.expire(b"EXPIREAT", m.key, m.unix_seconds, m.condition),
            Request::PExpireAt(m) => {
                self.expire(b"PEXPIREAT", m.key, m.unix_milliseconds, m.condition)
            }
            Request::Ttl(m) => self.all(&[b"TTL", m.key]),
            Request::PTtl(m) => self.all(&[b"PTTL", m.key]),
            Request::ExpireTime(m) => self.all(&[b"EXPIRETIME", m.key]),
            Request::PExpireTime(m) => self.all(&[b"PEXPIRETIME", m.key]),
            Request::Persist(m) => self.all(&[b"PERSIST", m.key]),
            Request::Keys(m) => self.all(&[b"KEYS", m.pattern]),

            Request::Set(m) => self.set(m),
            Request::Get(m) => self.all(&[b"GET", m.key]),
            Request::MGet(m) => self.list(&[b"MGET"], m.keys),
            Request::MSet(m) => {
                self.all(&[b"MSET"]);
                for MSetPairs { key, value } in m.pairs {
                    self.all(&[key, value]);
                }
                self
            }
            Request::StrLen(m) => self.all(&[b"STRLEN", m.key]),
            Request::Append(m) => self.all(&[b"APPEND", m.key, m.value]),
            Request::GetDel(m) => self.all(&[b"GETDEL", m.key]),
            Request::GetSet(m) => self.all(&[b"GETSET", m.key, m.value]),
            Request::SetNx(m) => self.all(&[b"SETNX", m.key, m.value]),
            Request::SetEx(m) => self
                .all(&[b"SETEX", m.key])
                .integer(m.seconds)
                .all(&[m.value]),
            Request::PSetEx(m) => self
                .all(&[b"PSETEX", m.key])
                .integer(m.milliseconds)
                .all(&[m.value]),
            Request::Incr(m) => self.all(&[b"INCR", m.key]),
            Request::Decr(m) => self.all(&[b"DECR", m.key]),
            Request::IncrBy(m) => self.all(&[b"INCRBY", m.key]).integer(m.increment),
            Request::DecrBy(m) => self.all(&[b"DECRBY", m.key]).integer(m.decrement),

            Request::HSet(m) => {
                self.all(&[b"HSET", m.key]);
                for HSetPairs { field, value } in m.pairs {
                    self.all(&[field, value]);
                }
                self
            }
            Request::HGet(m) => self.all(&[b"HGET", m.key, m.field]),
            Request::HDel(m) => self.list(&[b"HDEL", m.key], m.fields),
            Request::HGetAll(m) => self.all(&[b"HGETALL", m.key]),
            Request::HLen(m) => self.all(&[b"HLEN", m.key]),
            Request::HMGet(m) => self.list(&[b"HMGET", m.key], m.fields),
            Request::HMSet(m) => {
                self.all(&[b"HMSET", m.key]);
                for HMSetPairs { field, value } in m.pairs {
                    self.all(&[field, value]);
                }
                self
            }
            Request::HExists(m) => self.all(&[b"HEXISTS", m.key, m.field]),
            Request::HKeys(m) => self.all(&[b"HKEYS", m.key]),
            Request::HVals(m) => self.all(&[b"HVALS", m.key]),
            Request::HIncrBy(m) => self.all(&[b"HINCRBY", m.key, m.field]).integer(m.increment),

            Request::ZAdd(m) => self.z_add(m),
            Request::ZScore(m) => self.all(&[b"ZSCORE", m.key, m.member]),
            Request::ZMScore(m) => self.list(&[b"ZMSCORE", m.key], m.members),
            Request::ZRem(m) => self.list(&[b"ZREM", m.key], m.members),
            Request::ZCard(m) => self.all(&[b"ZCARD", m.key]),
            Request::ZRange(m) => self.z_range(m),
            Request::ZRank(m) => self
                .all(&[b"ZRANK", m.key, m.member])
                .when(m.with_score, b"WITHSCORE"),
            Request::ZRevRank(m) => self
                .all(&[b"ZREVRANK", m.key, m.member])
                .when(m.with_score, b"WITHSCORE"),
            Request::ZIncrBy(m) => self
                .all(&[b"ZINCRBY", m.key])
                .double(false, m.increment)
                .all(&[m.member]),
            Request::ZCount(ZCount {
                key,
                min,
                max,
                min_exclusive,
                max_exclusive,
            }) => self
                .all(&[b"ZCOUNT", key])
                .double(min_exclusive, min)
                .double(max_exclusive, max),

            Request::Multi(_) => self.all(&[b"MULTI"]),
            Request::Exec(_) => self.all(&[b"EXEC"]),
            Request::Discard(_) => self.all(&[b"DISCARD"]),

            Request::Time(_) => self.all(&[b"TIME"]),
            Request::Info(m) => self.list(&[b"INFO"], m.sections),
            Request::DbSize(_) => self.all(&[b"DBSIZE"]),
            Request::FlushAll(m) => self.all(&[b"FLUSHALL"]).flush_mode(m.mode),
            Request::FlushDb(m) => self.all(&[b"FLUSHDB"]).flush_mode(m.mode),
            Request::ConfigGet(m) => self.list(&[b"CONFIG", b"GET"], m.parameters),
            Request::ConfigSet(m) => {
                self.all(&[b"CONFIG", b"SET"]);
                for ConfigSetSettings { parameter, value } in m.settings {
                    self.all(&[parameter, value]);
                }
                self
            }
        }
    }

    fn hello(&mut self, m: Hello<'_>) -> &mut Self {
        self.all(&[b"HELLO", b"3"]);
        if !m.user.is_empty() {
            self.all(&[b"AUTH", m.user, m.password]);
        }
        if !m.client_name.is_empty() {
            self.all(&[b"SETNAME", m.client_name]);
        }
        self
    }

    fn set(&mut self, m: Set<'_>) -> &mut Self {
        self.all(&[b"SET", m.key, m.value])
            .condition(m.condition)
            .when(m.answer_old, b"GET");
        match m.expiry_kind {
            Expiry::None => self,
            Expiry::InSeconds => self.all(&[b"EX"]).integer(m.expiry),
            Expiry::InMilliseconds => self.all(&[b"PX"]).integer(m.expiry),
            Expiry::AtSeconds => self.all(&[b"EXAT"]).integer(m.expiry),
            Expiry::AtMilliseconds => self.all(&[b"PXAT"]).integer(m.expiry),
            Expiry::Keep => self.all(&[b"KEEPTTL"]),
        }
    }

    fn z_add(&mut self, m: ZAdd<'_>) -> &mut Self {
        self.all(&[b"ZADD", m.key])
            .condition(m.condition)
            .condition(m.comparison)
            .when(m.count_changed, b"CH")
            .when(m.increment, b"INCR");
        for entry in m.members {
            self.double(false, entry.score).all(&[entry.member]);
        }
        self
    }

    fn z_range(&mut self, m: ZRange<'_>) -> &mut Self {
        self.all(&[b"ZRANGE", m.key, m.start, m.stop])
            .when(m.by == RangeBy::Score, b"BYSCORE")
            .when(m.by == RangeBy::Name, b"BYLEX")
            .when(m.reverse, b"REV");
        if m.limited {
            self.all(&[b"LIMIT"]).integer(m.offset).integer(m.count);
        }
        self.when(m.with_scores, b"WITHSCORES")
    }

    fn expire(&mut self, name: &[u8], key: &[u8], at: i64, condition: Condition) -> &mut Self {
        self.all(&[name, key]).integer(at).condition(condition)
    }

    fn flush_mode(&mut self, mode: FlushMode) -> &mut Self {
        self.when(mode == FlushMode::Async, b"ASYNC")
            .when(mode == FlushMode::Sync, b"SYNC")
    }

    fn condition(&mut self, condition: Condition) -> &mut Self {
        match condition {
            Condition::Always => self,
            Condition::IfAbsent => self.all(&[b"NX"]),
            Condition::IfPresent => self.all(&[b"XX"]),
            Condition::IfGreater => self.all(&[b"GT"]),
            Condition::IfLess => self.all(&[b"LT"]),
        }
    }

    fn all(&mut self, words: &[&[u8]]) -> &mut Self {
        for word in words {
            self.request.push(word);
        }
        self
    }

    fn list(&mut self, words: &[&[u8]], more: Group<'_, &[u8]>) -> &mut Self {
        self.all(words);
        for word in more {
            self.request.push(word);
        }
        self
    }

    fn with_optional(&mut self, words: &[&[u8]], word: &[u8]) -> &mut Self {
        self.all(words).when(!word.is_empty(), word)
    }

    fn when(&mut self, applies: bool, word: &[u8]) -> &mut Self {
        if applies {
            self.request.push(word);
        }
        self
    }

    fn integer(&mut self, value: i64) -> &mut Self {
        self.number.clear();
        format_integer(value, &mut self.number);
        self.request.push(&self.number);
        self
    }

    fn double(&mut self, is_exclusive: bool, value: f64) -> &mut Self {
        self.number.clear();
        if is_exclusive {
            self.number.push(b'(');
        }
        format_double(value, &mut self.number);
        self.request.push(&self.number);
        self
    }
}
