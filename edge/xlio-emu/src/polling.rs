//! One poll: destroys, then completions, then what arrived, then time.

use std::os::fd::AsFd;
use std::time::Instant;

use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, sockopt};

use crate::arena::Arena;
use crate::library::{self, Library, lock};
use crate::rule::{Rule, broken};
use crate::socket::{Socket, State};
use crate::upcall::{self, Place, Upcall};

/// Most sockets that one poll reads from, as the real library takes a bounded number of
/// completions.
const READY_MAX: usize = 16;
/// Most buffers that one poll receives of one socket.
const BUFFERS_MAX: usize = 4;

/// Polls a group.
pub(crate) fn poll(group: usize) {
    if upcall::in_callback() {
        broken(Rule::PollInCallback, group);
    }
    lock().note_poll(group);
    let upcalls = lock().begin_destroys(group);
    make_all(group, &upcalls);
    let upcalls = lock().complete(group);
    make_all(group, &upcalls);
    let ready = lock().ready(group);
    for (handle, flags) in ready {
        // Each socket's events are collected after those of the one before were told: a callback
        // may change what is to be told.
        let upcalls = lock().take_events(group, handle, flags);
        make_all(group, &upcalls);
    }
    let upcalls = lock().finish(group);
    make_all(group, &upcalls);
}

/// Destroys a group with everything in it.
pub(crate) fn destroy_group(group: usize) {
    if upcall::in_callback() {
        broken(Rule::GroupDestroyInCallback, group);
    }
    let upcalls = lock().abort_all(group);
    make_all(group, &upcalls);
    let mut library = lock();
    if let Some(slot) = library.arena.as_ref().and_then(|arena| arena.leaked(group)) {
        broken(Rule::BufferLeak, slot as usize);
    }
    library.groups.remove(&group);
}

/// All groups.
pub(crate) fn groups() -> Vec<usize> {
    lock().groups.keys().copied().collect()
}

/// Makes callbacks, in order.
pub(crate) fn make_all(group: usize, upcalls: &[Upcall]) {
    for upcall in upcalls {
        let mut library = lock();
        let Some(attr) = library.groups.get(&group).map(|group| group.attr) else {
            return;
        };
        let prepared = library.prepare(*upcall);
        drop(library);
        let Some((userdata, place)) = prepared else {
            continue;
        };
        upcall::make(&attr, *upcall, userdata, place);
        if let Upcall::Accepted(child, _) = upcall {
            lock().check_child(*child);
        }
    }
}

impl Library {
    fn note_poll(&mut self, handle: usize) {
        let limit = self.settings.poll_limit;
        let group = self.group(handle);
        let last = group.polled_at.replace(Instant::now());
        if !limit.is_zero() && last.is_some_and(|last| last.elapsed() > limit) {
            broken(Rule::PollTooLate, handle);
        }
    }

    /// The userdata of an upcall as it is now; `None` when the socket is gone.
    fn prepare(&mut self, upcall: Upcall) -> Option<(usize, Option<Place>)> {
        let socket = match upcall {
            Upcall::Unknown(_) => return Some((0, None)),
            Upcall::Terminated(_, userdata) | Upcall::Completed(_, Some(userdata), _) => {
                return Some((userdata, None));
            }
            Upcall::Accepted(_, listener) => listener,
            Upcall::Established(it)
            | Upcall::Closed(it)
            | Upcall::Failed(it, _)
            | Upcall::Completed(it, None, _)
            | Upcall::Received(it, ..) => it,
        };
        let userdata = self.sockets.get(&socket)?.userdata;
        let Upcall::Received(_, slot, _) = upcall else {
            return Some((userdata, None));
        };
        let arena = self.arena.as_ref()?;
        let place = Place {
            address: arena.address(slot),
            descriptor: arena.descriptor(slot),
        };
        Some((userdata, Some(place)))
    }

    fn check_child(&mut self, child: usize) {
        let unset = self
            .sockets
            .get(&child)
            .is_some_and(|it| it.userdata == 0 && !it.destroyed);
        if self.settings.strict && unset {
            broken(Rule::UserdataNotSet, child);
        }
    }

    fn begin_destroys(&mut self, group: usize) -> Vec<Upcall> {
        let destroys = std::mem::take(&mut self.group(group).destroys);
        let mut upcalls = Vec::new();
        for handle in destroys {
            let held = self.random.below(self.settings.hold_terminated);
            let deadline = Instant::now() + self.settings.fin_wait;
            let abort = self.settings.abort_on_close;
            let socket = self.any_socket(handle);
            socket.held_polls = held;
            let graceful = socket.state == State::Established && !abort && !socket.abortive;
            if !graceful && held == 0 {
                self.terminate(handle, &mut upcalls);
                continue;
            }
            if graceful {
                socket.output.flush();
                discard(socket);
                socket.state = State::Closing(deadline);
            } else {
                socket.state = State::Failed(libc::ECONNABORTED);
                socket.ended = true;
            }
            self.unwatch(handle);
            self.group(group).closing.insert(handle);
        }
        upcalls
    }

