//! A child process: what it prints, and that it ends.
//!
//! Two threads collect the lines of standard output and standard error; whoever waits for a line
//! sleeps on a condition until it is there. The child dies with its owner: `Drop` ends it by its
//! process identity, and the kernel does so when the thread that started it ends without a `Drop`
//! (`setpriv --pdeathsig`), so a `Process` must not outlive the thread that started it.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::DEADLINE;

/// A running child.
pub struct Process {
    name: String,
    child: Child,
    output: Arc<Lines>,
    log: Arc<Lines>,
}

impl Process {
    /// Starts `command`, whose name in messages is `name`.
    pub fn start(name: &str, command: &Command) -> Process {
        let mut child = dying_with_us(command)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{name} ({command:?}) did not start: {error}"));
        let output = Lines::collect(child.stdout.take());
        let log = Lines::collect(child.stderr.take());
        Process {
            name: name.to_owned(),
            child,
            output,
            log,
        }
    }

    /// Its process identity.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line of standard output that `wanted` takes, among those printed already and
    /// those to come.
    #[track_caller]
    pub fn output_line<T>(&self, what: &str, wanted: impl Fn(&str) -> Option<T>) -> T {
        self.line(&self.output, what, wanted)
    }

    /// Waits for a line of the log (standard error) that contains `needle`.
    #[track_caller]
    pub fn log_line(&self, needle: &str) -> String {
        self.line(&self.log, needle, |line| {
            line.contains(needle).then(|| line.to_owned())
        })
    }

    /// Everything on standard error so far.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().lines.clone()
    }

    /// Everything on standard output so far.
    pub fn output(&self) -> Vec<String> {
        self.output.lock().lines.clone()
    }

    /// Asks it to end (`SIGTERM`) and waits until it has.
    #[track_caller]
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Ends it as a power cut would (`SIGKILL`) and waits until it is gone.
    #[track_caller]
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.wait();
    }

    /// Makes it stand still (`SIGSTOP`) until [`Process::resume`].
    pub fn pause(&self) {
        self.send(Signal::STOP);
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.send(Signal::CONT);
    }

    /// Waits until it has ended by itself and has said all it had to say.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        match self.wait_for(DEADLINE) {
            Some(status) => {
                self.output.wait_for_end();
                self.log.wait_for_end();
                status
            }
            None => panic!("{self} still runs after {DEADLINE:?}"),
        }
    }

    fn wait_for(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        // A descriptor of the process: readable once it has ended.
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty());
        while let Ok(process) = &process {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            let left = Timespec::try_from(left).ok()?;
            let _ = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&left));
        }
        self.child.try_wait().ok().flatten()
    }

    fn signal(&mut self, signal: Signal) {
        // Not yet waited for, so the identity is still this child's.
        if let Ok(None) = self.child.try_wait() {
            self.send(signal);
        }
    }

    fn send(&self, signal: Signal) {
        // It may have ended a moment ago; whoever waits for it learns that.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    #[track_caller]
    fn line<T>(&self, lines: &Lines, what: &str, wanted: impl Fn(&str) -> Option<T>) -> T {
        lines
            .wait_for(wanted)
            .unwrap_or_else(|| panic!("{self} did not print: {what}"))
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
        self.signal(Signal::TERM);
        // One that does not end when asked must not hold up the run; a test for that asks itself.
        if self.wait_for(Duration::from_secs(2)).is_none() {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
        if std::thread::panicking() {
            for (kind, lines) in [("output", self.output()), ("log", self.log())] {
                for line in lines.iter().rev().take(30).rev() {
                    eprintln!("{} {kind}: {line}", self.name);
                }
            }
        }
    }
}

/// The same command, as a child that the kernel ends when we end.
fn dying_with_us(command: &Command) -> Command {
    let mut wrapped = Command::new("setpriv");
    wrapped.args(["--pdeathsig", "KILL", "--"]);
    wrapped.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    wrapped
}

#[derive(Default)]
struct State {
    lines: Vec<String>,
    ended: bool,
}

/// The lines of one stream, and a bell that rings when another comes.
#[derive(Default)]
struct Lines {
    state: Mutex<State>,
    changed: Condvar,
}

impl Lines {
    fn collect(stream: Option<impl Read + Send + 'static>) -> Arc<Lines> {
        let lines = Arc::new(Lines::default());
        let writer = Arc::clone(&lines);
        std::thread::spawn(move || {
            let stream = stream
                .into_iter()
                .flat_map(|stream| BufReader::new(stream).split(b'\n'));
            for line in stream.map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                writer.lock().lines.push(line);
                writer.changed.notify_all();
            }
            writer.lock().ended = true;
            writer.changed.notify_all();
        });
        lines
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// `None` when the stream ended, or the deadline passed, without such a line.
    fn wait_for<T>(&self, wanted: impl Fn(&str) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + DEADLINE;
        let mut seen = 0;
        let mut state = self.lock();
        loop {
            if let Some(found) = state.lines[seen..].iter().find_map(|line| wanted(line)) {
                return Some(found);
            }
            seen = state.lines.len();
            if state.ended {
                return None;
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            state = self.wait(state, left);
        }
    }

    /// A grandchild may hold the stream open for ever, so this gives up without complaint.
    fn wait_for_end(&self) {
        let deadline = Instant::now() + Duration::from_secs(2);
        let mut state = self.lock();
        while !state.ended {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return;
            };
            state = self.wait(state, left);
        }
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, limit: Duration) -> MutexGuard<'a, State> {
        self.changed
            .wait_timeout(state, limit)
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .0
    }
}
