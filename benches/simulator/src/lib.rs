//! One host, several edges and many clients in simulated time, from a seed.
//!
//! The cores are the real ones, driven over a simulated network by the same turn as in the programs.
//! Scripted clients talk to them; links stall and break, processes crash, clients stop reading. When
//! it is over, checkers hold what the clients saw against the promises P1 to P7.
//!
//! * [`run`] runs a seed; the same seed gives the same run, byte for byte.
//! * [`plan`]: what a seed decides beforehand. `workload`: what clients do. `world`: the processes.
//! * [`history`]: what was seen. `checks`: one promise each, in words at the top of its file.
//! * [`plant`]: faults that are planted to show that the checkers can fail.

mod checks;
mod client;
pub mod digest;
pub mod history;
pub mod names;
pub mod plan;
pub mod plant;
pub mod random;
mod request;
mod run;
mod tap;
mod verdict;
mod workload;
mod world;

pub use run::{run, run_plan};
pub use verdict::{Counts, Outcome, Violation};
pub use world::virtual_time;
