//! Relative links in Markdown pages point to files that exist.

use super::problem::{Problem, numbered};
use crate::tree::Tree;

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let dead = |(path, text)| {
        links(text)
            .into_iter()
            .filter(move |(_, target)| resolve(path, target).is_none_or(|target| !tree.has(&target)))
            .map(move |(line, target)| Problem::at(path, line, format!("`{target}` leads nowhere")))
    };
    tree.ending(".md").flat_map(dead).collect()
}

/// The relative link targets of a page with their line numbers, without fragments and titles.
fn links(page: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut place = Place::Prose;
    for (number, line) in numbered(page) {
        if line.trim_start().starts_with("```") {
            place = place.other();
        } else if place == Place::Prose {
            // Every second part is between backticks, and so is code.
            for prose in line.split('`').step_by(2) {
                let targets = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '#']).next());
                let relative = targets.filter(|target| !target.is_empty() && !target.contains(':'));
                found.extend(relative.map(|target| (number, target)));
            }
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Prose,
    Fence,
}

impl Place {
    const fn other(self) -> Self {
        match self {
            Self::Prose => Self::Fence,
            Self::Fence => Self::Prose,
        }
    }
}

/// The path that a link on `page` points to; `None` if it is outside the project.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { page.split('/').collect() };
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{links, problems, resolve};
    use crate::tree::Tree;

    #[test]
    fn links_are_found_and_code_is_passed_over() {
        let page = "see [a](a.md#part) and [b](https://b.org/x) ![c](img/c.png \"title\")\n`[d](d.md)` [e](#here)\n```\n[f](f.md)\n```\n[g](../g)";
        assert_eq!(links(page), [(1, "a.md"), (1, "img/c.png"), (6, "../g")]);
    }

    #[test]
    fn a_link_is_resolved_from_its_page() {
        assert_eq!(resolve("docs/decisions/README.md", "../events.md").as_deref(), Some("docs/events.md"));
        assert_eq!(resolve("README.md", "./docs/").as_deref(), Some("docs"));
        assert_eq!(resolve("README.md", "../outside.md"), None);
    }

    #[test]
    fn a_dead_link_is_named() {
        let tree = Tree::from([
            ("README.md", "[docs](docs)\n[x](docs/x.md)\n[y](../y.md)"),
            ("docs/events.md", "[up](../README.md)"),
        ]);
        let said: Vec<String> = problems(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(said, ["README.md:2: `docs/x.md` leads nowhere", "README.md:3: `../y.md` leads nowhere"]);
    }
}
