//! Runs what the fuzz target `request` checks on its corpus.

#[path = "../fuzz/checks/request.rs"]
mod request;

use std::fs;
use std::path::Path;

#[test]
fn every_request_of_the_corpus_passes_the_fuzz_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/request");
    let mut files = 0;
    for entry in fs::read_dir(&folder).expect("the corpus is part of the repository") {
        let path = entry.expect("the corpus is readable").path();
        let input = fs::read(&path).expect("the corpus is readable");
        eprintln!("{}", path.display());
        request::check(&input);
        files += 1;
    }
    assert!(files >= 20, "the corpus has shrunk to {files} files");
}
