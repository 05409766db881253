//! Permissions (T8): deny before ask before allow, what a session was granted before what is
//! configured for all, and a mode for everything no rule speaks of.

use std::path::PathBuf;

use windlass_vocab::{EffectClass, Grant, ToolSpec, Verdict};

use crate::access::{Access, FileAccess};
use crate::address::Side;
use crate::path_pattern::Extent;
use crate::reach::Reach;
use crate::rule::Network;
use crate::ruling::Ruling;
use crate::shorten::shorten;
use crate::subject::{Clarity, Subject};
use crate::{Asks, Mode, Protected, Rule, path_pattern};

/// What may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// What happens where no rule speaks.
    pub mode: Mode,
    /// What may run unasked.
    pub allow: Vec<Rule>,
    /// What is asked about even if it is allowed.
    pub ask: Vec<Rule>,
    /// What never runs.
    pub deny: Vec<Rule>,
    /// Paths that ask before they are changed, whatever allows it.
    pub protected: Protected,
}

impl Permissions {
    /// May a call of this tool on this subject run?
    #[must_use]
    pub fn judge(&self, spec: &ToolSpec, subject: &Subject, asks: Asks, grants: &[Grant]) -> Ruling {
        if let Some(rule) = self.denying(spec, subject) {
            return Ruling::of_rules(Verdict::deny(denied(spec, rule)), &[rule]);
        }
        // Nobody has bypassed the sandbox by not being asked.
        if subject.reach == Reach::Outside {
            return Ruling::of_mode(Verdict::Ask, self.mode);
        }
        if let Some(rule) = self.doubting(spec, subject, grants) {
            return Ruling::of_rules(Verdict::Ask, &[rule]);
        }
        if self.mode == Mode::Bypass {
            return Ruling::of_mode(Verdict::Allow, self.mode);
        }
        // A grant that is no rule was not written by us and allows nothing.
        let grants: Vec<Rule> = grants.iter().filter_map(|grant| grant.rule.parse().ok()).collect();
        let grants = allowing(&grants, spec, subject);
        if let Some(path) = self.protected.changed_by(subject, &grants) {
            return Ruling::of_protected(path);
        }
        if asks == Asks::Anew {
            return Ruling::of_mode(Verdict::Ask, self.mode);
        }
        if let Some(covering) = covering(&grants, subject) {
            return Ruling::of_grants(&covering);
        }
        if let Some(rule) = self.ask.iter().find(|rule| touches_ungranted(rule, &grants, spec, subject)) {
            return Ruling::of_rules(Verdict::Ask, &[rule]);
        }
        let allow = allowing(&self.allow, spec, subject);
        let covering = covering(&allow, subject).or_else(|| covering(&[allow, grants].concat(), subject));
        if let Some(covering) = covering {
            return Ruling::of_rules(Verdict::Allow, &covering);
        }
        let verdict = match asks {
            Asks::ByEffect => self.unspoken(spec, subject.clarity),
            Asks::Always | Asks::Anew => Verdict::Ask,
        };
        Ruling::of_mode(verdict, self.mode)
    }

    /// The rule that would allow this call and calls like it, where no rule speaks of it. Of a command line whose parts are
    /// all allowed but one it is the rule about that part: `cargo test | tail` lacks `tail *`, where `cargo *` is allowed.
    pub(crate) fn missing_rule(&self, spec: &ToolSpec, subject: &Subject, grants: &[Grant]) -> String {
        let grants: Vec<Rule> = grants.iter().filter_map(|grant| grant.rule.parse().ok()).collect();
        let rules = [allowing(&self.allow, spec, subject), allowing(&grants, spec, subject)].concat();
        let mut open = subject.parts.iter().filter(|part| !rules.iter().any(|rule| subject.is_covered(part, rule)));
        match (open.next(), open.next(), &subject.parts[..], subject.clarity) {
            (Some(part), None, [_, _, ..], Clarity::Clear) if subject.files.is_none() => {
                allowing_rule(spec, &Subject::command(part).reaching(subject.reach))
            }
            _ => allowing_rule(spec, subject),
        }
    }

