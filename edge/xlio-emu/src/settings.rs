//! The environment, read once.

use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// What the environment says. `XLIO_EMU_STRICT=1` turns the defaults of everything marked *strict*
/// to what is in brackets.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// `XLIO_EMU_STRICT`.
    pub(crate) strict: bool,
    /// `XLIO_EMU_SEED`: of everything that is left to chance.
    pub(crate) seed: u64,
    /// `XLIO_EMU_ADDRESSES`: what is offloaded; `None`: loopback.
    pub(crate) addresses: Option<Vec<IpAddr>>,
    /// `XLIO_EMU_INIT_ERRNO`: fail to initialise.
    pub(crate) init_errno: i32,
    /// `XLIO_EMU_RX_MAX`, strict (100): bytes of a receive buffer, from 1 up to this at random;
    /// otherwise as much as there is, up to 64 KiB.
    pub(crate) rx_max: Option<usize>,
    /// `XLIO_EMU_CLOSED_FIRST`, strict (1): CLOSED before the data that came with the end.
    pub(crate) closed_first: bool,
    /// `XLIO_EMU_UNKNOWN`, strict (20): in so many of 1,000 polls, an ERROR of an unknown handle.
    pub(crate) unknown: u64,
    /// `XLIO_EMU_LOSE_DESTROY`: destroys from TERMINATED are lost silently instead of diagnosed.
    pub(crate) lose_destroy: bool,
    /// `XLIO_EMU_ENOMEM`, strict (20): so many of 1,000 sends fail.
    pub(crate) enomem: u64,
    /// `XLIO_EMU_REUSE_HANDLES`, strict (1): a handle comes again at once.
    pub(crate) reuse_handles: bool,
    /// `XLIO_EMU_COMPLETE_IN_FLUSH`, strict (1).
    pub(crate) complete_in_flush: bool,
    /// `XLIO_EMU_DROP_DETACHED`: completions are dropped while detached, instead of diagnosed.
    pub(crate) drop_detached: bool,
    /// `XLIO_EMU_HOLD_TERMINATED`, strict (20): TERMINATED comes up to so many polls later.
    pub(crate) hold_terminated: u64,
    /// `XLIO_EMU_SOCKET_LIMIT`: most sockets.
    pub(crate) socket_limit: usize,
    /// `XLIO_EMU_EARLY`, strict (100): in so many of 1,000 polls, unflushed bytes leave.
    pub(crate) early: u64,
    /// `XLIO_EMU_POLL_LIMIT_MS`: a longer gap between polls is diagnosed; 0: none is.
    pub(crate) poll_limit: Duration,
    /// `XLIO_EMU_FIN_WAIT_MS` (20,000): how long a close waits for the peer's.
    pub(crate) fin_wait: Duration,
    /// `XLIO_TCP_ABORT_ON_CLOSE`, as the real library has it.
    pub(crate) abort_on_close: bool,
    /// `XLIO_MEMORY_LIMIT`: bytes of receive buffers, in the real library's place.
    pub(crate) memory: usize,
}

/// As many bytes of receive buffers as are reserved; they cost nothing until they are used.
const MEMORY: usize = 256 * 1024 * 1024;

impl Settings {
    pub(crate) fn read() -> Self {
        let strict = flag("XLIO_EMU_STRICT", false);
        let or = |value: u64| if strict { value } else { 0 };
        let rx_max = number("XLIO_EMU_RX_MAX", or(100) as usize);
        let limit = number("XLIO_EMU_SOCKET_LIMIT", 0);
        Self {
            strict,
            seed: number("XLIO_EMU_SEED", 1),
            addresses: addresses(),
            init_errno: number("XLIO_EMU_INIT_ERRNO", 0),
            rx_max: (rx_max > 0).then_some(rx_max),
            closed_first: flag("XLIO_EMU_CLOSED_FIRST", strict),
            unknown: number("XLIO_EMU_UNKNOWN", or(20)),
            lose_destroy: flag("XLIO_EMU_LOSE_DESTROY", false),
            enomem: number("XLIO_EMU_ENOMEM", or(20)),
            reuse_handles: flag("XLIO_EMU_REUSE_HANDLES", strict),
            complete_in_flush: flag("XLIO_EMU_COMPLETE_IN_FLUSH", strict),
            drop_detached: flag("XLIO_EMU_DROP_DETACHED", false),
            hold_terminated: number("XLIO_EMU_HOLD_TERMINATED", or(20)),
            socket_limit: if limit == 0 { usize::MAX } else { limit },
            early: number("XLIO_EMU_EARLY", or(100)),
            poll_limit: Duration::from_millis(number("XLIO_EMU_POLL_LIMIT_MS", 0)),
            fin_wait: Duration::from_millis(number("XLIO_EMU_FIN_WAIT_MS", 20_000)),
            abort_on_close: flag("XLIO_TCP_ABORT_ON_CLOSE", false),
            memory: number("XLIO_MEMORY_LIMIT", MEMORY),
        }
    }

    /// Whether connections of this local address are offloaded.
    pub(crate) fn offloads(&self, address: IpAddr) -> bool {
        match &self.addresses {
            Some(listed) => listed.contains(&address),
            None => address.is_loopback(),
        }
    }
}

fn number<T: FromStr>(name: &str, otherwise: T) -> T {
    let value = std::env::var(name).ok();
    value.and_then(|it| it.parse().ok()).unwrap_or(otherwise)
}

fn flag(name: &str, otherwise: bool) -> bool {
    number(name, u32::from(otherwise)) != 0
}

fn addresses() -> Option<Vec<IpAddr>> {
    let list = std::env::var("XLIO_EMU_ADDRESSES").ok()?;
    Some(
        list.split(',')
            .filter_map(|it| it.trim().parse().ok())
            .collect(),
    )
}

/// Chance, from a seed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// From 0 to `bound - 1`; 0 when `bound` is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16).checked_rem(bound).unwrap_or(0)
    }

    /// True so many of 1,000 times.
    pub(crate) fn in_a_thousand(&mut self, times: u64) -> bool {
        times > 0 && self.below(1_000) < times
    }
}