    /// Removes a socket, resetting a connection that is not at its end.
    fn terminate(&mut self, handle: usize, upcalls: &mut Vec<Upcall>) {
        let Some(mut socket) = self.remove(handle) else {
            return;
        };
        if !matches!(socket.state, State::Closing(_)) || !socket.finished {
            library::make_abortive(&socket);
        }
        socket.output.purge();
        let userdata = socket.userdata;
        let completed = socket.completed().into_iter();
        upcalls.extend(completed.map(|it| Upcall::Completed(handle, Some(userdata), it)));
        upcalls.push(Upcall::Terminated(handle, userdata));
    }

    fn complete(&mut self, group: usize) -> Vec<Upcall> {
        let active: Vec<_> = self.group(group).active.iter().copied().collect();
        let mut upcalls = Vec::new();
        for handle in active {
            let early = self.random.in_a_thousand(self.settings.early);
            let socket = self.any_socket(handle);
            if early {
                socket.output.flush();
            }
            if matches!(socket.state, State::Established | State::Closing(_)) {
                socket.write();
            }
            let completed = socket.completed().into_iter();
            upcalls.extend(completed.map(|it| Upcall::Completed(handle, None, it)));
            if socket.output.is_idle() {
                self.group(group).active.remove(&handle);
            }
        }
        if self.random.in_a_thousand(self.settings.unknown) {
            upcalls.push(Upcall::Unknown(0xdead_0000));
        }
        upcalls
    }

    fn ready(&mut self, group: usize) -> Vec<(usize, EventFlags)> {
        let mut events = Vec::with_capacity(READY_MAX);
        let none = rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let group = self.group(group);
        let spare = rustix::buffer::spare_capacity(&mut events);
        if epoll::wait(&group.epoll, spare, Some(&none)).is_err() {
            return Vec::new();
        }
        let events = events.into_iter();
        events
            .map(|event| (event.data.u64() as usize, event.flags))
            .collect()
    }

    fn take_events(&mut self, group: usize, handle: usize, flags: EventFlags) -> Vec<Upcall> {
        let mut upcalls = Vec::new();
        let Some(socket) = self.sockets.get_mut(&handle) else {
            return upcalls;
        };
        if socket.group != Some(group) {
            return upcalls;
        }
        match socket.state {
            State::Listening { .. } => self.accept(group, handle, &mut upcalls),
            State::Connecting => {
                if flags.intersects(EventFlags::OUT | EventFlags::ERR | EventFlags::HUP) {
                    self.connected(handle, &mut upcalls);
                }
            }
            State::Established => self.receive(group, handle, &mut upcalls),
            State::Failed(error) => {
                self.unwatch(handle);
                if !std::mem::replace(&mut self.any_socket(handle).ended, true) {
                    upcalls.push(Upcall::Failed(handle, error));
                }
            }
            State::Fresh | State::Closing(_) => {}
        }
        upcalls
    }

    fn accept(&mut self, group: usize, listener: usize, upcalls: &mut Vec<Upcall>) {
        let parent = self.any_socket(listener);
        let abortive = parent.abortive;
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = match rustix::net::accept_with(&parent.fd, flags) {
            Ok(fd) => fd,
            Err(Errno::MFILE) => broken(Rule::SocketLimit, self.sockets.len()),
            Err(_) => return,
        };
        let mut child = Socket::new(fd, group, 0, State::Established);
        child.abortive = abortive;
        let child = self.add(child);
        self.watch(child, EventFlags::IN | EventFlags::RDHUP);
        upcalls.push(Upcall::Accepted(child, listener));
    }

    fn connected(&mut self, handle: usize, upcalls: &mut Vec<Upcall>) {
        let socket = self.any_socket(handle);
        match sockopt::socket_error(&socket.fd) {
            Ok(Ok(())) => {
                socket.state = State::Established;
                self.watch(handle, EventFlags::IN | EventFlags::RDHUP);
                upcalls.push(Upcall::Established(handle));
            }
            Ok(Err(error)) | Err(error) => self.fail(handle, error.raw_os_error(), upcalls),
        }
    }

