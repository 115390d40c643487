#![allow(unsafe_code)] // Starts and ends the library.

//! The started library.

use std::ffi::c_int;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use goblin_xlio_sys::{Functions, InitAttr, Library, LoadError, Origin};

/// Why the library does not run. Final for the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    /// Its configuration would end the process while it is opened: which variable.
    Configuration(&'static str),
    /// It is not there, or not one that is known.
    Load(LoadError),
    /// It was opened and did not start; the operating system's error.
    Initialise(c_int),
    /// It has been ended, and starts once per process.
    Ended,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration(name) => {
                write!(
                    f,
                    "{name} is set so that opening libxlio may end the process"
                )
            }
            Self::Load(cause) => write!(f, "no libxlio: {cause}"),
            Self::Initialise(error) => {
                let error = std::io::Error::from_raw_os_error(*error);
                write!(f, "libxlio does not start: {error}")
            }
            Self::Ended => write!(f, "libxlio was ended and cannot start again"),
        }
    }
}

impl std::error::Error for StartError {}

enum State {
    Fresh,
    Running(Weak<Xlio>),
    Failed(StartError),
}

static STATE: Mutex<State> = Mutex::new(State::Fresh);

/// The started library. The last handle ends it.
#[derive(Debug)]
pub struct Xlio {
    functions: Functions,
    origin: Origin,
}

impl Xlio {
    /// Starts the library at `path`, or the one in the process, or `libxlio.so.3`. Later calls give
    /// the same library, whatever their path, or the same failure.
    ///
    /// # Errors
    ///
    /// See [`StartError`].
    ///
    /// # Safety
    ///
    /// The file is libxlio or something that keeps its ABI and contract.
    pub unsafe fn start(path: Option<&Path>) -> Result<Arc<Self>, StartError> {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Running(handle) => return handle.upgrade().ok_or(StartError::Ended),
            State::Failed(cause) => return Err(cause.clone()),
            State::Fresh => {}
        }
        // SAFETY: the caller answers for the file.
        let started = unsafe { Self::start_fresh(path) }.map(Arc::new);
        *state = match &started {
            Ok(handle) => State::Running(Arc::downgrade(handle)),
            Err(cause) => State::Failed(cause.clone()),
        };
        started
    }

    /// # Safety
    ///
    /// As for [`Xlio::start`]; called once per process.
    unsafe fn start_fresh(path: Option<&Path>) -> Result<Self, StartError> {
        check_configuration()?;
        // SAFETY: the caller answers for the file.
        let library = unsafe { Library::open(path) }.map_err(StartError::Load)?;
        let attr = InitAttr::default();
        // SAFETY: the attributes live through the call, which is the only one of this process.
        let result = unsafe { (library.functions.init_ex)(&raw const attr) };
        if result != 0 {
            return Err(StartError::Initialise(last_error()));
        }
        Ok(Self {
            functions: library.functions,
            origin: library.origin,
        })
    }

    /// What it can do.
    pub(crate) fn functions(&self) -> Functions {
        self.functions
    }

    /// How its functions were found.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }
}

impl Drop for Xlio {
    fn drop(&mut self) {
        // SAFETY: every group holds a handle, so all are gone; the last handle is dropped once.
        unsafe { (self.functions.exit)() };
    }
}

/// Mistakes in the library's own configuration end the process while it is opened, so it is opened
/// only when there is none of the kind that does.
fn check_configuration() -> Result<(), StartError> {
    const FILE: &str = "/etc/libxlio_config.json";
    if std::env::var_os("XLIO_INLINE_CONFIG").is_some() {
        return Err(StartError::Configuration("XLIO_INLINE_CONFIG"));
    }
    if std::env::var_os("XLIO_USE_NEW_CONFIG").is_some_and(|it| it == "1") {
        let file = std::env::var_os("XLIO_CONFIG_FILE").unwrap_or(FILE.into());
        if !Path::new(&file).is_file() {
            return Err(StartError::Configuration("XLIO_USE_NEW_CONFIG"));
        }
    }
    Ok(())
}

/// What the call before left in `errno`.
pub(crate) fn last_error() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
