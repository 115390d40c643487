//! `LCS`: the longest common subsequence of two strings.

use goblin_protocol::command::CommandError;
use goblin_protocol::limits::BULK_BYTES_MAX;

use super::error::DataError;
use super::{Call, Outcome, parse};
use crate::store::{Digits, Text};

#[derive(Default)]
struct LcsOptions {
    length: bool,
    indexes: bool,
    with_lengths: bool,
    length_min: usize,
}

/// Two runs of equal bytes: where they begin, and how many bytes they have.
#[derive(Clone, Copy)]
struct Match {
    a: usize,
    b: usize,
    length: usize,
}

/// `LCS key1 key2 [LEN] [IDX] [MINMATCHLEN length] [WITHMATCHLEN]`
pub(super) fn lcs<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let a = owned(call, 1)?;
    let b = owned(call, 2)?;
    let options = LcsOptions::parse(call)?;
    if (a.len() + 1).saturating_mul(b.len() + 1) > BULK_BYTES_MAX / size_of::<u32>() {
        return Err(DataError::LcsTooLong);
    }
    let table = Table::new(&a, &b);
    let total = table.at(a.len(), b.len());
    if options.length {
        call.count(total);
    } else if options.indexes {
        write_matches(call, &table.matches(&a, &b), total, &options);
    } else {
        let matches = table.matches(&a, &b);
        let runs = matches.iter().rev();
        let common = runs.flat_map(|run| a.iter().skip(run.a).take(run.length));
        let common: Vec<u8> = common.copied().collect();
        call.reply.bulk(&common);
    }
    Ok(())
}

fn owned<'a>(call: &mut Call<'a, '_>, at: usize) -> Result<Vec<u8>, DataError<'a>> {
    let text = call.store.string(call.argument(at), call.now);
    let text = text.map_err(|_| DataError::LcsOfOtherTypes)?;
    let text = text.unwrap_or(Text::Bytes(b""));
    Ok(text.bytes(&mut Digits::default()).to_vec())
}

impl LcsOptions {
    fn parse<'a>(call: &Call<'a, '_>) -> Result<Self, DataError<'a>> {
        let mut options = Self::default();
        let mut words = call.arguments.skip(3).iter();
        while let Some(word) = words.next() {
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            if is("idx") {
                options.indexes = true;
            } else if is("len") {
                options.length = true;
            } else if is("withmatchlen") {
                options.with_lengths = true;
            } else if let (true, Some(length)) = (is("minmatchlen"), words.next()) {
                options.length_min = usize::try_from(parse::integer(length)?).unwrap_or(0);
            } else {
                return Err(CommandError::Syntax.into());
            }
        }
        if options.length && options.indexes {
            return Err(DataError::LcsLengthAndIndexes);
        }
        Ok(options)
    }
}

/// The lengths of the common subsequences of all beginnings of two strings.
struct Table {
    lengths: Vec<u32>,
    width: usize,
}

impl Table {
    fn new(a: &[u8], b: &[u8]) -> Self {
        let width = b.len() + 1;
        let mut table = Self {
            lengths: vec![0; (a.len() + 1) * width],
            width,
        };
        for (row, byte) in (1..).zip(a) {
            for (column, other) in (1..).zip(b) {
                let length = if byte == other {
                    table.at(row - 1, column - 1) + 1
                } else {
                    table.at(row - 1, column).max(table.at(row, column - 1))
                };
                if let Some(cell) = table.lengths.get_mut(row * width + column) {
                    *cell = length as u32;
                }
            }
        }
        table
    }

    fn at(&self, a: usize, b: usize) -> usize {
        let length = self.lengths.get(a * self.width + b);
        length.copied().unwrap_or_default() as usize
    }

    /// The runs that make up the subsequence, the last one first.
    fn matches(&self, a: &[u8], b: &[u8]) -> Vec<Match> {
        let (mut row, mut column) = (a.len(), b.len());
        let mut matches: Vec<Match> = Vec::new();
        while row > 0 && column > 0 {
            if a.get(row - 1) == b.get(column - 1) {
                (row, column) = (row - 1, column - 1);
                match matches.last_mut() {
                    Some(last) if last.a == row + 1 && last.b == column + 1 => {
                        (last.a, last.b, last.length) = (row, column, last.length + 1);
                    }
                    _ => matches.push(Match {
                        a: row,
                        b: column,
                        length: 1,
                    }),
                }
            } else if self.at(row - 1, column) > self.at(row, column - 1) {
                row -= 1;
            } else {
                column -= 1;
            }
        }
        matches
    }
}

fn write_matches(call: &mut Call<'_, '_>, matches: &[Match], total: usize, options: &LcsOptions) {
    let is_long = |run: &&Match| options.length_min == 0 || run.length >= options.length_min;
    let shown = matches.iter().filter(is_long);
    call.reply.map(2);
    call.reply.bulk(b"matches");
    call.reply.array(shown.clone().count());
    for run in shown {
        call.reply.array(if options.with_lengths { 3 } else { 2 });
        for start in [run.a, run.b] {
            call.reply.array(2);
            call.count(start);
            call.count(start + run.length - 1);
        }
        if options.with_lengths {
            call.count(run.length);
        }
    }
    call.reply.bulk(b"len");
    call.count(total);
}
