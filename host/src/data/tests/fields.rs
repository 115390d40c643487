//! Fields of hashes.

use super::*;

#[test]
fn fields_are_set_once_measured_and_added_to() {
    check(&[
        ("HSETNX h f 10", ":1"),
        ("HSETNX h f 11", ":0"),
        ("HSTRLEN h f", ":2"),
        ("HSTRLEN h none", ":0"),
        ("HINCRBYFLOAT h f 0.5", "$4 10.5"),
        ("HSET h f x", ":0"),
        ("HINCRBYFLOAT h f 1", "-ERR hash value is not a float"),
        ("HINCRBYFLOAT h f inf", "-ERR value is NaN or Infinity"),
        ("HINCRBYFLOAT none f x", "-ERR value is not a valid float"),
        ("EXISTS none", ":0"),
    ]);
}

#[test]
fn chance_chooses_fields() {
    check(&[
        ("HSET h f v", ":1"),
        ("HRANDFIELD h", "$1 f"),
        ("HRANDFIELD h 5", "*1 $1 f"),
        ("HRANDFIELD h -2", "*2 $1 f $1 f"),
        ("HRANDFIELD h 1 WITHVALUES", "*2 $1 f $1 v"),
        ("HRANDFIELD h 0", "*0"),
        ("HRANDFIELD h 1 FOO", SYNTAX),
        ("HRANDFIELD none", "$-1"),
        ("HRANDFIELD none 1", "*0"),
    ]);
    Client::new(Version::Resp3).check(&[
        ("HSET h f v", ":1"),
        ("HRANDFIELD h 1 WITHVALUES", "*1 *2 $1 f $1 v"),
    ]);
}

#[test]
fn different_fields_are_chosen_from_a_large_hash() {
    let mut client = Client::new(Version::Resp2);
    for field in 0..300 {
        client.run(&format!("HSET h f{field} 1"));
    }
    let reply = client.run("HRANDFIELD h 100");
    let fields: std::collections::HashSet<_> = reply
        .split(' ')
        .filter(|word| word.starts_with('f'))
        .collect();
    assert_eq!(fields.len(), 100);
}
