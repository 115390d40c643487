//! A schema as read from its XML, and what must hold for it.

use std::error::Error;
use std::fmt;

use roxmltree::{Document, Node};

/// Why a schema cannot be used: an element and what is wrong with it.
#[derive(Debug)]
pub struct SchemaError(String);

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for SchemaError {}

/// A schema: its enums and messages in their order.
#[derive(Debug)]
pub struct Schema {
    pub(crate) id: u16,
    pub(crate) version: u16,
    pub(crate) enums: Vec<Enum>,
    pub(crate) messages: Vec<Message>,
}

#[derive(Debug)]
pub(crate) struct Enum {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) values: Vec<Value>,
}

#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) code: u8,
}

#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: String,
    pub(crate) id: u16,
    pub(crate) description: String,
    pub(crate) sender: Sender,
    pub(crate) body: Body,
}

/// Who sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    Client,
    Server,
    Other,
}

/// What a message and a group's entry have in common.
#[derive(Debug)]
pub(crate) struct Body {
    /// What we write.
    pub(crate) block_bytes: usize,
    /// What the first version wrote.
    pub(crate) block_bytes_min: usize,
    pub(crate) fields: Vec<Field>,
    pub(crate) groups: Vec<Group>,
    pub(crate) data: Vec<Data>,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) kind: Kind,
    pub(crate) offset: usize,
    pub(crate) since: u16,
    pub(crate) optional: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A Rust primitive and its size.
    Primitive(&'static str, usize),
    Boolean,
    Enum(String),
    /// Of a message that is left to others.
    Other(usize),
}

impl Kind {
    pub(crate) fn bytes(&self) -> usize {
        match *self {
            Self::Primitive(_, bytes) | Self::Other(bytes) => bytes,
            Self::Boolean | Self::Enum(_) => 1,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) since: u16,
    pub(crate) body: Body,
}

#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) since: u16,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// [`SchemaError`] for XML that is none, and for what is beyond the part of SBE that is supported.
    pub fn parse(xml: &str) -> Result<Self, SchemaError> {
        let document = Document::parse(xml).map_err(|error| SchemaError(error.to_string()))?;
        let root = document.root_element();
        if root.attribute("byteOrder") != Some("littleEndian") {
            return Err(wrong(root, "must be littleEndian"));
        }
        let types = Types::read(root)?;
        let messages = children(root, "message").map(|node| message(node, &types));
        let schema = Self {
            id: number(root, "id")?,
            version: number(root, "version")?,
            messages: messages.collect::<Result<_, _>>()?,
            enums: types.enums,
        };
        for (at, message) in schema.messages.iter().enumerate() {
            let before = schema.messages.iter().take(at);
            let mut taken = before.map(|other| (other.id, &other.name));
            if taken.any(|(id, name)| id == message.id || *name == message.name) {
                return Err(SchemaError(format!("{} or its id is taken", message.name)));
            }
        }
        Ok(schema)
    }
}

/// The named types: each with how fields of it are read.
struct Types {
    enums: Vec<Enum>,
    kinds: Vec<(String, Kind)>,
}

impl Types {
    fn read(root: Node<'_, '_>) -> Result<Self, SchemaError> {
        let mut types = Self {
            enums: Vec::new(),
            kinds: Vec::new(),
        };
        for node in children(root, "types").flat_map(|types| types.children()) {
            let kind = match node.tag_name().name() {
                "type" => primitive(node)?,
                "set" => Kind::Other(1),
                "enum" if node.attribute("encodingType") != Some("uint8") => {
                    return Err(wrong(node, "must be encoded in uint8"));
                }
                "enum" if name(node)? == "Boolean" => Kind::Boolean,
                "enum" => {
                    types.enums.push(read_enum(node)?);
                    Kind::Enum(name(node)?)
                }
                _ => continue,
            };
            types.kinds.push((name(node)?, kind));
        }
        Ok(types)
    }

    fn find(&self, node: Node<'_, '_>) -> Result<Kind, SchemaError> {
        let wanted = node.attribute("type").unwrap_or_default();
        let found = self.kinds.iter().find(|(name, _)| name == wanted);
        found
            .map(|(_, kind)| kind.clone())
            .ok_or_else(|| wrong(node, "is of a type that is not declared"))
    }
}

