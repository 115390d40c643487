//! Runs what the fuzz target `link_frame` checks on its corpus.

#[path = "../fuzz/checks/link_frame.rs"]
mod link_frame;

use std::fs;
use std::path::Path;

#[test]
fn every_input_of_the_corpus_passes_the_fuzz_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/link_frame");
    let mut files = 0;
    for entry in fs::read_dir(&folder).expect("the corpus is part of the repository") {
        let path = entry.expect("the corpus is readable").path();
        let input = fs::read(&path).expect("the corpus is readable");
        eprintln!("{}", path.display());
        link_frame::check(&input);
        files += 1;
    }
    assert!(files >= 30, "the corpus has shrunk to {files} files");
}
