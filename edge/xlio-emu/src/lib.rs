//! XLIO Ultra without the network card: the functions of `libxlio.so.3` on kernel sockets.
//!
//! A program built for the real library runs on this one unchanged, preloaded or opened. It behaves
//! as the real library is known to, including what is inconvenient; and where a program breaks the
//! contract, so that the real library would misbehave, it aborts with the rule's name (`rule`).
//!
//! # Shape
//!
//! `exports` converts C's arguments and hands over to safe code: `library` has the state, behind one
//! lock; `sending` and `polling` are the two ways in which bytes move. No callback is called with
//! the lock held: polling collects upcalls, releases it, and makes them (`upcall`).
//!
//! # Memory
//!
//! Receive buffers are slots of one arena. A zero-copy send keeps the *address*: the kernel reads
//! from it when it takes the bytes, and it completes when the peer has acknowledged them. Memory
//! that changed in between is diagnosed.

mod arena;
pub mod exports;
mod library;
mod polling;
mod rule;
mod sending;
mod settings;
mod socket;
mod system;
mod upcall;
