//! The codec: a struct per message and per group entry, an enum per side.

use std::fmt::{self, Write};

use crate::names::{pascal, snake};
use crate::schema::{Body, Enum, Field, Group, Kind, Message, Schema, Sender};

/// The module to include where `goblin_protocol::sbe::wire` is in scope as `wire`.
#[must_use]
pub fn codec(schema: &Schema) -> String {
    let mut out = String::new();
    write_all(schema, &mut out).expect("a string takes any text");
    out
}

fn write_all(schema: &Schema, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "/// The schema's id.\npub const SCHEMA_ID: u16 = {};\n\
         /// The schema's version.\npub const SCHEMA_VERSION: u16 = {};",
        schema.id, schema.version
    )?;
    for declared in used_enums(schema) {
        write_enum(declared, out)?;
    }
    for message in known(schema) {
        write_message(message, schema, out)?;
    }
    for (side, name, doc) in [
        (Sender::Client, "Request", "What a client sends."),
        (
            Sender::Server,
            "Response",
            "What a server sends: replies and pushes.",
        ),
    ] {
        let messages: Vec<_> = known(schema).filter(|m| m.sender == side).collect();
        if !messages.is_empty() {
            write_side(name, doc, &messages, out)?;
        }
    }
    Ok(())
}

/// The messages that are not left to others.
pub(crate) fn known(schema: &Schema) -> impl Iterator<Item = &Message> {
    schema.messages.iter().filter(|m| m.sender != Sender::Other)
}

fn used_enums(schema: &Schema) -> impl Iterator<Item = &Enum> {
    let uses = |body: &Body, name: &str| {
        let kinds = body.fields.iter().map(|field| &field.kind);
        kinds
            .into_iter()
            .any(|kind| *kind == Kind::Enum(name.to_owned()))
    };
    schema.enums.iter().filter(move |declared| {
        known(schema).any(|message| {
            let mut groups = message.body.groups.iter();
            uses(&message.body, &declared.name)
                || groups.any(|group| uses(&group.body, &declared.name))
        })
    })
}

