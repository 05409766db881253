//! Permissions (T8): deny before ask before allow, grants of the session before the configuration
//! for all sessions, and a mode for every call that no rule matches.

use std::path::PathBuf;

use windlass_vocab::{EffectClass, Grant, ToolSpec, Verdict};

use crate::about::{About, Clarity};
use crate::access::{AccessKind, FILE_TOOLS, FileAccess};
use crate::address::RuleSide;
use crate::path_pattern::PathExtent;
use crate::rule::NetworkTarget;
use crate::ruling::Ruling;
use crate::sandbox_use::SandboxUse;
use crate::shorten::shorten;
use crate::{AskPolicy, Mode, Protected, Rule, path_pattern};

/// The rules that say what may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The verdict on calls that no rule matches.
    pub mode: Mode,
    /// Calls that may run without asking.
    pub allow: Vec<Rule>,
    /// Calls that are asked about even if they are allowed.
    pub ask: Vec<Rule>,
    /// Calls that never run.
    pub deny: Vec<Rule>,
    /// Paths that need approval before they are changed, even if a rule allows it.
    pub protected: Protected,
}

impl Permissions {
    /// Checks whether a call of this tool on this subject may run.
    #[must_use]
    pub fn check(&self, spec: &ToolSpec, about: &About, asks: AskPolicy, grants: &[Grant]) -> Ruling {
        if let Some(rule) = self.denying(spec, about) {
            return Ruling::of_rules(Verdict::deny(denied_message(spec, rule)), &[rule]);
        }
        // Leaving the sandbox always needs approval, in every mode.
        if about.sandbox_use == SandboxUse::Outside {
            return Ruling::of_mode(Verdict::Ask, self.mode);
        }
        if let Some(rule) = self.rule_in_doubt(spec, about, grants) {
            return Ruling::of_rules(Verdict::Ask, &[rule]);
        }
        if self.mode == Mode::Bypass {
            return Ruling::of_mode(Verdict::Allow, self.mode);
        }
        // A grant that does not parse was not written by us and allows nothing.
        let grants: Vec<Rule> = grants.iter().filter_map(|grant| grant.rule.parse().ok()).collect();
        let grants = allowing(&grants, spec, about);
        if let Some(path) = self.protected.changed_by(about, &grants) {
            return Ruling::of_protected(path);
        }
        if asks == AskPolicy::Anew {
            return Ruling::of_mode(Verdict::Ask, self.mode);
        }
        if let Some(covering) = covering(&grants, about) {
            return Ruling::of_grants(&covering);
        }
        if let Some(rule) = self.ask.iter().find(|rule| rule_touches_ungranted(rule, &grants, spec, about)) {
            return Ruling::of_rules(Verdict::Ask, &[rule]);
        }
        let allow = allowing(&self.allow, spec, about);
        let covering = covering(&allow, about).or_else(|| covering(&[allow, grants].concat(), about));
        if let Some(covering) = covering {
            return Ruling::of_rules(Verdict::Allow, &covering);
        }
        let verdict = match asks {
            AskPolicy::ByEffect => self.verdict_by_mode(spec, about.clarity),
            AskPolicy::Always | AskPolicy::Anew => Verdict::Ask,
        };
        Ruling::of_mode(verdict, self.mode)
    }

    /// Returns the rule that would allow this call and similar ones, if no rule matches it. For a command line with
    /// exactly one part that is not allowed, it is the rule for that part: `tail *` for `cargo test | tail` if `cargo
    /// *` is allowed.
    pub(crate) fn missing_rule(&self, spec: &ToolSpec, about: &About, grants: &[Grant]) -> String {
        let grants: Vec<Rule> = grants.iter().filter_map(|grant| grant.rule.parse().ok()).collect();
        let rules = [allowing(&self.allow, spec, about), allowing(&grants, spec, about)].concat();
        let mut open = about.parts.iter().filter(|part| !rules.iter().any(|rule| about.is_covered(part, rule)));
        match (open.next(), open.next(), &about.parts[..], about.clarity) {
            (Some(part), None, [_, _, ..], Clarity::Clear) if about.files.is_none() => {
                allowing_rule(spec, &About::command(part).with_sandbox_use(about.sandbox_use))
            }
            _ => allowing_rule(spec, about),
        }
    }

    /// Whether text from outside could do harm where this call would put it: on a protected path, or on the network.
    pub(crate) fn fears_outside_text(&self, about: &About) -> bool {
        let reaches_out = match about.sandbox_use {
            SandboxUse::WithNetwork | SandboxUse::Outside | SandboxUse::NoSandbox => true,
            SandboxUse::Confined => about.address.is_some(),
        };
        self.mode != Mode::Bypass && (reaches_out || self.protected.changed_by(about, &[]).is_some())
    }

