//! Everything in the fuzzer's corpus for matching, as an ordinary test.

#[path = "../fuzz/checks/glob.rs"]
mod oracle;

use std::fs;

#[test]
fn the_corpus_of_the_glob_fuzzer_passes() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/glob");
    let mut inputs = 0;
    for entry in fs::read_dir(corpus).expect("the corpus is part of the repository") {
        let input = fs::read(entry.unwrap().path()).unwrap();
        oracle::check_fuzzed(&input);
        inputs += 1;
    }
    assert!(inputs >= 20, "the corpus has shrunk to {inputs} files");
}
