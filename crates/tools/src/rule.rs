//! Rules: which calls a permission applies to. A rule names a tool, or an action regardless of the tool that does it.
//!
//! - `tool`, `tool(pattern)`, `server.tool(pattern)`: calls of that tool. A name without a server means the
//!   built-in tool in a rule that allows, and a tool of that name on any server in a rule that forbids or
//!   asks.
//! - `read(path)`, `write(path)`: every built-in tool that reads or writes such a path; without a path, any. In a
//!   rule that forbids or asks, the name of a file tool means the same: `write_file(path)`,
//!   `edit_file(path)`, `append_file(path)`, `move_file(path)` and `delete_file(path)` are `write(path)`, and
//!   `read_file(path)`, `search_files(path)` and `list_directory(path)` are `read(path)`.
//! - `network(host)`: pages of that host; `network(run_command(cargo *))`: network traffic of those calls;
//!   `network`: both, with any host.
//!
//! `*` stands for any run of characters ([`crate::text_pattern`]). Patterns of web addresses are matched part
//! by part ([`crate::address`]), those of paths as paths ([`crate::path_pattern`]).

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use windlass_vocab::ToolName;

use crate::access::{AccessKind, FILE_TOOLS, FileAccess};
use crate::address::{Address, AddressPattern, RuleSide};
use crate::builtin::tool_names::TOOL_NAMES;
use crate::path_pattern::{PathFault, PathPattern};
use crate::text_pattern::Pattern;
use crate::uncertain_command::UncertainCommand;

/// Why a text is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseRuleError {
    /// It does not have the form of a rule.
    #[error(
        "`{0}` is no rule: write `tool`, `tool(pattern)` or `server.tool(pattern)`, e.g. `run_command(git *)`, or \
         `read(path)`, `write(path)`, `network(host)`"
    )]
    Form(String),
    /// It is about files, and its pattern is not a valid path.
    #[error("`{rule}` is no rule: {fault}")]
    Path {
        /// The text.
        rule: String,
        /// What is wrong with the pattern.
        fault: PathFault,
    },
    /// It is about the network, and its argument is neither a host nor a rule about a tool.
    #[error("`{0}` is no rule: in `network(…)` stands a host, e.g. `docs.rs`, or a tool, e.g. `run_command(cargo *)`")]
    Network(String),
}

/// Characters around a pattern or a command line that are trimmed.
pub(crate) const BLANKS: [char; 3] = [' ', '\t', '\n'];

/// A pattern of calls that a permission applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    text: String,
    target: RuleTarget,
}

/// What a rule applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RuleTarget {
    /// Calls of tools.
    Tool(ToolPattern),
    /// Accesses to files.
    Files(FilePattern),
    /// Network traffic.
    Network(NetworkTarget),
}

/// A pattern of accesses to files; without a path it matches any file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FilePattern {
    access: AccessKind,
    path: Option<PathPattern>,
    /// The path as a text, for a server's tool that is itself named `read` or `write`.
    argument: Option<Pattern>,
}

/// A pattern of tool names and of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ToolPattern {
    name: Pattern,
    argument: Option<Pattern>,
    /// The argument as a path, if the rule is about a tool that takes one.
    path: Option<PathPattern>,
    /// The accesses of the file tools it names, if it forbids or asks.
    accesses: Vec<AccessKind>,
    /// The argument as an address, if the rule is about the tool that takes one.
    address: Option<AddressPattern>,
}

/// Which network traffic a rule applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkTarget {
    /// All traffic.
    Everything,
    /// Pages whose addresses match.
    Address(AddressPattern),
    /// The traffic of calls that this rule matches, which is a rule about a tool.
    CallsOf(Box<Rule>),
}

impl FromStr for Rule {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        let text = text.trim();
        let error = || ParseRuleError::Form(text.to_owned());
        let (name, argument) = match text.split_once('(') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or_else(error)?)),
            None => (text, None),
        };
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == ')') {
            return Err(error());
        }
        let argument = argument.map(|pattern| pattern.trim_matches(BLANKS)).filter(|pattern| !pattern.is_empty());
        let target = match [AccessKind::Read, AccessKind::Write].into_iter().find(|access| access.as_str() == name) {
            Some(access) => {
                let path = path(text, argument)?;
                RuleTarget::Files(FilePattern { access, path, argument: argument.map(Pattern::new) })
            }
            None if name == NETWORK => RuleTarget::Network(network(text, argument)?),
            None => RuleTarget::Tool(tool(text, name, argument)?),
        };
        Ok(Self { text: text.to_owned(), target })
    }
}

