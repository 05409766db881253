//! A ruling: whether a call may run, and what decided that (T11). One check returns both, so that they can't
//! contradict each other.

use windlass_vocab::{Verdict, VerdictReason};

use crate::protected::ProtectedPath;
use crate::{Mode, Rule};

/// Whether a call may run, and what decided that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Whether it may run.
    pub verdict: Verdict,
    /// The rule, grant, protected path or mode that decided it.
    pub because: VerdictReason,
}

impl Ruling {
    /// These rules decided it together.
    pub(crate) fn of_rules(verdict: Verdict, rules: &[&Rule]) -> Self {
        Self { verdict, because: VerdictReason::Rule { rule: listed(rules) } }
    }

    /// A person has allowed the call in this session, by these rules.
    pub(crate) fn of_grants(grants: &[&Rule]) -> Self {
        Self { verdict: Verdict::Allow, because: VerdictReason::Grant { rule: listed(grants) } }
    }

    /// The call changes a protected path.
    pub(crate) fn of_protected(ProtectedPath { path, pattern }: ProtectedPath) -> Self {
        Self { verdict: Verdict::Ask, because: VerdictReason::Protected { path, pattern } }
    }

    /// No rule matches the call; the mode decided.
    pub(crate) fn of_mode(verdict: Verdict, mode: Mode) -> Self {
        Self { verdict, because: VerdictReason::Mode { mode: mode.as_str().to_owned() } }
    }
}

fn listed(rules: &[&Rule]) -> String {
    rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{EffectClass, Grant};

    use super::*;
    use crate::permission::tests::{permissions, spec};
    use crate::{About, AskPolicy, Permissions};

    // proves T11
    #[test]
    fn a_verdict_names_the_rule_the_grant_or_the_mode_that_made_it() {
        let because = |permissions: &Permissions, line: &str, grants: &[&str]| {
            let grants: Vec<Grant> = grants.iter().map(|rule| Grant { rule: (*rule).into() }).collect();
            let run = spec("local.run_command", EffectClass::Once);
            permissions.check(&run, &About::command(line), AskPolicy::ByEffect, &grants).because
        };
        let rule = |rule: &str| VerdictReason::Rule { rule: rule.into() };
        let mode = |mode: &str| VerdictReason::Mode { mode: mode.into() };
        let all = permissions(
            Mode::Default,
            &["run_command(git *)", "run_command(cargo *)"],
            &["run_command(git push *)"],
            &["run_command(rm *)"],
        );
        assert_eq!(because(&all, "git status", &[]), rule("run_command(git *)"));
        assert_eq!(because(&all, "git status && cargo test", &[]), rule("run_command(git *), run_command(cargo *)"));
        assert_eq!(because(&all, "git push", &[]), rule("run_command(git push *)"));
        assert_eq!(because(&all, "rm x", &[]), rule("run_command(rm *)"));
        assert_eq!(because(&all, "ls", &[]), mode("default"));
        let granted = VerdictReason::Grant { rule: "run_command(ls *)".into() };
        assert_eq!(because(&all, "ls -l", &["run_command(ls *)"]), granted);
        assert_eq!(because(&all, "git log; ls", &["run_command(ls *)"]), rule("run_command(git *), run_command(ls *)"));
        let bypass = permissions(Mode::Bypass, &[], &[], &["run_command(rm *)"]);
        assert_eq!(because(&bypass, "ls", &[]), mode("bypass"));
        assert_eq!(because(&bypass, "rm x", &[]), rule("run_command(rm *)"));
    }

    // proves T11: an allow rule for an address is matched part by part, and the ruling names it
    #[test]
    fn an_address_that_is_allowed_names_its_rule() {
        let fetch = spec("local.fetch_url", EffectClass::ReadOnly);
        let about = About::address(&crate::address::Address::parse("https://docs.rs/serde").unwrap());
        let allowing = permissions(Mode::Default, &["fetch_url(pages.example)", "fetch_url(docs.rs)"], &[], &[]);
        let ruling = allowing.check(&fetch, &about, AskPolicy::Always, &[]);
        let because = VerdictReason::Rule { rule: "fetch_url(docs.rs)".into() };
        assert_eq!(ruling, Ruling { verdict: Verdict::Allow, because });
    }
}
