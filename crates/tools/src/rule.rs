//! Rules: what a permission is about. A rule names a tool, or what is done whichever tool does it.
//!
//! - `tool`, `tool(pattern)`, `server.tool(pattern)`: calls of that tool. A name without a server means the
//!   built-in tool when something is allowed, and a tool of that name on any server when something is
//!   forbidden or asked about.
//! - `read(path)`, `write(path)`: every built-in tool that reads or writes such a path; without a path, any.
//! - `network(host)`: pages of that host; `network(run_command(cargo *))`: what those calls send and fetch;
//!   `network`: both, wherever to.
//!
//! `*` stands for any run of characters ([`crate::text_pattern`]). Patterns of web addresses are matched part
//! by part ([`crate::address`]), those of paths as paths ([`crate::path_pattern`]).

use std::fmt;
use std::str::FromStr;

use windlass_vocab::ToolName;

use crate::access::{Access, FILE_TOOLS};
use crate::address::{self, Address, Side};
use crate::builtin::TOOL_NAMES;
use crate::path_pattern::{PathFault, PathPattern};
use crate::subject::Parts;
use crate::text_pattern::Pattern;

/// The text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseRuleError {
    /// It is not of the form.
    #[error(
        "`{0}` is no rule: write `tool`, `tool(pattern)` or `server.tool(pattern)`, e.g. `run_command(git *)`, or \
         `read(path)`, `write(path)`, `network(host)`"
    )]
    Form(String),
    /// It is about files, and its pattern means no path.
    #[error("`{rule}` is no rule: {fault}")]
    Path {
        /// The text.
        rule: String,
        /// What is wrong with the pattern.
        fault: PathFault,
    },
    /// It is about the network, and what stands in it is neither a host nor a rule about a tool.
    #[error("`{0}` is no rule: in `network(…)` stands a host, e.g. `docs.rs`, or a tool, e.g. `run_command(cargo *)`")]
    Network(String),
}

/// Which calls a permission is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    text: String,
    target: Target,
}

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// Calls of tools.
    Tool(ToolPattern),
    /// What is done to files; to any of them without a pattern.
    Files(Access, Option<PathPattern>),
    /// What is sent and fetched.
    Network(Network),
}

/// Tools by their names, and their calls by an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ToolPattern {
    name: Pattern,
    argument: Option<Pattern>,
    /// The argument as a path, where it is about a tool that takes one.
    path: Option<PathPattern>,
    /// The argument as it was written, for what is not matched letter by letter.
    written: Option<String>,
}

/// What of the network a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// All of it.
    Everything,
    /// Pages whose addresses are like this.
    Address(String),
    /// What the calls this rule is about send and fetch. It is a rule about a tool.
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
        let argument = argument.map(str::trim).filter(|pattern| !pattern.is_empty());
        let target = match [Access::Read, Access::Write].into_iter().find(|access| access.as_str() == name) {
            Some(access) => Target::Files(access, path(text, argument)?),
            None if name == NETWORK => Target::Network(network(text, argument)?),
            None => Target::Tool(tool(text, name, argument)?),
        };
        Ok(Self { text: text.to_owned(), target })
    }
}

/// The name of what is sent and fetched.
const NETWORK: &str = "network";

fn path(rule: &str, written: Option<&str>) -> Result<Option<PathPattern>, ParseRuleError> {
    let path = written.map(PathPattern::new).transpose();
    path.map_err(|fault| ParseRuleError::Path { rule: rule.to_owned(), fault })
}

fn network(rule: &str, written: Option<&str>) -> Result<Network, ParseRuleError> {
    let error = || ParseRuleError::Network(rule.to_owned());
    match written {
        None | Some("*") => Ok(Network::Everything),
        Some(inner) if inner.contains('(') || TOOL_NAMES.contains(&inner) => {
            let inner: Rule = inner.parse().map_err(|_| error())?;
            match inner.target {
                Target::Tool(_) => Ok(Network::CallsOf(Box::new(inner))),
                Target::Files(..) | Target::Network(_) => Err(error()),
            }
        }
        Some(inner) if inner.contains(|c: char| c.is_whitespace() || c == ')') => Err(error()),
        Some(inner) => Ok(Network::Address(inner.to_owned())),
    }
}

fn tool(rule: &str, name: &str, written: Option<&str>) -> Result<ToolPattern, ParseRuleError> {
    let name = Pattern::new(name);
    let is_local = |(tool, _): &(&str, Access)| is_meant(&name, tool);
    let path = path(rule, written.filter(|_| FILE_TOOLS.iter().any(is_local)))?;
    let (argument, written) = (written.map(Pattern::new), written.map(str::to_owned));
    Ok(ToolPattern { name, argument, path, written })
}

