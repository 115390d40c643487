//! What `COMMAND` and its subcommands answer, and the `HELP` of every container.

use std::ops::Range;

use super::record::KeySpec;
use super::{
    Argument, Categories, Command, CommandError, Flags, KeyFlags, Kind, Record, TOP_LEVEL_COUNT,
    all, all_with_subcommands, find_full, lookup,
};
use crate::glob;
use crate::resp::{Arguments, Writer};

/// Answers `COMMAND` or a subcommand of it, whose number of words has been checked.
pub fn write(command: Command, request: Arguments<'_>, reply: &mut Writer<'_>) {
    let names = request.skip(2);
    match command {
        Command::CommandCount => count(reply),
        Command::CommandDocs => docs(names, reply),
        Command::CommandGetKeys => get_keys(names, false, reply),
        Command::CommandGetKeysAndFlags => get_keys(names, true, reply),
        Command::CommandHelp => help(command, reply),
        Command::CommandInfo => info(names, reply),
        Command::CommandList => list(names, reply),
        _ => table(reply),
    }
}

/// Answers how many commands there are.
pub fn count(reply: &mut Writer<'_>) {
    reply.integer(i64::try_from(TOP_LEVEL_COUNT).unwrap_or(i64::MAX));
}

/// Describes all commands.
pub fn table(reply: &mut Writer<'_>) {
    reply.array(TOP_LEVEL_COUNT);
    all().for_each(|record| write_info(record, reply));
}

/// Describes the commands of these names, or all if there is no name; null for a name that no
/// command has.
pub fn info(names: Arguments<'_>, reply: &mut Writer<'_>) {
    if names.is_empty() {
        return table(reply);
    }
    reply.array(names.len());
    for name in names.iter() {
        match find_full(name) {
            Some((_, record)) => write_info(record, reply),
            None => reply.null(),
        }
    }
}

/// Documents the commands of these names, or all if there is no name. A name that no command has
/// is passed over.
pub fn docs(names: Arguments<'_>, reply: &mut Writer<'_>) {
    if names.is_empty() {
        reply.map(TOP_LEVEL_COUNT);
        return all().for_each(|record| write_docs(record, reply));
    }
    let known = names.iter().filter_map(find_full);
    reply.map(known.clone().count());
    known.for_each(|(_, record)| write_docs(record, reply));
}

/// Lists the names of all commands and subcommands, or of those that `FILTERBY` selects.
pub fn list(options: Arguments<'_>, reply: &mut Writer<'_>) {
    if options.is_empty() {
        return write_names(|_| true, reply);
    }
    let (3, Some(b"filterby"), Some(by), Some(value)) = (
        options.len(),
        options.get(0).map(<[u8]>::to_ascii_lowercase).as_deref(),
        options.get(1),
        options.get(2),
    ) else {
        return reply.error(CommandError::Syntax);
    };
    match by.to_ascii_lowercase().as_slice() {
        b"module" => reply.array(0),
        b"aclcat" => {
            let category = Categories::named(value).unwrap_or(Categories::empty());
            write_names(|record| record.categories().intersects(category), reply);
        }
        b"pattern" => {
            let pattern = value.to_ascii_lowercase();
            write_names(
                |record| glob::matches(&pattern, record.name.as_bytes()),
                reply,
            );
        }
        _ => reply.error(CommandError::Syntax),
    }
}

/// Tells the keys of a request, and with `flags` what is done with each.
pub fn get_keys(request: Arguments<'_>, flags: bool, reply: &mut Writer<'_>) {
    let Ok((_, record)) = lookup(request) else {
        return reply.error("ERR Invalid command specified");
    };
    let is_key = |flags: KeyFlags| !flags.contains(KeyFlags::NOT_KEY);
    if !record.keys.iter().any(|spec| is_key(spec.flags)) {
        return reply.error("ERR The command has no key arguments");
    }
    if !record.accepts(request.len()) {
        return reply.error("ERR Invalid number of arguments specified for command");
    }
    let keys = || record.keys(request).filter(|&(_, flags)| is_key(flags));
    reply.array(keys().count());
    for (position, key_flags) in keys() {
        if flags {
            reply.array(2);
        }
        reply.bulk(request.get(position).unwrap_or_default());
        if flags {
            write_key_flags(key_flags, reply);
        }
    }
}

/// Answers the `HELP` of a container: explains its subcommands.
pub fn help(help: Command, reply: &mut Writer<'_>) {
    let Some(record) = super::container(help) else {
        return reply.array(0);
    };
    reply.array(1 + 2 * record.subcommands.len());
    let name = record.name.to_ascii_uppercase();
    reply.simple(&format!(
        "{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"
    ));
    for subcommand in record.subcommands {
        let mut line = subcommand.short_name().to_ascii_uppercase();
        for argument in subcommand.arguments {
            line.push(' ');
            line.push_str(&argument.to_string());
        }
        reply.simple(&line);
        reply.simple(&format!("    {}", subcommand.summary));
    }
}

fn write_names(selects: impl Fn(&Record) -> bool, reply: &mut Writer<'_>) {
    let selected = || all_with_subcommands().filter(|record| selects(record));
    reply.array(selected().count());
    selected().for_each(|record| reply.bulk(record.name.as_bytes()));
}

