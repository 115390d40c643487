//! What today's client libraries send before they do anything else, and authentication.

use goblin_end_to_end::{Client, Options, Reply, Server, Target, on_every_server, on_the_pair};

on_the_pair!(client_setinfo_is_known);
on_every_server!(
    without_the_password_nothing_works,
    a_wrong_password_changes_nothing,
    hello_authenticates_and_names_in_one_command,
    an_unauthenticated_client_may_not_send_much,
    an_unknown_protocol_version_is_refused,
    a_handshake_with_unknown_parts_goes_on,
    info_has_sections,
);

fn protected(target: Target) -> Server {
    let options = Options {
        authority: &["--requirepass", "secret"],
        ..Options::default()
    };
    Server::start_with(target, options)
}

fn without_the_password_nothing_works(target: Target) {
    let server = protected(target);
    let mut client = server.connect();
    for command in [
        "PING",
        "GET k",
        "SUBSCRIBE a",
        "PUBLISH a x",
        "CLIENT ID",
        "MULTI",
    ] {
        client.exchange(
            format!("{command}\r\n"),
            "-NOAUTH Authentication required.\r\n",
        );
    }
    client.exchange("AUTH secret\r\nPING\r\n", "+OK\r\n+PONG\r\n");
    client.exchange(
        "RESET\r\nPING\r\n",
        "+RESET\r\n-NOAUTH Authentication required.\r\n",
    );
    client.exchange("AUTH default secret\r\nPING\r\n", "+OK\r\n+PONG\r\n");
    server.connect().exchange("QUIT\r\n", "+OK\r\n");
}

fn a_wrong_password_changes_nothing(target: Target) {
    const WRONG: &str = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    let server = protected(target);
    let mut client = server.connect();
    client.send(&["HELLO", "3"]);
    let refused = client.reply().text();
    assert!(
        refused.starts_with("NOAUTH HELLO must be called with the client already authenticated"),
        "{refused}"
    );
    for command in [
        "AUTH wrong",
        "AUTH default wrong",
        "AUTH nobody secret",
        "HELLO 3 AUTH default wrong",
        "HELLO 3 AUTH nobody secret SETNAME n",
    ] {
        client.exchange(format!("{command}\r\n"), WRONG);
    }
    client.exchange("PING\r\n", "-NOAUTH Authentication required.\r\n");
    // The protocol is still RESP2 and the name still none.
    client.exchange(
        "AUTH secret\r\nGET nosuch\r\nCLIENT GETNAME\r\n",
        "+OK\r\n$-1\r\n$-1\r\n",
    );
}

fn hello_authenticates_and_names_in_one_command(target: Target) {
    let server = protected(target);
    let mut client = server.connect();
    let hello = client.call(&["HELLO", "3", "AUTH", "default", "secret", "SETNAME", "n"]);
    assert_eq!(field(&hello, "proto"), &Reply::Integer(3));
    client.exchange("CLIENT GETNAME\r\nGET nosuch\r\n", "$1\r\nn\r\n_\r\n");
    let hello = client.call(&["HELLO", "2"]);
    assert!(matches!(hello, Reply::Array(_)), "{hello:?}");
    assert_eq!(field(&hello, "proto"), &Reply::Integer(2));
    client.exchange("GET nosuch\r\n", "$-1\r\n");
    let hello = client.call(&["HELLO"]);
    assert_eq!(field(&hello, "proto"), &Reply::Integer(2));
    assert_eq!(field(&hello, "role"), &Reply::bulk("master"));
}

fn an_unauthenticated_client_may_not_send_much(target: Target) {
    let server = protected(target);
    for (sent, refused) in [
        ("*11\r\n", "unauthenticated multibulk length"),
        ("*1\r\n$16385\r\n", "unauthenticated bulk length"),
    ] {
        let mut client = server.connect();
        client.exchange(sent, format!("-ERR Protocol error: {refused}\r\n"));
        client.expect_closed();
    }
}

fn an_unknown_protocol_version_is_refused(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect();
    client.exchange("HELLO 4\r\n", "-NOPROTO unsupported protocol version\r\n");
    client.exchange(
        "HELLO abc\r\n",
        "-ERR Protocol version is not an integer or out of range\r\n",
    );
    client.exchange(
        "HELLO 3 FOO\r\n",
        "-ERR Syntax error in HELLO option 'FOO'\r\n",
    );
    client.exchange("GET nosuch\r\n", "$-1\r\n");
}

fn a_handshake_with_unknown_parts_goes_on(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect();
    client.exchange(
        "CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type internal-ip\r\n\
         COMMAND DOCS nosuch\r\nCLIENT SETNAME me\r\nCLIENT GETNAME\r\nSELECT 0\r\n",
        "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.\r\n\
         *0\r\n+OK\r\n$2\r\nme\r\n+OK\r\n",
    );
    client.speak_resp3();
    client.exchange("COMMAND DOCS nosuch\r\n", "%0\r\n");
}

/// New in Redis 7.2.
fn client_setinfo_is_known(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect();
    client.exchange(
        "CLIENT SETINFO LIB-NAME redis-py\r\nCLIENT SETINFO LIB-VER 8.1.0\r\nCLIENT SETINFO FOO x\r\n\
         CLIENT SETINFO LIB-NAME \"a b\"\r\n",
        "+OK\r\n+OK\r\n-ERR Unrecognized option 'FOO'\r\n\
         -ERR lib-name cannot contain spaces, newlines or special characters.\r\n",
    );
    let list = client.call(&["CLIENT", "LIST"]).text();
    assert!(list.contains("lib-name=redis-py lib-ver=8.1.0"), "{list}");
}

fn info_has_sections(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect();
    let ask = |client: &mut Client, section: &[&str]| {
        let mut command = vec!["INFO"];
        command.extend(section);
        client.call(&command).text()
    };
    let all = ask(&mut client, &[]);
    for section in ["Server", "Clients", "Memory", "Stats"] {
        assert!(
            all.contains(&format!("# {section}\r\n")),
            "{section}: {all}"
        );
    }
    assert!(all.contains("\r\nredis_version:"), "{all}");
    assert!(all.contains("\r\nconnected_clients:"), "{all}");
    let one = ask(&mut client, &["clients"]);
    assert!(
        one.starts_with("# Clients\r\n") && !one.contains("# Server"),
        "{one}"
    );
    assert_eq!(ask(&mut client, &["nosuch"]), "");
}

fn field<'a>(hello: &'a Reply, name: &str) -> &'a Reply {
    hello
        .elements()
        .chunks_exact(2)
        .find(|pair| pair[0] == Reply::bulk(name))
        .map(|pair| &pair[1])
        .unwrap_or_else(|| panic!("no {name} in {hello:?}"))
}
