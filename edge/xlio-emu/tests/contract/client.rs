#![allow(unsafe_code)] // Calls the library as a C program would.

//! A small program for the library, and the child process that it runs in.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::net::SocketAddrV4;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use goblin_xlio_sys::{
    Buf, Functions, InitAttr, Library, PollGroupAttr, SocketAttr, SocketSendAttr,
};

/// What a callback was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Socket, userdata, event, value.
    Event(usize, usize, c_int, c_int),
    Completed(usize, usize, usize),
    /// Socket, userdata, bytes, descriptor.
    Received(usize, usize, Vec<u8>, usize),
    Accepted(usize, usize, usize),
}

type Hook = Box<dyn Fn(&Told)>;

thread_local! {
    static TOLD: RefCell<Vec<Told>> = const { RefCell::new(Vec::new()) };
    static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

fn record(told: Told) {
    HOOK.with_borrow(|hook| {
        if let Some(hook) = hook {
            hook(&told);
        }
    });
    TOLD.with_borrow_mut(|all| all.push(told));
}

unsafe extern "C" fn on_event(socket: usize, userdata: usize, event: c_int, value: c_int) {
    record(Told::Event(socket, userdata, event, value));
}

unsafe extern "C" fn on_completion(socket: usize, userdata: usize, operation: usize) {
    record(Told::Completed(socket, userdata, operation));
}

unsafe extern "C" fn on_received(
    socket: usize,
    userdata: usize,
    data: *mut c_void,
    length: usize,
    buffer: *mut Buf,
) {
    // SAFETY: the library's bytes until the descriptor is given back.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) };
    record(Told::Received(
        socket,
        userdata,
        bytes.to_vec(),
        buffer as usize,
    ));
}

unsafe extern "C" fn on_accept(socket: usize, listener: usize, userdata: usize) {
    record(Told::Accepted(socket, listener, userdata));
}

/// Calls of the library, each with valid pointers. Handles may be wrong: that is what is tested.
#[derive(Clone, Copy)]
pub(crate) struct Client {
    pub(crate) functions: Functions,
    pub(crate) group: usize,
}

macro_rules! call {
    ($self:ident.$name:ident($($argument:expr),*)) => {{
        let function = $self.functions.$name;
        // SAFETY: pointers among the arguments are valid; wrong handles are diagnosed.
        unsafe { function($($argument),*) }
    }};
}

pub(crate) fn open() -> Functions {
    // SAFETY: the library of this package.
    let library = unsafe { Library::open(Some(&library_path())) };
    library.expect("the emulation is beside the test").functions
}

impl Client {
    /// An initialised library and a group.
    pub(crate) fn new() -> Self {
        Self::with_flags(0)
    }

    pub(crate) fn with_flags(flags: u32) -> Self {
        let mut client = Self {
            functions: open(),
            group: 0,
        };
        assert_eq!(client.init(), 0);
        client.group = client.create_group(flags);
        client
    }

    pub(crate) fn init(&self) -> c_int {
        call!(self.init_ex(&InitAttr::default()))
    }

    pub(crate) fn create_group(&self, flags: u32) -> usize {
        let attr = PollGroupAttr {
            flags,
            socket_event_cb: Some(on_event),
            socket_comp_cb: Some(on_completion),
            socket_rx_cb: Some(on_received),
            socket_accept_cb: Some(on_accept),
        };
        let mut group = 0;
        assert_eq!(call!(self.poll_group_create(&attr, &raw mut group)), 0);
        group
    }

    pub(crate) fn create(&self, userdata: usize) -> usize {
        let attr = SocketAttr {
            flags: 0,
            domain: libc::AF_INET,
            group: self.group,
            userdata_sq: userdata,
        };
        let mut socket = 0;
        assert_eq!(call!(self.socket_create(&attr, &raw mut socket)), 0);
        socket
    }

    pub(crate) fn bind(&self, socket: usize, address: &str) -> c_int {
        let (raw, length) = raw_address(address);
        call!(self.socket_bind(socket, (&raw const raw).cast(), length))
    }

    pub(crate) fn connect(&self, socket: usize, address: &str) -> c_int {
        let (raw, length) = raw_address(address);
        call!(self.socket_connect(socket, (&raw const raw).cast(), length))
    }

    pub(crate) fn listen(&self, socket: usize) -> c_int {
        call!(self.socket_listen(socket))
    }

    pub(crate) fn port(&self, socket: usize) -> u16 {
        // SAFETY: all zeroes is an address.
        let mut raw: libc::sockaddr_in = unsafe { std::mem::zeroed() };
        let mut length = size_of_val(&raw) as u32;
        let to = (&raw mut raw).cast();
        assert_eq!(
            call!(self.socket_getsockname(socket, to, &raw mut length)),
            0
        );
        u16::from_be(raw.sin_port)
    }

    pub(crate) fn send(&self, socket: usize, bytes: &[u8], flags: u32, operation: usize) -> c_int {
        let attr = SocketSendAttr {
            flags,
            mkey: 0,
            userdata_op: operation,
        };
        call!(self.socket_send(socket, bytes.as_ptr().cast(), bytes.len(), &raw const attr))
    }

    pub(crate) fn flush(&self, socket: usize) {
        call!(self.socket_flush(socket));
    }

    pub(crate) fn flush_group(&self) {
        call!(self.poll_group_flush(self.group));
    }

    pub(crate) fn update(&self, socket: usize, userdata: usize) {
        assert_eq!(call!(self.socket_update(socket, 0, userdata)), 0);
    }

    pub(crate) fn protection_domain(&self, socket: usize) -> usize {
        call!(self.socket_get_pd(socket)) as usize
    }

    pub(crate) fn destroy(&self, socket: usize) -> c_int {
        call!(self.socket_destroy(socket))
    }

    pub(crate) fn detach(&self, socket: usize) -> c_int {
        call!(self.socket_detach_group(socket))
    }

    pub(crate) fn attach(&self, socket: usize, group: usize) -> c_int {
        call!(self.socket_attach_group(socket, group))
    }

    pub(crate) fn abort_on_close(&self, socket: usize) {
        let linger = libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        let value = (&raw const linger).cast();
        let length = size_of_val(&linger) as u32;
        let (level, name) = (libc::SOL_SOCKET, libc::SO_LINGER);
        assert_eq!(
            call!(self.socket_setsockopt(socket, level, name, value, length)),
            0
        );
    }

    pub(crate) fn free(&self, descriptor: usize) {
        call!(self.socket_buf_free(0, descriptor as *mut Buf));
    }

    pub(crate) fn poll(&self) {
        call!(self.poll_group_poll(self.group));
    }

    pub(crate) fn destroy_group(&self) {
        assert_eq!(call!(self.poll_group_destroy(self.group)), 0);
    }

    pub(crate) fn exit(&self) -> c_int {
        call!(self.exit())
    }

    /// A listener with userdata 1 on loopback, and its address.
    pub(crate) fn listener(&self) -> (usize, String) {
        let listener = self.create(1);
        assert_eq!(self.bind(listener, "127.0.0.1:0"), 0);
        assert_eq!(self.listen(listener), 0);
        (listener, format!("127.0.0.1:{}", self.port(listener)))
    }

    /// Both ends of a connection: userdata 2 connected, 3 accepted.
    pub(crate) fn pair(&self) -> (usize, usize) {
        let (_, address) = self.listener();
        let connected = self.create(2);
        assert_eq!(self.connect(connected, &address), 0);
        let accepted = self.until(|told| match told {
            Told::Accepted(child, ..) => Some(*child),
            _ => None,
        });
        self.update(accepted, 3);
        self.until_event(connected, goblin_xlio_sys::EVENT_ESTABLISHED);
        (connected, accepted)
    }

    /// Polls until something was told.
    pub(crate) fn until<T>(&self, found: impl Fn(&Told) -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(it) = told().iter().find_map(&found) {
                return it;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "{:?}", told());
            self.poll();
        }
    }

    pub(crate) fn until_event(&self, socket: usize, event: c_int) -> c_int {
        self.until(|told| match told {
            Told::Event(it, _, what, value) if *it == socket && *what == event => Some(*value),
            _ => None,
        })
    }

    /// Polls until the socket has received so many bytes; gives every buffer back.
    pub(crate) fn receive(&self, socket: usize, length: usize) -> Vec<u8> {
        let started = Instant::now();
        loop {
            let received = received(socket);
            if received.len() >= length {
                for it in told() {
                    if let Told::Received(_, _, _, descriptor) = it {
                        self.free(descriptor);
                    }
                }
                TOLD.with_borrow_mut(|all| all.retain(|it| !matches!(it, Told::Received(..))));
                return received;
            }
            assert!(started.elapsed() < Duration::from_secs(20));
            self.poll();
        }
    }
}