fn primitive(node: Node<'_, '_>) -> Result<Kind, SchemaError> {
    let (name, bytes) = match node.attribute("primitiveType") {
        Some("uint8") => ("u8", 1),
        Some("uint16") => ("u16", 2),
        Some("uint32") => ("u32", 4),
        Some("uint64") => ("u64", 8),
        Some("int64") => ("i64", 8),
        Some("double") => ("f64", 8),
        _ => return Err(wrong(node, "is of a primitive type that is not supported")),
    };
    Ok(match node.attribute("length") {
        None => Kind::Primitive(name, bytes),
        Some(_) => Kind::Other(number::<usize>(node, "length")? * bytes),
    })
}

fn read_enum(node: Node<'_, '_>) -> Result<Enum, SchemaError> {
    let value = |value: Node<'_, '_>| {
        let code = value.text().and_then(|text| text.trim().parse().ok());
        Ok(Value {
            name: name(value)?,
            description: description(value),
            code: code.ok_or_else(|| wrong(value, "has no code"))?,
        })
    };
    Ok(Enum {
        name: name(node)?,
        description: description(node),
        values: children(node, "validValue")
            .map(value)
            .collect::<Result<_, _>>()?,
    })
}

fn message(node: Node<'_, '_>, types: &Types) -> Result<Message, SchemaError> {
    let sender = match node.attribute("semanticType") {
        Some("request") => Sender::Client,
        Some("response") => Sender::Server,
        _ => Sender::Other,
    };
    Ok(Message {
        name: name(node)?,
        id: number(node, "id")?,
        description: description(node),
        sender,
        body: body(node, types, sender == Sender::Other)?,
    })
}

fn body(node: Node<'_, '_>, types: &Types, is_other: bool) -> Result<Body, SchemaError> {
    let mut body = Body {
        block_bytes: number(node, "blockLength")?,
        block_bytes_min: 0,
        fields: Vec::new(),
        groups: Vec::new(),
        data: Vec::new(),
    };
    // Blocks can grow whatever follows them; what follows them can grow only at the end.
    let (mut block_since, mut rest_since) = (0, 0);
    let mut end = 0;
    for part in node.children().filter(Node::is_element) {
        let is_field = part.has_tag_name("field");
        let since = since_version(part)?;
        let before = if is_field {
            &mut block_since
        } else {
            &mut rest_since
        };
        if since < *before {
            return Err(wrong(part, "is older than what stands before it"));
        }
        *before = since;
        match part.tag_name().name() {
            "field" => {
                let field = field(part, types, is_other)?;
                if field.offset != end {
                    return Err(wrong(part, "must begin where the field before it ends"));
                }
                end += field.kind.bytes();
                if since == 0 {
                    body.block_bytes_min = end;
                }
                body.fields.push(field);
            }
            "group" => body.groups.push(Group {
                name: name(part)?,
                since,
                body: entry(part, types, is_other)?,
            }),
            _ if is_other || part.attribute("type") == Some("Bytes") => body.data.push(Data {
                name: name(part)?,
                description: description(part),
                since,
            }),
            _ => return Err(wrong(part, "is of a type that is not supported here")),
        }
    }
    if end != body.block_bytes {
        return Err(wrong(node, "has a blockLength that its fields do not fill"));
    }
    Ok(body)
}

/// A group's entry. Each takes a byte at least, so that a count can be checked against what is there.
fn entry(node: Node<'_, '_>, types: &Types, is_other: bool) -> Result<Body, SchemaError> {
    let entry = body(node, types, is_other)?;
    if !entry.groups.is_empty() {
        return Err(wrong(node, "has a group inside"));
    }
    if entry.block_bytes_min == 0 && entry.data.is_empty() {
        return Err(wrong(node, "has entries that can be empty"));
    }
    if entry.data.iter().any(|data| data.since > 0) {
        return Err(wrong(node, "has data that an older peer cannot skip"));
    }
    Ok(entry)
}

