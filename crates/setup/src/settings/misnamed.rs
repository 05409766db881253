//! Finds rules about tools that don't exist. Such a rule is probably a typo, and would go unnoticed, because the call
//! it was meant for is checked without it (T8).
//!
//! The tools of MCP servers are not known before the servers are connected, so a rule about one is accepted if its
//! server is configured. A bare name in a deny or ask rule means a tool on any server, so where servers are
//! configured only a probable typo is reported.
//!
//! A deny or ask rule that can't match any tool is worse than none, because somebody relies on it: it is an error and
//! no run starts. A bare name in a file may be meant for the servers of another folder, so there only a typo of a
//! letter or two is an error.

use windlass_tools::{NetworkTarget, Rule, TOOL_NAMES};
use windlass_vocab::ToolName;

use super::error::SettingsError;
use super::nearest::{near, nearest};
use super::notice::SettingsNotice;
use super::origin::{SettingOrigin, Sourced};
use super::permissions::PermissionSettings;

/// Whether a rule allows or restricts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SettingsRuleSide {
    Allow,
    Forbid,
}

/// Every word a rule may begin with: kinds of access, and the built-in tools.
fn known_words() -> Vec<&'static str> {
    ["read", "write", "network"].into_iter().chain(TOOL_NAMES.iter().copied()).collect()
}

/// How many letters of a typo may be wrong.
const SLIP: usize = 2;

/// Returns a notice for each rule that names no tool; `servers` are the configured servers. A deny or ask rule that
/// can't match any tool is an error.
pub(super) fn notices(
    permissions: &PermissionSettings,
    servers: &[String],
) -> Result<Vec<SettingsNotice>, SettingsError> {
    let PermissionSettings { allow, ask, deny, .. } = permissions;
    let forbidding = ask.iter().chain(deny).map(|rule| (SettingsRuleSide::Forbid, rule));
    let all = allow.iter().map(|rule| (SettingsRuleSide::Allow, rule)).chain(forbidding);
    let mut notices = Vec::new();
    for (side, rule) in all {
        let Some(problem) = problem(side, rule, servers) else { continue };
        if side == SettingsRuleSide::Forbid && is_certain(rule, servers) {
            return Err(SettingsError::Wrong { origin: rule.origin.clone(), problem });
        }
        notices.push(SettingsNotice::At { origin: rule.origin.clone(), problem });
    }
    Ok(notices)
}

/// Whether a rule that names no built-in tool can't match a tool of any server either.
fn is_certain(rule: &Sourced<Rule>, servers: &[String]) -> bool {
    let is_long = |tool: &str| tool.chars().count() >= 2 * SLIP;
    let is_near = |tool: &str| TOOL_NAMES.iter().any(|name| strsim::damerau_levenshtein(tool, name) <= SLIP);
    let is_slip = |tool: &str| is_long(tool) && is_near(tool);
    let Some(tool) = rule.value.tool() else { return false };
    match tool.split_once('.') {
        Some((server, _)) => server == ToolName::LOCAL,
        None => servers.is_empty() && (matches!(rule.origin, SettingOrigin::Flag(_)) || is_slip(tool)),
    }
}

fn problem(side: SettingsRuleSide, rule: &Sourced<Rule>, servers: &[String]) -> Option<String> {
    let calls = match rule.value.network() {
        Some(NetworkTarget::CallsOf(calls)) => calls,
        Some(NetworkTarget::Everything | NetworkTarget::Address(_)) | None => &rule.value,
    };
    let tool = calls.tool()?;
    if TOOL_NAMES.iter().any(|name| calls.names(&ToolName(format!("local.{name}")))) {
        return None;
    }
    let problem_text = |what: String| Some(format!("the rule `{}` means nothing: {what}", rule.value));
    match tool.split_once('.') {
        Some((ToolName::LOCAL, bare)) => {
            problem_text(format!("no tool is called {bare:?}; {}", nearest(bare, TOOL_NAMES)))
        }
        Some((server, _)) if server.contains('*') || servers.iter().any(|known| known == server) => None,
        Some((server, _)) => {
            let known: Vec<&str> = servers.iter().map(String::as_str).collect();
            let hint = if known.is_empty() { "none is configured".to_owned() } else { nearest(server, &known) };
            problem_text(format!("no server is called {server:?}; {hint}"))
        }
        None if side == SettingsRuleSide::Forbid
            && !servers.is_empty()
            && (tool.contains('*') || near(tool, &known_words()).is_none()) =>
        {
            None
        }
        None => problem_text(format!("no tool is called {tool:?}; {}", nearest(tool, &known_words()))),
    }
}

#[cfg(test)]
mod tests {
    use windlass_tools::Protected;

    use super::*;
    use crate::settings::mode::ModeSetting;
    use crate::settings::origin::Position;

