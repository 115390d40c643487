#![allow(unsafe_code)] // Calls libibverbs.

//! Registers send memory with the network card, through `libibverbs.so.1` if it is there.
//!
//! The emulation has no card and takes any key.

use std::ffi::{c_int, c_void};

use goblin_xlio_sys::IbvPd;

type RegisterMemory = unsafe extern "C" fn(*mut IbvPd, *mut c_void, usize, c_int) -> *mut Region;

/// The beginning of libibverbs' `ibv_mr`.
#[repr(C)]
struct Region {
    context: *mut c_void,
    pd: *mut IbvPd,
    address: *mut c_void,
    length: usize,
    handle: u32,
    local_key: u32,
}

const _: () = assert!(std::mem::offset_of!(Region, local_key) == 36);

/// Keys of one block of memory, one for each protection domain. A registration lasts as long as the
/// process: there is one block per thread, and the domain may be gone before it.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    known: Vec<(*mut IbvPd, Option<u32>)>,
}

impl Keys {
    /// The key for a domain; `None` when there is none and bytes have to be copied.
    pub(crate) fn get(&mut self, pd: *mut IbvPd, block: (*mut u8, usize)) -> Option<u32> {
        if pd.is_null() {
            return None;
        }
        if let Some(known) = self.known.iter().find(|it| it.0 == pd) {
            return known.1;
        }
        let key = if is_emulation() {
            Some(0)
        } else {
            register(pd, block)
        };
        self.known.push((pd, key));
        key
    }
}

fn is_emulation() -> bool {
    // SAFETY: opens nothing: it answers only for a library that is loaded.
    let handle = unsafe {
        libc::dlopen(
            goblin_xlio_sys::load::DEFAULT_NAME_C.as_ptr(),
            libc::RTLD_NOW | libc::RTLD_NOLOAD,
        )
    };
    if handle.is_null() {
        return false;
    }
    // SAFETY: the handle was opened just now; the name is a C string.
    let symbol = unsafe { libc::dlsym(handle, c"xlio_emulation_version".as_ptr()) };
    !symbol.is_null()
}

fn register(pd: *mut IbvPd, block: (*mut u8, usize)) -> Option<u32> {
    // SAFETY: a library of the system, whose constructor has no conditions; the name is a C string.
    let handle = unsafe { libc::dlopen(c"libibverbs.so.1".as_ptr(), libc::RTLD_NOW) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: the handle was opened just now; the name is a C string.
    let address = unsafe { libc::dlsym(handle, c"ibv_reg_mr".as_ptr()) };
    // SAFETY: a nullable function pointer has the layout of a data pointer, and this is the type of
    // the function of that name.
    let register = unsafe { std::mem::transmute::<*mut c_void, Option<RegisterMemory>>(address) }?;
    // SAFETY: the domain is libxlio's, of a connected socket; the block is ours and outlives the
    // group. No access flags: the card reads.
    let region = unsafe { register(pd, block.0.cast(), block.1, 0) };
    if region.is_null() {
        return None;
    }
    // SAFETY: not null, hence a region, which begins as declared.
    Some(unsafe { (*region).local_key })
}
