//! `goblin-host`: the host over kernel TCP.

mod settings;

use std::process::ExitCode;

use goblin_host::Host;
use goblin_process::process::{Options, hash_seed, random_bytes, run};
use goblin_process::settings::load;
use goblin_process::{Failure, exit, logs};

use settings::Settings;

fn main() -> ExitCode {
    exit("goblin-host", serve())
}

fn serve() -> Result<(), Failure> {
    let settings: Settings = load()?;
    let listeners = settings.listeners()?;
    let mut config = settings.config(&listeners)?;
    let options = Options {
        listeners,
        upstream: Vec::new(),
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
    run(options, |now, port| {
        config.port = port;
        Host::new(now, config, seed, Box::new(random_bytes))
    })
}