fn field(node: Node<'_, '_>, types: &Types, is_other: bool) -> Result<Field, SchemaError> {
    let field = Field {
        name: name(node)?,
        description: description(node),
        kind: types.find(node)?,
        offset: number(node, "offset")?,
        since: since_version(node)?,
        optional: node.attribute("presence") == Some("optional"),
    };
    if field.since > 0 && !field.optional {
        return Err(wrong(node, "is younger than its message and not optional"));
    }
    if matches!(field.kind, Kind::Other(_)) && !is_other {
        return Err(wrong(node, "is of a type that is not supported here"));
    }
    Ok(field)
}

fn children<'a, 'input>(
    node: Node<'a, 'input>,
    tag: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children()
        .filter(move |child| child.tag_name().name() == tag)
}

fn name(node: Node<'_, '_>) -> Result<String, SchemaError> {
    let name = node
        .attribute("name")
        .ok_or_else(|| wrong(node, "has no name"))?;
    Ok(name.to_owned())
}

fn description(node: Node<'_, '_>) -> String {
    node.attribute("description").unwrap_or_default().to_owned()
}

fn since_version(node: Node<'_, '_>) -> Result<u16, SchemaError> {
    match node.attribute("sinceVersion") {
        None => Ok(0),
        Some(_) => number(node, "sinceVersion"),
    }
}

fn number<T: std::str::FromStr>(
    node: Node<'_, '_>,
    attribute: &'static str,
) -> Result<T, SchemaError> {
    let text = node.attribute(attribute).unwrap_or_default();
    text.parse()
        .map_err(|_| wrong(node, &format!("has no usable {attribute}")))
}

fn wrong(node: Node<'_, '_>, what: &str) -> SchemaError {
    let name = node.attribute("name").unwrap_or_default();
    let line = node.document().text_pos_at(node.range().start).row;
    let tag = node.tag_name().name();
    SchemaError(format!("line {line}: {tag} {name} {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str) -> String {
        let xml = format!(
            "<messageSchema id=\"1\" version=\"1\" byteOrder=\"littleEndian\"><types>\
             <type name=\"N\" primitiveType=\"uint32\"/><type name=\"L\" primitiveType=\"uint8\" \
             length=\"4\"/></types>{message}</messageSchema>"
        );
        let schema = Schema::parse(&xml);
        schema.map_or_else(|error| error.to_string(), |_| String::new())
    }

    /// A request with this block length and these parts.
    fn request(block: usize, parts: &str) -> String {
        let name = "name=\"M\" id=\"1\" semanticType=\"request\"";
        format!("<message {name} blockLength=\"{block}\">{parts}</message>")
    }

    #[test]
    fn what_cannot_be_read_safely_or_evolve_is_refused_by_name() {
        let n = "<field name=\"n\" id=\"1\" type=\"N\" offset=\"0\"/>";
        assert_eq!(refused(&request(4, n)), "");
        let data = "<data name=\"d\" id=\"9\" type=\"Bytes\"/>";
        let group =
            |entry: &str| format!("<group name=\"g\" id=\"8\" blockLength=\"0\">{entry}</group>");
        let young = data.replace("id=", "sinceVersion=\"1\" id=");
        for (message, reason) in [
            (
                request(8, n),
                "line 1: message M has a blockLength that its fields do not fill",
            ),
            (
                request(8, &n.replace("\"0\"", "\"4\"")),
                "line 1: field n must begin where the field before it ends",
            ),
            (
                request(4, &n.replace("\"N\"", "\"L\"")),
                "line 1: field n is of a type that is not supported here",
            ),
            (
                request(4, &n.replace("\"N\"", "\"X\"")),
                "line 1: field n is of a type that is not declared",
            ),
            (
                request(4, &n.replace("id=", "sinceVersion=\"1\" id=")),
                "line 1: field n is younger than its message and not optional",
            ),
            (
                request(0, &group("")),
                "line 1: group g has entries that can be empty",
            ),
            (
                request(0, &group(&group(data))),
                "line 1: group g has a group inside",
            ),
            (
                request(0, &group(&young)),
                "line 1: group g has data that an older peer cannot skip",
            ),
            (
                request(0, &(young + data)),
                "line 1: data d is older than what stands before it",
            ),
            (request(0, "") + &request(0, ""), "M or its id is taken"),
        ] {
            assert_eq!(refused(&message), reason);
        }
    }
}
