//! Tool names: `server.tool` for people, a wire-safe form for models, and which tool a model probably meant (T1, T3).

use std::collections::BTreeSet;

use windlass_vocab::{Repair, ToolName, ToolSpec};

use crate::alias::{aliases, folded};
use crate::nearest::nearest;
use crate::shorten::shorten;

const LONGEST: usize = 64;

/// Returns the name a model sees, made of `[a-zA-Z0-9_-]`, at most 64 characters and not in `taken`: the
/// bare name of a `local` tool, `server__tool` of any other. A name that had to be shortened or is already
/// taken ends in a hash of the full name.
#[must_use]
pub fn wire_name(name: &ToolName, taken: &BTreeSet<String>) -> String {
    let plain = if name.is_local() { name.bare().to_owned() } else { format!("{}__{}", name.server(), name.bare()) };
    let safe: String =
        plain.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect();
    if safe.len() <= LONGEST && !taken.contains(&safe) {
        return safe;
    }
    let mut hash = fnv(name.as_str());
    loop {
        let suffix = format!("_{hash:08x}");
        let candidate = format!("{}{suffix}", &safe[..safe.len().min(LONGEST - suffix.len())]);
        if !taken.contains(&candidate) {
            return candidate;
        }
        hash = hash.wrapping_add(1);
    }
}

/// FNV-1a hash: the same on every machine and in every version.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// How a name was resolved, and to which index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameMatch {
    /// By the exact name.
    Exact(usize),
    /// By the name without its prefix.
    Bare(usize),
    /// By a name that other agents use.
    Alias(usize),
    /// As a misspelling of this tool only.
    Nearest(usize),
    /// Not resolved.
    Nothing,
}

impl NameMatch {
    /// Returns the index of the tool among those offered.
    pub(crate) fn index(self) -> Option<usize> {
        match self {
            Self::Exact(index) | Self::Bare(index) | Self::Alias(index) | Self::Nearest(index) => Some(index),
            Self::Nothing => None,
        }
    }

    /// Returns the repair that was made.
    pub(crate) fn repair(self) -> Option<Repair> {
        match self {
            Self::Exact(_) | Self::Nothing => None,
            Self::Bare(_) => Some(Repair::Name),
            Self::Alias(_) => Some(Repair::Alias),
            Self::Nearest(_) => Some(Repair::Nearest),
        }
    }
}

/// Returns which of `specs` has exactly this name, on the wire or for people.
pub(crate) fn exact(name: &str, specs: &[ToolSpec]) -> Option<usize> {
    let name = name.trim();
    specs.iter().position(|spec| spec.wire_name == name || spec.name.as_str() == name)
}

/// Returns which of `specs` the model means by `name`: exact wire name, exact `server.tool`, the only tool of
/// that bare name, a name other agents have for it, the only one it is a misspelling of. A prefix that
/// names a server is never ignored, even if that server has nothing to offer now: a call meant for one
/// server must not run on another.
pub(crate) fn resolve(name: &str, specs: &[ToolSpec], servers: &BTreeSet<String>) -> NameMatch {
    if let Some(index) = exact(name, specs) {
        return NameMatch::Exact(index);
    }
    let (server, bare) = split_server(name.trim(), &all_servers(specs, servers));
    let there = |spec: &ToolSpec| server.is_none_or(|server| spec.name.server() == server);
    let named = |spec: &ToolSpec, wanted: &str| spec.name.bare() == wanted && there(spec);
    if let Some(index) = only(specs, |spec| named(spec, bare)) {
        return NameMatch::Bare(index);
    }
    if specs.iter().any(|spec| named(spec, bare)) {
        return NameMatch::Nothing;
    }
    let local = |wanted: &str| specs.iter().position(|spec| spec.name.is_local() && named(spec, wanted));
    if let Some(index) = aliases(bare).find_map(local) {
        return NameMatch::Alias(index);
    }
    nearest(server, bare, specs).map_or(NameMatch::Nothing, NameMatch::Nearest)
}

