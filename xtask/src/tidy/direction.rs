//! Which crate may depend on which: `vocab ← machine ← runtime ← windlass ← setup ← cli`; provider, tools and store
//! depend on vocab only and are combined in runtime; narrate depends on the crates whose data it puts into words, and
//! only doors depend on narrate. Dev-dependencies are not checked.

use super::problem::{Problem, numbered};
use crate::tree::Tree;

/// A crate by its folder, and the workspace crates it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("vocab", &[]),
    ("machine", &["vocab"]),
    ("tls", &[]),
    ("sandbox", &[]),
    ("provider", &["vocab", "tls"]),
    ("tools", &["vocab", "tls", "sandbox"]),
    ("store", &["vocab"]),
    ("mcp", &["vocab", "tools", "tls", "sandbox"]),
    ("derive", &[]),
    ("runtime", &["vocab", "machine", "provider", "tools", "store"]),
    ("windlass", &["vocab", "machine", "provider", "sandbox", "tools", "store", "mcp", "runtime", "derive"]),
    ("setup", &["vocab", "machine", "provider", "tools", "sandbox", "store", "mcp", "runtime", "windlass"]),
    ("narrate", &["vocab", "tools"]),
    ("server", &["vocab", "machine", "tools", "mcp", "store", "runtime", "windlass", "setup", "narrate"]),
    (
        "cli",
        &[
            "vocab", "machine", "provider", "tools", "sandbox", "store", "mcp", "runtime", "windlass", "setup",
            "narrate", "server", "tls",
        ],
    ),
    (
        "bench",
        &["vocab", "machine", "provider", "tools", "sandbox", "store", "mcp", "runtime", "windlass", "cli", "testkit"],
    ),
    ("conformance", &["vocab", "tools", "mcp"]),
    ("testkit", &["vocab", "machine", "provider", "tools", "store", "runtime", "windlass"]),
];

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.ending("/Cargo.toml") {
        let Some(name) = path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml")) else {
            continue;
        };
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            problems.push(Problem::in_file(path, "a crate whose place is not said in xtask/src/tidy/direction.rs"));
            continue;
        };
        let wrong = ours(text).into_iter().filter(|(_, dependency)| !allowed.contains(&dependency.as_str()));
        problems.extend(
            wrong.map(|(line, dependency)| Problem::at(path, line, format!("{name} must not depend on {dependency}"))),
        );
    }
    problems
}

/// The workspace crates in a manifest's normal and build dependencies, by folder, with line numbers.
fn ours(manifest: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut table = String::new();
    for (number, line) in numbered(manifest) {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[') {
            table = name.trim_end_matches(']').to_owned();
            // The table form `[dependencies.NAME]`.
            if let Some((parent, dependency)) = table.rsplit_once('.')
                && counts(parent)
            {
                found.extend(folder(dependency).map(|name| (number, name)));
            }
        } else if counts(&table) && !line.starts_with('#') {
            let package = line.split_once("package").and_then(|(_, rest)| rest.split('"').nth(1));
            let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
            found.extend(folder(package.unwrap_or(key)).map(|name| (number, name)));
        }
    }
    found
}

fn counts(table: &str) -> bool {
    table == "build-dependencies" || table == "dependencies" || table.ends_with(".dependencies")
}

fn folder(package: &str) -> Option<String> {
    let package = package.trim_matches('"');
    if package == "windlass" { Some(package.to_owned()) } else { package.strip_prefix("windlass-").map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::tree::Tree;

    fn complaints(path: &str, manifest: &str) -> Vec<String> {
        problems(&Tree::from([(path, manifest)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_dependency_upward_or_sideways_is_a_problem() {
        let manifest =
            "[dependencies]\nserde = \"1\"\nwindlass-vocab.workspace = true\nwindlass-store = { path = \"x\" }\n";
        assert_eq!(
            complaints("crates/machine/Cargo.toml", manifest),
            ["crates/machine/Cargo.toml:4: machine must not depend on store"]
        );
        assert_eq!(complaints("crates/runtime/Cargo.toml", manifest), Vec::<String>::new());
    }

    #[test]
    fn every_way_to_write_a_dependency_is_seen() {
        for manifest in [
            "[dependencies]\nother = { package = \"windlass-runtime\" }",
            "[dependencies.windlass-runtime]\nworkspace = true",
            "[build-dependencies]\nwindlass-runtime.workspace = true",
            "[target.'cfg(unix)'.dependencies]\nwindlass-runtime.workspace = true",
            "[target.'cfg(unix)'.dependencies.windlass-runtime]\nworkspace = true",
        ] {
            assert_eq!(complaints("crates/tools/Cargo.toml", manifest).len(), 1, "{manifest}");
        }
    }

    #[test]
    fn the_testkit_is_for_tests_alone() {
        assert_eq!(complaints("crates/cli/Cargo.toml", "[dependencies]\nwindlass-testkit.workspace = true").len(), 1);
        assert_eq!(
            complaints("crates/cli/Cargo.toml", "[dev-dependencies]\nwindlass-testkit.workspace = true").len(),
            0
        );
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        assert_eq!(complaints("crates/attic/Cargo.toml", "[package]").len(), 1);
    }
}
