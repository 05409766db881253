//! The tests of a crate are one program: each further program is linked, and stored on disk, with all its dependencies.
//! A test that must be a separate program (because it also plays other parts) has `harness = false`.

use std::collections::BTreeMap;

use super::problem::Problem;
use crate::tree::Tree;

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let mut programs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, _) in tree.files() {
        let root = path.split_once("/tests/").and_then(|(room, rest)| Some((room, program(rest)?)));
        // Only `tests` beside `src`: within `src`, it is a module.
        let Some((room, name)) = root.filter(|(room, _)| !room.contains("/src")) else { continue };
        let manifest = tree.text(&format!("{room}/Cargo.toml")).unwrap_or_default();
        if !manifest.contains(&format!("name = \"{name}\"\nharness = false")) {
            programs.entry(room).or_default().push(path);
        }
    }
    let more = programs.into_values().flat_map(|paths| paths.into_iter().skip(1));
    more.map(|path| Problem::in_file(path, "a second test program; make it a module of the first")).collect()
}

/// The name of the test program whose root file this is; `None` if it is no root file.
fn program(within_tests: &str) -> Option<&str> {
    let name = within_tests.strip_suffix("/main.rs").or_else(|| within_tests.strip_suffix(".rs"))?;
    (!name.contains('/')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::tree::Tree;

    fn complaints<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
        problems(&Tree::from(files)).into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn a_second_program_is_found_in_either_form() {
        let first = ("crates/a/tests/a/main.rs", "");
        assert_eq!(complaints([first, ("crates/a/tests/b.rs", "")]), ["crates/a/tests/b.rs"]);
        assert_eq!(complaints([first, ("crates/a/tests/b/main.rs", "")]), ["crates/a/tests/b/main.rs"]);
    }

    #[test]
    fn modules_other_crates_and_programs_with_a_reason_are_not() {
        let first = ("crates/a/tests/a/main.rs", "");
        assert!(
            complaints([
                first,
                ("crates/a/tests/a/b.rs", ""),
                ("crates/a/src/x/tests/c.rs", ""),
                ("crates/b/tests/b.rs", "")
            ])
            .is_empty()
        );
        let manifest = ("crates/a/Cargo.toml", "[[test]]\nname = \"c\"\nharness = false\n");
        assert!(complaints([first, manifest, ("crates/a/tests/c.rs", "")]).is_empty());
    }
}
