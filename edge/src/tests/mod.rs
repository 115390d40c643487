//! What each promise means at the edge, told as stories between clients, the edge and a host whose
//! every word the story says itself.

mod connections;
mod link;
mod publications;
mod replies;
mod rights;
mod subscriptions;
mod transactions;
mod world;