/// Everything that was told so far.
pub(crate) fn told() -> Vec<Told> {
    TOLD.with_borrow(Clone::clone)
}

pub(crate) fn received(socket: usize) -> Vec<u8> {
    let all = told().into_iter().filter_map(|it| match it {
        Told::Received(from, _, bytes, _) if from == socket => Some(bytes),
        _ => None,
    });
    all.flatten().collect()
}

/// Does something inside every callback.
pub(crate) fn hook(does: impl Fn(&Told) + 'static) {
    HOOK.with_borrow_mut(|hook| *hook = Some(Box::new(does)));
}

pub(crate) fn errno() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Whether a socket listens, asked by libc's function or whatever took its place.
pub(crate) fn listens(socket: c_int) -> Result<bool, c_int> {
    let mut value: c_int = 0;
    let mut length = size_of_val(&value) as u32;
    let to = (&raw mut value).cast();
    let (level, name) = (libc::SOL_SOCKET, libc::SO_ACCEPTCONN);
    // SAFETY: value and length are ours.
    let result = unsafe { libc::getsockopt(socket, level, name, to, &raw mut length) };
    if result == 0 {
        Ok(value != 0)
    } else {
        Err(errno())
    }
}

fn raw_address(address: &str) -> (libc::sockaddr_in, u32) {
    let address: SocketAddrV4 = address.parse().unwrap();
    let raw = libc::sockaddr_in {
        sin_family: libc::AF_INET as _,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(*address.ip()).to_be(),
        },
        sin_zero: [0; 8],
    };
    (raw, size_of::<libc::sockaddr_in>() as u32)
}

pub(crate) fn library_path() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libxlio.so")
}

const CHILD: &str = "XLIO_EMU_TEST_CHILD";
/// What a child says at its end, so that one that ran nothing is noticed.
const DONE: &str = "the body has run";

/// Runs `body` in a process of its own, with settings. The child ends in here.
fn run(name: &str, settings: &[(&str, &str)], body: fn()) -> Output {
    if std::env::var_os(CHILD).is_some() {
        body();
        eprintln!("{DONE}");
        std::process::exit(0);
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command.env(CHILD, "1").envs(settings.iter().copied());
    command.output().unwrap()
}

pub(crate) fn runs(name: &str, settings: &[(&str, &str)], body: fn()) {
    let output = run(name, settings, body);
    let said = String::from_utf8_lossy(&output.stderr);
    let done = output.status.success() && said.contains(DONE);
    assert!(done, "{name} {settings:?}: {said}");
}

pub(crate) fn is_diagnosed(name: &str, rule: &str, settings: &[(&str, &str)], body: fn()) {
    let output = run(name, settings, body);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains(&format!("rule broken: {rule} ")),
        "{name}: {said}"
    );
    assert_eq!(
        output.status.signal(),
        Some(libc::SIGABRT),
        "{name}: {said}"
    );
}
