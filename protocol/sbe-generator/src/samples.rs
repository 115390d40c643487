//! Random messages of every template, for tests: each as its bytes and as text that was made from the
//! values, not from the bytes.
//!
//! ```text
//! Expire seconds=5 condition=IfAbsent key=6b6579
//! ZAdd condition=Always … members=[score=3ff0000000000000 member=61|…] key=
//! ```
//!
//! Data is in hexadecimal, a double its bits, an absent value `-`.

use std::fmt::{self, Write};

use crate::codec::{entry_name, known};
use crate::names::{pascal, snake};
use crate::schema::{Body, Field, Group, Kind, Message, Schema, Sender};

/// The source of `SAMPLES`, an array of functions that are given a `Random`. To be included where the
/// codec's names are in scope, `Random` and `wire`.
#[must_use]
pub fn samples(schema: &Schema) -> String {
    let mut out = String::new();
    write_all(schema, &mut out).expect("a string takes any text");
    out
}

fn write_all(schema: &Schema, out: &mut String) -> fmt::Result {
    for message in known(schema) {
        write_sample(message, schema, out)?;
    }
    writeln!(out, "const SAMPLES: &[fn(&mut Random) -> Sample] = &[")?;
    for message in known(schema) {
        writeln!(out, "sample_{},", snake(&message.name))?;
    }
    writeln!(out, "];")
}

fn write_sample(message: &Message, schema: &Schema, out: &mut String) -> fmt::Result {
    let name = &message.name;
    let side = match message.sender {
        Sender::Server => "Response",
        _ => "Request",
    };
    writeln!(
        out,
        "#[allow(unused_variables, unused_mut, clippy::all)]\n\
         fn sample_{}(random: &mut Random) -> Sample {{\nlet mut sample_text = String::from(\"{name}\");",
        snake(name)
    )?;
    let body = &message.body;
    write_fields(body, schema, " ", out)?;
    for group in &body.groups {
        write_group(message, group, schema, out)?;
    }
    write_data(body, out)?;
    write!(out, "let message = {side}::{name}({name} {{ ")?;
    for field in &body.fields {
        write!(out, "{}, ", snake(&field.name))?;
    }
    for group in &body.groups {
        write!(
            out,
            "{0}: wire::Group::from(&{0}[..]), ",
            snake(&group.name)
        )?;
    }
    write_references(body, out)?;
    writeln!(
        out,
        "}});\nlet mut bytes = Vec::new();\nwire::Encode::write(&message, &mut bytes);\n\
         assert_eq!({side}::decode(&bytes), Ok(message), \"{{sample_text}}\");\n\
         Sample {{ text: sample_text, bytes, is_request: {} }} }}",
        message.sender == Sender::Client
    )
}

fn write_group(message: &Message, group: &Group, schema: &Schema, out: &mut String) -> fmt::Result {
    let name = snake(&group.name);
    let body = &group.body;
    writeln!(
        out,
        "sample_text.push_str(\" {}=[\");\nlet count = random.below(4);\n\
         let mut pool: Vec<Vec<Vec<u8>>> = Vec::new();\nlet mut blocks = Vec::new();\n\
         for index in 0..count {{ if index > 0 {{ sample_text.push('|'); }}\nlet mut entry = Vec::new();",
        group.name
    )?;
    write_fields(body, schema, "", out)?;
    for (at, data) in body.data.iter().enumerate() {
        let first = if at == 0 && body.fields.is_empty() {
            ""
        } else {
            " "
        };
        writeln!(
            out,
            "let part = random.bytes();\n\
             write!(sample_text, \"{first}{}={{}}\", hex(&part)).unwrap();\nentry.push(part);",
            data.name
        )?;
    }
    let tuple: String = body
        .fields
        .iter()
        .map(|field| snake(&field.name) + ",")
        .collect();
    writeln!(
        out,
        "pool.push(entry); blocks.push(({tuple})); }}\nsample_text.push(']');\n\
         let {name}: Vec<_> = pool.iter().zip(&blocks).map(|(entry, &({tuple}))| "
    )?;
    if group.is_plain() {
        writeln!(out, "&entry[0][..]).collect();")
    } else {
        write!(out, "{} {{ {tuple} ", entry_name(message, group))?;
        for (at, data) in body.data.iter().enumerate() {
            write!(out, "{}: &entry[{at}][..], ", snake(&data.name))?;
        }
        writeln!(out, "}}).collect();")
    }
}

/// A variable for each field, and its text. The first is separated by `before`, others by a space.
fn write_fields(body: &Body, schema: &Schema, before: &str, out: &mut String) -> fmt::Result {
    for (at, field) in body.fields.iter().enumerate() {
        let before = if at == 0 { before } else { " " };
        let name = snake(&field.name);
        let (value, shown) = sample_field(field, schema);
        if field.optional {
            writeln!(
                out,
                "let {name} = if random.below(3) == 0 {{ None }} else {{ Some({value}) }};\n\
                 let shown = {name}.map_or(String::from(\"-\"), |value| {shown});"
            )?;
        } else {
            writeln!(
                out,
                "let {name} = {value};\nlet value = {name}; let shown = {shown};"
            )?;
        }
        writeln!(
            out,
            "write!(sample_text, \"{before}{}={{shown}}\").unwrap();",
            field.name
        )?;
    }
    Ok(())
}

/// Expressions for a random value of a field, and for the text of `value`.
fn sample_field(field: &Field, schema: &Schema) -> (String, String) {
    match &field.kind {
        Kind::Primitive("f64", _) => (
            "random.double()".to_owned(),
            "format!(\"{:016x}\", value.to_bits())".to_owned(),
        ),
        Kind::Primitive(name, _) => (
            format!("random.next() as {name}"),
            "value.to_string()".to_owned(),
        ),
        Kind::Boolean => (
            "random.below(2) == 1".to_owned(),
            "String::from(if value { \"True\" } else { \"False\" })".to_owned(),
        ),
        Kind::Enum(name) => {
            let declared = schema.enums.iter().find(|declared| declared.name == *name);
            let values = declared.map_or(&[][..], |declared| &declared.values[..]);
            let variants: String = values
                .iter()
                .map(|value| format!("{name}::{}, ", pascal(&value.name)))
                .collect();
            let count = values.len();
            (
                format!("[{variants}][random.below({count})]"),
                "format!(\"{value:?}\")".to_owned(),
            )
        }
        Kind::Other(_) => unreachable!("refused when the schema was read"),
    }
}

fn write_data(body: &Body, out: &mut String) -> fmt::Result {
    for data in &body.data {
        let name = snake(&data.name);
        writeln!(
            out,
            "let {name} = random.bytes();\n\
             write!(sample_text, \" {}={{}}\", hex(&{name})).unwrap();",
            data.name
        )?;
    }
    Ok(())
}

fn write_references(body: &Body, out: &mut String) -> fmt::Result {
    for data in &body.data {
        write!(out, "{0}: &{0}, ", snake(&data.name))?;
    }
    Ok(())
}
