//! What every transport must do.

use goblin_protocol::service::{Action, Closed};

use super::{HowOpened, Pair, Probe, World, pattern};
use crate::transport::Transport;
use crate::turn::Turn;

/// Turns that are enough for anything that is going to happen to happen.
const MANY_TURNS: usize = 1_000;
const MEBIBYTE: usize = 1024 * 1024;

/// Both sides hear of a connection, each in its way.
pub fn a_dial_opens_both_sides<W: World>(world: W) {
    let mut pair = Pair::new(world);
    let (accepted, dialed) = pair.connect_one();
    let Some(HowOpened::Accepted(peer, local, listener)) =
        &pair.server.service().heard(accepted).how
    else {
        panic!("the server did not accept");
    };
    assert_eq!(*listener, 0);
    assert!(peer.contains(':') && !local.is_empty(), "{peer} {local}");
    let how = pair.client.service().heard(dialed).how.as_ref();
    assert_eq!(how, Some(&HowOpened::Dialed));
}

/// Messages of many sizes, among them some larger than any buffer on the way, come back as they
/// were.
pub fn everything_sent_comes_back<W: World>(world: W) {
    let mut pair = Pair::new(world);
    let (_, dialed) = pair.connect_one();
    pair.server.service_mut().echo = true;
    let mut sent = Vec::new();
    for (salt, length) in [1, 2, 100, 1_000, 65_536, 65_537, 3 * MEBIBYTE, 7, 1_000_003]
        .into_iter()
        .enumerate()
    {
        let message = pattern(salt, length);
        sent.extend_from_slice(&message);
        pair.client.service_mut().send(dialed, message);
        if salt % 3 == 0 {
            pair.client_receives(dialed, sent.len());
        }
    }
    pair.client_receives(dialed, sent.len());
    let received = &pair.client.service().heard(dialed).received;
    assert!(*received == sent, "what came back is not what was sent");
}

/// Two full pipes do not wait for each other.
pub fn both_sides_send_at_once_without_a_deadlock<W: World>(world: W) {
    let mut pair = Pair::new(world);
    let (accepted, dialed) = pair.connect_one();
    let (down, up) = (pattern(1, 2 * MEBIBYTE), pattern(2, 2 * MEBIBYTE));
    for piece in down.chunks(10_000) {
        pair.server.service_mut().send(accepted, piece.to_vec());
    }
    for piece in up.chunks(10_000) {
        pair.client.service_mut().send(dialed, piece.to_vec());
    }
    pair.server_receives(accepted, up.len());
    pair.client_receives(dialed, down.len());
    assert!(pair.server.service().heard(accepted).received == up);
    assert!(pair.client.service().heard(dialed).received == down);
}

/// Where a transport can pause, the bytes of a paused connection wait at the sender.
pub fn a_paused_connection_holds_its_peer_back_and_loses_nothing<W: World>(world: W) {
    let mut pair = Pair::new(world);
    if !pair.server.transport().can_pause() {
        return;
    }
    let (accepted, dialed) = pair.connect_one();
    let bytes = pattern(3, 16 * MEBIBYTE);
    pair.server.service_mut().act(Action::Pause(accepted));
    pair.turn();
    pair.client.service_mut().send(dialed, bytes.clone());
    pair.turn_until("a write falls short", |pair| {
        pair.client.counters().transport.writes_short > 0
    });
    for _ in 0..MANY_TURNS {
        pair.turn();
    }
    assert!(pair.server.service().heard(accepted).received.is_empty());
    assert!(pair.client.service().unwritten(dialed) > 0);
    pair.server.service_mut().act(Action::Resume(accepted));
    pair.server_receives(accepted, bytes.len());
    assert!(pair.server.service().heard(accepted).received == bytes);
}

/// The dialing side writes and closes.
pub fn a_closing_dialer_is_heard_after_its_last_byte<W: World>(world: W) {
    let mut pair = Pair::new(world);
    let (accepted, dialed) = pair.connect_one();
    let bytes = pattern(4, MEBIBYTE);
    pair.client.service_mut().send(dialed, bytes.clone());
    pair.turn_until("everything is taken", |pair| {
        pair.client.service().unwritten(dialed) == 0
    });
    pair.client.service_mut().close(dialed);
    pair.turn_until("the server hears the end", |pair| {
        !pair.server.service().closed.is_empty()
    });
    let heard = pair.server.service().heard(accepted);
    assert!(heard.received == bytes);
    assert_eq!(heard.closed, Some(Closed::ByPeer));
    assert!(pair.client.service().closed.is_empty());
}

