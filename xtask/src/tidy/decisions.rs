//! Decision pages are `docs/decisions/NNNN-words.md`, numbered without gaps and linked from the index.

use super::problem::Problem;
use crate::tree::Tree;

const FOLDER: &str = "docs/decisions/";
const INDEX: &str = "docs/decisions/README.md";

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let pages: Vec<(&str, &str)> = tree
        .ending(".md")
        .filter_map(|(path, _)| Some((path, path.strip_prefix(FOLDER)?)))
        .filter(|(path, _)| *path != INDEX)
        .collect();
    let index = tree.text(INDEX).unwrap_or_default();
    let mut problems = Vec::new();
    for (expected, (path, name)) in (1..).zip(pages) {
        let number = name.split_once('-').and_then(|(number, _)| number.parse::<u32>().ok());
        if number != Some(expected) || name.find('-') != Some(4) {
            problems.push(Problem::in_file(path, format!("its name should begin with {expected:04}-")));
        }
        if !index.contains(&format!("]({name})")) {
            problems.push(Problem::in_file(path, format!("{INDEX} does not link to it")));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::tree::Tree;

    #[test]
    fn pages_in_order_and_in_the_index_are_fine() {
        let index = "- [one](0001-one.md)\n- [two](0002-two.md)\n";
        let tree = Tree::from([
            ("docs/decisions/README.md", index),
            ("docs/decisions/0001-one.md", ""),
            ("docs/decisions/0002-two.md", ""),
        ]);
        assert_eq!(problems(&tree), []);
        assert_eq!(problems(&Tree::default()), []);
    }

    #[test]
    fn a_gap_and_a_page_missing_from_the_index_are_named() {
        let tree = Tree::from([
            ("docs/decisions/README.md", "[one](0001-one.md)"),
            ("docs/decisions/0001-one.md", ""),
            ("docs/decisions/0003-x.md", ""),
        ]);
        let said: Vec<String> = problems(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "docs/decisions/0003-x.md: its name should begin with 0002-",
                "docs/decisions/0003-x.md: docs/decisions/README.md does not link to it",
            ]
        );
    }
}
