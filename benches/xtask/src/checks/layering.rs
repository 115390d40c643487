//! Which package may depend on which.
//!
//! * `goblin-protocol` depends on no package of the workspace but `goblin-sbe-generator`, which writes a
//!   part of it when it is built and itself depends on none.
//! * `goblin-transport` depends on `goblin-protocol` alone.
//! * `goblin-edge` and `goblin-host` never meet.
//! * No async runtime is anywhere below `goblin-edge`.
//! * A `-sys` package depends on no package of the workspace, and only one package, its wrapper, may
//!   depend on it, and its emulation (`-emu`) beside that: never edge, host or what both build on.
//!
//! Dependencies for tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::steps::cargo;

const RUNTIMES: &[&str] = &[
    "tokio",
    "async-std",
    "smol",
    "async-executor",
    "async-io",
    "futures-executor",
    "glommio",
    "monoio",
    "compio",
    "embassy-executor",
    "pollster",
];

/// Writes the SBE codec when `goblin-protocol` is built.
const GENERATOR: &str = "goblin-sbe-generator";

/// The packages that the rules are about.
const REQUIRED: &[&str] = &[
    "goblin-protocol",
    "goblin-transport",
    "goblin-edge",
    "goblin-host",
];

/// The packages of a build: for each name, the names it depends on directly, those for tests left
/// out.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    depends_on: BTreeMap<String, BTreeSet<String>>,
    of_workspace: BTreeSet<String>,
}

impl Packages {
    /// What cargo says.
    pub(crate) fn of_the_workspace() -> Result<Packages, String> {
        let output = cargo(&["metadata", "--format-version", "1", "--locked"])
            .output()
            .map_err(|error| format!("cargo metadata did not start: {error}"))?;
        if !output.status.success() {
            let problem = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("cargo metadata failed: {problem}"));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cargo metadata is no JSON: {error}"))?;
        Ok(Packages::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &Value) -> Packages {
        let names: BTreeMap<_, _> = list(&metadata["packages"])
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let name = |id: &Value| names.get(&text(id)).cloned().unwrap_or_default();
        let mut packages = Packages {
            of_workspace: list(&metadata["workspace_members"]).map(name).collect(),
            ..Packages::default()
        };
        for node in list(&metadata["resolve"]["nodes"]) {
            let is_built = |dependency: &&Value| {
                list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev")
            };
            let needed = list(&node["deps"])
                .filter(is_built)
                .map(|needed| name(&needed["pkg"]));
            packages
                .depends_on
                .entry(name(&node["id"]))
                .or_default()
                .extend(needed);
        }
        packages
    }

    /// What a package depends on, directly.
    fn direct<'a>(&'a self, package: &str) -> impl Iterator<Item = &'a String> + use<'a> {
        self.depends_on.get(package).into_iter().flatten()
    }

    /// What a package depends on in the workspace, directly.
    fn in_workspace<'a>(&'a self, package: &str) -> impl Iterator<Item = &'a String> + use<'a> {
        self.direct(package)
            .filter(|name| self.of_workspace.contains(*name))
    }

    /// What a package depends on, over any number of steps.
    fn below<'a>(&'a self, package: &str) -> BTreeSet<&'a String> {
        let mut below = BTreeSet::new();
        let mut next: Vec<_> = self.direct(package).collect();
        while let Some(name) = next.pop() {
            if below.insert(name) {
                next.extend(self.direct(name));
            }
        }
        below
    }
}

