//! Gives the library the name that programs load.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libxlio.so.3");
    println!("cargo:rerun-if-changed=build.rs");
}
