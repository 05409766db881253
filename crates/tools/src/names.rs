//! Names: `server.tool` for people, a wire-safe form for models, and what a model probably meant (T1, T3).

use std::collections::BTreeSet;

use windlass_vocab::{ToolName, ToolSpec};

use crate::tool::shorten;

const LONGEST: usize = 64;

/// The name a model sees, made of `[a-zA-Z0-9_-]`, at most 64 characters and not in `taken`: the
/// bare name of a `local` tool, `server__tool` of any other. What had to be shortened or is taken
/// already ends in a hash of the full name.
#[must_use]
pub fn wire_name(name: &ToolName, taken: &BTreeSet<String>) -> String {
    let plain = match name.server() {
        "local" => name.bare().to_owned(),
        server => format!("{server}__{}", name.bare()),
    };
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

/// FNV-1a: the same on every machine and in every version.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// How a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// As it stands, at this index.
    Exact(usize),
    /// Without its prefix, at this index.
    Bare(usize),
    /// Not at all.
    Nothing,
}

/// Which of `specs` the model means by `name`: exact wire name, exact `server.tool`, then the only
/// tool of that bare name. A prefix that names a server of ours is never ignored.
pub(crate) fn resolve(name: &str, specs: &[ToolSpec]) -> Resolved {
    let name = name.trim();
    let exact = |spec: &ToolSpec| spec.wire_name == name || spec.name.as_str() == name;
    if let Some(index) = specs.iter().position(exact) {
        return Resolved::Exact(index);
    }
    let bare = match name.rsplit_once('.') {
        Some((prefix, _)) if specs.iter().any(|spec| spec.name.server() == prefix) => name,
        Some((_, bare)) => bare,
        None => name,
    };
    let mut found = specs.iter().enumerate().filter(|(_, spec)| spec.name.bare() == bare).map(|(index, _)| index);
    match (found.next(), found.next()) {
        (Some(index), None) => Resolved::Bare(index),
        (Some(_), Some(_)) | (None, _) => Resolved::Nothing,
    }
}

/// What the model is told when nothing has that name: up to three that are near it.
pub(crate) fn unknown(name: &str, specs: &[ToolSpec]) -> String {
    let name = shorten(name.trim(), 80);
    if specs.is_empty() {
        return format!("There is no tool `{name}`: no tools are offered here. Answer without one.");
    }
    let near = suggestions(&name, specs);
    if near.is_empty() {
        return format!("There is no tool `{name}`. {}", offered(specs));
    }
    format!("There is no tool `{name}`. Did you mean {}?", near.join(" or "))
}

/// Which tools there are.
pub(crate) fn offered(specs: &[ToolSpec]) -> String {
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
                    description: String::new(),
                    schema: Json::empty_object(),
                    effect: EffectClass::ReadOnly,
                    ending: None,
                    repeatable: false,
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
            ("read_file", Resolved::Exact(3)),
            ("local.read_file", Resolved::Exact(3)),
            ("git__log", Resolved::Exact(0)),
            ("hub.log", Resolved::Exact(2)),
            ("status", Resolved::Bare(1)),
            ("functions.status", Resolved::Bare(1)),
            ("hub.status", Resolved::Nothing),
            ("log", Resolved::Nothing),
            ("", Resolved::Nothing),
        ] {
            assert_eq!(resolve(name, &specs), want, "{name}");
        }
    }

    // proves T1
    #[test]
    fn an_unknown_name_earns_at_most_three_suggestions() {
        let specs = specs(&["local.read_file", "local.write_file", "local.edit_file", "local.move_file", "local.todo"]);
        let text = unknown("read_fil", &specs);
        assert!(text.contains("Did you mean `read_file`"), "{text}");
        assert!(text.matches('`').count() <= 8, "{text}");
        let text = unknown("frobnicate", &specs);
        assert!(text.contains("`todo`"), "{text}");
        assert!(unknown(&"x".repeat(1_000_000), &specs).len() < 1_000);
    }
}
