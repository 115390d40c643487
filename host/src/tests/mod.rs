//! What each promise means at the host, told as stories between clients that are connected to it and
//! edges whose every word the story says itself.

mod clients;
mod edges;
mod world;
