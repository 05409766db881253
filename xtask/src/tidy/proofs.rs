//! A test names the rule it proves in a comment, `proves J5`. docs/rules.md lists the implemented rules: only those may
//! be named, and each must be.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{Problem, numbered};
use crate::tree::Tree;

/// The page that lists the rules, each as `**J5**` and its text.
const RULES: &str = "docs/rules.md";

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let text = tree.text(RULES).unwrap_or_default();
    let mut problems = Vec::new();
    let mut listed = BTreeMap::new();
    for (line, rule) in numbered(text).flat_map(|(line, text)| rules_of(text).map(move |rule| (line, rule))) {
        if listed.insert(rule, line).is_some() {
            problems.push(Problem::at(RULES, line, format!("rule {rule} is listed twice")));
        }
    }
    let mut claimed = BTreeSet::new();
    for (path, text) in tree.ending(".rs") {
        for (line, rule) in numbered(text).flat_map(|(line, text)| claims_of(text).map(move |rule| (line, rule))) {
            claimed.insert(rule);
            if !listed.contains_key(rule) {
                problems.push(Problem::at(path, line, format!("rule {rule} is not listed in {RULES}")));
            }
        }
    }
    let unproved = listed.iter().filter(|(rule, _)| !claimed.contains(*rule));
    problems.extend(unproved.map(|(rule, line)| Problem::at(RULES, *line, format!("no test proves rule {rule}"))));
    problems
}

/// The rules that a line of the list explains.
fn rules_of(line: &str) -> impl Iterator<Item = &str> {
    // Every second piece is between a pair of `**`.
    line.split("**").skip(1).step_by(2).filter(|word| looks_like_a_rule(word))
}

/// The rules that a line claims to prove, if it is such a comment.
fn claims_of(line: &str) -> impl Iterator<Item = &str> {
    let comment = line.trim_start().strip_prefix("//").map(|comment| comment.trim_start_matches(['/', '!']));
    let claim = comment.and_then(|comment| comment.trim_start().strip_prefix("proves ")).unwrap_or_default();
    claim.split(|c: char| !c.is_alphanumeric()).filter(|word| looks_like_a_rule(word))
}

fn looks_like_a_rule(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && word.len() > 1
        && letters.all(|letter| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::tree::Tree;

    const LIST: &str = "# Rules\n- **J1** One truth, *always*.\n- **J2** One write. · **M3** Waits.\n";

    fn complaints(rules: &str, test: &str) -> Vec<String> {
        problems(&Tree::from([("docs/rules.md", rules), ("a.rs", test)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn claims_of_listed_rules_are_in_order() {
        let test = "// proves J1, J2: words\n    /// proves M3 in part\n// proves the contract of a command\n// J99\n";
        assert_eq!(complaints(LIST, test), Vec::<String>::new());
    }

    #[test]
    fn a_claim_of_a_rule_that_is_not_listed_is_told() {
        let test = "// proves J1, K1\n// proves J2, M3\n//! proves j1\n";
        let expected =
            ["a.rs:1: rule K1 is not listed in docs/rules.md", "a.rs:3: rule j1 is not listed in docs/rules.md"];
        assert_eq!(complaints(LIST, test), expected);
    }

    #[test]
    fn a_rule_that_nobody_proves_or_that_is_listed_twice_is_told() {
        assert_eq!(complaints(LIST, "// proves J1, J2"), ["docs/rules.md:3: no test proves rule M3"]);
        assert_eq!(complaints("**J1** a\n**J1** b\n", "// proves J1"), ["docs/rules.md:2: rule J1 is listed twice"]);
    }
}