    fn fail(&mut self, handle: usize, error: i32, upcalls: &mut Vec<Upcall>) {
        self.unwatch(handle);
        let socket = self.any_socket(handle);
        socket.output.purge();
        socket.state = State::Failed(error);
        socket.ended = true;
        upcalls.push(Upcall::Failed(handle, error));
    }

    fn receive(&mut self, group: usize, handle: usize, upcalls: &mut Vec<Upcall>) {
        let discards = self.group(group).attr.socket_rx_cb.is_none();
        for _ in 0..BUFFERS_MAX {
            let most = Arena::chunk(self.settings.rx_max, &mut self.random);
            let (Some(socket), Some(arena)) = (self.sockets.get(&handle), &mut self.arena) else {
                return;
            };
            match arena.receive(socket.fd.as_fd(), group, most) {
                None => return,
                Some(Ok((_, 0))) => return self.end(handle, upcalls),
                Some(Ok((slot, _))) if discards => arena.release(slot),
                Some(Ok((slot, bytes))) => upcalls.push(Upcall::Received(handle, slot, bytes)),
                Some(Err(error)) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Some(Err(error)) => {
                    let error = error.raw_os_error().unwrap_or(libc::ECONNRESET);
                    return self.fail(handle, error, upcalls);
                }
            }
        }
    }

    /// The peer's end, which the real library tells before the data of the same segment.
    fn end(&mut self, handle: usize, upcalls: &mut Vec<Upcall>) {
        let first = self.settings.closed_first;
        let socket = self.any_socket(handle);
        if std::mem::replace(&mut socket.ended, true) {
            // Only its failure is still of interest, and there was none to read.
            return self.unwatch(handle);
        }
        self.watch(handle, EventFlags::empty());
        let place = if first {
            upcalls.len().saturating_sub(1)
        } else {
            upcalls.len()
        };
        upcalls.insert(place, Upcall::Closed(handle));
    }

    /// What was queued while input was told leaves, and sockets that are through are removed.
    fn finish(&mut self, group: usize) -> Vec<Upcall> {
        let active: Vec<_> = self.group(group).active.iter().copied().collect();
        for handle in active {
            let socket = self.any_socket(handle);
            if matches!(socket.state, State::Established | State::Closing(_)) {
                socket.write();
            }
        }
        let closing: Vec<_> = self.group(group).closing.iter().copied().collect();
        let mut upcalls = Vec::new();
        for handle in closing {
            if self.is_through(handle) {
                self.terminate(handle, &mut upcalls);
            }
        }
        upcalls
    }

    fn is_through(&mut self, handle: usize) -> bool {
        let socket = self.any_socket(handle);
        let held = socket.held_polls;
        socket.held_polls = held.saturating_sub(1);
        let State::Closing(deadline) = socket.state else {
            return held == 0;
        };
        socket.write();
        if socket.output.is_empty() && !socket.finished {
            let _ = rustix::net::shutdown(&socket.fd, rustix::net::Shutdown::Write);
            socket.finished = true;
        }
        let over = match peer(socket) {
            Peer::Silent => Instant::now() >= deadline,
            Peer::Ended => socket.finished,
            Peer::Sends | Peer::Failed => {
                // Data after the end of interest is answered with a reset.
                socket.finished = false;
                true
            }
        };
        over && held == 0
    }

    fn abort_all(&mut self, group: usize) -> Vec<Upcall> {
        self.group(group);
        let all = self.sockets.iter().filter(|it| it.1.group == Some(group));
        let all: Vec<_> = all.map(|it| *it.0).collect();
        let mut upcalls = Vec::new();
        for handle in all {
            let socket = self.any_socket(handle);
            if socket.output.in_flight() {
                broken(Rule::ZeroCopyInFlight, handle);
            }
            socket.finished = false;
            self.terminate(handle, &mut upcalls);
        }
        upcalls
    }
}

enum Peer {
    Silent,
    Sends,
    Ended,
    Failed,
}

/// What a peer does whose data nobody wants any more.
fn peer(socket: &Socket) -> Peer {
    let mut byte = [0; 1];
    let flags = rustix::net::RecvFlags::DONTWAIT;
    match rustix::net::recv(&socket.fd, &mut byte[..], flags) {
        Ok((0, _)) => Peer::Ended,
        Ok(_) => Peer::Sends,
        Err(Errno::AGAIN | Errno::INTR) => Peer::Silent,
        Err(_) => Peer::Failed,
    }
}

/// Drops what has arrived.
fn discard(socket: &Socket) {
    let mut bytes = [0; 4096];
    let flags = rustix::net::RecvFlags::DONTWAIT;
    while rustix::net::recv(&socket.fd, &mut bytes[..], flags).is_ok_and(|it| it.0 > 0) {}
}
