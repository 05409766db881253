//! Trust in a project's folder, settled before anything is read from its files (X2): taken down when the folder is first
//! used, and asked for again, with the difference, when the files say something else than they did.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::path::Path;

use windlass::tools::diff::{Limits, compare};
use windlass_vocab::Attendance;

use super::streams::tell;
use crate::output::harmless_line;
use crate::servers::{self, Agreements, ConsentAnswer, covered, described};
use crate::settings::{Changed, Consent, Content, MORE, SettingsFile, Sources, Standing, create_data_dir};

/// All of a change is shown: what can't be seen can't be agreed to.
const WHOLE: Limits = Limits { lines: usize::MAX, columns: usize::MAX };

/// The sources with the trust that the person has or now gives; without, the project may only tighten.
pub(super) fn settle(mut sources: Sources, attendance: Attendance) -> io::Result<Sources> {
    sources.note_empty();
    match (sources.standing(), attendance) {
        (Some(Standing::AsTrusted), _) | (None, Attendance::Unattended) => Ok(sources),
        (Some(Standing::New), _) => {
            take_down(&mut sources, "is trusted as it is now; when it changes you are asked again");
            Ok(sources)
        }
        (None, Attendance::Attended) => {
            // What is wrong with its rules is told by whoever takes them; until it is mended there is nothing to agree to.
            let loosens = sources.needing_trust().is_ok_and(|loosened| !loosened.is_empty());
            if loosens && !sources.is_declined() { ask_about_new(sources) } else { Ok(sources) }
        }
        (Some(Standing::Changed), _) if sources.is_declined() => {
            let told = "this project has changed since you trusted it, and you said no to that: it may only tighten your \
                        settings";
            sources.notice(format!("{told}; {MORE}"));
            Ok(sources)
        }
        (Some(Standing::Changed), Attendance::Attended) => ask_about_change(sources),
        (Some(Standing::Changed), Attendance::Unattended) => {
            note_changes(&mut sources);
            Ok(sources)
        }
    }
}

/// Shows how a project that was trusted has changed, and asks whether it is trusted so.
pub(super) fn ask_about_change(mut sources: Sources) -> io::Result<Sources> {
    let changes = sources.changes();
    let shown: String = changes.iter().map(shown).collect();
    match ask(&shown, "Trust what it says now? [y] yes, until it changes  [n] no: ")? {
        Some(Said::Yes) => take_down(&mut sources, "is trusted as it is now"),
        Some(Said::No) => {
            // Where it can't be taken down they are asked again.
            let _ = sources.decline();
            let changed = |path: &Path| changes.iter().any(|change| change.path == path);
            refuse_servers(&sources, |consent| {
                changed(&consent.file) || consent.files.keys().any(|file| changed(file))
            });
        }
        None => {}
    }
    Ok(sources)
}

/// Takes down that the person does not want the servers that the question they said no to was about: the next question
/// would be the same one.
fn refuse_servers(sources: &Sources, is_meant: impl Fn(&Consent) -> bool) {
    // What is wrong with the settings is told by whoever takes them.
    let Ok(settings) = sources.resolve() else { return };
    let mut agreements = Agreements::read(&servers::folder(&settings.place.data_dir.value));
    let asked: BTreeSet<&Consent> = settings.servers.values().filter_map(|server| server.consent.as_ref()).collect();
    for consent in asked.into_iter().filter(|consent| is_meant(consent)) {
        if agreements.is_open(consent) && create_data_dir(&settings.place.data_dir.value).is_ok() {
            // Where it can't be taken down they are asked about them.
            let _ = agreements.say(consent, ConsentAnswer::No);
        }
    }
}

/// Says what is not as it was trusted, where nobody is asked about it now.
fn note_changes(sources: &mut Sources) {
    let changes = sources.changes();
    let Some(folder) = sources.project.as_ref().map(|file| file.folder().to_owned()) else { return };
    let name = |change: &Changed| change.path.strip_prefix(&folder).unwrap_or(&change.path).display().to_string();
    let names: Vec<String> = changes.iter().map(name).collect();
    let have =
        if names.len() == 1 { "has changed since you trusted it" } else { "have changed since you trusted them" };
    let told = "this project may only tighten your settings until `windlass trust` has shown you how, and you agree";
    sources.notice(format!("{} {have}: {told}", names.join(", ")));
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

/// Asks whether a project is trusted whose folder the person has not listed.
pub(super) fn ask_about_new(sources: Sources) -> io::Result<Sources> {
    let Some(file) = sources.project.as_ref().map(|file| file.path().display().to_string()) else { return Ok(sources) };
    let question = "Trust this project? [y] yes, until these files change  [n] no, go on without all that: ";
    match ask(&all_of_it(&sources), question)? {
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
            refuse_servers(&sources, |_| true);
            Ok(sources)
        }
        None => Ok(sources),
    }
}

/// Everything that a yes to a new project covers: its files whole, as what loosens nothing today does once the person's
/// own settings are tighter; and last, next to the question, what of it loosens or starts something.
fn all_of_it(sources: &Sources) -> String {
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
            _ => writeln!(screen, "not understood: answer y or n")?,
        }
    }
}

/// A change as a person sees it.
fn shown(changed: &Changed) -> String {
    let Changed { path, before, now, text } = changed;
    let name = path.display();
    let difference = |now: &str| {
        let file = path.file_name().map_or(path.as_path(), Path::new).display().to_string();
        compare(before.as_ref().map(String::as_bytes), Some(now.as_bytes()), &file, WHOLE)
    };
    let told = match (before, now, text) {
        (_, Content::Unwatched, _) => {
            format!(
                "{name}, behind a server of this project, holds too much to be watched: a change there is not asked about.\n"
            )
        }
        (Some(_), Content::Digest(_), Some(text)) => {
            format!("{name}, which a server of this project starts, is not what you trusted:\n{}", difference(text))
        }
        (_, Content::Digest(_), _) => format!(
            "{name}, which a server of this project starts, is not what you trusted. What it held then was not kept: \
             read it before you agree.\n"
        ),
        (Some(_), Content::Text(now), _) => {
            format!("{name} has changed since you trusted this folder:\n{}", difference(now))
        }
        (None, Content::Text(now), _) => {
            format!("{name} was not there when you trusted this folder:\n{}", difference(now))
        }
    };
    told.lines().map(|line| harmless_line(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(before: Option<&str>, now: &str) -> String {
        let now = Content::Text(now.to_owned());
        shown(&Changed { path: "/p/windlass.toml".into(), before: before.map(str::to_owned), now, text: None })
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
        let folder = Changed { path: "/p/big".into(), before: None, now: Content::Unwatched, text: None };
        assert!(shown(&folder).contains("/p/big, behind a server of this project, holds too much"));
        assert!(!changed(Some("a"), "\u{1b}[2Jb").contains('\u{1b}'));
        let now = Content::Digest(windlass::store::hash_of(b"new"));
        let script = Changed { path: "/p/s.js".into(), before: Some("old\n".into()), now, text: Some("new\n".into()) };
        assert!(shown(&script).contains("-old\n+new\n"), "{}", shown(&script));
        let unkept = Changed { before: None, ..script };
        assert!(shown(&unkept).contains("What it held then was not kept"), "{}", shown(&unkept));
    }
}
