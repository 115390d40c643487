//! What a program must not do, and what happens when it does.

/// A rule of the contract.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    NotInitialised,
    InitAfterExit,
    UnknownSocket,
    UnknownGroup,
    DoubleDestroy,
    DestroyInTerminated,
    DestroyDetached,
    ListenDetached,
    DoubleFree,
    BufferLeak,
    ZeroCopyInFlight,
    ZeroCopyMemory,
    ForeignThread,
    SendAfterDestroy,
    SendInCallback,
    PollInCallback,
    GroupDestroyInCallback,
    DetachInCallback,
    DetachUnflushed,
    MigrateInFlight,
    FlushAndDirty,
    SocketLimit,
    PollTooLate,
    UserdataNotSet,
    WildcardListener,
}

impl Rule {
    /// The name that tests and people look for, and what it means.
    fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::NotInitialised => (
                "not-initialised",
                "a socket needs an initialisation that succeeded; a failed one is final",
            ),
            Self::InitAfterExit => ("init-after-exit", "the library starts once per process"),
            Self::UnknownSocket => (
                "unknown-socket",
                "the handle names no socket, or one that is TERMINATED",
            ),
            Self::UnknownGroup => ("unknown-group", "the handle names no group"),
            Self::DoubleDestroy => ("double-destroy", "a socket is destroyed once"),
            Self::DestroyInTerminated => (
                "destroy-in-terminated",
                "a destroy from a TERMINATED callback is lost",
            ),
            Self::DestroyDetached => ("destroy-detached", "attach first, then destroy"),
            Self::ListenDetached => ("listen-detached", "a listener needs a group"),
            Self::DoubleFree => ("double-free", "a receive buffer is freed exactly once"),
            Self::BufferLeak => (
                "buffer-leak",
                "receive buffers are freed before their group is destroyed",
            ),
            Self::ZeroCopyInFlight => (
                "zero-copy-in-flight",
                "completions are waited for before the group is destroyed",
            ),
            Self::ZeroCopyMemory => (
                "zero-copy-memory",
                "the bytes of a zero-copy send stay as they are until it completes",
            ),
            Self::ForeignThread => ("foreign-thread", "a group belongs to one thread"),
            Self::SendAfterDestroy => ("send-after-destroy", "a destroyed socket sends no more"),
            Self::SendInCallback => (
                "send-in-callback",
                "no sending in CLOSED, ERROR and TERMINATED callbacks",
            ),
            Self::PollInCallback => ("poll-in-callback", "callbacks do not poll"),
            Self::GroupDestroyInCallback => (
                "group-destroy-in-callback",
                "callbacks do not destroy groups",
            ),
            Self::DetachInCallback => ("detach-in-callback", "callbacks do not detach"),
            Self::DetachUnflushed => ("detach-unflushed", "flush before detaching"),
            Self::MigrateInFlight => (
                "migrate-in-flight",
                "no zero-copy send is in flight when a socket is detached",
            ),
            Self::FlushAndDirty => (
                "flush-and-dirty",
                "a socket on a DIRTY group's list is flushed with the group only",
            ),
            Self::SocketLimit => (
                "socket-limit",
                "sockets, closing ones included, are counted against RLIMIT_NOFILE",
            ),
            Self::PollTooLate => ("poll-too-late", "a group is polled well below every 100 ms"),
            Self::UserdataNotSet => (
                "userdata-not-set",
                "an accepted socket gets its userdata in the accept callback",
            ),
            Self::WildcardListener => (
                "wildcard-listener",
                "nothing is offloaded on a wildcard address",
            ),
        }
    }
}

/// Ends the process with the rule's name; `culprit` is the handle or address concerned.
pub(crate) fn broken(rule: Rule, culprit: usize) -> ! {
    let (name, meaning) = rule.text();
    eprintln!("xlio-emu: rule broken: {name} ({culprit:#x}): {meaning}");
    std::process::abort()
}
