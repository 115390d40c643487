//! The order and the form of replies to one connection, pushes among them.

use goblin_end_to_end::{Reply, Server, Target, on_every_server, on_the_pair};

on_the_pair!(a_push_is_never_inside_the_reply_of_exec);
on_every_server!(
    replies_and_confirmations_come_in_the_order_of_the_commands,
    a_resp2_subscriber_may_only_subscribe,
    unsubscribing_from_nothing_is_answered_once,
    ping_takes_the_form_of_the_mode,
    reset_and_quit_end_a_subscription,
    a_request_may_be_cut_anywhere,
    client_reply_silences_replies_but_not_messages,
);

/// Not on redis-server before 7.2, which puts the push inside.
fn a_push_is_never_inside_the_reply_of_exec(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect_resp3();
    client.subscribe(&["a"]);
    client.exchange(
        "MULTI\r\nPING\r\nPUBLISH a x\r\nPING\r\nEXEC\r\n",
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n",
    );
    let pong = || Reply::Simple(b"PONG".to_vec());
    let result = Reply::Array(vec![pong(), Reply::Integer(1), pong()]);
    let push = Reply::Push(["message", "a", "x"].map(Reply::bulk).to_vec());
    let both = [client.reply(), client.reply()];
    let reply_first = [result, push];
    let push_first = [reply_first[1].clone(), reply_first[0].clone()];
    // On the host the reply comes first, as in Redis; through an edge either may.
    let right = both == reply_first || (target == Target::Edge && both == push_first);
    assert!(right, "{both:?}");
    client.expect_nothing_more();
}

fn replies_and_confirmations_come_in_the_order_of_the_commands(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect_resp3();
    for round in 0..100 {
        let (before, after) = ((2 * round).to_string(), (2 * round + 1).to_string());
        let round = round.to_string();
        client.exchange(
            format!(
                "SET k {before}\r\nGET k\r\nSUBSCRIBE c\r\nSET k {after}\r\nGET k\r\n\
                 PSUBSCRIBE d\r\nPING {round}\r\nUNSUBSCRIBE c\r\nECHO {round}\r\nPUNSUBSCRIBE d\r\n"
            ),
            format!(
                "+OK\r\n{}>3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n+OK\r\n{}\
                 >3\r\n$10\r\npsubscribe\r\n$1\r\nd\r\n:2\r\n{}\
                 >3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:1\r\n{}\
                 >3\r\n$12\r\npunsubscribe\r\n$1\r\nd\r\n:0\r\n",
                bulk(&before),
                bulk(&after),
                bulk(&round),
                bulk(&round),
            ),
        );
    }
}

fn a_resp2_subscriber_may_only_subscribe(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect();
    let refused = |command: &str| {
        format!(
            "-ERR Can't execute '{command}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / \
             RESET are allowed in this context\r\n"
        )
    };
    client.exchange(
        "SET k 1\r\nGET k\r\nSUBSCRIBE c\r\nSET k 2\r\nGET k\r\nPUBLISH c x\r\nPSUBSCRIBE d\r\n",
        format!(
            "+OK\r\n$1\r\n1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n{}{}{}\
             *3\r\n$10\r\npsubscribe\r\n$1\r\nd\r\n:2\r\n",
            refused("set"),
            refused("get"),
            refused("publish"),
        ),
    );
    client.expect_nothing_more();
}

fn unsubscribing_from_nothing_is_answered_once(target: Target) {
    let server = Server::start(target);
    let mut resp2 = server.connect();
    let mut resp3 = server.connect_resp3();
    for command in ["UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"] {
        let name = bulk(command.to_lowercase());
        let line = format!("{command}\r\n");
        resp2.exchange(&line, format!("*3\r\n{name}$-1\r\n:0\r\n"));
        resp3.exchange(&line, format!(">3\r\n{name}_\r\n:0\r\n"));
        // Names that were never subscribed to are answered one by one.
        let line = format!("{command} a b\r\n");
        let each = |sign: char| {
            ["a", "b"].map(|channel| format!("{sign}3\r\n{name}{}:0\r\n", bulk(channel)))
        };
        resp2.exchange(&line, each('*').concat());
        resp3.exchange(&line, each('>').concat());
    }
    resp2.expect_nothing_more();
    resp3.expect_nothing_more();
}

fn ping_takes_the_form_of_the_mode(target: Target) {
    let server = Server::start(target);
    let sent = "SUBSCRIBE a\r\nPING\r\nPING x\r\nUNSUBSCRIBE\r\nPING\r\nPING x\r\n";
    server.connect().exchange(
        sent,
        "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n\
         *2\r\n$4\r\npong\r\n$1\r\nx\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n\
         +PONG\r\n$1\r\nx\r\n",
    );
    server.connect_resp3().exchange(
        sent,
        ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n+PONG\r\n$1\r\nx\r\n\
         >3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n+PONG\r\n$1\r\nx\r\n",
    );
}

fn reset_and_quit_end_a_subscription(target: Target) {
    let server = Server::start(target);
    let mut publisher = server.connect_elsewhere();
    let mut client = server.connect_resp3();
    client.subscribe(&["a"]);
    // Back in RESP2, without confirmations of what is undone.
    client.exchange("RESET\r\nPING\r\n", "+RESET\r\n+PONG\r\n");
    // What a client does reaches the host in order: behind its GET the publisher's count is right.
    client.exchange("GET nosuch\r\n", "$-1\r\n");
    assert_eq!(publisher.publish("a", "x"), 0);
    client.subscribe(&["a"]);
    client.exchange("QUIT\r\nPING\r\n", "+OK\r\n");
    client.expect_closed();
    server.connect().exchange("GET nosuch\r\n", "$-1\r\n");
    assert_eq!(publisher.publish("a", "x"), 0);
}

fn a_request_may_be_cut_anywhere(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect();
    let request =
        b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\na\r\nb\r\nGET k\r\n*2\r\n$4\r\nECHO\r\n$0\r\n\r\n";
    for cut in 1..request.len() {
        let (first, second) = request.split_at(cut);
        client.send_bytes(first);
        // Another connection's round trip lets the first part arrive by itself.
        server.connect().exchange("PING\r\n", "+PONG\r\n");
        client.exchange(second, "+OK\r\n$4\r\na\r\nb\r\n$0\r\n\r\n");
    }
}

fn client_reply_silences_replies_but_not_messages(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect_resp3();
    client.exchange(
        "CLIENT REPLY SKIP\r\nECHO skipped\r\nECHO 1\r\nCLIENT REPLY OFF\r\nECHO off\r\nSET k v\r\n\
         CLIENT REPLY ON\r\nGET k\r\n",
        "$1\r\n1\r\n+OK\r\n$1\r\nv\r\n",
    );
}

fn bulk(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    format!("${}\r\n{text}\r\n", text.len())
}
