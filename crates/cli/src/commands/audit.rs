//! `windlass audit`: every call the model asked for, whether it was allowed and by what, and how it came
//! out (T11). A fold of the journals, and the lines kept of sessions that were removed; newest last.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use windlass::store::{Store, StoreError, kept_audit, projections::audit};
use windlass::tools::{ParseRuleError, Rule, TOOL_NAMES};
use windlass_vocab::{
    AnsweredBy, At, AuditAnswer, AuditEntry, AuditVerdict, Because, OutcomeKind, QuestionOption, ToolName,
};

use super::streams::{print, tell};
use super::{CommandError, Done, agent, block_on, job, session};
use crate::args::{AuditArgs, Since};
use crate::exit::Exit;
use crate::output::wording::{problem, took};
use crate::output::{harmless_json, harmless_line, short_line};
use crate::settings::{Env, Flags, near};

pub(super) fn run(data_dir: Option<PathBuf>, args: &AuditArgs, env: Env) -> Done {
    let place = job::place(&job::gather(Flags { data_dir, ..Flags::default() }, env)?)?;
    block_on(async {
        let store = agent::open_store_to_show(&place)?;
        let (entries, exit) = gathered(store.as_ref(), &place.data_dir.value, args.session.as_deref()).await?;
        let entries = match &args.tool {
            Some(tool) => of_tool(entries, tool)?,
            None => entries,
        };
        let now = crate::crash::clock().now();
        let wanted: Vec<AuditEntry> = entries.into_iter().filter(|entry| is_recent(entry, args.since, now)).collect();
        if args.json {
            for entry in &wanted {
                let line =
                    serde_json::to_string(entry).map_err(|error| CommandError::new(Exit::Failed, error.to_string()))?;
                print(&(harmless_json(line) + "\n"))?;
            }
        } else {
            print(&table(&wanted))?;
        }
        Ok(exit)
    })
}

/// The calls of all sessions that are there, and of those that were. A session that can't be read is told,
/// and costs the others nothing; the exit code says that something is missing.
async fn gathered(store: &dyn Store, data: &Path, key: Option<&str>) -> Result<(Vec<AuditEntry>, Exit), CommandError> {
    let (mut entries, mut exit) = (Vec::new(), Exit::Done);
    let rows = store.sessions(session::OWNER).await?;
    for row in &rows {
        // Lines of the others are not shown, but must not be taken for those of sessions that are gone.
        if key.is_none_or(|key| key == row.key) {
            match store.read(row.session, 0).await {
                Ok(records) => entries.extend(audit(&records)),
                Err(error @ (StoreError::Damaged { .. } | StoreError::Broken { .. })) if key.is_none() => {
                    exit = Exit::Store;
                    let (key, what) = (harmless_line(&row.key), harmless_line(&error.to_string()));
                    tell(&format!("windlass: the session `{key}` is left out, it can't be read: {what}"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    let kept = kept_audit(data, &entries)?;
    let (kept, others): (Vec<_>, Vec<_>) = kept.into_iter().partition(|entry| key.is_none_or(|key| key == entry.key));
    entries.extend(kept);
    if let Some(key) = key
        && entries.is_empty()
    {
        let known = rows.iter().map(|row| row.key.as_str()).chain(others.iter().map(|entry| entry.key.as_str()));
        check_session(key, &known.collect::<Vec<_>>())?;
    }
    entries.sort_by_key(|entry| (entry.at, entry.session, entry.call));
    Ok((entries, exit))
}

/// Nothing is told of a session without calls; one that was never there is a slip.
fn check_session(key: &str, known: &[&str]) -> Result<(), CommandError> {
    if known.contains(&key) {
        return Ok(());
    }
    let hint = near(key, known).map_or("`windlass sessions list` shows those that are".to_owned(), meant);
    Err(CommandError::new(Exit::Usage, format!("there is no session `{key}`, nor was there one; {hint}")))
}

/// Those of the tools a name means, as rules name them.
fn of_tool(entries: Vec<AuditEntry>, tool: &str) -> Result<Vec<AuditEntry>, CommandError> {
    let usage = |problem: String| CommandError::new(Exit::Usage, problem);
    let rule: Rule = tool.parse().map_err(|error: ParseRuleError| usage(error.to_string()))?;
    let name = rule.tool().ok_or_else(|| usage(format!("`{tool}` is not the name of a tool")))?;
    if name != tool.trim() {
        let problem = format!("arguments are kept as digests only, so name the tool alone: --tool {name}");
        return Err(usage(problem));
    }
    let names: BTreeSet<String> = entries.iter().map(|entry| people_say(&entry.tool).to_owned()).collect();
    let of: Vec<AuditEntry> = entries.into_iter().filter(|entry| rule.names(&ToolName(entry.tool.clone()))).collect();
    let is_ours = TOOL_NAMES.iter().any(|name| rule.names(&ToolName(format!("local.{name}"))));
    if of.is_empty() && !is_ours {
        let known: Vec<&str> = names.iter().map(String::as_str).chain(TOOL_NAMES.iter().copied()).collect();
        let hint = near(tool, &known).map(|name| format!("; {}", meant(name))).unwrap_or_default();
        return Err(usage(format!("no call of a tool `{tool}` is recorded, and Windlass has none{hint}")));
    }
    Ok(of)
}

fn meant(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// A tool of ours without its server.
fn people_say(tool: &str) -> &str {
    tool.strip_prefix("local.").unwrap_or(tool)
}

fn is_recent(entry: &AuditEntry, since: Option<Since>, now: At) -> bool {
    since.is_none_or(|since| match since {
        Since::Ago(ms) => now.ms_since(entry.at) <= ms,
        Since::Moment(at) => entry.at >= at,
    })
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
        Some(kind) => match problem(kind, entry.exit) {
            Some(problem) => format!("✗ {problem}{undone}"),
            None => format!("ok{undone}"),
        },
    };
    [
        at.get(..19).unwrap_or(&at).replace('T', " "),
        harmless_line(&entry.owner),
        short_line(&entry.key, 30),
        entry.call.to_string(),
        short_line(people_say(&entry.tool), 40),
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
        Some(Because::Protected { path, pattern }) => format!(" for {path}, protected by {pattern}"),
        Some(Because::OutsideText { origin }) => format!(" for text from {origin}"),
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