/// What is wrong, one line each.
pub(crate) fn violations(packages: &Packages) -> Vec<String> {
    let mut wrong = Vec::new();
    for required in REQUIRED {
        if !packages.of_workspace.contains(*required) {
            wrong.push(format!(
                "{required} is not in the workspace, so its rules hold nothing"
            ));
        }
    }
    let mut forbid = |package: &str, allowed: &dyn Fn(&str) -> bool, dependency: &String| {
        if !allowed(dependency) {
            wrong.push(format!("{package} depends on {dependency}"));
        }
    };
    for dependency in packages.in_workspace("goblin-protocol") {
        forbid("goblin-protocol", &|name| name == GENERATOR, dependency);
    }
    for dependency in packages.in_workspace(GENERATOR) {
        forbid(GENERATOR, &|_| false, dependency);
    }
    for dependency in packages.in_workspace("goblin-transport") {
        forbid(
            "goblin-transport",
            &|name| name == "goblin-protocol",
            dependency,
        );
    }
    for dependency in packages.below("goblin-edge") {
        let allowed = |name: &str| name != "goblin-host" && !RUNTIMES.contains(&name);
        forbid("goblin-edge", &allowed, dependency);
    }
    for dependency in packages.below("goblin-host") {
        forbid("goblin-host", &|name| name != "goblin-edge", dependency);
    }
    for package in &packages.of_workspace {
        if package.ends_with("-sys") {
            for dependency in packages.in_workspace(package) {
                forbid(package, &|_| false, dependency);
            }
        }
    }
    for raw in packages
        .of_workspace
        .iter()
        .filter(|name| name.ends_with("-sys"))
    {
        let users = packages.of_workspace.iter().filter(|name| {
            !name.ends_with("-emu") && packages.in_workspace(name).any(|used| used == raw)
        });
        let users: Vec<_> = users.map(String::as_str).collect();
        if users.len() > 1 || users.iter().any(|user| REQUIRED.contains(user)) {
            wrong.push(format!(
                "{raw} is used by {}, not by one wrapper",
                users.join(", ")
            ));
        }
    }
    wrong
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &[(&str, &[&str])] = &[
        ("goblin-protocol", &["bytes"]),
        ("goblin-transport", &["goblin-protocol", "rustix"]),
        (
            "goblin-edge",
            &["goblin-protocol", "goblin-transport", "goblin-xlio"],
        ),
        (
            "goblin-host",
            &["goblin-protocol", "goblin-transport", "tokio"],
        ),
        ("goblin-xlio", &["goblin-xlio-sys"]),
        ("goblin-xlio-sys", &[]),
    ];

    fn wrong(package: &str, also: &str) -> Vec<String> {
        let mut packages = Packages::default();
        for (name, needed) in RIGHT {
            packages.of_workspace.insert((*name).to_owned());
            let needed = needed.iter().map(ToString::to_string).collect();
            packages.depends_on.insert((*name).to_owned(), needed);
        }
        let more = packages.depends_on.entry(package.to_owned()).or_default();
        more.insert(also.to_owned());
        violations(&packages)
    }

    #[test]
    fn what_is_right_passes() {
        assert_eq!(wrong("goblin-edge", "bytes"), Vec::<String>::new());
    }

    #[test]
    fn each_rule_can_be_broken() {
        for (package, also) in [
            ("goblin-protocol", "goblin-transport"),
            ("goblin-transport", "goblin-xlio"),
            ("goblin-edge", "goblin-host"),
            ("goblin-host", "goblin-edge"),
            ("goblin-edge", "tokio"),
            ("goblin-xlio-sys", "goblin-protocol"),
            ("goblin-host", "goblin-xlio-sys"),
        ] {
            assert!(!wrong(package, also).is_empty(), "{package} → {also}");
        }
        // Over a step between.
        assert_eq!(
            wrong("rustix", "async-io"),
            ["goblin-edge depends on async-io"]
        );
    }

    #[test]
    fn a_workspace_without_the_packages_does_not_pass() {
        assert_eq!(violations(&Packages::default()).len(), 4);
    }

    #[test]
    fn dependencies_for_tests_do_not_count() {
        let metadata = serde_json::json!({
            "packages": [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}, {"id": "3", "name": "c"}],
            "workspace_members": ["1"],
            "resolve": {"nodes": [{"id": "1", "deps": [
                {"pkg": "2", "dep_kinds": [{"kind": "dev"}]},
                {"pkg": "3", "dep_kinds": [{"kind": "dev"}, {"kind": null}]},
            ]}]},
        });
        let packages = Packages::from_metadata(&metadata);
        assert_eq!(packages.direct("a").collect::<Vec<_>>(), ["c"]);
    }
}