/// The name in rules about network traffic.
const NETWORK: &str = "network";

fn path(rule: &str, written: Option<&str>) -> Result<Option<PathPattern>, ParseRuleError> {
    let path = written.map(PathPattern::new).transpose();
    path.map_err(|fault| ParseRuleError::Path { rule: rule.to_owned(), fault })
}

fn network(rule: &str, written: Option<&str>) -> Result<NetworkTarget, ParseRuleError> {
    let error = || ParseRuleError::Network(rule.to_owned());
    match written {
        None | Some("*") => Ok(NetworkTarget::Everything),
        Some(inner) if inner.contains('(') || TOOL_NAMES.contains(&inner) => {
            let inner: Rule = inner.parse().map_err(|_| error())?;
            match inner.target {
                RuleTarget::Tool(_) => Ok(NetworkTarget::CallsOf(Box::new(inner))),
                RuleTarget::Files(_) | RuleTarget::Network(_) => Err(error()),
            }
        }
        Some(inner) if inner.contains(|c: char| c.is_whitespace() || c == ')') => Err(error()),
        Some(inner) => Ok(NetworkTarget::Address(inner.into())),
    }
}

fn tool(rule: &str, name: &str, written: Option<&str>) -> Result<ToolPattern, ParseRuleError> {
    // Grants are parsed for every call, and most name one tool: compare without allocating.
    let own = name.strip_prefix(ToolName::LOCAL).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name);
    let is_open = name.contains('*');
    let name = Pattern::new(name);
    let matches = |tool: &str| name.matches(tool) || name.matches(&format!("{}.{tool}", ToolName::LOCAL));
    let is_meant = |tool: &str| own == tool || is_open && matches(tool);
    let accesses: Vec<AccessKind> =
        FILE_TOOLS.iter().filter(|(tool, _)| is_meant(tool)).map(|(_, access)| *access).collect();
    let path = path(rule, written.filter(|_| !accesses.is_empty()))?;
    let address = written.filter(|_| is_meant(FETCHING)).map(AddressPattern::from);
    let argument = written.map(Pattern::new);
    Ok(ToolPattern { name, argument, path, accesses, address })
}

