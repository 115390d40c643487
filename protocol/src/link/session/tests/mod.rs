//! An edge's and a host's session, connected by pipes that deliver any pieces and break anywhere.

mod ends;
mod limits;
mod pair;
mod random;
