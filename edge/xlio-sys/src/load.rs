#![allow(unsafe_code)] // The library is opened, asked for its table, and the table read.

//! Opening a library at run time.
//!
//! # Order
//!
//! 1. A library that is in the process already (`LD_PRELOAD`) answers the global `getsockopt`.
//! 2. Otherwise the library is opened, `RTLD_NOW | RTLD_LOCAL`: it exports `socket`, `read`, `fork`
//!    and 200 names more, which must not become the program's.
//! 3. The library's *own* `getsockopt`, found in it by name, hands out the table.
//! 4. Where it hands out none, the functions are looked up by name. Stock builds hide them.
//!
//! # Gotchas
//!
//! * Opening runs a constructor that ends the process when the library's configuration is wrong
//!   (`XLIO_USE_NEW_CONFIG`, `XLIO_INLINE_CONFIG`): check before.
//! * Nothing is ever closed again: the library cannot be started twice in one process.
//! * Looking a name up in a library also finds it in what the library depends on. A library without
//!   the hook thus answers with libc's `getsockopt`, which knows no such option.

use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::socklen_t;

use crate::functions::{Found, Functions, Plain, PollGroupUpdate, found_in};
use crate::table::{
    GET_API_DESCRIPTOR, Head, MAGIC, MASK_340, MASK_360, MASK_361, SO_XLIO_GET_API, Table360,
    Table361,
};

/// What is opened when no path is given.
pub const DEFAULT_NAME: &str = "libxlio.so.3";
/// The same, for C. It is also the `SONAME`, by which a loaded library is found.
pub const DEFAULT_NAME_C: &CStr = c"libxlio.so.3";

/// How the functions were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the table, with this capability mask.
    Table(u64),
    /// By name.
    Symbols,
}

/// Why there is no library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The path has a zero byte in it.
    Path,
    /// It cannot be opened; the loader's own words.
    Open(String),
    /// It hands out a table that does not begin as one should.
    Magic(u64),
    /// It hands out a table whose layout is not known; the capability mask.
    Layout(u64),
    /// It is older than 3.60: it cannot listen.
    TooOld,
    /// Its table lacks a function.
    Slot(&'static CStr),
    /// It hands out no table and does not export a function either.
    Symbol(&'static CStr),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path => write!(f, "the library's path has a zero byte in it"),
            Self::Open(reason) => write!(f, "cannot open the library: {reason}"),
            Self::Magic(magic) => write!(f, "its table begins with {magic:#x}, not {MAGIC:#x}"),
            Self::Layout(mask) => write!(f, "its table has an unknown capability mask, {mask:#x}"),
            Self::TooOld => write!(f, "it is older than 3.60 and cannot listen"),
            Self::Slot(name) => write!(f, "its table lacks {}", name.to_string_lossy()),
            Self::Symbol(name) => write!(
                f,
                "it hands out no table and does not export {}",
                name.to_string_lossy()
            ),
        }
    }
}

impl std::error::Error for LoadError {}

/// A loaded library. It stays loaded until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// What it can do.
    pub functions: Functions,
    /// How that was found.
    pub origin: Origin,
    /// It was in the process before (`LD_PRELOAD`).
    pub preloaded: bool,
}

type Getsockopt = unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int;

impl Library {
    /// The library that is in the process already, or the one at `path`, or [`DEFAULT_NAME`] from
    /// where the loader looks.
    ///
    /// # Errors
    ///
    /// See [`LoadError`]. A failure loads nothing that could be used.
    ///
    /// # Safety
    ///
    /// The file is libxlio or something that keeps its ABI: its constructor runs, and what its
    /// table and its symbols point to is called with the types of this crate.
    pub unsafe fn open(path: Option<&Path>) -> Result<Self, LoadError> {
        // SAFETY: the process's own libraries, among which the caller answers for a libxlio.
        if let Some(table) = unsafe { ask_for_table(libc::RTLD_DEFAULT) } {
            // SAFETY: a library handed the table out, and the caller answers for it.
            let (functions, origin) = unsafe { read_table(table) }?;
            return Ok(Self {
                functions,
                origin,
                preloaded: true,
            });
        }
        let name = path.map_or(OsStr::new(DEFAULT_NAME), Path::as_os_str);
        let name = CString::new(name.as_bytes()).map_err(|_| LoadError::Path)?;
        // SAFETY: the name is a C string; the caller answers for the constructor.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(LoadError::Open(loader_error()));
        }
        // SAFETY: the handle was opened just now.
        let (functions, origin) = match unsafe { ask_for_table(handle) } {
            // SAFETY: the library handed the table out, and the caller answers for it.
            Some(table) => unsafe { read_table(table) }?,
            // SAFETY: as above.
            None => unsafe { find_symbols(handle) }?,
        };
        Ok(Self {
            functions,
            origin,
            preloaded: false,
        })
    }
}

/// Whether a libxlio is in the process already.
#[must_use]
pub fn is_preloaded() -> bool {
    // SAFETY: the handle is the loader's own constant; asking libc's `getsockopt` fails harmlessly.
    unsafe { ask_for_table(libc::RTLD_DEFAULT) }.is_some()
}

/// The table that the `getsockopt` of `handle` hands out.
///
/// # Safety
///
/// `handle` is one that `dlsym` takes.
unsafe fn ask_for_table(handle: *mut c_void) -> Option<*const Head> {
    // SAFETY: the caller's handle; the name is a C string.
    let address = unsafe { libc::dlsym(handle, c"getsockopt".as_ptr()) };
    // SAFETY: a nullable function pointer has the layout of a data pointer, and whatever is called
    // `getsockopt` has this type, as POSIX has it.
    let getsockopt = unsafe { std::mem::transmute::<*mut c_void, Option<Getsockopt>>(address) }?;
    let mut table: *const Head = std::ptr::null();
    let mut length = size_of::<*const Head>() as socklen_t;
    // SAFETY: the value and its length are ours and live through the call; a descriptor that is not
    // open is an error and nothing else.
    let result = unsafe {
        getsockopt(
            GET_API_DESCRIPTOR,
            libc::SOL_SOCKET,
            SO_XLIO_GET_API,
            (&raw mut table).cast(),
            &raw mut length,
        )
    };
    (result == 0 && length as usize >= size_of::<*const Head>() && !table.is_null())
        .then_some(table)
}

