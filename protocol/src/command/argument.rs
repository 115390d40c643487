//! What a command takes, for its documentation: a small tree per command.

use std::fmt;

/// One argument, or several that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// What the documentation calls it.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// The literal word that stands before it, or that it consists of.
    pub token: Option<&'static str>,
    /// The Redis version that brought it, where it is younger than its command.
    pub since: Option<&'static str>,
    /// May be left out.
    pub optional: bool,
    /// May be given several times; a token is given once, before the first.
    pub multiple: bool,
}

/// What an argument is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any bytes.
    String,
    /// The name of a key.
    Key,
    /// A glob pattern.
    Pattern,
    /// A whole number.
    Integer,
    /// A floating-point number.
    Double,
    /// A point in time as a number since 1970.
    UnixTime,
    /// The token and nothing else.
    PureToken,
    /// Exactly one of these.
    OneOf(&'static [Argument]),
    /// All of these, in this order.
    Block(&'static [Argument]),
}

impl Kind {
    /// The word that `COMMAND DOCS` prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Key => "key",
            Self::Pattern => "pattern",
            Self::Integer => "integer",
            Self::Double => "double",
            Self::UnixTime => "unix-time",
            Self::PureToken => "pure-token",
            Self::OneOf(_) => "oneof",
            Self::Block(_) => "block",
        }
    }

    /// What a composed argument consists of; empty for a plain one.
    #[must_use]
    pub const fn parts(self) -> &'static [Argument] {
        match self {
            Self::OneOf(parts) | Self::Block(parts) => parts,
            _ => &[],
        }
    }
}

/// The argument that most commands begin with.
pub(super) const KEY: Argument = new("key", Kind::Key);
/// Any bytes.
pub(super) const fn string(name: &'static str) -> Argument {
    new(name, Kind::String)
}
/// A whole number.
pub(super) const fn integer(name: &'static str) -> Argument {
    new(name, Kind::Integer)
}
/// Any other kind.
pub(super) const fn new(name: &'static str, kind: Kind) -> Argument {
    Argument {
        name,
        kind,
        token: None,
        since: None,
        optional: false,
        multiple: false,
    }
}
/// A literal word.
pub(super) const fn word(name: &'static str, token: &'static str) -> Argument {
    new(name, Kind::PureToken).after(token)
}
/// One of several.
pub(super) const fn one_of(name: &'static str, parts: &'static [Argument]) -> Argument {
    new(name, Kind::OneOf(parts))
}
/// Several in a row.
pub(super) const fn block(name: &'static str, parts: &'static [Argument]) -> Argument {
    new(name, Kind::Block(parts))
}

impl Argument {
    /// With a literal word before it.
    pub(super) const fn after(mut self, token: &'static str) -> Self {
        self.token = Some(token);
        self
    }
    /// May be left out.
    pub(super) const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
    /// May be repeated.
    pub(super) const fn multiple(mut self) -> Self {
        self.multiple = true;
        self
    }
    /// Younger than its command.
    pub(super) const fn since(mut self, version: &'static str) -> Self {
        self.since = Some(version);
        self
    }
}

impl fmt::Display for Argument {
    /// The argument as a line of help has it: `[EX seconds | PX milliseconds]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.optional {
            f.write_str("[")?;
        }
        if let Some(token) = self.token {
            f.write_str(token)?;
        }
        if self.token.is_some() && !matches!(self.kind, Kind::PureToken) {
            f.write_str(" ")?;
        }
        self.write_value(f)?;
        match self.kind {
            _ if !self.multiple => {}
            Kind::OneOf(_) => f.write_str(" ...")?,
            _ => {
                f.write_str(" [")?;
                self.write_value(f)?;
                f.write_str(" ...]")?;
            }
        }
        if self.optional {
            f.write_str("]")?;
        }
        Ok(())
    }
}

impl Argument {
    fn write_value(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::PureToken => Ok(()),
            Kind::Block(parts) => write_joined(f, parts, " "),
            Kind::OneOf(parts) if self.optional && self.token.is_none() && !self.multiple => {
                write_joined(f, parts, " | ")
            }
            Kind::OneOf(parts) => {
                f.write_str("<")?;
                write_joined(f, parts, " | ")?;
                f.write_str(">")
            }
            _ => f.write_str(self.name),
        }
    }
}

/// Writes arguments one after the other.
fn write_joined(f: &mut fmt::Formatter<'_>, parts: &[Argument], between: &str) -> fmt::Result {
    for (position, part) in parts.iter().enumerate() {
        if position > 0 {
            f.write_str(between)?;
        }
        write!(f, "{part}")?;
    }
    Ok(())
}
