//! Shows a person what trusting a project covers, and asks (X2).

use std::io::{self, Write};
use std::path::Path;

use windlass_setup::asking::YesNo;
use windlass_setup::settings::{ChangedFile, ProjectFileContent, SettingsFile, Sources};
use windlass_tools::diff::{DiffLimits, compare};

use super::ask;
use super::servers::{coverage_lines, description_lines};
use crate::output::harmless_line;

/// Changes are shown without limits: a person can't agree to lines they can't see.
const WHOLE: DiffLimits = DiffLimits { lines: usize::MAX, columns: usize::MAX };

/// Asks whether to trust a project whose folder the person has not listed.
pub(super) fn ask_new(sources: &Sources) -> io::Result<Option<YesNo>> {
    let question = "Trust this project? [y] yes, until these files change  [n] no, go on without all that: ";
    ask_about(&project_summary(sources), question)
}

/// Asks whether to keep trusting a project that has changed.
pub(super) fn ask_changed(changes: &[ChangedFile]) -> io::Result<Option<YesNo>> {
    let changes: String = changes.iter().map(change_text).collect();
    ask_about(&changes, "Trust what it says now? [y] yes, until it changes  [n] no: ")
}

/// Returns everything that trusting a new project covers: its whole files, since a line may loosen a setting that the
/// person tightens later; and last, next to the question, the settings it loosens and the servers it starts.
fn project_summary(sources: &Sources) -> String {
    let since = match (sources.is_declined(), sources.was_declined()) {
        (true, _) => "You said no to this project as it is now.",
        (false, true) => "This project has changed since you said no to it.",
        (false, false) => "This project is new to you.",
    };
    let mut lines = vec![since.to_owned()];
    for (path, text) in sources.texts_of_project() {
        lines.push(format!("{} says:", path.display()));
        lines.extend(text.lines().zip(1..).map(|(line, number)| format!("{number:>5}  {line}")));
    }
    let loosened = sources.needing_trust().unwrap_or_default();
    let head = if loosened.is_empty() { "It loosens none of your settings." } else { "It would loosen your settings:" };
    lines.push(head.to_owned());
    lines.extend(loosened.iter().map(|one| format!("  {}", one.with_value())));
    let servers = sources.servers_of_project();
    let servers = servers.iter().flat_map(|(name, config)| description_lines(name, config));
    lines.extend(servers.map(|line| format!("  an MCP server that would start unasked: {line}")));
    let folder = sources.project.as_ref().map_or(Path::new("/"), SettingsFile::folder);
    lines.extend(coverage_lines(&sources.watched(), sources.unwatched(), folder));
    lines.iter().map(|line| harmless_line(line) + "\n").collect()
}

/// Prints the subject of the question and asks at the terminal.
fn ask_about(about: &str, question: &str) -> io::Result<Option<YesNo>> {
    write!(io::stderr().lock(), "{about}")?;
    ask(question, "y or n", |line| match line {
        "y" | "yes" => Some(YesNo::Yes),
        "n" | "no" => Some(YesNo::No),
        _ => None,
    })
}

/// Returns the text of a change.
fn change_text(changed: &ChangedFile) -> String {
    let ChangedFile { path, before, now, text } = changed;
    let name = path.display();
    let difference = |now: &str| {
        let file = path.file_name().map_or(path.as_path(), Path::new).display().to_string();
        compare(before.as_ref().map(String::as_bytes), Some(now.as_bytes()), &file, WHOLE)
    };
    let told = match (before, now, text) {
        (_, ProjectFileContent::Unwatched, _) => {
            format!(
                "{name}, behind a server of this project, holds too much to be watched: a change there is not asked about.\n"
            )
        }
        (Some(_), ProjectFileContent::Digest(_), Some(text)) => {
            format!("{name}, which a server of this project starts, is not what you trusted:\n{}", difference(text))
        }
        (_, ProjectFileContent::Digest(_), _) => format!(
            "{name}, which a server of this project starts, is not what you trusted. What it held then was not kept: \
             read it before you agree.\n"
        ),
        (Some(_), ProjectFileContent::Text(now), _) => {
            format!("{name} has changed since you trusted this folder:\n{}", difference(now))
        }
        (None, ProjectFileContent::Text(now), _) => {
            format!("{name} was not there when you trusted this folder:\n{}", difference(now))
        }
    };
    told.lines().map(|line| harmless_line(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(before: Option<&str>, now: &str) -> String {
        let now = ProjectFileContent::Text(now.to_owned());
        change_text(&ChangedFile {
            path: "/p/windlass.toml".into(),
            before: before.map(str::to_owned),
            now,
            text: None,
        })
    }

    // proves X2: the person sees the whole change, and nothing in it controls the terminal
    #[test]
    fn a_change_is_shown_whole() {
        let told = changed(Some("model = 'a'\n"), "model = 'a'\npermissions.mode = 'bypass'\n");
        assert!(told.contains("has changed since") && told.contains("+permissions.mode = 'bypass'"), "{told}");
        let long = "x".repeat(3000) + "\n";
        let told = changed(Some("a\n"), &long.repeat(900));
        assert_eq!(told.matches(long.trim_end()).count(), 900);
        assert!(changed(None, "a\n").contains("was not there"));
        let folder =
            ChangedFile { path: "/p/big".into(), before: None, now: ProjectFileContent::Unwatched, text: None };
        assert!(change_text(&folder).contains("/p/big, behind a server of this project, holds too much"));
        assert!(!changed(Some("a"), "\u{1b}[2Jb").contains('\u{1b}'));
        let now = ProjectFileContent::Digest(windlass_store::hash_of(b"new"));
        let script =
            ChangedFile { path: "/p/s.js".into(), before: Some("old\n".into()), now, text: Some("new\n".into()) };
        assert!(change_text(&script).contains("-old\n+new\n"), "{}", change_text(&script));
        let unkept = ChangedFile { before: None, ..script };
        assert!(change_text(&unkept).contains("What it held then was not kept"), "{}", change_text(&unkept));
    }
}
