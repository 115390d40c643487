//! A planted mistake for each rule that a program can break.

use goblin_xlio_sys::{
    EVENT_CLOSED, EVENT_TERMINATED, GROUP_FLAG_DIRTY, SEND_FLAG_FLUSH, SEND_FLAG_INLINE,
};

use crate::NOW;
use crate::client::{self, Client, Told, hook, is_diagnosed};

/// Tests whose body breaks a rule.
macro_rules! mistakes {
    ($($name:ident($rule:literal, $settings:expr) $body:block)*) => {
        $(
            #[test]
            fn $name() {
                let name = concat!("mistakes::", stringify!($name));
                is_diagnosed(name, $rule, $settings, || $body);
            }
        )*
    };
}

mistakes! {
    a_socket_after_a_failed_initialisation("not-initialised", &[("XLIO_EMU_INIT_ERRNO", "19")]) {
        let mut client = Client { functions: client::open(), group: 0 };
        client.init();
        client.group = client.create_group(0);
        client.create(1);
    }

    initialising_after_the_end("init-after-exit", &[]) {
        let client = Client::new();
        client.exit();
        client.init();
    }

    destroying_twice("double-destroy", &[]) {
        let client = Client::new();
        let socket = client.create(1);
        client.destroy(socket);
        client.destroy(socket);
    }

    using_a_socket_that_is_gone("unknown-socket", &[]) {
        let client = Client::new();
        let socket = client.create(1);
        client.destroy(socket);
        client.poll();
        client.update(socket, 5);
    }

    using_a_group_that_is_gone("unknown-group", &[]) {
        let client = Client::new();
        client.destroy_group();
        client.poll();
    }

    destroying_in_a_terminated_callback("destroy-in-terminated", &[]) {
        let client = Client::new();
        let (first, second) = (client.create(1), client.create(2));
        hook(move |told| {
            if matches!(told, Told::Event(_, _, EVENT_TERMINATED, _)) {
                client.destroy(second);
            }
        });
        client.destroy(first);
        client.poll();
    }

    destroying_a_detached_socket("destroy-detached", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        client.detach(connected);
        client.destroy(connected);
    }

    listening_on_a_detached_socket("listen-detached", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        client.detach(connected);
        client.listen(connected);
    }

    freeing_a_buffer_twice("double-free", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        client.send(connected, b"x", NOW, 0);
        let descriptor = client.until(|told| match told {
            Told::Received(_, _, _, descriptor) => Some(*descriptor),
            _ => None,
        });
        client.free(descriptor);
        client.free(descriptor);
    }

    keeping_a_buffer_beyond_its_group("buffer-leak", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        client.send(connected, b"x", NOW, 0);
        client.until(|told| matches!(told, Told::Received(..)).then_some(()));
        client.destroy_group();
    }

    destroying_a_group_with_a_send_in_flight("zero-copy-in-flight", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        client.send(connected, b"never flushed", 0, 1);
        client.destroy_group();
    }

    changing_memory_before_its_completion("zero-copy-memory", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        let mut bytes = vec![1; 1000];
        client.send(connected, &bytes, SEND_FLAG_FLUSH, 1);
        bytes.fill(2);
        client.until(|told| matches!(told, Told::Completed(..)).then_some(()));
    }

    polling_on_another_thread("foreign-thread", &[]) {
        let client = Client::new();
        client.poll();
        std::thread::spawn(move || client.poll()).join().unwrap();
    }

    sending_on_a_destroyed_socket("send-after-destroy", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        client.destroy(connected);
        client.send(connected, b"x", NOW, 0);
    }

    sending_in_a_closed_callback("send-in-callback", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        hook(move |told| {
            if let Told::Event(socket, _, EVENT_CLOSED, _) = told {
                client.send(*socket, b"x", NOW, 0);
            }
        });
        client.destroy(connected);
        client.until(|_| None::<()>);
    }

    polling_in_a_callback("poll-in-callback", &[]) {
        let client = Client::new();
        hook(move |_| client.poll());
        client.pair();
    }

    destroying_the_group_in_a_callback("group-destroy-in-callback", &[]) {
        let client = Client::new();
        hook(move |_| client.destroy_group());
        client.pair();
    }

    detaching_in_a_callback("detach-in-callback", &[]) {
        let client = Client::new();
        hook(move |told| {
            if let Told::Accepted(child, ..) = told {
                client.detach(*child);
            }
        });
        client.pair();
    }

    detaching_with_unflushed_bytes("detach-unflushed", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        client.send(connected, b"x", SEND_FLAG_INLINE, 0);
        client.detach(connected);
    }

    migrating_with_a_send_in_flight("migrate-in-flight", &[]) {
        let client = Client::new();
        let (connected, _) = client.pair();
        client.send(connected, b"x", SEND_FLAG_FLUSH, 1);
        client.detach(connected);
    }

    flushing_a_socket_of_a_dirty_group("flush-and-dirty", &[]) {
        let client = Client::with_flags(GROUP_FLAG_DIRTY);
        let (connected, _) = client.pair();
        client.send(connected, b"x", SEND_FLAG_INLINE, 0);
        client.flush_group();
        client.send(connected, b"x", SEND_FLAG_INLINE, 0);
        client.flush(connected);
    }

    more_sockets_than_there_may_be("socket-limit", &[("XLIO_EMU_SOCKET_LIMIT", "3")]) {
        let client = Client::new();
        for userdata in 1..=4 {
            client.create(userdata);
        }
    }

    polling_too_late("poll-too-late", &[("XLIO_EMU_POLL_LIMIT_MS", "1")]) {
        let client = Client::new();
        client.poll();
        let started = std::time::Instant::now();
        while started.elapsed().as_millis() < 2 {}
        client.poll();
    }

    leaving_an_accepted_socket_without_userdata("userdata-not-set", crate::STRICT) {
        Client::new().pair();
    }

    listening_on_the_wildcard("wildcard-listener", crate::STRICT) {
        let client = Client::new();
        let listener = client.create(1);
        client.bind(listener, "0.0.0.0:0");
        client.listen(listener);
    }
}
