//! Queueing bytes, and writing what was flushed.

use goblin_xlio_sys::{GROUP_FLAG_DIRTY, SEND_FLAG_FLUSH, SEND_FLAG_INLINE};

use crate::library::{Library, lock};
use crate::polling;
use crate::rule::{Rule, broken};
use crate::socket::State;
use crate::system::Foreign;
use crate::upcall::{self, Upcall};

/// What is to be sent.
#[derive(Debug)]
pub(crate) enum Bytes {
    /// Copies, one per vector.
    Copied(Vec<Vec<u8>>),
    /// Addresses, and the userdata of the completion.
    Foreign(Vec<Foreign>, usize),
}

/// Queues all of it or, except copies of several vectors, nothing.
pub(crate) fn send(handle: usize, bytes: Bytes, flags: u32) -> Result<(), i32> {
    if upcall::forbids_sending() {
        broken(Rule::SendInCallback, handle);
    }
    let mut library = lock();
    let socket = library.sending_socket(handle);
    if socket.destroyed {
        broken(Rule::SendAfterDestroy, handle);
    }
    if let Some(error) = socket.cannot_send() {
        return Err(error);
    }
    library.queue(handle, bytes)?;
    let flush = flags & SEND_FLAG_FLUSH != 0;
    library.mark(handle, flush);
    if flush {
        library.write_unless_deferred(handle);
    }
    drop(library);
    if flush {
        complete_now(handle);
    }
    Ok(())
}

/// Writes what a socket has queued.
pub(crate) fn flush(handle: usize) {
    let mut library = lock();
    library.sending_socket(handle);
    library.mark(handle, true);
    library.write_unless_deferred(handle);
    drop(library);
    complete_now(handle);
}

/// Writes what the sockets of a DIRTY group have queued.
pub(crate) fn flush_group(group: usize) {
    let mut library = lock();
    let dirty = std::mem::take(&mut library.group(group).dirty);
    for handle in &dirty {
        library.any_socket(*handle).output.flush();
        library.write_unless_deferred(*handle);
    }
    drop(library);
    for handle in dirty {
        complete_now(handle);
    }
}

/// In one strict mode a flush completes what it can.
fn complete_now(handle: usize) {
    let mut library = lock();
    if !library.settings.complete_in_flush {
        return;
    }
    let Some(socket) = library.sockets.get_mut(&handle) else {
        return;
    };
    let Some(group) = socket.group else {
        return;
    };
    let completed = socket.completed();
    let upcalls = completed.into_iter();
    let upcalls: Vec<_> = upcalls
        .map(|it| Upcall::Completed(handle, None, it))
        .collect();
    drop(library);
    polling::make_all(group, &upcalls);
}

impl Library {
    fn queue(&mut self, handle: usize, bytes: Bytes) -> Result<(), i32> {
        let fails = self.random.in_a_thousand(self.settings.enomem);
        let pieces = match &bytes {
            Bytes::Copied(pieces) => pieces.len() as u64,
            Bytes::Foreign(..) => 0,
        };
        let before_failure = self.random.below(pieces) as usize;
        let output = &mut self.any_socket(handle).output;
        match bytes {
            Bytes::Copied(mut pieces) => {
                if fails {
                    pieces.truncate(before_failure);
                }
                for piece in pieces {
                    output.copy(piece);
                }
            }
            Bytes::Foreign(places, userdata) if !fails => output.refer(places, userdata),
            Bytes::Foreign(..) => {}
        }
        if fails { Err(libc::ENOMEM) } else { Ok(()) }
    }

    /// Notes that there is something to write, now or at the group's flush.
    fn mark(&mut self, handle: usize, flush: bool) {
        let socket = self.any_socket(handle);
        if flush {
            socket.output.flush();
        }
        let unflushed = socket.output.has_unflushed();
        let Some(group) = socket.group.and_then(|it| self.groups.get_mut(&it)) else {
            return;
        };
        group.active.insert(handle);
        if group.attr.flags & GROUP_FLAG_DIRTY == 0 {
            return;
        }
        let listed = group.dirty.contains(&handle);
        if flush && listed {
            broken(Rule::FlushAndDirty, handle);
        }
        if unflushed && !listed {
            group.dirty.push(handle);
        }
    }

    fn write_unless_deferred(&mut self, handle: usize) {
        let socket = self.any_socket(handle);
        let sends = matches!(socket.state, State::Established | State::Closing(_));
        if sends && !upcall::defers_output_of(handle) {
            socket.write();
        }
    }
}

/// Whether the flags ask for a copy.
pub(crate) fn is_inline(flags: u32) -> bool {
    flags & SEND_FLAG_INLINE != 0
}
