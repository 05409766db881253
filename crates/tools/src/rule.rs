//! Rules: `tool`, `tool(pattern)`, `server.tool(pattern)`; `*` stands for any run of characters.
//!
//! In a pattern `\*` is a star and `\\` a backslash. `git *` covers `git` alone as well. A tool
//! name without a server means the built-in one when something is allowed, and a tool of that name
//! on any server when something is forbidden or asked about. Patterns of web addresses are matched part
//! by part ([`crate::address`]), those of paths as paths ([`crate::path_pattern`]).

use std::fmt;
use std::str::FromStr;

use windlass_vocab::ToolName;

use crate::address::{self, Address, Side};
use crate::builtin::FILE_TOOLS;
use crate::path_pattern::{PathFault, PathPattern};
use crate::subject::Parts;

/// The text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseRuleError {
    /// It is not of the form.
    #[error("`{0}` is no rule: write `tool`, `tool(pattern)` or `server.tool(pattern)`, e.g. `run_command(git *)`")]
    Form(String),
    /// It is about a file tool, and its pattern means no path.
    #[error("`{rule}` is no rule: {fault}")]
    Path {
        /// The text.
        rule: String,
        /// What is wrong with the pattern.
        fault: PathFault,
    },
}

/// Which calls a permission is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    text: String,
    tool: Pattern,
    argument: Option<Pattern>,
    /// The argument as a path, where it is about a tool that takes one.
    path: Option<PathPattern>,
    /// The argument as it was written, for what is not matched letter by letter.
    written: Option<String>,
}

impl FromStr for Rule {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        let text = text.trim();
        let error = || ParseRuleError::Form(text.to_owned());
        let (tool, argument) = match text.split_once('(') {
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(error)?)),
            None => (text, None),
        };
        if tool.is_empty() || tool.contains(|c: char| c.is_whitespace() || c == ')') {
            return Err(error());
        }
        let written = argument.map(str::trim).filter(|pattern| !pattern.is_empty());
        let tool = Pattern::new(tool);
        let local = |name: &&str| tool.matches(name) || tool.matches(&format!("{}.{name}", ToolName::LOCAL));
        let path = written.filter(|_| FILE_TOOLS.iter().any(local)).map(PathPattern::new).transpose();
        let path = path.map_err(|fault| ParseRuleError::Path { rule: text.to_owned(), fault })?;
        let (argument, written) = (written.map(Pattern::new), written.map(str::to_owned));
        Ok(Self { text: text.to_owned(), tool, argument, path, written })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Rule {
    /// The tools it is about, as it was written: `run_command`, `hub.*`.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.text.split_once('(').map_or(self.text.as_str(), |(tool, _)| tool)
    }

    /// Whether it is about a tool of this name, `server.tool`, on whichever side it stands.
    #[must_use]
    pub fn names(&self, tool: &ToolName) -> bool {
        self.concerns(tool)
    }

    /// Whether the rule, as one that allows, is about this tool.
    pub(crate) fn means(&self, tool: &ToolName) -> bool {
        let own = tool.is_local() || self.tool.is_everything();
        self.tool.matches(tool.as_str()) || own && self.tool.matches(tool.bare())
    }

    /// Whether the rule, as one that forbids or asks, is about this tool.
    pub(crate) fn concerns(&self, tool: &ToolName) -> bool {
        self.tool.matches(tool.as_str()) || self.tool.matches(tool.bare())
    }

    /// Whether its pattern matches this text, which is of that kind.
    pub(crate) fn covers(&self, text: &str, kind: &Parts, side: Side) -> bool {
        match (kind, &self.path) {
            (Parts::Paths(roots), Some(pattern)) => pattern.covers(text, roots, side),
            (Parts::Paths(_) | Parts::Texts, _) => self.argument.as_ref().is_none_or(|pattern| pattern.matches(text)),
        }
    }

    /// Whether its pattern means this address.
    pub(crate) fn covers_address(&self, address: &Address, side: Side) -> bool {
        self.written.as_ref().is_none_or(|pattern| address::matches(pattern, address, side))
    }

    /// Whether it covers this text whatever is in it: by having no pattern, or by spelling it out.
    pub(crate) fn covers_whole(&self, text: &str, kind: &Parts) -> bool {
        if let (Parts::Paths(_), Some(pattern)) = (kind, &self.path) {
            return pattern.is_everything() || pattern.is_exactly(text);
        }
        self.argument.as_ref().is_none_or(|pattern| pattern.is_everything() || pattern.is_exactly(text))
    }
}

/// `text` as a pattern that matches nothing else.
pub(crate) fn escape(text: &str) -> String {
    text.replace('\\', r"\\").replace('*', r"\*")
}

/// Literal pieces with stars between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pieces: Vec<String>,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let mut pieces = vec![String::new()];
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, chars.peek(), pieces.last_mut()) {
                ('*', _, _) => pieces.push(String::new()),
                ('\\', Some(&next @ ('*' | '\\')), Some(piece)) => {
                    piece.push(next);
                    chars.next();
                }
                (_, _, Some(piece)) => piece.push(c),
                (_, _, None) => {}
            }
        }
        Self { pieces }
    }

    fn is_everything(&self) -> bool {
        self.pieces.len() > 1 && self.pieces.iter().all(String::is_empty)
    }

    fn is_exactly(&self, text: &str) -> bool {
        matches!(self.pieces.as_slice(), [only] if only == text)
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.is_exactly(text);
        };
        if let ([], "") = (middle, last.as_str())
            && first.strip_suffix(' ') == Some(text)
        {
            return true;
        }
        let Some(mut rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        for piece in middle {
            match rest.find(piece.as_str()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves T8
    #[test]
    fn a_pattern_matches_what_it_says() {
        for (pattern, text, want) in [
            ("git *", "git status", true),
            ("git *", "git", true),
            ("git *", "gitk", false),
            ("git*", "gitk", true),
            ("*", "", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("*--force*", "git push --force x", true),
            (r"rm \*.o", "rm *.o", true),
            (r"rm \*.o", "rm x.o", false),
            (r"a\\b", r"a\b", true),
            (r"a\b", r"a\b", true),
            ("git status", "git status", true),
            ("git status", "git status -s", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), want, "{pattern} on {text}");
        }
        for text in ["a*b", r"\*", r"a\\*", "plain", ""] {
            assert!(Pattern::new(&escape(text)).is_exactly(text), "{text}");
        }
    }

    // proves T8
    #[test]
    fn a_rule_reads_back_and_nonsense_is_refused() {
        for text in ["read_file", "run_command(git *)", "hub.issue(*)", "*", "run_command(echo (a) b)"] {
            assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
        }
        for text in ["write_file(?env)", "*_file([.]env)", "local.read_file({a,b})", "*(~/x)"] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
        for text in ["run_command(ls ?)", "fetch_url(docs.rs/?x)", "hub.write_file({a})", "run_command([ -f x ])"] {
            assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
        }
        for text in ["", "(x)", "run_command(git", "two words", "a b(c)", "x)"] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
    }

    // proves T8
    #[test]
    fn a_bare_name_allows_the_built_in_tool_only_and_forbids_any() {
        let (local, other) = (ToolName::from("local.write_file"), ToolName::from("evil.write_file"));
        let rule: Rule = "write_file".parse().unwrap();
        assert!(rule.means(&local) && !rule.means(&other));
        assert!(rule.concerns(&local) && rule.concerns(&other));
        let all: Rule = "*".parse().unwrap();
        assert!(all.means(&local) && all.means(&other));
        let server: Rule = "evil.*".parse().unwrap();
        assert!(server.means(&other) && !server.means(&local));
    }
}
