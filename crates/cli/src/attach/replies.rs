//! What the server answers to commands, in words.

use windlass_narrate::harmless_line;

use super::requests::{RemoteChain, RemoteRules, RemoteSettings, RemoteSummary, RemoteUndo};
use crate::output::short_line;

/// Most characters of a title in a list.
const TITLE: usize = 60;

/// A line for each session.
pub(super) fn session_lines<'a>(sessions: impl Iterator<Item = &'a RemoteSummary>, here: Option<&str>) -> String {
    let sessions: Vec<&RemoteSummary> = sessions.collect();
    let width = sessions.iter().map(|session| session.key.chars().count()).max().unwrap_or(0).min(40);
    let line = |session: &&RemoteSummary| {
        let mark = if here == Some(session.key.as_str()) { "* " } else { "  " };
        let (key, about) = (harmless_line(&session.key), about(session));
        format!("{mark}{key:<width$}  {:<10}  {about}\n", harmless_line(&session.status))
    };
    sessions.iter().map(line).collect()
}

/// What a session is about, in a few words.
pub(super) fn about(session: &RemoteSummary) -> String {
    short_line(session.title.as_deref().or(session.last_prompt.as_deref()).unwrap_or_default(), TITLE)
}

/// What an undo put back, and how it is taken back.
pub(super) fn undo_lines(done: &RemoteUndo) -> String {
    let mut lines: Vec<String> = done.restored.iter().map(|path| format!("put back {path}")).collect();
    lines.extend(done.kept.iter().map(|kept| format!("left as it is: {}: {}", kept.path, kept.why)));
    lines.extend(done.unseen.iter().map(|unseen| format!("may have changed more: {unseen}")));
    lines.push(match &done.undo {
        Some(undo) => format!("undid {}; `/undo {undo}` takes that back", done.of),
        None => format!("no file had to be changed for {}", done.of),
    });
    lines.iter().map(|line| harmless_line(line) + "\n").collect()
}

/// The models of new runs.
pub(super) fn model_lines(chain: &RemoteChain) -> String {
    if chain.models.is_empty() {
        return "the server has no model; its scripted one answers\n".to_owned();
    }
    let line = |model: &super::requests::RemoteModel| {
        let mark = if model.in_use { "* " } else { "  " };
        format!("{mark}{}  {}\n", harmless_line(&model.name), harmless_line(&model.server))
    };
    chain.models.iter().map(line).collect()
}

/// The rules of new runs, and what this session allows.
pub(super) fn rule_lines(settings: &RemoteSettings, grants: &[String]) -> String {
    let RemoteRules { allow, ask, deny } = &settings.rules;
    let mut lines = vec![format!("mode     {}", settings.mode), format!("sandbox  {}", settings.sandbox)];
    for (word, rules) in [("deny", deny), ("ask", ask), ("allow", allow)] {
        lines.extend(rules.iter().map(|rule| format!("{word:<7}  {rule}")));
    }
    lines.extend(grants.iter().map(|rule| format!("allow    {rule} (for this session)")));
    if grants.is_empty() {
        lines.push("nothing is allowed for this session alone".to_owned());
    }
    lines.iter().map(|line| format!("  {}\n", harmless_line(line))).collect()
}
