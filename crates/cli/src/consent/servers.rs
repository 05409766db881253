//! Shows a person the MCP servers that a project configures, and asks for consent (X2).

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use windlass_mcp::{ServerConfig, ServerName, ServerTransport};
use windlass_setup::asking::ServersQuestion;
use windlass_setup::servers::{ConsentAnswer, ConsentAnswers, ServerNews};
use windlass_setup::settings::ServerConsent;
use windlass_tools::diff::{DiffLimits, compare};

use crate::output::advice::with_notice;
use crate::output::{harmless_line, quoted};

/// How many files are named; the rest is only counted.
const LISTED: usize = 8;

/// Asks at the terminal, before any other output. The end of input counts as no decision.
pub(super) fn ask(question: &ServersQuestion<'_>) -> io::Result<Option<ConsentAnswer>> {
    let ServersQuestion { consent, servers, agreements } = question;
    let mut screen = io::stderr().lock();
    writeln!(screen, "{} wants to start or reach these MCP servers:", consent.file.display())?;
    for (name, config) in *servers {
        for line in description_lines(name, config) {
            writeln!(screen, "  {line}")?;
        }
    }
    for line in about(agreements, consent) {
        writeln!(screen, "{line}")?;
    }
    drop(screen);
    let question = "Use them? [y] yes, until one of these files changes  [s] the same, in the sandbox: they write here only, \
                    and have no network  [n] no  [l] later: ";
    let answer = super::ask(question, "y, s, n or l", |line| match line {
        "y" | "yes" => Some(Some(ConsentAnswer::Yes)),
        "s" | "sandbox" => Some(Some(ConsentAnswer::InSandbox)),
        "n" | "no" => Some(Some(ConsentAnswer::No)),
        "l" | "later" => Some(None),
        _ => None,
    });
    Ok(answer?.flatten())
}

/// Returns the text of a server notice.
pub(crate) fn wording(news: &ServerNews) -> String {
    match news {
        ServerNews::Happened(notice) => with_notice(notice),
        ServerNews::NotAgreed { file, servers, changed } => not_agreed(file, servers, changed),
    }
}

fn not_agreed(file: &Path, servers: &[ServerName], changed: &[PathBuf]) -> String {
    let names: Vec<&str> = servers.iter().map(ServerName::as_str).collect();
    let changed: Vec<&Path> = changed.iter().map(PathBuf::as_path).collect();
    let since = if changed.is_empty() {
        String::new()
    } else {
        format!("; changed since you last answered: {}", list_files(&changed, folder_of(file)))
    };
    format!(
        "the MCP servers of {} are not used before you agree to them ({}){since}: `windlass mcp approve`, or name the \
         file with --mcp-config {}",
        file.display(),
        names.join(", "),
        quoted(&file.display().to_string())
    )
}

/// Returns which files the consent covers, one line each.
pub(crate) fn about(agreements: &ConsentAnswers, consent: &ServerConsent) -> Vec<String> {
    let (changed, folder) = (agreements.changed(consent), folder_of(&consent.file));
    let since =
        (!changed.is_empty()).then(|| format!("  changed since the last answer: {}", list_files(&changed, folder)));
    let differences = changed.iter().flat_map(|path| difference(agreements, consent, path));
    since
        .into_iter()
        .chain(differences)
        .chain(coverage_lines(consent.files.keys(), &consent.unwatched, folder))
        .collect()
}

/// Returns the diff of a file that these servers use, if its earlier content was kept.
fn difference(agreements: &ConsentAnswers, consent: &ServerConsent, path: &Path) -> Vec<String> {
    let Some((before, now)) = agreements.texts(consent, path) else { return Vec::new() };
    let name = path.file_name().map_or(path, Path::new).display().to_string();
    let text = compare(Some(before.as_bytes()), Some(now.as_bytes()), &name, DiffLimits::WHOLE);
    text.lines().map(|line| format!("  {}", harmless_line(line))).collect()
}

