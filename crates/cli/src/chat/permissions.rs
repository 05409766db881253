//! `/permissions`: the permission rules in force, with the origin of each, and the grants of this session.

use windlass_tools::Rule;
use windlass_vocab::{Envelope, Record};

use super::performing::sandbox;
use crate::output::harmless_line;
use crate::output::setting_words::origin_text;
use crate::settings::{Settings, Sourced};

/// The mode, the sandbox, the rules with their origins, and the grants of the session.
pub(crate) fn report(settings: &Settings, records: &[Envelope]) -> String {
    let permissions = &settings.permissions;
    let mut lines = vec![
        format!("mode     {} ({})", permissions.mode.value, origin_text(&permissions.mode.origin)),
        format!("sandbox  {} ({})", sandbox(settings.sandbox.mode.value), origin_text(&settings.sandbox.mode.origin)),
    ];
    for (word, rules) in [("deny", &permissions.deny), ("ask", &permissions.ask), ("allow", &permissions.allow)] {
        lines.extend(rules.iter().map(|rule| of_settings(word, rule)));
    }
    let grants = grants(records);
    lines.extend(grants.iter().map(|rule| format!("allow    {rule} (you, for this session)")));
    if grants.is_empty() {
        lines.push("nothing is allowed for this session alone".to_owned());
    } else {
        lines.push("what is allowed for a session holds as long as it: /new begins one without".to_owned());
    }
    lines.iter().map(|line| format!("  {}\n", harmless_line(line))).collect()
}

fn of_settings(word: &str, rule: &Sourced<Rule>) -> String {
    format!("{word:<7}  {} ({})", rule.value, origin_text(&rule.origin))
}

/// Returns the rules that the person granted for this session, without duplicates. Imported grants do not count (X6).
pub(crate) fn grants(records: &[Envelope]) -> Vec<String> {
    let mut grants: Vec<String> = Vec::new();
    for envelope in records {
        if let Record::QuestionAnswered(answered) = &envelope.record {
            let rule = answered.grant.as_ref().map(|grant| grant.rule.clone());
            grants.extend(rule.filter(|rule| !grants.contains(rule)));
        } else if let Record::SessionChanged(changed) = &envelope.record
            && changed.imported.is_some()
        {
            grants.clear();
        }
    }
    grants
}