/// The functions of a table.
///
/// # Safety
///
/// `table` points to a table for as long as the process lives.
unsafe fn read_table(table: *const Head) -> Result<(Functions, Origin), LoadError> {
    // SAFETY: every layout begins with the head. It is packed in C, hence unaligned.
    let head = unsafe { table.read_unaligned() };
    if head.magic != MAGIC {
        return Err(LoadError::Magic(head.magic));
    }
    let found = match head.cap_mask {
        MASK_360 => {
            // SAFETY: the mask says that it is this layout.
            let table = unsafe { table.cast::<Table360>().read_unaligned() };
            found_in!(table)
        }
        MASK_361 => {
            // SAFETY: the mask says that it is this layout.
            let table = unsafe { table.cast::<Table361>().read_unaligned() };
            found_in!(table)
        }
        MASK_340 => return Err(LoadError::TooOld),
        mask => return Err(LoadError::Layout(mask)),
    };
    let functions = found.complete().map_err(LoadError::Slot)?;
    Ok((functions, Origin::Table(head.cap_mask)))
}

/// The functions by name.
///
/// # Safety
///
/// `handle` is an open library that has XLIO's functions under these names, if it has the names.
unsafe fn find_symbols(handle: *mut c_void) -> Result<(Functions, Origin), LoadError> {
    let lookup = |name: &CStr| {
        // SAFETY: the caller's handle; the name is a C string.
        unsafe { libc::dlsym(handle, name.as_ptr()) }
    };
    // SAFETY: the caller promises that the names are XLIO's.
    let found = unsafe { Found::by_name(lookup) };
    let mut functions = found.complete().map_err(LoadError::Symbol)?;
    let init = lookup(c"xlio_init");
    // SAFETY: null or a function of this type.
    functions.init = unsafe { std::mem::transmute::<*mut c_void, Option<Plain>>(init) };
    let update = lookup(c"xlio_poll_group_update");
    // SAFETY: null or a function of this type.
    functions.poll_group_update =
        unsafe { std::mem::transmute::<*mut c_void, Option<PollGroupUpdate>>(update) };
    Ok((functions, Origin::Symbols))
}

fn loader_error() -> String {
    // SAFETY: no arguments; the text belongs to this thread until its next call of the loader.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "unknown".to_owned();
    }
    // SAFETY: not null, hence a C string that lives as said above.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens what is certainly no libxlio.
    fn open(path: &str) -> Result<Library, LoadError> {
        // SAFETY: a file that does not exist, or libc itself, neither of which exports the names.
        unsafe { Library::open(Some(Path::new(path))) }
    }

    fn read(head: Head) -> Result<(Functions, Origin), LoadError> {
        let table = Table361 { head, ..EMPTY };
        // SAFETY: the largest layout that is read is as long as this one and a slot.
        unsafe { read_table((&raw const table).cast()) }
    }

    const EMPTY: Table361 = Table361 {
        head: Head {
            magic: MAGIC,
            cap_mask: MASK_361,
        },
        add_conf_rule: None,
        thread_offload: None,
        dump_fd_stats: None,
        init_ex: None,
        exit: None,
        poll_group_create: None,
        poll_group_destroy: None,
        poll_group_poll: None,
        socket_create: None,
        socket_destroy: None,
        socket_update: None,
        socket_setsockopt: None,
        socket_getsockname: None,
        socket_getpeername: None,
        socket_bind: None,
        socket_connect: None,
        socket_listen: None,
        socket_get_pd: None,
        socket_detach_group: None,
        socket_attach_group: None,
        socket_send: None,
        socket_sendv: None,
        poll_group_flush: None,
        socket_flush: None,
        socket_buf_free: None,
        poll_group_buf_free: None,
    };

    #[test]
    fn a_library_that_is_not_there_is_named_by_the_loader() {
        let error = open("/nonexistent/libxlio.so.3").unwrap_err();
        assert!(error.to_string().contains("/nonexistent/libxlio.so.3"));
    }

    #[test]
    fn a_library_that_exports_nothing_of_the_kind_is_refused() {
        assert_eq!(
            open("libc.so.6").unwrap_err(),
            LoadError::Symbol(c"xlio_init_ex")
        );
    }

    #[test]
    fn a_path_with_a_zero_byte_is_refused() {
        assert_eq!(open("a\0b").unwrap_err(), LoadError::Path);
    }

    #[test]
    fn a_table_is_refused_by_magic_and_by_mask() {
        let head = |magic, cap_mask| Head { magic, cap_mask };
        assert_eq!(read(head(1, MASK_361)).unwrap_err(), LoadError::Magic(1));
        assert_eq!(read(head(MAGIC, MASK_340)).unwrap_err(), LoadError::TooOld);
        for mask in [0, MASK_361 | 1 << 20, MASK_361 & !(1 << 13)] {
            assert_eq!(
                read(head(MAGIC, mask)).unwrap_err(),
                LoadError::Layout(mask)
            );
        }
    }

    #[test]
    fn an_empty_slot_is_named() {
        let error = read(EMPTY.head).unwrap_err();
        assert_eq!(error, LoadError::Slot(c"xlio_init_ex"));
    }
}
