//! Trust in a project's folder, settled before anything is read from its files (X2): taken down when the folder is first
//! used, and asked for again, with the difference, when the files say something else than they did.

use std::io::{self, BufRead, Write};
use std::path::Path;

use windlass::tools::diff::{Limits, compare};
use windlass_vocab::Attendance;

use super::streams::tell;
use crate::output::harmless_line;
use crate::servers::{covered, described};
use crate::settings::{Changed, Content, LeftOut, SettingsFile, Sources, Standing};

/// All of a change is shown: what can't be seen can't be agreed to.
const WHOLE: Limits = Limits { lines: usize::MAX, columns: usize::MAX };

/// The sources with the trust that the person has or now gives; without, the project may only tighten.
pub(super) fn settle(mut sources: Sources, attendance: Attendance) -> io::Result<Sources> {
    sources.note_empty();
    let Some(standing) = sources.standing() else {
        return match attendance {
            Attendance::Attended => ask_first(sources),
            Attendance::Unattended => Ok(sources),
        };
    };
    match (standing, attendance) {
        (Standing::AsTrusted, _) => {}
        (Standing::New, _) => take_down(&mut sources, "is trusted as it is now; when it changes you are asked again"),
        (Standing::Changed, Attendance::Attended) if !sources.is_declined() => {
            let changes: String = sources.changes().iter().map(shown).collect();
            match ask(&changes, "Trust what it says now? [y] yes, until it changes  [n] no: ")? {
                Some(Said::Yes) => take_down(&mut sources, "is trusted as it is now"),
                // Where it can't be taken down they are asked again.
                Some(Said::No) => drop(sources.decline()),
                None => {}
            }
        }
        (Standing::Changed, Attendance::Attended) => {
            for changed in sources.changes() {
                let told =
                    "has changed since you trusted it, and may only tighten your settings: you said no to the change";
                sources.notice(format!("{} {told}", changed.path.display()));
            }
        }
        (Standing::Changed, Attendance::Unattended) => note_changes(&mut sources),
    }
    Ok(sources)
}

/// Says what is not as it was trusted, where nobody is asked about it now.
fn note_changes(sources: &mut Sources) {
    let told = "has changed since you trusted it, and may only tighten your settings: any windlass command at a terminal \
                shows how it has changed, and asks";
    for changed in sources.changes() {
        sources.notice(format!("{} {told}", changed.path.display()));
    }
}

/// Takes down that the project is trusted as it is. What can't be taken down can't be compared later, and is not trusted.
fn take_down(sources: &mut Sources, what: &str) {
    let Some(file) = sources.project.as_ref().map(|file| file.path().display().to_string()) else { return };
    let told = match sources.keep_trust() {
        Ok(()) => format!("{file} {what}{}", unwatched(sources)),
        Err(error) => format!("{file} may only tighten your settings: that you trust it can't be taken down: {error}"),
    };
    // At once: whoever only lists sessions looks at no notices.
    tell(&format!("windlass: {}", harmless_line(&told)));
}

/// What of the project can't be watched, for people.
fn unwatched(sources: &Sources) -> String {
    let folders: Vec<_> = sources.unwatched().iter().map(|folder| folder.display().to_string()).collect();
    if folders.is_empty() {
        return String::new();
    }
    format!(" (but not {}, behind one of its servers, which holds too much to be watched)", folders.join(", "))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Yes,
    No,
}

/// Asks, the first time it is seen, whether a project is trusted that would loosen something.
fn ask_first(sources: Sources) -> io::Result<Sources> {
    // What is wrong with its rules is told by whoever takes them; until it is mended there is nothing to agree to.
    let Ok(loosened) = sources.needing_trust() else { return Ok(sources) };
    let Some(file) = sources.project.as_ref().map(|file| file.path().display().to_string()) else { return Ok(sources) };
    if loosened.is_empty() || sources.is_declined() {
        return Ok(sources);
    }
    let question = "Trust this project? [y] yes, until these files change  [n] no, go on without all that: ";
    match ask(&all_of_it(&sources, &loosened), question)? {
        Some(Said::Yes) => {
            let mut trusted = sources.clone().trust_folder().or_else(|error| {
                tell(&format!("windlass: {}", harmless_line(&format!("{file} can't be trusted: {error}"))));
                Ok::<_, io::Error>(sources)
            })?;
            // What was exchanged while the question stood was not agreed to.
            if trusted.standing() == Some(Standing::Changed) {
                note_changes(&mut trusted);
            }
            Ok(trusted)
        }
        Some(Said::No) => {
            // Where it can't be taken down they are asked again.
            let _ = sources.decline();
            Ok(sources)
        }
        None => Ok(sources),
    }
}

