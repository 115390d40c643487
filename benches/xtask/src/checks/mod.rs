//! Rules of the tree that the compiler does not know.

mod layering;
mod sources;
mod unsafe_code;
mod words;

use crate::steps::{Count, Steps};

/// Holds the tree to its rules.
pub(crate) fn run(steps: &mut Steps) {
    steps.run("layering", || {
        match layering::Packages::of_the_workspace() {
            Ok(packages) => Count::of(&layering::violations(&packages)),
            Err(problem) => Count::of(&[problem]),
        }
    });
    let files = sources::all();
    steps.run("unsafe code", || {
        Count::of(&unsafe_code::violations(&files))
    });
    for rule in words::RULES {
        steps.run(rule.name, || Count::of(&rule.violations(&files)));
    }
}
