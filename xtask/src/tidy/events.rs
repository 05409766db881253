//! The TypeScript types in docs/ are those that docs/events.md says.

use super::problem::Problem;
use crate::events::{PAGE, PageError, TYPES, types};
use crate::tree::Tree;

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let due = tree.text(PAGE).map(types);
    let problem = match due {
        None => Problem::in_file(PAGE, "the page is not there"),
        Some(Err(PageError { line, what })) => Problem::at(PAGE, line, what),
        Some(Ok(due)) if tree.text(TYPES) == Some(due.as_str()) => return Vec::new(),
        Some(Ok(_)) => Problem::in_file(TYPES, format!("not what {PAGE} says; `cargo xtask events` writes it anew")),
    };
    vec![problem]
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::events::types;
    use crate::tree::Tree;

    const PAGE: &str = "## Records\n\n### `Hoisted`\n\nUp.\n\n| field | type | meaning |\n|---|---|---|\n\
                        | `by?` | `string` | Who. |\n";

    fn complaints(page: &str, types: &str) -> Vec<String> {
        let tree = Tree::from([("docs/events.md", page), ("docs/events.d.ts", types)]);
        problems(&tree).iter().map(ToString::to_string).collect()
    }

    // proves E3: a page and types that differ are a problem
    #[test]
    fn types_that_the_page_does_not_say_are_told() {
        let due = types(PAGE).unwrap();
        assert_eq!(complaints(PAGE, &due), Vec::<String>::new());
        let differ = ["docs/events.d.ts: not what docs/events.md says; `cargo xtask events` writes it anew"];
        assert_eq!(complaints(&PAGE.replace("by?", "by"), &due), differ);
        assert_eq!(complaints(PAGE, ""), differ);
        assert_eq!(
            complaints(&PAGE.replace("`string`", "`Sailor`"), &due),
            ["docs/events.md:3: `Hoisted` has the type `Sailor`, which is not defined"]
        );
        assert_eq!(problems(&Tree::from([("docs/events.d.ts", due.as_str())])).len(), 1);
    }
}
