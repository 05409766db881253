//! Rules about tools that are not there: most likely a slip, and one that would go unnoticed, for the
//! call it was meant for is judged without it (T8).
//!
//! Tools of other servers are not known before they are connected, so a rule about one is right when
//! its server is configured. A bare name that forbids or asks means a tool on any server, so where there
//! are servers only what looks like a slip is told.

use windlass::tools::{Rule, TOOL_NAMES};
use windlass_vocab::ToolName;

use super::nearest::{near, nearest};
use super::{Permissions, Sourced};

/// Which side a rule stands on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Allow,
    Forbid,
}

/// A sentence for each rule that names no tool; `servers` are those that are configured.
pub(super) fn notices(permissions: &Permissions, servers: &[String]) -> Vec<String> {
    let Permissions { allow, ask, deny, .. } = permissions;
    let forbidding = ask.iter().chain(deny).map(|rule| (Side::Forbid, rule));
    let all = allow.iter().map(|rule| (Side::Allow, rule)).chain(forbidding);
    all.filter_map(|(side, rule)| notice(side, rule, servers)).collect()
}

fn notice(side: Side, rule: &Sourced<Rule>, servers: &[String]) -> Option<String> {
    let tool = rule.value.tool();
    if TOOL_NAMES.iter().any(|name| rule.value.names(&ToolName(format!("local.{name}")))) {
        return None;
    }
    let told = |what: String| Some(format!("{}: the rule `{}` means nothing: {what}", rule.origin, rule.value));
    match tool.split_once('.') {
        Some((ToolName::LOCAL, bare)) => told(format!("no tool is called {bare:?}; {}", nearest(bare, TOOL_NAMES))),
        Some((server, _)) if server.contains('*') || servers.iter().any(|known| known == server) => None,
        Some((server, _)) => {
            let known: Vec<&str> = servers.iter().map(String::as_str).collect();
            let hint = if known.is_empty() { "none is configured".to_owned() } else { nearest(server, &known) };
            told(format!("no server is called {server:?}; {hint}"))
        }
        None if side == Side::Forbid
            && !servers.is_empty()
            && (tool.contains('*') || near(tool, TOOL_NAMES).is_none()) =>
        {
            None
        }
        None => told(format!("no tool is called {tool:?}; {}", nearest(tool, TOOL_NAMES))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Origin, Position};
    use super::*;
    use crate::args::Mode;

    fn told(side: Side, rule: &str, servers: &[&str]) -> Option<String> {
        let position = Position { path: "windlass.toml".into(), line: 3, column: 10 };
        let rule = Sourced::new(rule.parse().expect("a rule"), Origin::User(position));
        let mode = Sourced::new(Mode::Default, Origin::Default);
        let none = Vec::new;
        let permissions = match side {
            Side::Allow => Permissions { mode, allow: vec![rule], ask: none(), deny: none() },
            Side::Forbid => Permissions { mode, allow: none(), ask: none(), deny: vec![rule] },
        };
        let servers: Vec<String> = servers.iter().map(|name| (*name).to_owned()).collect();
        notices(&permissions, &servers).pop()
    }

    // proves T8: a misspelt rule is never silently accepted
    #[test]
    fn a_rule_about_no_tool_is_told_with_its_place_and_the_nearest_name() {
        let want = "windlass.toml:3:10: the rule `run_comand(git *)` means nothing: no tool is called \"run_comand\"; did \
                    you mean \"run_command\"?";
        assert_eq!(told(Side::Allow, "run_comand(git *)", &[]).as_deref(), Some(want));
        assert_eq!(told(Side::Forbid, "run_comand(git *)", &["hub"]).as_deref(), Some(want));
        for (side, rule, servers, part) in [
            (Side::Allow, "local.raed_file", &[][..], "did you mean \"read_file\"?"),
            (Side::Allow, "delete_everything", &["hub"], "no tool is called"),
            (Side::Forbid, "Bash(rm *)", &[], "what may stand here: ask_question"),
            (Side::Allow, "hbu.put", &["hub"], "no server is called \"hbu\"; did you mean \"hub\"?"),
            (Side::Allow, "hub.put", &[], "none is configured"),
            (Side::Allow, "run_x*", &[], "no tool is called"),
        ] {
            let said = told(side, rule, servers).unwrap_or_else(|| String::from("nothing"));
            assert!(said.contains(part), "{rule}: {said}");
        }
    }

    #[test]
    fn a_rule_that_may_mean_a_tool_is_not_told() {
        for (side, rule, servers) in [
            (Side::Allow, "run_command(git *)", &[][..]),
            (Side::Allow, "local.write_file", &[]),
            (Side::Allow, "*", &[]),
            (Side::Allow, "*_file", &[]),
            (Side::Allow, "hub.put(x)", &["hub"]),
            (Side::Allow, "hub.*", &["hub"]),
            (Side::Forbid, "delete_repository", &["hub"]),
            (Side::Forbid, "*.delete*", &[]),
        ] {
            assert_eq!(told(side, rule, servers), None, "{rule}");
        }
    }
}
