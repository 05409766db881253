//! `windlass audit`: every call the model asked for, whether it was allowed and by what, and how it came
//! out (T11). A fold of the journals, and the lines kept of sessions that were removed; newest last.

use std::path::{Path, PathBuf};

use windlass::store::{Store, kept_audit, projections::audit};
use windlass_vocab::{AnsweredBy, At, AuditAnswer, AuditEntry, AuditVerdict, Because, OutcomeKind, QuestionOption};

use super::streams::print;
use super::{CommandError, Done, agent, block_on, job, session};
use crate::args::{AuditArgs, Since};
use crate::exit::Exit;
use crate::output::wording::{outcome, took};
use crate::output::{harmless_line, short_line};
use crate::settings::{Env, Flags};

pub(super) fn run(data_dir: Option<PathBuf>, args: &AuditArgs, env: Env) -> Done {
    let place = job::place(Flags { data_dir, ..Flags::default() }, env)?;
    block_on(async {
        let store = agent::open_store(&place)?;
        let entries = gathered(store.as_ref(), &place.data_dir.value, args.session.as_deref()).await?;
        let now = crate::crash::clock().now();
        let wanted: Vec<AuditEntry> = entries.into_iter().filter(|entry| is_wanted(entry, args, now)).collect();
        if args.json {
            for entry in &wanted {
                let line =
                    serde_json::to_string(entry).map_err(|error| CommandError::new(Exit::Failed, error.to_string()))?;
                print(&format!("{line}\n"))?;
            }
        } else {
            print(&table(&wanted))?;
        }
        Ok(Exit::Done)
    })
}

/// The calls of all sessions that are there, and of those that were.
async fn gathered(store: &dyn Store, data: &Path, key: Option<&str>) -> Result<Vec<AuditEntry>, CommandError> {
    let mut entries = Vec::new();
    for row in store.sessions(session::OWNER).await? {
        // Lines of the others are not shown, but must not be taken for those of sessions that are gone.
        if key.is_none_or(|key| key == row.key) {
            entries.extend(audit(&store.read(row.session, 0).await?));
        }
    }
    let kept = kept_audit(data, &entries)?;
    entries.extend(kept.into_iter().filter(|entry| key.is_none_or(|key| key == entry.key)));
    entries.sort_by_key(|entry| (entry.at, entry.session, entry.call));
    Ok(entries)
}

fn is_wanted(entry: &AuditEntry, args: &AuditArgs, now: At) -> bool {
    let recent = args.since.is_none_or(|since| match since {
        Since::Ago(ms) => now.ms_since(entry.at) <= ms,
        Since::Moment(at) => entry.at >= at,
    });
    let bare = entry.tool.split_once('.').map_or(entry.tool.as_str(), |(_, bare)| bare);
    recent && args.tool.as_deref().is_none_or(|tool| matches(tool, &entry.tool) || matches(tool, bare))
}

/// Whether `text` fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => text.strip_prefix(head).is_some_and(|text| {
            (0..=text.len()).filter(|at| text.is_char_boundary(*at)).any(|at| matches(rest, &text[at..]))
        }),
    }
}

/// Characters of a digest that people are shown.
const DIGEST: usize = 12;

fn table(entries: &[AuditEntry]) -> String {
    let rows: Vec<[String; 8]> = entries.iter().map(cells).collect();
    let mut widths = [0; 8];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; 8]| {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn cells(entry: &AuditEntry) -> [String; 8] {
    let at = entry.at.to_string();
    let undone = entry.undone.map(|undo| format!(", undone by {undo}")).unwrap_or_default();
    let came_out = match entry.outcome {
        None => "no result".to_owned(),
        Some(kind) => format!("{}{undone}", outcome(kind).unwrap_or("ok")),
    };
    [
        at.get(..19).unwrap_or(&at).replace('T', " "),
        harmless_line(&entry.owner),
        short_line(&entry.key, 30),
        entry.call.to_string(),
        short_line(entry.tool.strip_prefix("local.").unwrap_or(&entry.tool), 40),
        entry.arguments.to_string().chars().take(DIGEST).collect(),
        short_line(&verdict(entry), 60),
        format!("{came_out}{}", entry.took_ms.map(|ms| format!(", {}", took(ms))).unwrap_or_default()),
    ]
}

fn verdict(entry: &AuditEntry) -> String {
    let by = match &entry.because {
        None => String::new(),
        Some(Because::Mode { mode }) => format!(" by mode {mode}"),
        Some(Because::Rule { rule }) => format!(" by {rule}"),
        Some(Because::Grant { rule }) => format!(" for the session by {rule}"),
    };
    match entry.verdict {
        AuditVerdict::Allow => format!("allowed{by}"),
        AuditVerdict::Deny => format!("denied{by}"),
        AuditVerdict::Invalid => "wrong arguments".to_owned(),
        AuditVerdict::Unknown => "no such tool".to_owned(),
        AuditVerdict::Ask => match (entry.answer, entry.outcome) {
            (Some(answer), _) => format!("asked{by}: {}", answered(answer)),
            (None, Some(OutcomeKind::Denied)) => format!("asked{by}: nobody was there"),
            (None, _) => format!("asked{by}"),
        },
    }
}

fn answered(answer: AuditAnswer) -> String {
    let said = match answer.option {
        QuestionOption::No => "no",
        QuestionOption::Once => "once",
        QuestionOption::Session => "for the session",
        QuestionOption::Always => "always",
        QuestionOption::Edit => "once, with other arguments",
        QuestionOption::RunAgain => "run again",
        QuestionOption::Interrupt => "interrupt",
        QuestionOption::Submit => "submitted",
        QuestionOption::Dismiss => "dismissed",
    };
    match answer.by {
        AnsweredBy::Person => format!("person said {said}"),
        AnsweredBy::Expiry => format!("no answer came, taken as {said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_fits_the_tools_it_means() {
        for (pattern, text, fits) in [
            ("run_command", "run_command", true),
            ("run_*", "run_command", true),
            ("*_file", "write_file", true),
            ("*", "", true),
            ("git.*", "git.log", true),
            ("run", "run_command", false),
            ("*x", "write_file", false),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} on {text}");
        }
    }
}
