//! A dependency cycle within a crate has at most three files: two files that need each other's types should get a third
//! one for those types. To read one file of a large cycle, a person has to read them all.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Modules;
use super::problem::Problem;
use crate::tree::Tree;

/// The most files in a cycle.
const MOST: usize = 3;

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let manifests = tree.ending("/Cargo.toml").filter_map(|(path, _)| path.strip_suffix("/Cargo.toml"));
    manifests.flat_map(|folder| problems_of(tree, folder)).collect()
}

fn problems_of(tree: &Tree, folder: &str) -> Vec<Problem> {
    let modules = Modules::of(tree, folder);
    let circles = circles(&modules.needs());
    let too_large = circles.iter().filter(|circle| circle.len() > MOST);
    too_large.map(|circle| Problem::in_file(circle[0], message(circle))).collect()
}

fn message(circle: &[&str]) -> String {
    let (count, others) = (circle.len(), circle[1..].join(", "));
    format!("{count} files need each other, and at most {MOST} may: this one, {others}")
}

/// The cycles, each a group of two or more files that need each other.
fn circles<'f>(needs: &BTreeMap<&'f str, BTreeSet<&'f str>>) -> Vec<Vec<&'f str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = needs.keys().map(|file| (*file, reached(needs, file))).collect();
    let mut circles: Vec<Vec<&str>> = Vec::new();
    for (file, others) in &reached {
        let back = others.iter().filter(|other| reached.get(*other).is_some_and(|others| others.contains(file)));
        let circle: Vec<&str> = back.copied().collect();
        if circle.len() > 1 && circle[0] == *file {
            circles.push(circle);
        }
    }
    circles
}

/// Everything that a file needs, directly or indirectly.
fn reached<'f>(needs: &BTreeMap<&'f str, BTreeSet<&'f str>>, file: &'f str) -> BTreeSet<&'f str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![file]);
    while let Some(file) = open.pop() {
        let next = needs.get(file).into_iter().flatten().filter(|other| reached.insert(**other));
        open.extend(next.copied().collect::<Vec<_>>());
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::tree::Tree;

    /// A crate of these files, each of which needs the next and the last the first.
    fn ring(names: &[&str]) -> Tree {
        let declared: String = names.iter().map(|name| format!("mod {name};\n")).collect();
        let next = names.iter().cycle().skip(1);
        let files = names
            .iter()
            .zip(next)
            .map(|(name, next)| (format!("c/src/{name}.rs"), format!("use crate::{next}::Of_{next};")));
        let mut files: Vec<(String, String)> = files.collect();
        files.push(("c/Cargo.toml".to_owned(), String::new()));
        files.push(("c/src/lib.rs".to_owned(), declared));
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect()
    }

    #[test]
    fn four_files_in_a_circle_are_a_problem_and_three_are_none() {
        assert_eq!(problems(&ring(&["a", "b", "c"])), []);
        let found: Vec<_> = problems(&ring(&["a", "b", "c", "d"])).iter().map(ToString::to_string).collect();
        let expected =
            "c/src/a.rs: 4 files need each other, and at most 3 may: this one, c/src/b.rs, c/src/c.rs, c/src/d.rs";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn a_chain_is_no_circle() {
        let tree = Tree::from([
            ("c/Cargo.toml", ""),
            ("c/src/lib.rs", "mod a;\nmod b;\nmod d;\nmod e;\npub use self::a::A;"),
            ("c/src/a.rs", "use crate::b::B;"),
            ("c/src/b.rs", "use crate::d::D;"),
            ("c/src/d.rs", "use crate::e::E;\n#[cfg(test)]\nmod tests { use crate::A; }"),
            ("c/src/e.rs", ""),
        ]);
        assert_eq!(problems(&tree), []);
    }
}