fn write_enum(declared: &Enum, out: &mut String) -> fmt::Result {
    let name = &declared.name;
    doc(&declared.description, name, out)?;
    writeln!(
        out,
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[repr(u8)]\npub enum {name} {{"
    )?;
    for value in &declared.values {
        doc(&value.description, &value.name, out)?;
        writeln!(out, "{} = {},", pascal(&value.name), value.code)?;
    }
    writeln!(
        out,
        "}}\nimpl wire::Field for {name} {{ type Wire = u8;\n\
         fn from_wire(code: u8) -> Result<Self, FormatError> {{ match code {{"
    )?;
    for value in &declared.values {
        writeln!(out, "{} => Ok(Self::{}),", value.code, pascal(&value.name))?;
    }
    writeln!(
        out,
        "code => Err(FormatError::Code {{ field: \"{}\", code }}), }} }}\n\
         fn to_wire(self) -> u8 {{ self as u8 }} }}",
        snake(name)
    )
}

fn write_message(message: &Message, schema: &Schema, out: &mut String) -> fmt::Result {
    let Message { name, id, body, .. } = message;
    for group in &body.groups {
        if !group.is_plain() {
            write_entry(message, group, out)?;
        }
    }
    doc(&message.description, name, out)?;
    write_struct(name, message, body, out)?;
    let lifetime = lifetime(body);
    let (block, rest) = (
        used(!body.fields.is_empty(), "block"),
        used(has_parts(body), "rest"),
    );
    writeln!(
        out,
        "impl<'a> wire::Message<'a> for {name}{lifetime} {{\n\
         const TEMPLATE: u16 = {id}; const BLOCK_BYTES_MIN: u16 = {};\n\
         #[inline]\n\
         fn read({block}: wire::Block<'a>, {rest}: &mut wire::Rest<'a>) -> Result<Self, FormatError> {{",
        body.block_bytes_min
    )?;
    write_read(body, out)?;
    writeln!(
        out,
        "}} }}\nimpl wire::Encode for {name}{} {{\n#[inline]\nfn write(&self, sink: &mut impl Sink) {{\n\
         wire::put_header(sink, {}, {id}, {}, {});",
        lifetime.replace("'a", "'_"),
        body.block_bytes,
        schema.id,
        schema.version,
    )?;
    write_write(body, out)?;
    writeln!(out, "}} }}")
}

fn write_entry(message: &Message, group: &Group, out: &mut String) -> fmt::Result {
    let name = entry_name(message, group);
    let body = &group.body;
    doc(
        &format!("One of the {} of [`{}`].", group.name, message.name),
        "",
        out,
    )?;
    write_struct(&name, message, body, out)?;
    let (block, rest) = (
        used(!body.fields.is_empty(), "block"),
        used(has_parts(body), "rest"),
    );
    writeln!(
        out,
        "impl<'a> wire::Entry<'a> for {name}{} {{\n\
         const BLOCK_BYTES: u16 = {}; const BLOCK_BYTES_MIN: u16 = {}; const DATA_PARTS: usize = {};\n\
         #[inline]\n\
         fn read({block}: wire::Block<'a>, {rest}: &mut wire::Rest<'a>) -> Result<Self, FormatError> {{",
        lifetime(body),
        body.block_bytes,
        body.block_bytes_min,
        body.data.len(),
    )?;
    write_read(body, out)?;
    writeln!(
        out,
        "}}\n#[inline]\nfn write(&self, sink: &mut impl Sink) {{"
    )?;
    write_write(body, out)?;
    writeln!(out, "}} }}")
}

fn write_struct(name: &str, message: &Message, body: &Body, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "#[derive(Clone, Copy, Debug, PartialEq)]\npub struct {name}{} {{",
        lifetime(body)
    )?;
    for field in &body.fields {
        doc(&field.description, &field.name, out)?;
        writeln!(out, "pub {}: {},", snake(&field.name), field_type(field))?;
    }
    for group in &body.groups {
        doc("", &group.name, out)?;
        let entry = entry_type(message, group);
        writeln!(out, "pub {}: wire::Group<'a, {entry}>,", snake(&group.name))?;
    }
    for data in &body.data {
        doc(&data.description, &data.name, out)?;
        writeln!(out, "pub {}: &'a [u8],", snake(&data.name))?;
    }
    writeln!(out, "}}")
}

fn write_read(body: &Body, out: &mut String) -> fmt::Result {
    writeln!(out, "Ok(Self {{")?;
    for field in &body.fields {
        let Field { offset, since, .. } = field;
        let name = snake(&field.name);
        if field.optional {
            writeln!(out, "{name}: block.optional({offset}, {since})?,")?;
        } else {
            writeln!(out, "{name}: block.required({offset})?,")?;
        }
    }
    for group in &body.groups {
        writeln!(out, "{}: rest.group({})?,", snake(&group.name), group.since)?;
    }
    for data in &body.data {
        writeln!(out, "{}: rest.data({})?,", snake(&data.name), data.since)?;
    }
    writeln!(out, "}})")
}

fn write_write(body: &Body, out: &mut String) -> fmt::Result {
    if body.fields.is_empty() && !has_parts(body) {
        return writeln!(out, "let _ = self;");
    }
    if !body.fields.is_empty() {
        write!(out, "wire::BlockOf::<{}>::new()", body.block_bytes)?;
        for field in &body.fields {
            let method = if field.optional {
                "optional"
            } else {
                "required"
            };
            write!(
                out,
                ".{method}({}, self.{})",
                field.offset,
                snake(&field.name)
            )?;
        }
        writeln!(out, ".put(sink);")?;
    }
    for group in &body.groups {
        writeln!(out, "self.{}.put(sink);", snake(&group.name))?;
    }
    for data in &body.data {
        writeln!(out, "wire::put_data(sink, self.{});", snake(&data.name))?;
    }
    Ok(())
}

fn write_side(name: &str, about: &str, messages: &[&Message], out: &mut String) -> fmt::Result {
    doc(about, "", out)?;
    writeln!(
        out,
        "#[derive(Clone, Copy, Debug, PartialEq)]\npub enum {name}<'a> {{"
    )?;
    for message in messages {
        doc(&message.description, &message.name, out)?;
        writeln!(out, "{0}({0}{1}),", message.name, lifetime(&message.body))?;
    }
    writeln!(
        out,
        "}}\nimpl<'a> {name}<'a> {{\n\
         /// Decodes one message, which must be all of `bytes` and is borrowed from them.\n///\n\
         /// # Errors\n/// [`FormatError`] if the bytes are not exactly one of these messages.\n\
         #[inline]\npub fn decode(bytes: &'a [u8]) -> Result<Self, FormatError> {{\n\
         let parts = wire::Parts::new(bytes, SCHEMA_ID, SCHEMA_VERSION)?;\nmatch parts.template {{"
    )?;
    for message in messages {
        writeln!(
            out,
            "{} => parts.read().map(Self::{}),",
            message.id, message.name
        )?;
    }
    writeln!(
        out,
        "template => Err(FormatError::Template {{ template }}), }} }} }}\n\
         impl wire::Encode for {name}<'_> {{\n\
         fn write(&self, sink: &mut impl Sink) {{ match self {{"
    )?;
    for message in messages {
        writeln!(
            out,
            "Self::{}(message) => message.write(sink),",
            message.name
        )?;
    }
    writeln!(out, "}} }} }}")
}

impl Group {
    /// Whether an entry is one data and nothing else.
    pub(crate) fn is_plain(&self) -> bool {
        self.body.fields.is_empty() && self.body.data.len() == 1
    }
}

/// What a group's entry is called.
pub(crate) fn entry_name(message: &Message, group: &Group) -> String {
    format!("{}{}", message.name, pascal(&group.name))
}

/// An entry's type, for a lifetime `'a`.
pub(crate) fn entry_type(message: &Message, group: &Group) -> String {
    if group.is_plain() {
        "&'a [u8]".to_owned()
    } else {
        entry_name(message, group) + lifetime(&group.body)
    }
}

fn field_type(field: &Field) -> String {
    let plain = match &field.kind {
        Kind::Primitive(name, _) => (*name).to_owned(),
        Kind::Boolean => "bool".to_owned(),
        Kind::Enum(name) => name.clone(),
        Kind::Other(bytes) => format!("[u8; {bytes}]"),
    };
    if field.optional {
        format!("Option<{plain}>")
    } else {
        plain
    }
}

/// Whether groups or data follow the block.
fn has_parts(body: &Body) -> bool {
    !body.groups.is_empty() || !body.data.is_empty()
}

fn lifetime(body: &Body) -> &'static str {
    if has_parts(body) { "<'a>" } else { "" }
}

/// The name of a parameter, as it is or as one that is not used.
fn used(is_used: bool, name: &str) -> String {
    if is_used {
        name.to_owned()
    } else {
        format!("_{name}")
    }
}

/// A line of documentation, made from the name when the schema has none.
fn doc(description: &str, name: &str, out: &mut String) -> fmt::Result {
    let text = if description.is_empty() {
        name
    } else {
        description
    };
    let text = text
        .replace("[`", "\u{1}")
        .replace('[', "\\[")
        .replace('\u{1}', "[`");
    writeln!(out, "/// {text}")
}