/// Everything that a yes to a new project covers: its files whole, as what loosens nothing today does once the person's
/// own settings are tighter; and last, next to the question, what of it loosens or starts something.
fn all_of_it(sources: &Sources, loosened: &[LeftOut]) -> String {
    let mut lines = vec!["This project is new to you.".to_owned()];
    for (path, text) in sources.texts_of_project() {
        lines.push(format!("{} says:", path.display()));
        lines.extend(text.lines().zip(1..).map(|(line, number)| format!("{number:>5}  {line}")));
    }
    lines.push("It would loosen your settings:".to_owned());
    lines.extend(loosened.iter().map(|one| format!("  {}", one.with_value())));
    let servers = sources.servers_of_project();
    let servers = servers.iter().flat_map(|(name, config)| described(name, config));
    lines.extend(servers.map(|line| format!("  an MCP server that would start unasked: {line}")));
    let folder = sources.project.as_ref().map_or(Path::new("/"), SettingsFile::folder);
    lines.extend(covered(&sources.watched(), sources.unwatched(), folder));
    lines.iter().map(|line| harmless_line(line) + "\n").collect()
}

/// Shows what the question is about and asks at the terminal; nothing at the end of input, which decides nothing.
fn ask(about: &str, question: &str) -> io::Result<Option<Said>> {
    let mut screen = io::stderr().lock();
    write!(screen, "{about}")?;
    loop {
        write!(screen, "{question}")?;
        screen.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            writeln!(screen)?;
            return Ok(None);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(Said::Yes)),
            "n" | "no" => return Ok(Some(Said::No)),
            _ => {}
        }
    }
}

/// A change as a person sees it.
fn shown(changed: &Changed) -> String {
    let Changed { path, before, now } = changed;
    let name = path.display();
    let text = match (before, now) {
        (_, Content::Digest(_)) => {
            format!("{name}, a program that a server of this project starts, is not what you trusted.\n")
        }
        (_, Content::Unwatched) => {
            format!(
                "{name}, behind a server of this project, holds too much to be watched: a change there is not asked about.\n"
            )
        }
        (before, Content::Text(now)) => {
            let head = match before {
                Some(_) => "has changed since you trusted this folder",
                None => "was not there when you trusted this folder",
            };
            let file = path.file_name().map_or(path.as_path(), Path::new).display().to_string();
            let before = before.as_ref().map(String::as_bytes);
            format!("{name} {head}:\n{}", compare(before, Some(now.as_bytes()), &file, WHOLE))
        }
    };
    text.lines().map(|line| harmless_line(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(before: Option<&str>, now: &str) -> String {
        let now = Content::Text(now.to_owned());
        shown(&Changed { path: "/p/windlass.toml".into(), before: before.map(str::to_owned), now })
    }

    // proves X2: the person sees all of it, and nothing in it steers the screen
    #[test]
    fn a_change_is_shown_whole() {
        let told = changed(Some("model = 'a'\n"), "model = 'a'\npermissions.mode = 'bypass'\n");
        assert!(told.contains("has changed since") && told.contains("+permissions.mode = 'bypass'"), "{told}");
        let long = "x".repeat(3000) + "\n";
        let told = changed(Some("a\n"), &long.repeat(900));
        assert_eq!(told.matches(long.trim_end()).count(), 900);
        assert!(changed(None, "a\n").contains("was not there"));
        let folder = Changed { path: "/p/big".into(), before: None, now: Content::Unwatched };
        assert!(shown(&folder).contains("/p/big, behind a server of this project, holds too much"));
        assert!(!changed(Some("a"), "\u{1b}[2Jb").contains('\u{1b}'));
    }
}