/// Whether the built-in tool of this name works on files.
fn is_file_tool(tool: &ToolName) -> bool {
    tool.is_local() && FILE_TOOLS.iter().any(|(name, _)| *name == tool.bare())
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Rule {
    /// Returns the tools it names, as written: `run_command`, `hub.*`; `None` if it is about an action regardless of
    /// the tool.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match &self.target {
            RuleTarget::Tool(_) => Some(self.text.split_once('(').map_or(self.text.as_str(), |(tool, _)| tool)),
            RuleTarget::Network(NetworkTarget::CallsOf(calls)) => calls.tool(),
            RuleTarget::Files(_) | RuleTarget::Network(NetworkTarget::Everything | NetworkTarget::Address(_)) => None,
        }
    }

    /// Returns the network traffic it applies to, if it is about the network.
    #[must_use]
    pub fn network(&self) -> Option<&NetworkTarget> {
        match &self.target {
            RuleTarget::Network(network) => Some(network),
            RuleTarget::Tool(_) | RuleTarget::Files(_) => None,
        }
    }

    /// Whether it is about a tool of this name, `server.tool`, as a rule that allows or as one that forbids.
    #[must_use]
    pub fn names(&self, tool: &ToolName) -> bool {
        self.concerns(tool)
    }

    /// Whether the rule, as one that allows, matches this tool.
    #[must_use]
    pub fn means(&self, tool: &ToolName) -> bool {
        match &self.target {
            RuleTarget::Tool(ToolPattern { name, .. }) => {
                let own = tool.is_local() || name.is_everything();
                name.matches(tool.as_str()) || own && name.matches(tool.bare())
            }
            RuleTarget::Network(NetworkTarget::Everything | NetworkTarget::Address(_)) => is_fetching(tool),
            RuleTarget::Files(_) => is_file_tool(tool),
            RuleTarget::Network(NetworkTarget::CallsOf(calls)) => is_fetching(tool) && calls.means(tool),
        }
    }

    /// Whether the rule, as one that forbids or asks, matches this tool.
    pub(crate) fn concerns(&self, tool: &ToolName) -> bool {
        match &self.target {
            RuleTarget::Tool(ToolPattern { name, .. }) => name.matches(tool.as_str()) || name.matches(tool.bare()),
            RuleTarget::Network(NetworkTarget::Everything | NetworkTarget::Address(_)) => is_fetching(tool),
            // Also a server's tool of that name: in doubt it is forbidden.
            RuleTarget::Files(FilePattern { access, .. }) => {
                tool.bare() == access.as_str() || tool.is_local() && FILE_TOOLS.contains(&(tool.bare(), *access))
            }
            RuleTarget::Network(NetworkTarget::CallsOf(calls)) => is_fetching(tool) && calls.concerns(tool),
        }
    }

    /// Whether the rule, as one that forbids or asks, matches this access in a workspace at `roots`. The name of a file
    /// tool stands for its access, whichever tool makes it.
    pub(crate) fn forbids(&self, access: &FileAccess, roots: &[PathBuf]) -> bool {
        match &self.target {
            RuleTarget::Tool(ToolPattern { accesses, path, .. }) => {
                accesses.contains(&access.access) && path.as_ref().is_none_or(|path| access.is_meant_by(path, roots))
            }
            RuleTarget::Files(FilePattern { access: meant, path, .. }) => {
                *meant == access.access && path.as_ref().is_none_or(|path| access.is_meant_by(path, roots))
            }
            RuleTarget::Network(_) => false,
        }
    }

    /// Returns the path pattern of the rule if, as one that forbids, it is about files; `Some(None)` means all files.
    pub(crate) fn forbidden_files(&self) -> Option<Option<&PathPattern>> {
        match &self.target {
            RuleTarget::Tool(ToolPattern { accesses, path, .. }) => (!accesses.is_empty()).then_some(path.as_ref()),
            RuleTarget::Files(FilePattern { path, .. }) => Some(path.as_ref()),
            RuleTarget::Network(_) => None,
        }
    }

    /// Whether the rule, as one that allows and that matches the tool, matches this access.
    pub(crate) fn allows(&self, access: &FileAccess, roots: &[PathBuf]) -> bool {
        let path = match &self.target {
            RuleTarget::Tool(ToolPattern { path, .. }) => path,
            RuleTarget::Files(FilePattern { access: meant, path, .. }) if *meant == access.access => path,
            RuleTarget::Files(_) | RuleTarget::Network(_) => return false,
        };
        path.as_ref().is_none_or(|path| path.allows(&access.path, roots))
    }

    /// Whether the rule, as one that allows and that matches the tool, names literally this path and no other.
    pub(crate) fn is_exactly_for(&self, path: &str) -> bool {
        match &self.target {
            RuleTarget::Tool(ToolPattern { path: Some(pattern), .. })
            | RuleTarget::Files(FilePattern { access: AccessKind::Write, path: Some(pattern), .. }) => {
                pattern.is_exactly(path)
            }
            RuleTarget::Tool(_) | RuleTarget::Files(_) | RuleTarget::Network(_) => false,
        }
    }

    /// Whether its pattern matches this text.
    pub(crate) fn covers(&self, text: &str) -> bool {
        match &self.target {
            RuleTarget::Tool(ToolPattern { argument, .. }) | RuleTarget::Files(FilePattern { argument, .. }) => {
                argument.as_ref().is_none_or(|pattern| pattern.matches(text))
            }
            RuleTarget::Network(_) => false,
        }
    }

    /// Returns its pattern of a call's argument, if it is about calls of tools.
    fn of_calls(&self) -> Option<Option<&Pattern>> {
        match &self.target {
            RuleTarget::Tool(ToolPattern { argument, .. }) => Some(argument.as_ref()),
            RuleTarget::Files(_) | RuleTarget::Network(_) => None,
        }
    }

    /// Whether its pattern may match this text, in which some characters are uncertain.
    pub(crate) fn may_cover(&self, uncertain_command: &UncertainCommand) -> bool {
        self.of_calls().is_some_and(|argument| argument.is_none_or(|pattern| uncertain_command.may_match(pattern)))
    }

    /// Whether its pattern begins with at least so many literal bytes, or matches any text.
    pub(crate) fn has_literal_prefix(&self, bytes: usize) -> bool {
        let literal = |pattern: &Pattern| pattern.pieces().first().map_or(0, String::len);
        let spells = |pattern: &Pattern| pattern.is_everything() || literal(pattern) >= bytes;
        self.of_calls().is_some_and(|argument| argument.is_none_or(spells))
    }

    /// Whether it matches this text and no other.
    pub(crate) fn is_exactly(&self, text: &str) -> bool {
        self.of_calls().flatten().is_some_and(|pattern| pattern.is_exactly(text))
    }

    /// Whether its pattern matches this address.
    pub(crate) fn covers_address(&self, address: &Address, side: RuleSide) -> bool {
        match &self.target {
            RuleTarget::Tool(ToolPattern { argument: None, .. }) | RuleTarget::Network(NetworkTarget::Everything) => {
                true
            }
            RuleTarget::Tool(ToolPattern { address: pattern, .. }) => {
                pattern.as_ref().is_some_and(|pattern| pattern.matches(address, side))
            }
            RuleTarget::Network(NetworkTarget::Address(pattern)) => pattern.matches(address, side),
            RuleTarget::Network(NetworkTarget::CallsOf(calls)) => calls.covers_address(address, side),
            RuleTarget::Files(_) => false,
        }
    }

    /// Whether it covers this text as a whole: it has no pattern, or the pattern is this literal text.
    pub(crate) fn covers_whole(&self, text: &str) -> bool {
        match &self.target {
            RuleTarget::Tool(ToolPattern { path: Some(path), .. }) => path.is_everything() || path.is_exactly(text),
            RuleTarget::Tool(ToolPattern { argument, .. }) => {
                argument.as_ref().is_none_or(|pattern| pattern.is_everything() || pattern.is_exactly(text))
            }
            RuleTarget::Files(_) | RuleTarget::Network(_) => false,
        }
    }
}