    /// Whether text from outside could do harm where this call would put it: on a protected path, or on the network.
    pub(crate) fn fears_outside_text(&self, subject: &Subject) -> bool {
        let reaches_out = match subject.reach {
            Reach::Network | Reach::Outside | Reach::Unheld => true,
            Reach::Inside => subject.address.is_some(),
        };
        self.mode != Mode::Bypass && (reaches_out || self.protected.changed_by(subject, &[]).is_some())
    }

    /// The rule that forbids this access to a path, which is relative to the workspace, whoever agrees to it; for
    /// those who open files without a call of a file tool, such as a sandbox. A rule with a whole path counts where
    /// `roots` says where the workspace is.
    #[must_use]
    pub fn denying_access(&self, access: Access, path: &str, roots: &[PathBuf]) -> Option<&Rule> {
        let access = FileAccess::new(access, path, Extent::Itself);
        self.deny.iter().find(|rule| rule.forbids(&access, roots))
    }

    /// Why it may not run whoever agrees to it, if a rule says so.
    pub(crate) fn forbidden(&self, spec: &ToolSpec, subject: &Subject) -> Option<String> {
        self.denying(spec, subject).map(|rule| denied(spec, rule))
    }

    fn denying(&self, spec: &ToolSpec, subject: &Subject) -> Option<&Rule> {
        self.deny.iter().find(|rule| touches(rule, spec, subject))
    }

    /// The rule that would deny it, or ask about it, if the patterns in it stand for what the rule names. It is asked
    /// about in every mode that the rule counts in, unless this very line was allowed.
    fn doubting(&self, spec: &ToolSpec, subject: &Subject, grants: &[Grant]) -> Option<&Rule> {
        if subject.doubts.is_empty() {
            return None;
        }
        let asking = if self.mode == Mode::Bypass { &[][..] } else { &self.ask };
        let may_mean =
            |rule: &&Rule| rule.concerns(&spec.name) && subject.doubts.iter().any(|doubt| rule.may_cover(doubt));
        let doubting = self.deny.iter().chain(asking).find(may_mean)?;
        let is_exact = |rule: &Rule| rule.means(&spec.name) && rule.is_exactly(&subject.whole);
        let granted = || grants.iter().filter_map(|grant| grant.rule.parse().ok()).any(|rule: Rule| is_exact(&rule));
        (!self.allow.iter().any(is_exact) && !granted()).then_some(doubting)
    }

    /// Whether a rule asks about it, whatever else allows it.
    pub(crate) fn asks_about(&self, spec: &ToolSpec, subject: &Subject) -> bool {
        self.ask.iter().any(|rule| touches(rule, spec, subject))
    }

    /// The verdict where no rule speaks.
    fn unspoken(&self, spec: &ToolSpec, clarity: Clarity) -> Verdict {
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

/// The rule that would allow this call and no other.
pub(crate) fn exact_rule(spec: &ToolSpec, subject: &Subject) -> String {
    format!("{}({})", spec.name.familiar(), path_pattern::escape(&subject.whole))
}

/// The rule that would allow this call and calls like it.
pub(crate) fn allowing_rule(spec: &ToolSpec, subject: &Subject) -> String {
    let name = spec.name.familiar();
    let rule = match &subject.general {
        Some(pattern) => format!("{name}({pattern})"),
        None => name.to_owned(),
    };
    match subject.reach {
        Reach::Network => format!("network({rule})"),
        Reach::Inside | Reach::Outside | Reach::Unheld => rule,
    }
}

/// Those of `rules` that allow calls like this one: for a command with the network, those that say so of its
/// calls; where the network is allowed as such, whatever allows the command.
fn allowing<'r>(rules: &'r [Rule], spec: &ToolSpec, subject: &Subject) -> Vec<&'r Rule> {
    let plain = rules.iter().filter(|rule| rule.means(&spec.name));
    if subject.reach != Reach::Network {
        return plain.collect();
    }
    let calls = rules.iter().filter_map(|rule| match rule.network()? {
        Network::CallsOf(calls) => calls.means(&spec.name).then_some(calls.as_ref()),
        Network::Everything | Network::Address(_) => None,
    });
    let everywhere = rules.iter().any(|rule| matches!(rule.network(), Some(Network::Everything)));
    calls.chain(plain.filter(|_| everywhere)).collect()
}