    /// Returns the rule that forbids this access to a path, relative to the workspace, even if a person approves it;
    /// for code that opens files without a call of a file tool, such as a sandbox. A rule with an absolute path applies
    /// only if `roots` names the workspace's location.
    #[must_use]
    pub fn denying_access(&self, access: AccessKind, path: &str, roots: &[PathBuf]) -> Option<&Rule> {
        let access = FileAccess::new(access, path, PathExtent::Itself);
        self.deny.iter().find(|rule| rule.forbids(&access, roots))
    }

    /// Returns why the call must not run even if a person approves it, if a rule forbids it.
    pub(crate) fn forbidden(&self, spec: &ToolSpec, about: &About) -> Option<String> {
        self.denying(spec, about).map(|rule| denied_message(spec, rule))
    }

    fn denying(&self, spec: &ToolSpec, about: &About) -> Option<&Rule> {
        self.deny.iter().find(|rule| rule_touches(rule, spec, about))
    }

    /// Returns the rule that would deny the call, or ask about it, if the shell patterns in its command expand to what
    /// the rule names. The call is asked about in every mode that the rule applies in, unless this exact line was
    /// allowed.
    fn rule_in_doubt(&self, spec: &ToolSpec, about: &About, grants: &[Grant]) -> Option<&Rule> {
        if about.uncertain.is_empty() {
            return None;
        }
        let asking = if self.mode == Mode::Bypass { &[][..] } else { &self.ask };
        let may_mean = |rule: &&Rule| {
            rule.concerns(&spec.name)
                && about.uncertain.iter().any(|uncertain_command| rule.may_cover(uncertain_command))
        };
        let rule_in_doubt = self.deny.iter().chain(asking).find(may_mean)?;
        let is_exact = |rule: &Rule| rule.means(&spec.name) && rule.is_exactly(&about.whole);
        let granted = || grants.iter().filter_map(|grant| grant.rule.parse().ok()).any(|rule: Rule| is_exact(&rule));
        (!self.allow.iter().any(is_exact) && !granted()).then_some(rule_in_doubt)
    }

    /// Whether a rule asks about the call, even if another allows it.
    pub(crate) fn asks_about(&self, spec: &ToolSpec, about: &About) -> bool {
        self.ask.iter().any(|rule| rule_touches(rule, spec, about))
    }

    /// Returns the verdict if no rule matches.
    fn verdict_by_mode(&self, spec: &ToolSpec, clarity: Clarity) -> Verdict {
        match (self.mode, spec.effect, clarity) {
            (Mode::Bypass, _, _) | (_, EffectClass::ReadOnly, Clarity::Clear) => Verdict::Allow,
            (Mode::Default, EffectClass::Idempotent | EffectClass::Verifiable, Clarity::Clear)
                if spec.name.is_local() =>
            {
                Verdict::Allow
            }
            (Mode::Default | Mode::Strict, _, _) => Verdict::Ask,
        }
    }
}

/// Returns the rule that would allow this call and no other.
pub(crate) fn exact_rule(spec: &ToolSpec, about: &About) -> String {
    format!("{}({})", spec.name.display_name(), path_pattern::escape(&about.whole))
}

/// Returns the rule that would allow this call and similar ones.
pub(crate) fn allowing_rule(spec: &ToolSpec, about: &About) -> String {
    let name = spec.name.display_name();
    let rule = match &about.general {
        Some(pattern) => format!("{name}({pattern})"),
        None => name.to_owned(),
    };
    match about.sandbox_use {
        SandboxUse::WithNetwork => format!("network({rule})"),
        SandboxUse::Confined | SandboxUse::Outside | SandboxUse::NoSandbox => rule,
    }
}

/// Returns those of `rules` that allow calls like this one. For a command with network access these are the
/// `network(…)` rules for its calls; if the network itself is allowed, all rules that allow the command.
fn allowing<'r>(rules: &'r [Rule], spec: &ToolSpec, about: &About) -> Vec<&'r Rule> {
    let plain = rules.iter().filter(|rule| rule.means(&spec.name));
    if about.sandbox_use != SandboxUse::WithNetwork {
        return plain.collect();
    }
    let calls = rules.iter().filter_map(|rule| match rule.network()? {
        NetworkTarget::CallsOf(calls) => calls.means(&spec.name).then_some(calls.as_ref()),
        NetworkTarget::Everything | NetworkTarget::Address(_) => None,
    });
    let everywhere = rules.iter().any(|rule| matches!(rule.network(), Some(NetworkTarget::Everything)));
    calls.chain(plain.filter(|_| everywhere)).collect()
}

