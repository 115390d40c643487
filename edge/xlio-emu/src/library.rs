//! The state of the library, behind one lock, and what does not move bytes.
//!
//! Functions return an error number where C's return -1.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Instant;

use goblin_xlio_sys::{GROUP_FLAG_SAFE, InitAttr, PollGroupAttr};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::arena::Arena;
use crate::rule::{Rule, broken};
use crate::settings::{Random, Settings};
use crate::socket::{Socket, State};
use crate::upcall;

/// Where the library is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Fresh,
    Failed,
    Ready,
    Exited,
}

/// A polling group.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) attr: PollGroupAttr,
    pub(crate) owner: Option<ThreadId>,
    pub(crate) epoll: OwnedFd,
    /// Destroys that the next poll begins with.
    pub(crate) destroys: Vec<usize>,
    /// Sockets with unflushed bytes, of a DIRTY group.
    pub(crate) dirty: Vec<usize>,
    /// Sockets with something to write or to complete.
    pub(crate) active: BTreeSet<usize>,
    pub(crate) closing: BTreeSet<usize>,
    pub(crate) polled_at: Option<Instant>,
}

/// Everything.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) settings: Settings,
    pub(crate) random: Random,
    pub(crate) phase: Phase,
    pub(crate) arena: Option<Arena>,
    pub(crate) groups: BTreeMap<usize, Group>,
    pub(crate) sockets: HashMap<usize, Socket>,
    next_handle: usize,
    free_handles: Vec<usize>,
}

static LIBRARY: LazyLock<Mutex<Library>> = LazyLock::new(|| {
    let settings = Settings::read();
    Mutex::new(Library {
        random: Random::new(settings.seed),
        settings,
        phase: Phase::Fresh,
        arena: None,
        groups: BTreeMap::new(),
        sockets: HashMap::new(),
        next_handle: 0x1000,
        free_handles: Vec::new(),
    })
});