/// Returns the server that `name` begins with, if it is one of `servers` and offers nothing.
pub(crate) fn unavailable<'a>(name: &str, specs: &'a [ToolSpec], servers: &'a BTreeSet<String>) -> Option<&'a str> {
    if exact(name, specs).is_some() {
        return None;
    }
    let (server, _) = split_server(name.trim(), &all_servers(specs, servers));
    server.filter(|server| specs.iter().all(|spec| spec.name.server() != *server))
}

/// Whether `name` is that of a tool of this server, whichever separator the model uses.
#[must_use]
pub fn is_of_server(name: &str, server: &str) -> bool {
    split_server(name.trim(), &BTreeSet::from([server])).0.is_some()
}

fn all_servers<'a>(specs: &'a [ToolSpec], servers: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    specs.iter().map(|spec| spec.name.server()).chain(servers.iter().map(String::as_str)).collect()
}

/// Splits a name into the server it begins with, if that is one of ours, and the tool's own name. Models
/// add other prefixes by habit.
fn split_server<'n, 's>(name: &'n str, servers: &BTreeSet<&'s str>) -> (Option<&'s str>, &'n str) {
    for separator in [".", "__", "/", ":"] {
        for (prefix, bare) in [name.split_once(separator), name.rsplit_once(separator)].into_iter().flatten() {
            let last = prefix.rsplit(['.', '/', ':']).next().and_then(|last| last.rsplit("__").next());
            if let Some(server) = known_server(prefix, servers).or_else(|| known_server(last?, servers)) {
                return (Some(server), bare);
            }
        }
    }
    let bare = [".", "__", "/", ":"].iter().find_map(|separator| Some(name.rsplit_once(separator)?.1));
    (None, bare.unwrap_or(name))
}

/// Returns the server that a prefix names: exactly, or ignoring case and word separators.
fn known_server<'s>(prefix: &str, servers: &BTreeSet<&'s str>) -> Option<&'s str> {
    if let Some(server) = servers.get(prefix) {
        return Some(server);
    }
    let wanted = folded(prefix);
    servers.iter().find(|server| !wanted.is_empty() && folded(server) == wanted).copied()
}

