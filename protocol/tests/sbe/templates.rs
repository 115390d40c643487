//! Every template of the schema: round trips, golden bytes, cuts, lies, and what a decoder in Python
//! that knows the XML alone makes of the bytes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::{Random, Sample, decode_in_python, hex};
use goblin_protocol::command;
use goblin_protocol::link::FormatError;
use goblin_protocol::sbe::messages::*;
use goblin_protocol::sbe::{Words, wire};
use proptest::prelude::*;

include!(concat!(env!("OUT_DIR"), "/messages_samples.rs"));

const SCHEMA: &str = "schema/goblin.xml";

/// Decodes as whoever receives it would, and returns what was understood, encoded again.
fn recoded(bytes: &[u8], is_request: bool) -> Result<Vec<u8>, FormatError> {
    let mut encoded = Vec::new();
    if is_request {
        wire::Encode::write(&Request::decode(bytes)?, &mut encoded);
    } else {
        wire::Encode::write(&Response::decode(bytes)?, &mut encoded);
    }
    Ok(encoded)
}

#[test]
fn a_decoder_that_knows_the_schema_alone_reads_every_template() {
    let mut random = Random(1);
    let samples: Vec<Sample> = (0..20)
        .flat_map(|_| SAMPLES)
        .map(|sample| sample(&mut random))
        .collect();
    let decoded = decode_in_python(SCHEMA, samples.iter().map(|sample| hex(&sample.bytes)));
    assert_eq!(decoded.len(), samples.len());
    for (sample, decoded) in samples.iter().zip(&decoded) {
        assert_eq!(&sample.text, decoded);
    }
}

#[test]
fn the_bytes_of_every_template_stay_what_they_are() {
    let mut random = Random(2);
    let mut lines = String::new();
    for sample in SAMPLES {
        let Sample { text, bytes, .. } = sample(&mut random);
        writeln!(lines, "{text}\n  {}", hex(&bytes)).expect("a string takes any text");
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sbe/golden.txt");
    let golden = fs::read_to_string(golden).unwrap_or_default();
    if lines != golden {
        let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sbe_golden.txt");
        fs::write(&actual, &lines).expect("the folder is ours");
        panic!("not tests/sbe/golden.txt, see {}", actual.display());
    }
}

#[test]
fn every_request_is_the_command_of_its_name() {
    let mut words = Words::default();
    for sample in SAMPLES {
        let Sample {
            text,
            bytes,
            is_request,
        } = sample(&mut Random(3));
        let name = text.split(' ').next().unwrap_or_default();
        if !is_request || name == "AnyCommand" {
            continue;
        }
        words.fill(&Request::decode(&bytes).expect("it is a request"));
        let (command, _) = command::lookup(words.arguments()).expect("there is such a command");
        assert_eq!(format!("{command:?}"), name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Each sample asserts that its bytes are decoded to what was encoded.
    #[test]
    fn every_template_comes_back_and_no_part_of_it_does(seed: u64) {
        let mut random = Random(seed);
        for sample in SAMPLES {
            let Sample { bytes, is_request, text } = sample(&mut random);
            prop_assert_eq!(recoded(&bytes, is_request), Ok(bytes.clone()));
            for end in 0..bytes.len() {
                prop_assert!(recoded(&bytes[..end], is_request).is_err(), "{} to {}", text, end);
            }
            let mut longer = bytes.clone();
            longer.push(0);
            let excess = FormatError::TrailingBytes { excess: 1 };
            prop_assert_eq!(recoded(&longer, is_request), Err(excess));
        }
    }

    #[test]
    fn lies_are_refused_or_understood_the_same_way_twice(seed: u64, lie in 0_u8..4) {
        let mut random = Random(seed);
        for sample in SAMPLES {
            let Sample { mut bytes, is_request, .. } = sample(&mut random);
            let at = random.below(bytes.len());
            bytes[at] = [0, 1, 0x7F, 0xFF][usize::from(lie)];
            if let Ok(once) = recoded(&bytes, is_request) {
                prop_assert!(once.len() <= bytes.len() + 64);
                prop_assert_eq!(recoded(&once, is_request), Ok(once));
            }
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
        let _ = Request::decode(&bytes);
        let _ = Response::decode(&bytes);
    }
}

#[test]
fn a_count_that_cannot_be_is_refused_before_it_is_counted() {
    let mut bytes = Vec::new();
    wire::Encode::write(
        &Del {
            keys: wire::Group::from(&[]),
        },
        &mut bytes,
    );
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(Request::decode(&bytes), Err(FormatError::Truncated));
}