/// The built-in tool whose argument is an address.
const FETCHING: &str = "fetch_url";

fn is_fetching(tool: &ToolName) -> bool {
    tool.is_local() && tool.bare() == FETCHING
}

#[cfg(test)]
mod tests {
    use super::*;

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

    // proves X5
    #[test]
    fn a_rule_about_what_is_done_reads_back_and_nonsense_is_refused() {
        for text in [
            "read",
            "write(**/.env)",
            "read(secrets/)",
            "network",
            "network(docs.rs)",
            "network(https://*.example.org/api/*)",
            "network(run_command(cargo *))",
            "network(run_command)",
            "network(hub.put(x (y)))",
        ] {
            let rule: Rule = text.parse().unwrap();
            assert_eq!(rule.to_string(), text);
            assert_eq!(rule.network().is_some(), text.starts_with("network"), "{text}");
        }
        for text in ["read(?env)", "write(~/x)", "network(read(x))", "network(network(x))", "network(two words)"] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
    }

    // proves X5
    #[test]
    fn a_rule_about_the_network_says_whose_or_where_to() {
        let network = |text: &str| text.parse::<Rule>().unwrap().network().cloned();
        assert_eq!(network("network"), Some(NetworkTarget::Everything));
        assert_eq!(network("network(*)"), Some(NetworkTarget::Everything));
        assert_eq!(network("network( docs.rs )"), Some(NetworkTarget::Address("docs.rs".into())));
        let calls = Box::new("run_command(cargo *)".parse().unwrap());
        assert_eq!(network("network(run_command(cargo *))"), Some(NetworkTarget::CallsOf(calls)));
        assert_eq!(network("networks(x)"), None);
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
