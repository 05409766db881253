//! `windlass audit`: lists every call the model requested, whether it was allowed and by which rule or person, and its
//! outcome (T11). Folds the journals, and adds the audit lines kept of removed sessions; newest last. The subject of a
//! call can be displayed only while its journal exists; afterwards only a digest is kept.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use windlass_narrate::{
    answer_words, call_line_in, duration, expiry_words, harmless_json, harmless_line, outcome_problem, short_line,
};
use windlass_setup::settings::{Env, Flags, near};
use windlass_store::projections::audit;
use windlass_store::{Store, StoreError, read_audit};
use windlass_tools::{ParseRuleError, Rule, TOOL_NAMES};
use windlass_vocab::{
    AnsweredBy, AuditAnswer, AuditEntry, AuditVerdict, CallId, Envelope, Json, OutcomeKind, Record, SessionId,
    Timestamp, ToolName, UnaskedChange, VerdictReason,
};

use super::block_on::block_on;
use super::readable_store::open_to_show;
use super::{prepared_run, session};
use crate::args::{AuditArgs, Since};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::screen::text_width;
use crate::streams::{print, print_notice};
use crate::tty;

pub(super) fn run(data_dir: Option<PathBuf>, args: &AuditArgs, env: Env) -> CommandResult {
    let place = prepared_run::place(&prepared_run::gather_unasked(Flags { data_dir, ..Flags::default() }, env)?)?;
    block_on(async {
        let store = open_to_show(&place)?;
        let key = args.key.as_deref().or(args.session.as_deref());
        let AuditedCalls { entries, arguments, exit } =
            gather_calls(store.as_ref(), &place.data_dir.value, key).await?;
        let entries = match &args.tool {
            Some(tool) => of_tool(entries, tool)?,
            None => entries,
        };
        let now = windlass_setup::test_hooks::clock().now();
        let wanted: Vec<AuditEntry> = entries.into_iter().filter(|entry| is_recent(entry, args.since, now)).collect();
        if args.json {
            for entry in &wanted {
                let line = json_line(entry, arguments.get(&(entry.session, entry.call)))
                    .map_err(|error| CommandError::new(Exit::Failed, error.to_string()))?;
                print(&(harmless_json(line) + "\n"))?;
            }
        } else if wanted.is_empty() {
            let all = key.is_none() && args.since.is_none() && args.tool.is_none();
            print_notice(if all { "windlass: no call is recorded" } else { "windlass: no recorded call matches" });
        } else {
            print(&rendered(&wanted, &arguments, tty::size().map(|(columns, _)| columns)))?;
        }
        Ok(exit)
    })
}

/// Arguments of the calls whose session still has a journal.
type ArgumentsByCall = HashMap<(SessionId, CallId), Json>;

/// The calls found in the journals and in the kept audit lines.
struct AuditedCalls {
    entries: Vec<AuditEntry>,
    arguments: ArgumentsByCall,
    /// Not `Done` where a session could not be read, so that calls are missing.
    exit: Exit,
}