/// Whether a rule about the network forbids this command or asks about it; `None` if the rule is not about the network,
/// or the sandbox keeps the command from the network anyway.
fn rule_touches_network(rule: &Rule, spec: &ToolSpec, about: &About) -> Option<bool> {
    match (about.sandbox_use, rule.network()?) {
        (SandboxUse::Confined, _) => None,
        (SandboxUse::WithNetwork | SandboxUse::Outside | SandboxUse::NoSandbox, NetworkTarget::CallsOf(calls)) => {
            Some(rule_touches(calls, spec, about))
        }
        (SandboxUse::WithNetwork | SandboxUse::Outside | SandboxUse::NoSandbox, NetworkTarget::Everything) => {
            Some(true)
        }
        (SandboxUse::WithNetwork | SandboxUse::Outside | SandboxUse::NoSandbox, NetworkTarget::Address(_)) => None,
    }
}

fn denied_message(spec: &ToolSpec, rule: &Rule) -> String {
    format!(
        "`{}` was not run: the rule `{}` forbids it. Do without it, and say in your answer what was left out.",
        spec.name.bare(),
        shorten(&rule.to_string(), 200)
    )
}

/// Returns the rules that together allow the subject: one that covers all of it, or one for every
/// part. `None` if a part is not covered.
fn covering<'r>(rules: &[&'r Rule], about: &About) -> Option<Vec<&'r Rule>> {
    let first = |covers: &dyn Fn(&Rule) -> bool| rules.iter().copied().find(|rule| covers(rule));
    if let Some(address) = &about.address {
        return first(&|rule| rule.covers_address(address, RuleSide::Allow)).map(|rule| vec![rule]);
    }
    if let Some(whole) = first(&|rule| rule.covers_whole(&about.whole)) {
        return Some(vec![whole]);
    }
    if let Some(files) = &about.files {
        return files.covering(rules);
    }
    if about.clarity == Clarity::Opaque {
        return None;
    }
    let mut covering: Vec<&Rule> = Vec::new();
    for part in &about.parts {
        let rule = first(&|rule| about.is_covered(part, rule))?;
        if !covering.contains(&rule) {
            covering.push(rule);
        }
    }
    Some(covering)
}

fn rule_touches(rule: &Rule, spec: &ToolSpec, about: &About) -> bool {
    if let Some(touched) = rule_touches_network(rule, spec, about) {
        return touched;
    }
    if let Some(address) = &about.address {
        return rule.concerns(&spec.name) && rule.covers_address(address, RuleSide::Forbid);
    }
    if let Some(files) = &about.files {
        return files.touched_by(rule) || rule_names_reader(rule, spec, about);
    }
    let mut texts = about.parts.iter().chain(&about.suspects).chain(std::iter::once(&about.whole));
    rule.concerns(&spec.name) && texts.any(|text| rule.covers(text))
}

/// Whether a rule names a tool whose name stands for no access to files, although its calls read some: such a rule is
/// about the calls of this tool alone.
fn rule_names_reader(rule: &Rule, spec: &ToolSpec, about: &About) -> bool {
    let stands_for_access = FILE_TOOLS.iter().any(|(name, _)| spec.name.is_local() && spec.name.bare() == *name);
    !stands_for_access && rule.concerns(&spec.name) && about.parts.iter().any(|part| rule.covers(part))
}

/// Like [`rule_touches`], without the parts that a person has already approved in this session.
fn rule_touches_ungranted(rule: &Rule, grants: &[&Rule], spec: &ToolSpec, about: &About) -> bool {
    if let Some(touched) = rule_touches_network(rule, spec, about) {
        return touched && covering(grants, about).is_none();
    }
    if about.address.is_some() {
        return covering(grants, about).is_none() && rule_touches(rule, spec, about);
    }
    if let Some(files) = &about.files {
        let is_granted = || covering(grants, about).is_some();
        return files.touched_beyond(rule, grants) || rule_names_reader(rule, spec, about) && !is_granted();
    }
    let open = |text: &&String| !grants.iter().any(|grant| grant.covers(text));
    let touched = |text: &String| rule.covers(text);
    let mut texts = about.parts.iter().chain(&about.suspects).filter(open);
    rule.concerns(&spec.name) && (texts.any(touched) || about.clarity == Clarity::Opaque && touched(&about.whole))
}

#[cfg(test)]
pub(crate) mod tests;