/// The state. Not to be held while a callback runs.
pub(crate) fn lock() -> MutexGuard<'static, Library> {
    LIBRARY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Library {
    pub(crate) fn init(&mut self, attr: &InitAttr) -> Result<Option<(usize, usize)>, i32> {
        match self.phase {
            Phase::Exited => broken(Rule::InitAfterExit, 0),
            Phase::Ready if attr.memory_alloc.is_some() => return Err(libc::EEXIST),
            // The real library forgets that it failed.
            Phase::Ready | Phase::Failed => return Ok(None),
            Phase::Fresh => {}
        }
        self.phase = Phase::Failed;
        if attr.memory_alloc.is_some() != attr.memory_free.is_some() {
            return Err(libc::EINVAL);
        }
        if self.settings.init_errno != 0 {
            return Err(self.settings.init_errno);
        }
        let arena = Arena::new(self.settings.memory, attr).ok_or(libc::ENOMEM)?;
        let block = arena.block();
        self.arena = Some(arena);
        self.phase = Phase::Ready;
        Ok(Some(block))
    }

    pub(crate) fn create_group(&mut self, attr: PollGroupAttr) -> Result<usize, i32> {
        if attr.socket_event_cb.is_none() {
            return Err(libc::EINVAL);
        }
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Errno::raw_os_error)?;
        let handle = self.new_handle();
        self.groups.insert(
            handle,
            Group {
                attr,
                owner: None,
                epoll,
                destroys: Vec::new(),
                dirty: Vec::new(),
                active: BTreeSet::new(),
                closing: BTreeSet::new(),
                polled_at: None,
            },
        );
        Ok(handle)
    }

    /// Changes callbacks, not flags.
    pub(crate) fn update_group(&mut self, handle: usize, attr: PollGroupAttr) -> Result<(), i32> {
        let group = self.group(handle);
        if attr.flags != group.attr.flags || attr.socket_event_cb.is_none() {
            return Err(libc::EINVAL);
        }
        group.attr = attr;
        Ok(())
    }

    /// A group, on its thread.
    pub(crate) fn group(&mut self, handle: usize) -> &mut Group {
        let Some(group) = self.groups.get_mut(&handle) else {
            broken(Rule::UnknownGroup, handle)
        };
        let this = std::thread::current().id();
        if *group.owner.get_or_insert(this) != this {
            broken(Rule::ForeignThread, handle);
        }
        group
    }

    /// A socket, on the thread of its group.
    pub(crate) fn socket(&mut self, handle: usize) -> &mut Socket {
        if let Some(group) = self.any_socket(handle).group {
            self.group(group);
        }
        self.any_socket(handle)
    }

    /// A socket to send on: a SAFE group lets other threads do so.
    pub(crate) fn sending_socket(&mut self, handle: usize) -> &mut Socket {
        let group = self.any_socket(handle).group;
        let group = group.and_then(|group| self.groups.get(&group));
        if group.is_some_and(|group| group.attr.flags & GROUP_FLAG_SAFE != 0) {
            return self.any_socket(handle);
        }
        self.socket(handle)
    }

    /// A socket, whichever thread asks.
    pub(crate) fn any_socket(&mut self, handle: usize) -> &mut Socket {
        let Some(socket) = self.sockets.get_mut(&handle) else {
            broken(Rule::UnknownSocket, handle)
        };
        socket
    }

    pub(crate) fn create_socket(
        &mut self,
        domain: i32,
        group: usize,
        userdata: usize,
    ) -> Result<usize, i32> {
        if self.phase != Phase::Ready {
            broken(Rule::NotInitialised, 0);
        }
        let family = match domain {
            libc::AF_INET => AddressFamily::INET,
            libc::AF_INET6 => AddressFamily::INET6,
            _ => return Err(libc::EINVAL),
        };
        self.group(group);
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = match rustix::net::socket_with(family, SocketType::STREAM, flags, None) {
            // Where the real library throws and thereby aborts.
            Err(Errno::MFILE) => broken(Rule::SocketLimit, self.sockets.len()),
            other => other.map_err(Errno::raw_os_error)?,
        };
        Ok(self.add(Socket::new(fd, group, userdata, State::Fresh)))
    }

    /// Gives a socket its handle.
    pub(crate) fn add(&mut self, socket: Socket) -> usize {
        if self.sockets.len() >= self.settings.socket_limit {
            broken(Rule::SocketLimit, self.sockets.len());
        }
        let handle = self.new_handle();
        self.sockets.insert(handle, socket);
        handle
    }

    /// Takes a socket, with everything that names it, out of the library.
    pub(crate) fn remove(&mut self, handle: usize) -> Option<Socket> {
        let socket = self.sockets.remove(&handle)?;
        if let Some(group) = socket.group.and_then(|group| self.groups.get_mut(&group)) {
            group.active.remove(&handle);
            group.closing.remove(&handle);
            group.dirty.retain(|it| *it != handle);
            group.destroys.retain(|it| *it != handle);
        }
        if self.settings.reuse_handles {
            self.free_handles.push(handle);
        }
        Some(socket)
    }

    fn new_handle(&mut self) -> usize {
        self.free_handles.pop().unwrap_or_else(|| {
            self.next_handle += 0x40;
            self.next_handle
        })
    }

    /// Asks for a socket's end, at the next poll.
    pub(crate) fn destroy_socket(&mut self, handle: usize) {
        let lose = self.settings.lose_destroy;
        let socket = self.socket(handle);
        if socket.destroyed {
            broken(Rule::DoubleDestroy, handle);
        }
        let Some(group) = socket.group else {
            broken(Rule::DestroyDetached, handle)
        };
        if upcall::in_terminated() {
            if lose {
                return;
            }
            broken(Rule::DestroyInTerminated, handle);
        }
        socket.destroyed = true;
        self.group(group).destroys.push(handle);
    }

    pub(crate) fn bind(&mut self, handle: usize, address: SocketAddr) -> Result<(), i32> {
        let offloads = address.ip().is_unspecified() || self.settings.offloads(address.ip());
        let socket = self.socket(handle);
        if socket.bound {
            return Err(libc::EINVAL);
        }
        if !offloads {
            socket.bind_failed = true;
            return Err(libc::ENODEV);
        }
        rustix::net::bind(&socket.fd, &address).map_err(Errno::raw_os_error)?;
        socket.bound = true;
        Ok(())
    }

    pub(crate) fn listen(&mut self, handle: usize) -> Result<(), i32> {
        let Some(group) = self.socket(handle).group else {
            broken(Rule::ListenDetached, handle)
        };
        if self.group(group).attr.socket_accept_cb.is_none() {
            return Err(libc::ENOTCONN);
        }
        let strict = self.settings.strict;
        let socket = self.socket(handle);
        if socket.bind_failed {
            return Err(libc::ENODEV);
        }
        let local = local_address(socket);
        let offloaded = local.is_some_and(|address| !address.ip().is_unspecified());
        if !offloaded && strict {
            broken(Rule::WildcardListener, handle);
        }
        rustix::net::listen(&socket.fd, 4096).map_err(Errno::raw_os_error)?;
        socket.state = State::Listening { offloaded };
        if offloaded {
            self.watch(handle, EventFlags::IN);
        }
        Ok(())
    }

    pub(crate) fn connect(&mut self, handle: usize, to: SocketAddr) -> Result<(), i32> {
        let route = route(to);
        let offloads = route.is_some_and(|local| self.settings.offloads(local));
        let socket = self.socket(handle);
        match socket.state {
            State::Fresh => {}
            State::Established => return Err(libc::EISCONN),
            State::Connecting => return Err(libc::EALREADY),
            State::Failed(_) => return Err(libc::ECONNABORTED),
            State::Listening { .. } | State::Closing(_) => return Err(libc::EINVAL),
        }
        if !offloads {
            return Err(libc::ENODEV);
        }
        socket.state = match rustix::net::connect(&socket.fd, &to) {
            Ok(()) | Err(Errno::INPROGRESS) => State::Connecting,
            // Told by the next poll, like every failure of a connection.
            Err(error) => {
                socket.ended = false;
                State::Failed(error.raw_os_error())
            }
        };
        self.watch(handle, EventFlags::OUT | EventFlags::IN);
        Ok(())
    }

    pub(crate) fn detach(&mut self, handle: usize) -> Result<(), i32> {
        if upcall::in_callback() {
            broken(Rule::DetachInCallback, handle);
        }
        let drop_detached = self.settings.drop_detached;
        let socket = self.socket(handle);
        let (State::Established, Some(group)) = (socket.state, socket.group) else {
            return Err(libc::EINVAL);
        };
        if socket.output.in_flight() && !drop_detached {
            broken(Rule::MigrateInFlight, handle);
        }
        if socket.output.has_unflushed() {
            broken(Rule::DetachUnflushed, handle);
        }
        self.unwatch(handle);
        self.any_socket(handle).group = None;
        let group = self.group(group);
        group.active.remove(&handle);
        group.dirty.retain(|it| *it != handle);
        Ok(())
    }

    /// `Err(0)`: -1 without an error number, as the real library has it.
    pub(crate) fn attach(&mut self, handle: usize, group: usize) -> Result<(), i32> {
        self.group(group);
        let socket = self.any_socket(handle);
        if socket.group.is_some() {
            return Err(0);
        }
        // What completed while detached is lost.
        socket.completed();
        socket.group = Some(group);
        let idle = socket.output.is_idle();
        if !idle {
            self.group(group).active.insert(handle);
        }
        self.watch(handle, EventFlags::IN | EventFlags::RDHUP);
        Ok(())
    }

    /// Registers a socket for readiness, in place of whatever it was registered for.
    pub(crate) fn watch(&mut self, handle: usize, interest: EventFlags) {
        self.unwatch(handle);
        let Some(socket) = self.sockets.get(&handle) else {
            return;
        };
        if let Some(group) = socket.group.and_then(|group| self.groups.get(&group)) {
            let data = EventData::new_u64(handle as u64);
            let _ = epoll::add(&group.epoll, socket.fd.as_fd(), data, interest);
        }
    }

    pub(crate) fn unwatch(&mut self, handle: usize) {
        let Some(socket) = self.sockets.get(&handle) else {
            return;
        };
        if let Some(group) = socket.group.and_then(|group| self.groups.get(&group)) {
            let _ = epoll::delete(&group.epoll, socket.fd.as_fd());
        }
    }

    /// Takes a receive buffer back.
    pub(crate) fn free_buffer(&mut self, buffer: *mut goblin_xlio_sys::Buf) {
        let holder = self.arena.as_ref().and_then(|arena| arena.holder(buffer));
        let Some((slot, group)) = holder else {
            broken(Rule::DoubleFree, buffer as usize)
        };
        self.group(group);
        if let Some(arena) = &mut self.arena {
            arena.release(slot);
        }
    }
}

/// A socket's own address.
pub(crate) fn local_address(socket: &Socket) -> Option<SocketAddr> {
    rustix::net::getsockname(&socket.fd).ok()?.try_into().ok()
}

/// The local address that a connection would have.
fn route(to: SocketAddr) -> Option<IpAddr> {
    let any: SocketAddr = match to {
        SocketAddr::V4(_) => (std::net::Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (std::net::Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let probe = UdpSocket::bind(any).ok()?;
    probe.connect(to).ok()?;
    Some(probe.local_addr().ok()?.ip())
}

/// Makes the next close a reset.
pub(crate) fn make_abortive(socket: &Socket) {
    let _ = sockopt::set_socket_linger(&socket.fd, Some(std::time::Duration::ZERO));
}