/// Returns the only spec that fits, if exactly one does.
pub(crate) fn only(specs: &[ToolSpec], fits: impl Fn(&ToolSpec) -> bool) -> Option<usize> {
    let mut found = specs.iter().enumerate().filter(|(_, spec)| fits(spec)).map(|(index, _)| index);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Returns the message for the model when no tool has that name: that its server is unavailable, or up to
/// three similar names.
pub(crate) fn unknown_tool_message(name: &str, specs: &[ToolSpec], servers: &BTreeSet<String>) -> String {
    let absent = unavailable(name, specs, servers);
    let name = shorten(name.trim(), 80);
    if specs.is_empty() {
        return format!("There is no tool `{name}`: no tools are offered here. Answer without one.");
    }
    if let Some(server) = absent {
        return format!(
            "There is no tool `{name}` now: the server `{server}` is not available. {}",
            list_offered(specs)
        );
    }
    let near = suggestions(&name, specs);
    if near.is_empty() {
        return format!("There is no tool `{name}`. {}", list_offered(specs));
    }
    format!("There is no tool `{name}`. Did you mean {}?", near.join(" or "))
}

/// Returns a sentence that lists the offered tools.
pub(crate) fn list_offered(specs: &[ToolSpec]) -> String {
    let all: Vec<_> = specs.iter().take(20).map(|spec| format!("`{}`", spec.wire_name)).collect();
    format!("Use one of the tools offered: {}.", all.join(", "))
}

fn suggestions(name: &str, specs: &[ToolSpec]) -> Vec<String> {
    let name = name.to_lowercase();
    let likeness = |spec: &ToolSpec| {
        let of = |other: &str| strsim::normalized_damerau_levenshtein(&name, &other.to_lowercase());
        of(&spec.wire_name).max(of(spec.name.bare())).max(strsim::jaro_winkler(&name, spec.name.bare()) - 0.25)
    };
    let mut near: Vec<_> = specs.iter().map(|spec| (likeness(spec), spec)).filter(|(score, _)| *score >= 0.5).collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    near.iter().take(3).map(|(_, spec)| format!("`{}`", spec.wire_name)).collect()
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{EffectClass, Json};

    use super::*;

    fn specs(names: &[&str]) -> Vec<ToolSpec> {
        let mut taken = BTreeSet::new();
        names
            .iter()
            .map(|name| {
                let name = ToolName::from(*name);
                let wire_name = wire_name(&name, &taken);
                taken.insert(wire_name.clone());
                ToolSpec {
                    name,
                    wire_name,
                    description: "".into(),
                    schema: Json::empty_object(),
                    effect: EffectClass::ReadOnly,
                    ending: None,
                    repeatable: false,
                    reads_files: false,
                    tags: BTreeSet::new(),
                }
            })
            .collect()
    }

    // proves T1
    #[test]
    fn a_wire_name_is_safe_short_and_unique() {
        let long = format!("server.{}", "x".repeat(100));
        let specs = specs(&["local.read_file", "git.log", "git_.log", "a b.é", "a?b.è", "git..log", &long]);
        let wires: Vec<_> = specs.iter().map(|spec| spec.wire_name.as_str()).collect();
        assert_eq!(wires[..4], ["read_file", "git__log", "git___log", "a_b___"]);
        assert!(wires[4].starts_with("a_b____") && wires[4].len() == 15, "{}", wires[4]);
        assert_eq!(wires[6].len(), 64);
        for wire in &wires {
            assert!(wire.len() <= 64 && wire.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{wire}");
        }
        assert_eq!(wires.iter().collect::<BTreeSet<_>>().len(), wires.len());
    }

    // proves T3
    #[test]
    fn a_name_resolves_exactly_then_without_its_prefix() {
        let specs = specs(&["git.log", "git.status", "hub.log", "local.read_file"]);
        for (name, want) in [
            ("read_file", NameMatch::Exact(3)),
            ("local.read_file", NameMatch::Exact(3)),
            ("git__log", NameMatch::Exact(0)),
            ("hub.log", NameMatch::Exact(2)),
            ("status", NameMatch::Bare(1)),
            ("functions.status", NameMatch::Bare(1)),
            ("hub.status", NameMatch::Nothing),
            ("mcp__git__status", NameMatch::Bare(1)),
            ("git/status", NameMatch::Bare(1)),
            ("log", NameMatch::Nothing),
            ("", NameMatch::Nothing),
        ] {
            assert_eq!(resolve(name, &specs, &BTreeSet::new()), want, "{name}");
        }
    }

    // proves T3: a call meant for one server does not run on another
    #[test]
    fn a_prefix_that_names_a_server_without_tools_is_not_ignored() {
        let offered = specs(&["env1.echo", "local.read_file", "local.run_command"]);
        let servers = ["env1", "my__prod", "prod", "pj-2"].map(str::to_owned).into();
        for name in [
            "prod__echo",
            "prod.echo",
            "prod/echo",
            "prod:echo",
            "mcp__prod__echo",
            "Prod.echo",
            "functions.prod__echo",
            "my__prod__echo",
            "pj_2__echo",
            "prod.read_file",
            "prod.bash",
            "prod.Echo",
        ] {
            assert_eq!(resolve(name, &offered, &servers), NameMatch::Nothing, "{name}");
            let told = unknown_tool_message(name, &offered, &servers);
            assert!(told.contains("` is not available") && told.contains("`env1__echo`"), "{name}: {told}");
        }
        assert!(unknown_tool_message("prod__echo", &offered, &servers).contains("the server `prod` is not available"));
        for (name, want) in [
            ("echo", NameMatch::Bare(0)),
            ("env1.echo", NameMatch::Exact(0)),
            ("ENV1.echo", NameMatch::Bare(0)),
            ("functions.echo", NameMatch::Bare(0)),
            ("other__echo", NameMatch::Bare(0)),
            ("functions.bash", NameMatch::Alias(2)),
        ] {
            assert_eq!(resolve(name, &offered, &servers), want, "{name}");
            assert_eq!(unavailable(name, &offered, &servers), None, "{name}");
        }
    }

    // proves T3
    #[test]
    fn a_name_of_other_agents_resolves_where_nothing_has_it_exactly() {
        let ours = ["local.edit_file", "local.list_directory", "local.read_file", "local.run_command", "git.log"];
        let offered = specs(&ours);
        for (name, want) in [
            ("bash", 3),
            ("Bash", 3),
            ("functions.shell", 3),
            ("execute_command", 3),
            ("cat", 2),
            ("view", 2),
            ("ls", 1),
            ("str_replace", 0),
            ("str_replace_editor", 0),
        ] {
            assert_eq!(resolve(name, &offered, &BTreeSet::new()), NameMatch::Alias(want), "{name}");
        }
        // An alias resolves neither to another server nor if the tool is absent.
        assert_eq!(resolve("git.bash", &offered, &BTreeSet::new()), NameMatch::Nothing);
        assert_eq!(resolve("grep", &offered, &BTreeSet::new()), NameMatch::Nothing);
        let with_bash = specs(&["local.run_command", "shells.bash"]);
        assert_eq!(resolve("bash", &with_bash, &BTreeSet::new()), NameMatch::Bare(1));
    }

    // proves T3
    #[test]
    fn a_misspelling_resolves_on_the_same_server_if_it_can_be_nothing_else() {
        let offered = specs(&[
            "git.create_branch",
            "git.delete_tag",
            "hub.list_issues",
            "hub.set_label",
            "hub.unlock_issue",
            "hub.step2",
            "local.read_file",
            "local.write_file",
        ]);
        for (name, want) in [
            ("read_fiel", NameMatch::Nearest(6)),
            ("readFile", NameMatch::Nearest(6)),
            ("Read-File", NameMatch::Nearest(6)),
            ("local.reed_file", NameMatch::Nearest(6)),
            ("write_files", NameMatch::Nearest(7)),
            ("git.craete_branch", NameMatch::Nearest(0)),
            ("hub__list_isues", NameMatch::Nearest(2)),
            ("listIssues", NameMatch::Nearest(2)),
            // A different word is not a misspelling.
            ("git.delete_branch", NameMatch::Nothing),
            ("git.create_tag", NameMatch::Nothing),
            ("hub.get_label", NameMatch::Nothing),
            ("hub.lock_issue", NameMatch::Nothing),
            ("hub.step1", NameMatch::Nothing),
            ("rename_file", NameMatch::Nothing),
            // Never on another server.
            ("git.list_isues", NameMatch::Nothing),
            ("list_isues", NameMatch::Nothing),
            ("x", NameMatch::Nothing),
        ] {
            assert_eq!(resolve(name, &offered, &BTreeSet::new()), want, "{name}");
        }
        let alike = specs(&["local.read_file1", "local.read_file2"]);
        assert_eq!(resolve("read_file", &alike, &BTreeSet::new()), NameMatch::Nothing);
    }

    // proves T1
    #[test]
    fn an_unknown_name_earns_at_most_three_suggestions() {
        let specs = specs(&["local.read_file", "local.write_file", "local.edit_file", "local.move_file", "local.todo"]);
        let text = unknown_tool_message("read_fil", &specs, &BTreeSet::new());
        assert!(text.contains("Did you mean `read_file`"), "{text}");
        assert!(text.matches('`').count() <= 8, "{text}");
        let text = unknown_tool_message("frobnicate", &specs, &BTreeSet::new());
        assert!(text.contains("`todo`"), "{text}");
        assert!(unknown_tool_message(&"x".repeat(1_000_000), &specs, &BTreeSet::new()).len() < 1_000);
    }
}