/// Returns which of the servers' files the consent covers: those that are watched, and those that can't be.
pub(crate) fn coverage_lines<'p>(
    files: impl IntoIterator<Item = &'p PathBuf>,
    unwatched: impl IntoIterator<Item = &'p PathBuf>,
    folder: &Path,
) -> Vec<String> {
    let files: Vec<&Path> = files.into_iter().map(PathBuf::as_path).collect();
    let unwatched: Vec<&Path> = unwatched.into_iter().map(PathBuf::as_path).collect();
    let lines = [
        ("the answer is for what these hold now, not for what they load: ", files, ""),
        ("too much to be watched: ", unwatched, "; a change there is not asked about"),
    ];
    let lines = lines.into_iter().filter(|(_, paths, _)| !paths.is_empty());
    lines.map(|(head, paths, tail)| format!("  {head}{}{tail}", list_files(&paths, folder))).collect()
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("/"))
}

/// Returns the first few of these files, relative to this folder.
fn list_files(paths: &[&Path], folder: &Path) -> String {
    let name = |path: &&Path| harmless_line(&path.strip_prefix(folder).unwrap_or(path).display().to_string());
    let mut names: Vec<String> = paths.iter().take(LISTED).map(name).collect();
    if paths.len() > LISTED {
        names.push(format!("and {} more", paths.len() - LISTED));
    }
    names.join(", ")
}

/// Returns everything a person should see before they consent: the command or URL, and the variables or headers passed
/// to it, unexpanded, so that `${VAR}` shows which variable is handed over.
pub(crate) fn description_lines(name: &ServerName, config: &ServerConfig) -> Vec<String> {
    let (reached, folder, kind, along) = match &config.reach {
        ServerTransport::Stdio { command, args, env, cwd } => {
            let words: Vec<String> = std::iter::once(command).chain(args).map(|word| quoted(word)).collect();
            (words.join(" "), cwd.as_ref(), "with", env)
        }
        ServerTransport::Http { url, headers, .. } => (url.clone(), None, "with the header", headers),
    };
    let folder = folder.map(|folder| format!("  in the folder {}", quoted(&folder.display().to_string())));
    let along = along.iter().map(|(key, value)| format!("  {kind} {key}={}", quoted(value)));
    let lines = std::iter::once(format!("{name}: {reached}")).chain(folder).chain(along);
    lines.map(|line| harmless_line(&line)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn consent(file: &str, files: &[(&str, &[u8])]) -> ServerConsent {
        let files = files.iter().map(|(path, bytes)| (PathBuf::from(path), windlass_store::hash_of(bytes))).collect();
        let digest = windlass_store::hash_of(format!("{files:?}").as_bytes());
        ServerConsent { file: file.into(), digest, files, unwatched: BTreeSet::new() }
    }

    // proves X2: the person learns which files changed since they consented
    #[test]
    fn the_next_question_says_which_files_have_changed() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut agreements = ConsentAnswers::read(dir.path());
        let first = consent("/p/.mcp.json", &[("/p/a.py", b"1"), ("/p/b/c.py", b"1")]);
        assert!(!about(&agreements, &first).concat().contains("changed"), "nobody has answered yet");
        agreements.record(&first, ConsentAnswer::Yes).expect("taken down");
        let mut second = consent("/p/.mcp.json", &[("/p/a.py", b"1"), ("/p/b/c.py", b"2")]);
        second.unwatched.insert("/p/big".into());
        let lines = about(&ConsentAnswers::read(dir.path()), &second);
        assert_eq!(
            lines,
            [
                "  changed since the last answer: b/c.py",
                "  the answer is for what these hold now, not for what they load: a.py, b/c.py",
                "  too much to be watched: big; a change there is not asked about",
            ]
        );
        assert!(agreements.is_open(&second) && !agreements.is_open(&first));
    }

    // proves X2: a person sees the diff of a script they had consented to
    #[test]
    fn a_changed_script_is_shown_with_its_difference() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("server.js");
        let script = path.to_str().expect("a path");
        let asked = |text: &str| {
            std::fs::write(&path, text).expect("written");
            consent("/p/.mcp.json", &[(script, text.as_bytes())])
        };
        let mut agreements = ConsentAnswers::read(&dir.path().join("mcp"));
        agreements.record(&asked("one\ntwo\n"), ConsentAnswer::Yes).expect("taken down");
        let about = about(&agreements, &asked("one\n2\u{1b}\n")).join("\n");
        assert!(about.contains("\n  -two\n  +2\u{fffd}\n"), "{about:?}");
    }
}
