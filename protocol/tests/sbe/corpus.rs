//! Runs what the fuzz target `sbe` checks on its corpus.

#[path = "../../fuzz/checks/sbe.rs"]
mod sbe;

use std::fs;
use std::path::Path;

#[test]
fn every_input_of_the_corpus_passes_the_fuzz_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/sbe");
    let mut files = 0;
    for entry in fs::read_dir(&folder).expect("the corpus is part of the repository") {
        let path = entry.expect("the corpus is readable").path();
        let input = fs::read(&path).expect("the corpus is readable");
        eprintln!("{}", path.display());
        sbe::check(&input);
        files += 1;
    }
    assert!(files >= 90, "the corpus has shrunk to {files} files");
}
