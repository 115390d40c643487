//! The floor: what the sockets alone take.
//!
//! A process that does nothing but spin on a socket and answer with as many bytes as a server would.
//! No server over the same sockets can be quicker, so what one adds is its own.

use std::net::{TcpListener, TcpStream};

use super::connection::{Connection, Wait};
use super::probe::{COMMAND, ONE, PONG};

/// What the floor answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FloorKind {
    /// `PONG`, on the same connection.
    Echo,
    /// What came, as a message, on the second connection; then a reply on the first.
    Relay,
}

/// Serves one client until it leaves. Says where, as servers do.
pub(super) fn serve(kind: FloorKind) -> Result<(), String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    println!("listening clients tcp {address}");
    let mut client = accept(&listener)?;
    match kind {
        FloorKind::Echo => loop {
            client.receive(1, Wait::Spin)?;
            client.send(PONG)?;
        },
        FloorKind::Relay => {
            let mut subscriber = accept(&listener)?;
            loop {
                let message = client.receive(COMMAND.end, Wait::Spin)?;
                message[COMMAND].copy_from_slice(b"message");
                subscriber.send(message)?;
                client.send(ONE)?;
            }
        }
    }
}

fn accept(listener: &TcpListener) -> Result<Connection, String> {
    let prepare = |socket: TcpStream| {
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    let accepted = listener.accept().and_then(|(socket, _)| prepare(socket));
    accepted
        .map(Connection::over)
        .map_err(|error| error.to_string())
}