/// The listening side writes and closes.
pub fn a_closing_listener_is_heard_after_its_last_byte<W: World>(world: W) {
    let mut pair = Pair::new(world);
    let (accepted, dialed) = pair.connect_one();
    let bytes = pattern(5, MEBIBYTE);
    pair.server.service_mut().send(accepted, bytes.clone());
    pair.turn_until("everything is taken", |pair| {
        pair.server.service().unwritten(accepted) == 0
    });
    pair.server.service_mut().close(accepted);
    pair.turn_until("the client hears the end", |pair| {
        !pair.client.service().closed.is_empty()
    });
    let heard = pair.client.service().heard(dialed);
    assert!(heard.received == bytes);
    assert_eq!(heard.closed, Some(Closed::ByPeer));
    assert!(pair.server.service().closed.is_empty());
}

/// A failed dial is told as one, once, and nothing opens; a second attempt has another name.
pub fn a_dial_to_nobody_fails<W: World>(mut world: W) {
    let nobody = Turn::new(Probe::default(), world.dialing_nobody());
    let mut pair = Pair::new(world);
    pair.client = nobody;
    for attempt in 1..=2 {
        pair.client.service_mut().dial();
        pair.turn_until("the dial fails", |pair| {
            pair.client.service().closed.len() == attempt
        });
    }
    let probe = pair.client.service();
    assert!(probe.opened.is_empty());
    assert_ne!(probe.closed[0], probe.closed[1]);
    for id in &probe.closed {
        assert!(matches!(
            probe.heard(*id).closed,
            Some(Closed::Unreachable(_))
        ));
    }
}

/// Each of many connections gets its own bytes back.
pub fn many_connections_keep_their_bytes_apart<W: World>(world: W) {
    let mut pair = Pair::new(world);
    pair.server.service_mut().echo = true;
    let connections = pair.connect(150);
    let message = |salt: usize| pattern(salt, 1 + salt * 37);
    for (salt, (_, dialed)) in connections.iter().enumerate() {
        pair.client.service_mut().send(*dialed, message(salt));
    }
    for (salt, (_, dialed)) in connections.iter().enumerate() {
        pair.client_receives(*dialed, message(salt).len());
        assert!(pair.client.service().heard(*dialed).received == message(salt));
    }
}

/// What a turn has to say to a connection leaves in one write, however many slices it is.
pub fn a_burst_is_one_write_per_connection<W: World>(world: W) {
    let mut pair = Pair::new(world);
    let connections = pair.connect(20);
    for (accepted, _) in &connections {
        for salt in 0..10 {
            pair.server.service_mut().send(*accepted, pattern(salt, 8));
        }
    }
    let before = pair.server.counters().transport;
    pair.turn();
    let after = pair.server.counters().transport;
    assert_eq!(after.writes - before.writes, 20);
    for (_, dialed) in &connections {
        pair.client_receives(*dialed, 80);
    }
}

/// Whatever is done to a connection that ended does nothing to the one that has its index now.
pub fn an_old_name_never_reaches_a_new_connection<W: World>(world: W) {
    let mut pair = Pair::new(world);
    pair.server.service_mut().echo = true;
    for round in 0..10 {
        let old = pair.connect(5);
        for (accepted, dialed) in &old {
            pair.client.service_mut().send(*dialed, pattern(round, 100));
            pair.client_receives(*dialed, 100);
            if round % 2 == 0 {
                pair.client.service_mut().close(*dialed);
            } else {
                pair.server.service_mut().close(*accepted);
            }
        }
        pair.turn_until("the other side hears every end", |pair| {
            let ended = pair.client.service().closed.len() + pair.server.service().closed.len();
            ended == (round + 1) * 5
        });
        let (_, dialed) = pair.connect_one();
        for (accepted, dialed) in old {
            for (turn, id) in [(&mut pair.server, accepted), (&mut pair.client, dialed)] {
                turn.service_mut().act(Action::Flush(id));
                turn.service_mut().act(Action::Pause(id));
                turn.service_mut().act(Action::Close(id));
            }
        }
        pair.client
            .service_mut()
            .send(dialed, pattern(round, 1_000));
        pair.client_receives(dialed, 1_000);
    }
    assert!(
        pair.server
            .service()
            .opened
            .iter()
            .any(|id| id.generation > 0)
    );
}

/// A process that drains accepts nobody and goes on serving.
pub fn closed_listeners_keep_their_connections<W: World>(world: W) {
    let mut pair = Pair::new(world);
    pair.server.service_mut().echo = true;
    let (_, dialed) = pair.connect_one();
    pair.server.transport_mut().close_listeners();
    pair.client.service_mut().dial();
    pair.turn_until("the second dial fails", |pair| {
        !pair.client.service().closed.is_empty()
    });
    pair.client.service_mut().send(dialed, pattern(6, 1_000));
    pair.client_receives(dialed, 1_000);
    assert_eq!(pair.server.service().opened.len(), 1);
}
