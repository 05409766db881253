//! A test says which rule it proves in a comment, `proves J5`; the rule must exist.

use super::{Problem, numbered};
use crate::tree::Tree;

/// The chapters of the rules, and how many rules each has.
const RULES: &[(char, u32)] =
    &[('L', 11), ('J', 11), ('M', 9), ('T', 11), ('P', 5), ('C', 10), ('S', 5), ('E', 3), ('W', 9), ('X', 4), ('G', 3)];

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    tree.ending(".rs")
        .flat_map(|(path, text)| {
            numbered(text).filter_map(move |(line, text)| Some(Problem::at(path, line, wrong(text)?)))
        })
        .collect()
}

/// What is wrong with the claim a line makes, if it makes one.
fn wrong(line: &str) -> Option<String> {
    let comment = line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']);
    let claim = comment.trim_start().strip_prefix("proves ")?;
    let rules = claim.split(|c: char| !c.is_alphanumeric()).filter(|word| looks_like_a_rule(word));
    rules.filter(|rule| !exists(rule)).map(|rule| format!("there is no rule {rule}")).next()
}

fn looks_like_a_rule(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && word.len() > 1
        && letters.all(|letter| letter.is_ascii_digit())
}

fn exists(rule: &str) -> bool {
    let (letter, number) = rule.split_at(1);
    let number = number.parse::<u32>().unwrap_or_default();
    RULES.iter().any(|(chapter, count)| letter.starts_with(*chapter) && (1..=*count).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::wrong;

    #[test]
    fn a_claim_names_rules_that_exist() {
        for line in [
            "// proves J5",
            "    // proves L1, L2–L9 and T11: words",
            "/// proves G3",
            "// proves the contract of a command",
            "// J99",
        ] {
            assert_eq!(wrong(line), None, "{line}");
        }
    }

    #[test]
    fn a_rule_that_does_not_exist_is_named() {
        for (line, what) in [
            ("// proves J12", "there is no rule J12"),
            ("// proves J1, K1", "there is no rule K1"),
            ("// proves M0", "there is no rule M0"),
            ("// proves j5", "there is no rule j5"),
        ] {
            assert_eq!(wrong(line).as_deref(), Some(what), "{line}");
        }
    }
}