    fn problem_text(side: SettingsRuleSide, rule: &str, servers: &[&str]) -> Option<String> {
        let position = Position { path: "windlass.toml".into(), line: 3, column: 10 };
        let rule = Sourced::new(rule.parse().expect("a rule"), SettingOrigin::User(position));
        let mode = Sourced::new(ModeSetting::Default, SettingOrigin::Default);
        let (allow, deny) = match side {
            SettingsRuleSide::Allow => (vec![rule], Vec::new()),
            SettingsRuleSide::Forbid => (Vec::new(), vec![rule]),
        };
        let permissions = PermissionSettings { mode, allow, ask: Vec::new(), deny, protected: Protected::default() };
        let servers: Vec<String> = servers.iter().map(|name| (*name).to_owned()).collect();
        match notices(&permissions, &servers) {
            Ok(mut notices) => notices.pop().map(|notice| notice.to_string()),
            Err(error) => Some(format!("error: {error}")),
        }
    }

    // proves T8: nobody relies on a rule that forbids nothing
    #[test]
    fn a_rule_that_forbids_nothing_for_certain_is_an_error() {
        for (rule, servers, is_error) in [
            ("run_comand(rm *)", &[][..], true),
            ("local.run_comand", &["hub"], true),
            ("local.delete_everything", &[], true),
            // A server may have a tool of this name.
            ("run_comand(rm *)", &["hub"], false),
            ("hub.put", &[], false),
            // May be meant for the servers of another folder.
            ("delete_repository", &[], false),
        ] {
            let said = problem_text(SettingsRuleSide::Forbid, rule, servers).unwrap_or_default();
            assert_eq!(said.starts_with("error: "), is_error, "{rule}: {said}");
            let allowed = problem_text(SettingsRuleSide::Allow, rule, servers).unwrap_or_default();
            assert!(!allowed.starts_with("error: "), "a rule that allows nothing is safe: {allowed}");
        }
    }

    // proves T8: a misspelt rule is never silently accepted
    #[test]
    fn a_rule_about_no_tool_is_told_with_its_place_and_the_nearest_name() {
        let want = "windlass.toml:3:10: the rule `run_comand(git *)` means nothing: no tool is called \"run_comand\"; did \
                    you mean \"run_command\"?";
        assert_eq!(problem_text(SettingsRuleSide::Allow, "run_comand(git *)", &[]).as_deref(), Some(want));
        assert_eq!(problem_text(SettingsRuleSide::Forbid, "run_comand(git *)", &["hub"]).as_deref(), Some(want));
        for (side, rule, servers, part) in [
            (SettingsRuleSide::Allow, "local.raed_file", &[][..], "did you mean \"read_file\"?"),
            (SettingsRuleSide::Allow, "delete_everything", &["hub"], "no tool is called"),
            (SettingsRuleSide::Forbid, "Bash(rm *)", &[], "what may stand here: read, write, network, append_file"),
            (SettingsRuleSide::Forbid, "writ(src/)", &[], "did you mean \"write\"?"),
            (SettingsRuleSide::Allow, "hbu.put", &["hub"], "no server is called \"hbu\"; did you mean \"hub\"?"),
            (SettingsRuleSide::Allow, "hub.put", &[], "none is configured"),
            (SettingsRuleSide::Allow, "run_x*", &[], "no tool is called"),
            (SettingsRuleSide::Allow, "network(run_comand(cargo *))", &[], "did you mean \"run_command\"?"),
        ] {
            let said = problem_text(side, rule, servers).unwrap_or_else(|| String::from("nothing"));
            assert!(said.contains(part), "{rule}: {said}");
        }
    }

    #[test]
    fn a_rule_that_may_mean_a_tool_is_not_told() {
        for (side, rule, servers) in [
            (SettingsRuleSide::Allow, "run_command(git *)", &[][..]),
            (SettingsRuleSide::Allow, "local.write_file", &[]),
            (SettingsRuleSide::Allow, "*", &[]),
            (SettingsRuleSide::Allow, "*_file", &[]),
            (SettingsRuleSide::Allow, "hub.put(x)", &["hub"]),
            (SettingsRuleSide::Allow, "hub.*", &["hub"]),
            (SettingsRuleSide::Forbid, "delete_repository", &["hub"]),
            (SettingsRuleSide::Forbid, "*.delete*", &[]),
            (SettingsRuleSide::Forbid, "read(secrets/)", &[]),
            (SettingsRuleSide::Allow, "write", &[]),
            (SettingsRuleSide::Allow, "network(docs.rs)", &[]),
            (SettingsRuleSide::Forbid, "network(run_command(cargo *))", &[]),
        ] {
            assert_eq!(problem_text(side, rule, servers), None, "{rule}");
        }
    }
}