/// Collects the calls of all existing and removed sessions. A session that can't be read is reported and skipped; the
/// exit code then says that something is missing.
async fn gather_calls(store: &dyn Store, data: &Path, key: Option<&str>) -> Result<AuditedCalls, CommandError> {
    let (mut entries, mut arguments, mut exit) = (Vec::new(), ArgumentsByCall::new(), Exit::Done);
    let rows = store.sessions(session::OWNER).await?;
    for row in &rows {
        // With a key, the other sessions are skipped, but their lines must not pass for those of removed ones.
        if key.is_none_or(|key| key == row.key) {
            match store.read(row.session, 0).await {
                Ok(records) => {
                    entries.extend(audit(&records));
                    arguments.extend(records.into_iter().filter_map(arguments_in));
                }
                Err(error @ (StoreError::Damaged { .. } | StoreError::Broken { .. })) if key.is_none() => {
                    exit = Exit::Store;
                    let (key, what) = (harmless_line(&row.key), harmless_line(&error.to_string()));
                    print_notice(&format!("windlass: the session `{key}` is left out, it can't be read: {what}"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    let kept = read_audit(data, &entries)?;
    let (kept, others): (Vec<_>, Vec<_>) = kept.into_iter().partition(|entry| key.is_none_or(|key| key == entry.key));
    entries.extend(kept);
    if let Some(key) = key
        && entries.is_empty()
    {
        let known = rows.iter().map(|row| row.key.as_str()).chain(others.iter().map(|entry| entry.key.as_str()));
        check_session(key, &known.collect::<Vec<_>>())?;
    }
    entries.sort_by_key(|entry| (entry.at, entry.session, entry.call));
    Ok(AuditedCalls { entries, arguments, exit })
}

/// Returns the arguments of a requested call, or those a person replaced them with before it ran.
fn arguments_in(envelope: Envelope) -> Option<((SessionId, CallId), Json)> {
    let session = envelope.session;
    if let Record::CallRequested(requested) = envelope.record {
        Some(((session, requested.call), requested.arguments))
    } else if let Record::CallStarted(started) = envelope.record {
        Some(((session, started.call), started.arguments?))
    } else {
        None
    }
}

/// Fails if no session, present or removed, ever had this key. A session without calls is fine and prints nothing.
fn check_session(key: &str, known: &[&str]) -> Result<(), CommandError> {
    if known.contains(&key) {
        return Ok(());
    }
    let hint = near(key, known).map_or("`windlass sessions list` shows those that are".to_owned(), rule_name);
    Err(CommandError::new(Exit::Usage, format!("there is no session `{key}`, nor was there one; {hint}")))
}

/// Keeps the calls of the tools that `tool` names, with the name syntax of permission rules.
fn of_tool(entries: Vec<AuditEntry>, tool: &str) -> Result<Vec<AuditEntry>, CommandError> {
    let usage = |problem: String| CommandError::new(Exit::Usage, problem);
    let rule: Rule = tool.parse().map_err(|error: ParseRuleError| usage(error.to_string()))?;
    let name = rule.tool().ok_or_else(|| usage(format!("`{tool}` is not the name of a tool")))?;
    if name != tool.trim() {
        let problem = format!("only the tool is looked for, not its arguments: --tool {name}");
        return Err(usage(problem));
    }
    let names: BTreeSet<String> = entries.iter().map(|entry| display_tool(&entry.tool).to_owned()).collect();
    let of: Vec<AuditEntry> = entries.into_iter().filter(|entry| rule.names(&ToolName(entry.tool.clone()))).collect();
    let is_ours = TOOL_NAMES.iter().any(|name| rule.names(&ToolName(format!("local.{name}"))));
    if of.is_empty() && !is_ours {
        let known: Vec<&str> = names.iter().map(String::as_str).chain(TOOL_NAMES.iter().copied()).collect();
        let hint = near(tool, &known).map(|name| format!("; {}", rule_name(name))).unwrap_or_default();
        return Err(usage(format!("no call of a tool `{tool}` is recorded, and Windlass has none{hint}")));
    }
    Ok(of)
}

fn rule_name(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// Drops the server prefix of our own tools.
fn display_tool(tool: &str) -> &str {
    tool.strip_prefix("local.").unwrap_or(tool)
}

fn is_recent(entry: &AuditEntry, since: Option<Since>, now: Timestamp) -> bool {
    since.is_none_or(|since| match since {
        Since::Ago(ms) => now.ms_since(entry.at) <= ms,
        Since::Moment(at) => entry.at >= at,
    })
}

/// Characters of a digest in the output for people.
const DIGEST: usize = 12;

/// Characters of a call's subject, in a pipe and in JSON.
const ABOUT: usize = 120;
/// Characters of a name, path or rule in the description of the decision. Capped so that the answer behind it fits.
const NAMED: usize = 60;

/// Returns an entry as JSON, with the call's subject and its sandbox use where its journal still exists.
fn json_line(entry: &AuditEntry, arguments: Option<&Json>) -> serde_json::Result<String> {
    let mut line = serde_json::to_value(entry)?;
    if let Some(arguments) = arguments {
        line["about"] = call_line_in(ABOUT, display_tool(&entry.tool), arguments).into();
        if display_tool(&entry.tool) == "run_command" {
            let given = arguments.to_value();
            line["network"] = (given["network"] == true).into();
            line["outside_sandbox"] = (given["sandbox"] == "off").into();
        }
    }
    serde_json::to_string(&line)
}

/// Renders the calls for a screen of so many columns: a line each if it is wide enough, else two. In a pipe a line.
fn rendered(entries: &[AuditEntry], arguments: &ArgumentsByCall, columns: Option<usize>) -> String {
    let of = |entry: &AuditEntry, room| about(entry, arguments.get(&(entry.session, entry.call)), room);
    let rows: Vec<[String; 7]> = entries
        .iter()
        .map(|entry| {
            let ([at, owner, key, call], [verdict, came_out]) = (origin(entry), result(entry));
            [at, owner, key, call, of(entry, ABOUT), verdict, came_out]
        })
        .collect();
    let table = table(&rows);
    match columns {
        Some(columns) if table.lines().any(|line| text_width(line) > columns) => {
            entries.iter().zip(&rows).map(|(entry, row)| two_lines(row, |room| of(entry, room), columns)).collect()
        }
        Some(_) | None => table,
    }
}

/// Renders a call on two lines: first which call, then the decision and the outcome. Uses three lines where the subject
/// does not fit beside the call's number. The owner is left out.
fn two_lines(row: &[String; 7], about: impl Fn(usize) -> String, columns: usize) -> String {
    const INDENT: usize = 4;
    let [at, _, key, call, _, verdict, came_out] = row;
    let which = format!("{at}  {key}  {call}");
    let (beside, alone) = (columns.saturating_sub(text_width(&which) + 2), columns.saturating_sub(INDENT));
    let about = match about(beside) {
        fits if text_width(&fits) <= beside => format!("  {fits}"),
        _ => format!("\n{}{}", " ".repeat(INDENT), about(alone)),
    };
    let below = wrapped_words(&format!("{verdict} · {came_out}"), columns.saturating_sub(INDENT).max(20));
    let below: String = below.iter().map(|line| format!("{}{line}\n", " ".repeat(INDENT))).collect();
    format!("{which}{about}\n{below}")
}

/// The text in lines of at most `columns`, broken between words; a longer word has a line of its own.
fn wrapped_words(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(line) + 1 + text_width(word) <= columns => *line = format!("{line} {word}"),
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn table(rows: &[[String; 7]]) -> String {
    let widths = widths(rows);
    let line = |row: &[String; 7]| {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn widths<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> [usize; COLUMNS] {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    widths
}

/// Renders `run_command cargo test (with the network)`. For a removed session only the digest is left.
fn about(entry: &AuditEntry, arguments: Option<&Json>, room: usize) -> String {
    let tool = short_line(display_tool(&entry.tool), 40);
    match arguments {
        Some(arguments) => {
            let whole = call_line_in(room, &tool, arguments);
            let over = whole.chars().count().saturating_sub(room);
            if over == 0 { whole } else { call_line_in(room.saturating_sub(over + 1).max(10), &tool, arguments) }
        }
        None => {
            let digest: String = entry.arguments.to_string().chars().take(DIGEST).collect();
            format!("{tool} [{digest}]")
        }
    }
}

/// Returns the time of a call's request, its owner, its session, and its number.
fn origin(entry: &AuditEntry) -> [String; 4] {
    let at = entry.at.to_string();
    [
        at.get(..19).unwrap_or(&at).replace('T', " "),
        harmless_line(&entry.owner),
        short_line(&entry.key, 30),
        entry.call.to_string(),
    ]
}

/// Returns the decision about a call, and its outcome.
fn result(entry: &AuditEntry) -> [String; 2] {
    let undone = entry.undone.map(|undo| format!(", undone by {undo}")).unwrap_or_default();
    let came_out = match entry.outcome {
        None => "no result".to_owned(),
        Some(kind) => match outcome_problem(kind, entry.exit) {
            Some(problem) => format!("✗ {problem}{undone}"),
            None => format!("ok{undone}"),
        },
    };
    [
        verdict(entry),
        format!("{came_out}{}", time_of(entry).map(|ms| format!(", {}", duration(ms))).unwrap_or_default()),
    ]
}

/// Returns how long the call took; none for a call that was cancelled or interrupted before a time was recorded.
fn time_of(entry: &AuditEntry) -> Option<u64> {
    let cut_off = matches!(entry.outcome, Some(OutcomeKind::Cancelled | OutcomeKind::Interrupted));
    entry.took_ms.filter(|ms| !cut_off || *ms > 0)
}

fn verdict(entry: &AuditEntry) -> String {
    let by = match &entry.because {
        None => String::new(),
        Some(VerdictReason::Mode { mode }) => format!(" by mode {mode}"),
        Some(VerdictReason::Rule { rule }) => format!(" by {}", short_line(rule, NAMED)),
        Some(VerdictReason::Grant { rule }) => format!(" for the session by {}", short_line(rule, NAMED)),
        Some(VerdictReason::Protected { path, pattern }) => {
            format!(" for {}, protected by {}", short_line(path, NAMED), short_line(pattern, NAMED))
        }
        Some(VerdictReason::Unasked { change: UnaskedChange::InAnswer {} }) => " in answer to a question".to_owned(),
        Some(VerdictReason::Unasked { change: UnaskedChange::Unclear {} }) => " for an unclear request".to_owned(),
        Some(VerdictReason::Unasked { change: UnaskedChange::Deletes { path } | UnaskedChange::NotNamed { path } }) => {
            format!(" for {}, which was not named", short_line(path, NAMED))
        }
        Some(VerdictReason::Unasked { change: UnaskedChange::AfterDeniedDelete { path } }) => {
            format!(" for {}, which was not to be deleted", short_line(path, NAMED))
        }
        Some(VerdictReason::Unconfined {}) => " for want of a sandbox".to_owned(),
        Some(VerdictReason::OutsideText { origin }) => {
            format!(" for text from {}", short_line(&origin.to_string(), NAMED))
        }
    };
    match entry.verdict {
        AuditVerdict::Allow => format!("allowed{by}"),
        AuditVerdict::Deny => format!("denied{by}"),
        AuditVerdict::Invalid => "wrong arguments".to_owned(),
        AuditVerdict::Unknown => "no such tool".to_owned(),
        AuditVerdict::Ask => match (entry.answer, entry.outcome) {
            (Some(answer), _) => format!("asked{by}: {}", answer_wording(answer)),
            (None, Some(OutcomeKind::Denied)) => format!("asked{by}: nobody was there"),
            (None, _) => format!("asked{by}"),
        },
    }
}

fn answer_wording(answer: AuditAnswer) -> String {
    match answer.by {
        AnsweredBy::Person => format!("person said {}", answer_words(answer.option)),
        AnsweredBy::Expiry => expiry_words(answer.option),
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{EffectClass, QuestionOption, RunId, TurnId};

    use super::*;

    fn entry() -> AuditEntry {
        AuditEntry {
            at: Timestamp(1_000),
            owner: "owner".into(),
            session: "00000000-0000-0000-0000-000000000007".parse().expect("an id"),
            key: "notes".into(),
            call: CallId { run: RunId(1), turn: TurnId(1), index: 0 },
            tool: "local.run_command".into(),
            effect: EffectClass::Once,
            arguments: windlass_store::hash_of(b""),
            verdict: AuditVerdict::Ask,
            because: Some(VerdictReason::Protected {
                path: ".git/hooks/pre-commit".repeat(9),
                pattern: "**/.git/".into(),
            }),
            answer: Some(AuditAnswer { option: QuestionOption::No, by: AnsweredBy::Person }),
            outcome: Some(OutcomeKind::Denied),
            exit: None,
            took_ms: None,
            undone: None,
        }
    }

    // proves T11: however narrow the screen, the decision is never cut off, and no word is broken
    #[test]
    fn a_call_takes_two_lines_where_the_screen_is_narrow() {
        let arguments = Json::from(&serde_json::json!({"command": "x ".repeat(99), "sandbox": "off"}));
        let entry = entry();
        let known = ArgumentsByCall::from([((entry.session, entry.call), arguments)]);
        for (columns, key) in [(80, "notes"), (80, "run-39757a706421"), (110, "run-39757a706421")] {
            let entry = AuditEntry { key: key.into(), ..entry.clone() };
            let text = rendered(std::slice::from_ref(&entry), &known, Some(columns));
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.join(" ").ends_with("protected by **/.git/: person said no · ✗ denied"), "{text}");
            assert!(text.contains("outside the sandbox"), "{text}");
            assert!(text.lines().all(|line| text_width(line) <= columns), "{text}");
            assert!(text.lines().skip(1).all(|line| line.starts_with("    ")), "{text}");
        }
        assert_eq!(rendered(&[entry], &known, None).lines().count(), 1, "a line each in a pipe");
    }

    // proves T11: a program can find the calls that left the sandbox
    #[test]
    fn json_says_what_a_call_was_about_and_how_far_it_reached() {
        let arguments = Json::from(&serde_json::json!({"command": "curl x", "network": true}));
        let line = json_line(&entry(), Some(&arguments)).expect("JSON");
        let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!((&line["network"], &line["outside_sandbox"]), (&true.into(), &false.into()));
        assert_eq!(line["about"], "run_command curl x (with the network)");
        let gone = json_line(&entry(), None).expect("JSON");
        assert!(!gone.contains("about") && !gone.contains("network"), "{gone}");
    }
}