fn write_info(record: &Record, reply: &mut Writer<'_>) {
    let (first, last, step) = record.key_range();
    reply.array(10);
    reply.bulk(record.name.as_bytes());
    reply.integer(i64::from(record.arity));
    write_flags(record.flags, reply);
    reply.integer(first);
    reply.integer(last);
    reply.integer(step);
    write_categories(record.categories(), reply);
    reply.set(record.tips.len());
    record
        .tips
        .iter()
        .for_each(|tip| reply.bulk(tip.as_bytes()));
    reply.set(record.keys.len());
    record
        .keys
        .iter()
        .for_each(|spec| write_key_spec(spec, reply));
    reply.set(record.subcommands.len());
    record
        .subcommands
        .iter()
        .for_each(|sub| write_info(sub, reply));
}

fn write_flags(flags: Flags, reply: &mut Writer<'_>) {
    reply.set(flags.iter().count());
    for (name, _) in flags.iter_names() {
        reply.simple(&name.to_ascii_lowercase());
    }
}

fn write_categories(categories: Categories, reply: &mut Writer<'_>) {
    reply.set(categories.iter().count());
    for (name, _) in categories.iter_names() {
        reply.simple(&format!("@{}", name.to_ascii_lowercase()));
    }
}

/// The first four are printed in capitals, as Redis does.
fn write_key_flags(flags: KeyFlags, reply: &mut Writer<'_>) {
    let capitals = KeyFlags::RO | KeyFlags::RW | KeyFlags::OW | KeyFlags::RM;
    reply.set(flags.iter().count());
    for (name, flag) in flags.iter_names() {
        if capitals.contains(flag) {
            reply.simple(name);
        } else {
            reply.simple(&name.to_ascii_lowercase());
        }
    }
}

fn write_key_spec(spec: &KeySpec, reply: &mut Writer<'_>) {
    reply.map(3 + usize::from(spec.notes.is_some()));
    if let Some(notes) = spec.notes {
        write_text("notes", notes, reply);
    }
    reply.bulk(b"flags");
    write_key_flags(spec.flags, reply);
    reply.bulk(b"begin_search");
    reply.map(2);
    write_text("type", "index", reply);
    reply.bulk(b"spec");
    reply.map(1);
    write_number("index", i64::from(spec.first), reply);
    reply.bulk(b"find_keys");
    reply.map(2);
    write_text("type", if spec.counted { "keynum" } else { "range" }, reply);
    reply.bulk(b"spec");
    reply.map(3);
    if spec.counted {
        write_number("keynumidx", 0, reply);
        write_number("firstkey", 1, reply);
        return write_number("keystep", 1, reply);
    }
    write_number("lastkey", i64::from(spec.last), reply);
    write_number("keystep", i64::from(spec.step), reply);
    write_number("limit", 0, reply);
}

fn write_docs(record: &Record, reply: &mut Writer<'_>) {
    reply.bulk(record.name.as_bytes());
    let has_arguments = !record.arguments.is_empty();
    reply.map(4 + usize::from(has_arguments) + usize::from(record.is_container()));
    write_text("summary", record.summary, reply);
    write_text("since", record.since, reply);
    write_text("group", record.group.name(), reply);
    write_text("complexity", record.complexity, reply);
    if has_arguments {
        reply.bulk(b"arguments");
        write_arguments(record.arguments, &mut (0..record.keys.len()), reply);
    }
    if record.is_container() {
        reply.bulk(b"subcommands");
        reply.map(record.subcommands.len());
        record
            .subcommands
            .iter()
            .for_each(|sub| write_docs(sub, reply));
    }
}

/// `specs` are the key specifications that no argument before these belongs to. Those of a key that
/// is beyond the last belong to the last.
fn write_arguments(arguments: &[Argument], specs: &mut Range<usize>, reply: &mut Writer<'_>) {
    reply.array(arguments.len());
    arguments
        .iter()
        .for_each(|argument| write_argument(argument, specs, reply));
}

fn write_argument(argument: &Argument, specs: &mut Range<usize>, reply: &mut Writer<'_>) {
    let parts = argument.kind.parts();
    let is_key = matches!(argument.kind, Kind::Key);
    let has_flags = argument.optional || argument.multiple;
    let given = [
        // The text to display, which composed arguments have none of, or their parts.
        true,
        is_key,
        argument.token.is_some(),
        argument.since.is_some(),
        has_flags,
    ];
    reply.map(2 + given.into_iter().filter(|&given| given).count());
    write_text("name", argument.name, reply);
    write_text("type", argument.kind.name(), reply);
    if parts.is_empty() {
        write_text("display_text", argument.name, reply);
    }
    if is_key {
        let spec = specs.next().unwrap_or(specs.end.saturating_sub(1));
        write_number("key_spec_index", spec as i64, reply);
    }
    if let Some(token) = argument.token {
        write_text("token", token, reply);
    }
    if let Some(since) = argument.since {
        write_text("since", since, reply);
    }
    if has_flags {
        reply.bulk(b"flags");
        reply.set(usize::from(argument.optional) + usize::from(argument.multiple));
        if argument.optional {
            reply.simple("optional");
        }
        if argument.multiple {
            reply.simple("multiple");
        }
    }
    if !parts.is_empty() {
        reply.bulk(b"arguments");
        write_arguments(parts, specs, reply);
    }
}

fn write_text(name: &str, value: &str, reply: &mut Writer<'_>) {
    reply.bulk(name.as_bytes());
    reply.bulk(value.as_bytes());
}

fn write_number(name: &str, value: i64, reply: &mut Writer<'_>) {
    reply.bulk(name.as_bytes());
    reply.integer(value);
}
