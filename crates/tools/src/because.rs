//! What decided a verdict (T11): the way `judge` went, told afterwards for whoever looks at it later.

use windlass_vocab::{Because, Grant, ToolSpec, Verdict};

use crate::permission::{allows, touches, touches_ungranted};
use crate::subject::Subject;
use crate::{Mode, Permissions, Rule};

impl Mode {
    /// As people type it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Strict => "strict",
            Self::Bypass => "bypass",
        }
    }
}

impl Permissions {
    /// What decided this verdict on a call; nothing where nobody had to decide.
    pub(crate) fn because(
        &self,
        spec: &ToolSpec,
        subject: &Subject,
        grants: &[Grant],
        verdict: &Verdict,
    ) -> Option<Because> {
        let mode = || Because::Mode { mode: self.mode.as_str().to_owned() };
        let grants: Vec<Rule> = grants.iter().filter_map(|grant| grant.rule.parse().ok()).collect();
        let grants: Vec<&Rule> = grants.iter().filter(|rule| rule.means(&spec.name)).collect();
        let rule = |rule: &Rule| Because::Rule { rule: rule.to_string() };
        Some(match verdict {
            Verdict::Invalid { .. } | Verdict::Unknown { .. } => return None,
            Verdict::Deny { .. } => self.deny.iter().find(|rule| touches(rule, spec, subject)).map_or_else(mode, rule),
            Verdict::Ask => {
                let asks = |rule: &&Rule| touches_ungranted(rule, &grants, spec, subject);
                self.ask.iter().find(asks).map_or_else(mode, rule)
            }
            Verdict::Allow if self.mode == Mode::Bypass => mode(),
            Verdict::Allow if allows(&grants, subject) => Because::Grant { rule: covering(&grants, subject) },
            Verdict::Allow => {
                let mut rules: Vec<&Rule> = self.allow.iter().filter(|rule| rule.means(&spec.name)).collect();
                if !allows(&rules, subject) {
                    rules.extend(grants);
                }
                if allows(&rules, subject) { Because::Rule { rule: covering(&rules, subject) } } else { mode() }
            }
        })
    }
}

/// The rules that cover the subject together, as they are written.
fn covering(rules: &[&Rule], subject: &Subject) -> String {
    if let Some(whole) = rules.iter().find(|rule| rule.covers_whole(&subject.whole)) {
        return whole.to_string();
    }
    let mut texts: Vec<String> = Vec::new();
    for part in &subject.parts {
        let rule = rules.iter().find(|rule| rule.covers(part)).map(ToString::to_string);
        texts.extend(rule.filter(|rule| !texts.contains(rule)));
    }
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{Because, EffectClass, Grant};

    use crate::permission::tests::{permissions, spec};
    use crate::{Asks, Mode, Permissions, Subject};

    fn because(permissions: &Permissions, line: &str, grants: &[&str]) -> Option<Because> {
        let grants: Vec<Grant> = grants.iter().map(|rule| Grant { rule: (*rule).into() }).collect();
        let (spec, subject) = (spec("local.run_command", EffectClass::Once), Subject::command(line));
        permissions.because(&spec, &subject, &grants, &permissions.judge(&spec, &subject, Asks::ByEffect, &grants))
    }

    // proves T11
    #[test]
    fn a_verdict_names_the_rule_the_grant_or_the_mode_that_made_it() {
        let rule = |rule: &str| Some(Because::Rule { rule: rule.into() });
        let mode = |mode: &str| Some(Because::Mode { mode: mode.into() });
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
        let granted = Some(Because::Grant { rule: "run_command(ls *)".into() });
        assert_eq!(because(&all, "ls -l", &["run_command(ls *)"]), granted);
        let bypass = permissions(Mode::Bypass, &[], &[], &["run_command(rm *)"]);
        assert_eq!(because(&bypass, "ls", &[]), mode("bypass"));
        assert_eq!(because(&bypass, "rm x", &[]), rule("run_command(rm *)"));
    }
}