/// Whether a rule about the network forbids this command or asks about it; nothing where it is not one, or the
/// sandbox keeps the command from the network anyway.
fn touches_network(rule: &Rule, spec: &ToolSpec, subject: &Subject) -> Option<bool> {
    match (subject.reach, rule.network()?) {
        (Reach::Inside, _) => None,
        (Reach::Network | Reach::Outside | Reach::Unheld, Network::CallsOf(calls)) => {
            Some(touches(calls, spec, subject))
        }
        (Reach::Network | Reach::Outside | Reach::Unheld, Network::Everything) => Some(true),
        (Reach::Network | Reach::Outside | Reach::Unheld, Network::Address(_)) => None,
    }
}

fn denied(spec: &ToolSpec, rule: &Rule) -> String {
    format!(
        "`{}` was not run: the rule `{}` forbids it. Do without it; only a person can take that rule away.",
        spec.name.bare(),
        shorten(&rule.to_string(), 200)
    )
}

/// The rules that allow the subject together: one that covers the whole whatever it is, or one for every
/// part. Nothing where something of it is not covered.
fn covering<'r>(rules: &[&'r Rule], subject: &Subject) -> Option<Vec<&'r Rule>> {
    let first = |covers: &dyn Fn(&Rule) -> bool| rules.iter().copied().find(|rule| covers(rule));
    if let Some(address) = &subject.address {
        return first(&|rule| rule.covers_address(address, Side::Allow)).map(|rule| vec![rule]);
    }
    if let Some(whole) = first(&|rule| rule.covers_whole(&subject.whole)) {
        return Some(vec![whole]);
    }
    if let Some(files) = &subject.files {
        return files.covering(rules);
    }
    if subject.clarity == Clarity::Opaque {
        return None;
    }
    let mut covering: Vec<&Rule> = Vec::new();
    for part in &subject.parts {
        let rule = first(&|rule| subject.is_covered(part, rule))?;
        if !covering.contains(&rule) {
            covering.push(rule);
        }
    }
    Some(covering)
}

fn touches(rule: &Rule, spec: &ToolSpec, subject: &Subject) -> bool {
    if let Some(touched) = touches_network(rule, spec, subject) {
        return touched;
    }
    if let Some(address) = &subject.address {
        return rule.concerns(&spec.name) && rule.covers_address(address, Side::Forbid);
    }
    if let Some(files) = &subject.files {
        return files.touched_by(rule);
    }
    let mut texts = subject.parts.iter().chain(&subject.suspects).chain(std::iter::once(&subject.whole));
    rule.concerns(&spec.name) && texts.any(|text| rule.covers(text))
}

/// As [`touches`], leaving out the parts a person has already agreed to in this session.
fn touches_ungranted(rule: &Rule, grants: &[&Rule], spec: &ToolSpec, subject: &Subject) -> bool {
    if let Some(touched) = touches_network(rule, spec, subject) {
        return touched && covering(grants, subject).is_none();
    }
    if subject.address.is_some() {
        return covering(grants, subject).is_none() && touches(rule, spec, subject);
    }
    if let Some(files) = &subject.files {
        return files.touched_beyond(rule, grants);
    }
    let open = |text: &&String| !grants.iter().any(|grant| grant.covers(text));
    let touched = |text: &String| rule.covers(text);
    let mut texts = subject.parts.iter().chain(&subject.suspects).filter(open);
    rule.concerns(&spec.name) && (texts.any(touched) || subject.clarity == Clarity::Opaque && touched(&subject.whole))
}

#[cfg(test)]
pub(crate) mod tests;