/// Whether a pattern of names means the built-in tool of this name.
fn is_meant(pattern: &Pattern, tool: &str) -> bool {
    pattern.matches(tool) || pattern.matches(&format!("{}.{tool}", ToolName::LOCAL))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Rule {
    /// The tools it is about, as it was written: `run_command`, `hub.*`; none where it is about what is done,
    /// whichever tool does it.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match &self.target {
            Target::Tool(_) => Some(self.text.split_once('(').map_or(self.text.as_str(), |(tool, _)| tool)),
            Target::Network(Network::CallsOf(calls)) => calls.tool(),
            Target::Files(..) | Target::Network(Network::Everything | Network::Address(_)) => None,
        }
    }

    /// What of the network it is about, if it is about that.
    #[must_use]
    pub fn network(&self) -> Option<&Network> {
        match &self.target {
            Target::Network(network) => Some(network),
            Target::Tool(_) | Target::Files(..) => None,
        }
    }

    /// Whether it is about a tool of this name, `server.tool`, on whichever side it stands.
    #[must_use]
    pub fn names(&self, tool: &ToolName) -> bool {
        self.concerns(tool)
    }

    /// Whether the rule, as one that allows, is about this tool.
    pub(crate) fn means(&self, tool: &ToolName) -> bool {
        match &self.target {
            Target::Tool(ToolPattern { name, .. }) => {
                let own = tool.is_local() || name.is_everything();
                name.matches(tool.as_str()) || own && name.matches(tool.bare())
            }
            Target::Network(Network::Everything | Network::Address(_)) => is_fetching(tool),
            Target::Files(..) | Target::Network(Network::CallsOf(_)) => false,
        }
    }

    /// Whether the rule, as one that forbids or asks, is about this tool.
    pub(crate) fn concerns(&self, tool: &ToolName) -> bool {
        match &self.target {
            Target::Tool(ToolPattern { name, .. }) => name.matches(tool.as_str()) || name.matches(tool.bare()),
            Target::Network(Network::Everything | Network::Address(_)) => is_fetching(tool),
            // A server's tool of that name, too: in doubt it is forbidden.
            Target::Files(access, _) => tool.bare() == access.as_str(),
            Target::Network(Network::CallsOf(_)) => tool.bare() == NETWORK,
        }
    }

    /// Whether its pattern matches this text, which is of that kind.
    pub(crate) fn covers(&self, text: &str, kind: &Parts, side: Side) -> bool {
        match (kind, &self.target) {
            (
                Parts::Paths(roots),
                Target::Tool(ToolPattern { path: Some(path), .. }) | Target::Files(_, Some(path)),
            ) => path.covers(text, roots, side),
            (Parts::Paths(_) | Parts::Texts, Target::Tool(ToolPattern { argument, .. })) => {
                argument.as_ref().is_none_or(|pattern| pattern.matches(text))
            }
            (Parts::Paths(_) | Parts::Texts, Target::Files(_, pattern)) => pattern.is_none() || side == Side::Forbid,
            (Parts::Paths(_) | Parts::Texts, Target::Network(_)) => side == Side::Forbid,
        }
    }

    /// Whether its pattern means this address.
    pub(crate) fn covers_address(&self, address: &Address, side: Side) -> bool {
        match &self.target {
            Target::Tool(ToolPattern { written: None, .. }) | Target::Network(Network::Everything) => true,
            Target::Tool(ToolPattern { written: Some(pattern), .. }) | Target::Network(Network::Address(pattern)) => {
                address::matches(pattern, address, side)
            }
            Target::Files(..) | Target::Network(Network::CallsOf(_)) => side == Side::Forbid,
        }
    }

    /// Whether it covers this text whatever is in it: by having no pattern, or by spelling it out.
    pub(crate) fn covers_whole(&self, text: &str, kind: &Parts) -> bool {
        match (kind, &self.target) {
            (Parts::Paths(_), Target::Tool(ToolPattern { path: Some(path), .. }) | Target::Files(_, Some(path))) => {
                path.is_everything() || path.is_exactly(text)
            }
            (Parts::Paths(_) | Parts::Texts, Target::Tool(ToolPattern { argument, .. })) => {
                argument.as_ref().is_none_or(|pattern| pattern.is_everything() || pattern.is_exactly(text))
            }
            (Parts::Paths(_) | Parts::Texts, Target::Files(_, pattern)) => pattern.is_none(),
            (Parts::Paths(_) | Parts::Texts, Target::Network(_)) => false,
        }
    }
}

/// The built-in tool whose calls are addresses.
fn is_fetching(tool: &ToolName) -> bool {
    tool.is_local() && tool.bare() == "fetch_url"
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
        assert_eq!(network("network"), Some(Network::Everything));
        assert_eq!(network("network(*)"), Some(Network::Everything));
        assert_eq!(network("network( docs.rs )"), Some(Network::Address("docs.rs".into())));
        let calls = Box::new("run_command(cargo *)".parse().unwrap());
        assert_eq!(network("network(run_command(cargo *))"), Some(Network::CallsOf(calls)));
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
