//! `goblin-edge`: the edge over kernel TCP.

mod settings;

use std::process::ExitCode;

use goblin_edge::Edge;
use goblin_process::process::{Options, hash_seed, random_bytes, run};
use goblin_process::settings::load;
use goblin_process::{Failure, exit, logs};

use settings::Settings;

fn main() -> ExitCode {
    exit("goblin-edge", serve())
}

fn serve() -> Result<(), Failure> {
    let settings: Settings = load()?;
    let config = settings.config()?;
    let options = Options {
        listeners: settings.listeners()?,
        upstream: settings.upstream()?,
        clients_max: config.clients.clients_max,
        keepalive_seconds: settings.keepalive_seconds(),
        poll_mode: settings.process().poll_mode(),
    };
    if settings.process().check_config {
        println!("the configuration is right");
        return Ok(());
    }
    settings.process().placement().apply()?;
    logs::start(settings.process().log.unwrap_or_default());
    let seed = hash_seed();
    run(options, |now, _port| {
        Edge::new(now, config, seed, Box::new(random_bytes))
    })
}
