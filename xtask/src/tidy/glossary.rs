//! GLOSSARY.md explains every kind of record and every preset, whose names are read from the code, and at most
//! [`MOST_WORDS`] words of the domain: a stranger should need no dictionary.

use super::problem::Problem;
use crate::tree::Tree;

const GLOSSARY: &str = "GLOSSARY.md";
const MOST_WORDS: usize = 45;
const RECORDS: &str = "crates/vocab/src/record.rs";
const PRESETS: &str = "crates/machine/src/presets.rs";

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let Some(glossary) = tree.text(GLOSSARY) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let words = domain_words(glossary);
    if words > MOST_WORDS {
        problems.push(Problem::in_file(GLOSSARY, format!("{words} words of the domain, {MOST_WORDS} at most")));
    }
    for (path, names) in [(RECORDS, kinds(tree)), (PRESETS, presets(tree))] {
        if names.is_empty() {
            problems.push(Problem::in_file(path, "no names found here for the glossary's check"));
        }
        let missing = names.into_iter().filter(|name| !has_word(glossary, name));
        problems.extend(missing.map(|name| Problem::in_file(GLOSSARY, format!("`{name}` of {path} is missing"))));
    }
    problems
}

/// How many rows the first table has, without its two header lines.
fn domain_words(glossary: &str) -> usize {
    let table = glossary.lines().skip_while(|line| !line.starts_with('|'));
    table.take_while(|line| line.starts_with('|')).skip(2).count()
}

/// The kinds in `records! { … }`.
pub(super) fn kinds(tree: &Tree) -> Vec<&str> {
    let list = tree.text(RECORDS).and_then(|text| between(text, "\nrecords! {", "}")).unwrap_or_default();
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// The names in `PRESETS`.
fn presets(tree: &Tree) -> Vec<&str> {
    let list = tree.text(PRESETS).and_then(|text| between(text, "PRESETS:", ";\n")).unwrap_or_default();
    list.split('"').skip(1).step_by(2).collect()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').any(|other| other == word)
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::tree::Tree;

    const RECORDS: &str = "macro_rules! records {\n}\n\nrecords! {\n    RunStarted,\n    RunEnded,\n}\n";
    const PRESETS: &str = "pub const PRESETS: [&str; 2] = [\"task\", \"durable-chat\"];\n";

    fn complaints(glossary: &str) -> Vec<String> {
        let files = [
            ("GLOSSARY.md", glossary),
            ("crates/vocab/src/record.rs", RECORDS),
            ("crates/machine/src/presets.rs", PRESETS),
        ];
        problems(&Tree::from(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_glossary_with_every_word_is_fine() {
        assert_eq!(complaints("`RunStarted`, RunEnded; presets: task, **durable-chat**."), Vec::<String>::new());
    }

    #[test]
    fn a_missing_word_is_named_and_a_part_of_a_word_is_not_enough() {
        assert_eq!(
            complaints("RunStartedLate RunEnded task chat"),
            [
                "GLOSSARY.md: `RunStarted` of crates/vocab/src/record.rs is missing",
                "GLOSSARY.md: `durable-chat` of crates/machine/src/presets.rs is missing",
            ]
        );
    }

    #[test]
    fn a_glossary_that_outgrows_its_limit_is_a_problem() {
        let table = |words: usize| {
            format!(
                "| word |\n|---|\n{}\n\n| RunStarted RunEnded |\n| task durable-chat |\n",
                vec!["| a |"; words].join("\n")
            )
        };
        assert_eq!(complaints(&table(45)), Vec::<String>::new());
        assert_eq!(complaints(&table(46)), ["GLOSSARY.md: 46 words of the domain, 45 at most"]);
    }

    #[test]
    fn names_that_can_no_longer_be_found_are_a_problem() {
        let tree = Tree::from([("GLOSSARY.md", ""), ("crates/vocab/src/record.rs", "")]);
        assert_eq!(problems(&tree).len(), 2);
    }
}
