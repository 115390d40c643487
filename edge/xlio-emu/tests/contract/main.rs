//! The library as a program sees it, opened at run time. Each test is a process of its own: the
//! library starts once per process, and a broken rule ends it.

mod client;
mod mistakes;

use goblin_xlio_sys::{
    EVENT_CLOSED, EVENT_ERROR, EVENT_ESTABLISHED, EVENT_TERMINATED, SEND_FLAG_FLUSH,
    SEND_FLAG_INLINE,
};

use client::{Client, Told, errno, hook, received, runs, told};

const NOW: u32 = SEND_FLAG_FLUSH | SEND_FLAG_INLINE;
const STRICT: &[(&str, &str)] = &[("XLIO_EMU_STRICT", "1"), ("XLIO_EMU_ENOMEM", "0")];

/// Tests whose body runs in a child, as it is named, with settings.
macro_rules! children {
    ($($name:ident($settings:expr) $body:block)*) => {
        $(
            #[test]
            fn $name() {
                runs(stringify!($name), $settings, || $body);
            }
        )*
    };
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

children! {
    a_passive_connection_is_accepted_and_never_established(&[]) {
        let client = Client::new();
        let (connected, accepted) = client.pair();
        assert!(!told().iter().any(|it| matches!(
            it, Told::Event(socket, _, EVENT_ESTABLISHED, _) if *socket == accepted
        )));
        assert_ne!(client.protection_domain(connected), 0);
        assert_eq!(client.exit(), 0);
    }

    a_socket_has_no_protection_domain_before_it_is_connected(&[]) {
        let client = Client::new();
        assert_eq!(client.protection_domain(client.create(1)), 0);
    }

    copied_bytes_arrive_as_they_were_and_never_complete(&[]) {
        let client = Client::new();
        let (connected, accepted) = client.pair();
        let bytes = pattern(3_000_000);
        for piece in bytes.chunks(70_001) {
            assert_eq!(client.send(connected, piece, NOW, 9), 0);
        }
        assert!(client.receive(accepted, bytes.len()) == bytes);
        assert!(!told().iter().any(|it| matches!(it, Told::Completed(..))));
    }

    bytes_arrive_in_every_strict_mode(STRICT) {
        let client = Client::new();
        hook(move |told| {
            if let Told::Accepted(child, ..) = told {
                client.update(*child, 3);
            }
        });
        let (connected, accepted) = client.pair();
        let bytes = pattern(50_000);
        assert_eq!(client.send(connected, &bytes, NOW, 0), 0);
        assert!(client.receive(accepted, bytes.len()) == bytes);
    }

    unflushed_bytes_wait_for_the_flush(&[]) {
        let client = Client::new();
        let (connected, accepted) = client.pair();
        assert_eq!(client.send(connected, b"abc", SEND_FLAG_INLINE, 0), 0);
        for _ in 0..100 {
            client.poll();
        }
        assert!(received(accepted).is_empty());
        client.flush(connected);
        assert_eq!(client.receive(accepted, 3), b"abc");
    }

    a_zero_copy_send_completes_once_and_in_order(&[]) {
        let client = Client::new();
        let (connected, accepted) = client.pair();
        let bytes = pattern(200_000);
        for (operation, piece) in bytes.chunks(50_000).enumerate() {
            assert_eq!(client.send(connected, piece, SEND_FLAG_FLUSH, operation + 1), 0);
        }
        // Neither without userdata nor without bytes.
        assert_eq!(client.send(connected, b"x", SEND_FLAG_FLUSH, 0), 0);
        assert_eq!(client.send(connected, b"", SEND_FLAG_FLUSH, 77), 0);
        assert!(client.receive(accepted, bytes.len() + 1)[..bytes.len()] == bytes);
        client.until(|told| matches!(told, Told::Completed(_, 2, 4)).then_some(()));
        let completed: Vec<_> = told().into_iter().filter_map(|it| match it {
            Told::Completed(_, _, operation) => Some(operation),
            _ => None,
        }).collect();
        assert_eq!(completed, [1, 2, 3, 4]);
    }

    a_completion_waits_for_the_peers_acknowledgement(&[]) {
        let client = Client::new();
        let (_, address) = client.listener();
        let peer = std::net::TcpStream::connect(&address).unwrap();
        let accepted = client.until(|told| match told {
            Told::Accepted(child, ..) => Some(*child),
            _ => None,
        });
        let bytes = pattern(64 * 1024 * 1024);
        assert_eq!(client.send(accepted, &bytes, SEND_FLAG_FLUSH, 5), 0);
        for _ in 0..200 {
            client.poll();
        }
        // Nobody reads: the peer's window is full.
        assert!(!told().iter().any(|it| matches!(it, Told::Completed(..))));
        drop(peer);
        client.until(|told| matches!(told, Told::Completed(..)).then_some(()));
    }

    a_graceful_close_waits_for_the_peers_end(&[]) {
        let client = Client::new();
        let (connected, accepted) = client.pair();
        assert_eq!(client.send(connected, b"last", SEND_FLAG_INLINE, 0), 0);
        client.destroy(connected);
        assert_eq!(client.receive(accepted, 4), b"last");
        client.until_event(accepted, EVENT_CLOSED);
        for _ in 0..100 {
            client.poll();
        }
        let terminated = |socket| told().iter().any(|it| matches!(
            it, Told::Event(which, _, EVENT_TERMINATED, _) if *which == socket
        ));
        assert!(!terminated(connected));
        client.destroy(accepted);
        client.until_event(connected, EVENT_TERMINATED);
        client.until_event(accepted, EVENT_TERMINATED);
    }

    a_graceful_close_has_a_limit(&[("XLIO_EMU_FIN_WAIT_MS", "20")]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        client.destroy(connected);
        client.until_event(connected, EVENT_TERMINATED);
    }

    an_abortive_close_resets_at_once(&[]) {
        let client = Client::new();
        let (connected, accepted) = client.pair();
        client.abort_on_close(connected);
        client.destroy(connected);
        assert!(!told().iter().any(|it| matches!(it, Told::Event(_, _, EVENT_TERMINATED, _))));
        client.poll();
        assert!(told().iter().any(|it| matches!(it, Told::Event(_, 2, EVENT_TERMINATED, _))));
        assert_eq!(client.until_event(accepted, EVENT_ERROR), libc::ECONNRESET);
        assert_eq!(client.send(accepted, b"x", NOW, 0), -1);
        assert_eq!(errno(), libc::ECONNRESET);
    }

    a_refused_connection_is_an_error_of_the_poll(&[]) {
        let client = Client::new();
        let socket = client.create(1);
        assert_eq!(client.send(socket, b"x", NOW, 0), -1);
        assert_eq!(errno(), libc::EPIPE);
        assert_eq!(client.connect(socket, "127.0.0.1:1"), 0);
        assert!(told().is_empty());
        assert_eq!(client.until_event(socket, EVENT_ERROR), libc::ECONNREFUSED);
        assert_eq!(client.connect(socket, "127.0.0.1:1"), -1);
        assert_eq!(errno(), libc::ECONNABORTED);
        client.destroy(socket);
        client.until_event(socket, EVENT_TERMINATED);
    }

    only_listed_addresses_are_offloaded(&[("XLIO_EMU_ADDRESSES", "10.1.2.3, 127.0.0.2")]) {
        let client = Client::new();
        let socket = client.create(1);
        assert_eq!(client.bind(socket, "127.0.0.1:0"), -1);
        assert_eq!(errno(), libc::ENODEV);
        assert_eq!(client.listen(socket), -1);
        assert_eq!(errno(), libc::ENODEV);
        assert_eq!(client.bind(client.create(2), "127.0.0.2:0"), 0);
        assert_eq!(client.connect(client.create(3), "127.0.0.1:1"), -1);
        assert_eq!(errno(), libc::ENODEV);
    }

    a_wildcard_listener_succeeds_and_accepts_nobody(&[]) {
        let client = Client::new();
        let listener = client.create(1);
        assert_eq!(client.bind(listener, "0.0.0.0:0"), 0);
        assert_eq!(client.listen(listener), 0);
        let _peer = std::net::TcpStream::connect(("127.0.0.1", client.port(listener))).unwrap();
        for _ in 0..100 {
            client.poll();
        }
        assert!(told().is_empty());
    }

    the_end_may_be_told_before_the_last_bytes(&[("XLIO_EMU_CLOSED_FIRST", "1")]) {
        let client = Client::new();
        let (_, address) = client.listener();
        let mut peer = std::net::TcpStream::connect(&address).unwrap();
        std::io::Write::write_all(&mut peer, b"last").unwrap();
        drop(peer);
        let received = |told: &Told| matches!(told, Told::Received(..)).then_some(());
        client.until(received);
        let order: Vec<_> = told().into_iter().map(|it| match it {
            Told::Event(_, _, event, _) => event,
            Told::Received(..) => 0,
            Told::Accepted(..) | Told::Completed(..) => -1,
        }).collect();
        assert_eq!(order, [-1, EVENT_CLOSED, 0]);
    }

    a_failed_initialisation_looks_like_success_the_second_time(&[("XLIO_EMU_INIT_ERRNO", "19")]) {
        let client = Client { functions: client::open(), group: 0 };
        assert_eq!(client.init(), -1);
        assert_eq!(errno(), libc::ENODEV);
        assert_eq!(client.init(), 0);
        client.create_group(0);
    }

    a_socket_moves_between_groups(&[]) {
        let client = Client::new();
        let (connected, accepted) = client.pair();
        let other = Client { group: client.create_group(0), ..client };
        assert_eq!(client.detach(accepted), 0);
        assert_eq!(client.send(connected, b"meanwhile", NOW, 0), 0);
        client.poll();
        assert_eq!(other.attach(accepted, other.group), 0);
        assert_eq!(other.attach(accepted, other.group), -1);
        assert_eq!(other.receive(accepted, 9), b"meanwhile");
    }

    memory_runs_out_now_and_then(&[("XLIO_EMU_ENOMEM", "500")]) {
        let client = Client::new();
        let (connected, accepted) = client.pair();
        let mut sent = 0;
        let mut refused = 0;
        for _ in 0..100 {
            match client.send(connected, b"x", NOW, 0) {
                0 => sent += 1,
                _ => refused += i32::from(errno() == libc::ENOMEM),
            }
        }
        assert!(sent > 10 && refused > 10);
        assert_eq!(client.receive(accepted, sent).len(), sent);
    }

    a_handle_comes_again(&[("XLIO_EMU_REUSE_HANDLES", "1")]) {
        let client = Client::new();
        let first = client.create(1);
        client.destroy(first);
        client.until_event(first, EVENT_TERMINATED);
        assert_eq!(client.create(2), first);
    }

    a_completion_may_come_inside_the_send(&[("XLIO_EMU_COMPLETE_IN_FLUSH", "1")]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        let mut inside = false;
        for operation in 1..100 {
            let before = told().len();
            assert_eq!(client.send(connected, b"zero-copy", SEND_FLAG_FLUSH, operation), 0);
            inside |= told().len() > before;
        }
        assert!(inside);
    }
}

#[test]
fn a_preloaded_library_is_found_without_opening_it() {
    let path = client::library_path();
    let settings = [("LD_PRELOAD", path.to_str().unwrap())];
    runs(
        "a_preloaded_library_is_found_without_opening_it",
        &settings,
        || {
            assert!(goblin_xlio_sys::load::is_preloaded());
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let descriptor = std::os::fd::AsRawFd::as_raw_fd(&listener);
            assert_eq!(client::listens(descriptor), Ok(true));
            assert_eq!(client::listens(-1), Err(libc::EBADF));
            let client = Client::new();
            let (connected, accepted) = client.pair();
            assert_eq!(client.send(connected, b"abc", NOW, 0), 0);
            assert_eq!(client.receive(accepted, 3), b"abc");
        },
    );
}
