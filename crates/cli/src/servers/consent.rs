//! What a person has agreed to (X2): per file of a project, the digest of the servers it named then.
//! Another digest is another question.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass::mcp::{Reach, ServerConfig, ServerName};
use windlass::tools::diff::{Limits, compare};
use windlass::tools::{Readers, write_whole};
use windlass::vocab::Hash;

use crate::folder_lock::lock_folder;
use crate::output::{harmless_line, quoted};
use crate::settings::{Consent, kept_texts};

const FILE: &str = "consent.json";
/// How many files are named before the rest is only counted.
const LISTED: usize = 8;

/// What was said to a file's servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    digest: Hash,
    answer: ConsentAnswer,
    /// What the files behind them held then, so that the next question can say which have changed.
    #[serde(default)]
    files: BTreeMap<PathBuf, Hash>,
}

/// What a person says to a project's servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConsentAnswer {
    /// They may start.
    Yes,
    /// They may start in the sandbox.
    InSandbox,
    /// They may not.
    No,
}

/// Everything agreed to and refused so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agreements {
    folder: PathBuf,
    said: BTreeMap<PathBuf, Said>,
}

impl Agreements {
    /// What is on record. What can't be read was not agreed to.
    pub(crate) fn read(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), said: said_in(folder) }
    }

    /// Whether a person agreed to exactly this.
    pub(crate) fn has(&self, consent: &Consent) -> bool {
        matches!(self.answer(consent), Some(ConsentAnswer::Yes | ConsentAnswer::InSandbox))
    }

    /// Whether a person agreed to exactly this in the sandbox alone.
    pub(crate) fn is_in_sandbox(&self, consent: &Consent) -> bool {
        self.answer(consent) == Some(ConsentAnswer::InSandbox)
    }

    /// Whether nobody was asked about exactly this.
    pub(crate) fn is_open(&self, consent: &Consent) -> bool {
        self.answer(consent).is_none()
    }

    /// Whether a person said no to exactly this.
    pub(crate) fn is_refused(&self, consent: &Consent) -> bool {
        self.answer(consent) == Some(ConsentAnswer::No)
    }

    fn answer(&self, consent: &Consent) -> Option<ConsentAnswer> {
        self.said.get(&consent.file).filter(|said| said.digest == consent.digest).map(|said| said.answer)
    }

    /// The files behind these servers that are not what they were when a person last answered.
    fn changed<'c>(&'c self, consent: &'c Consent) -> Vec<&'c Path> {
        let Some(said) = self.said.get(&consent.file).filter(|said| !said.files.is_empty()) else { return Vec::new() };
        let now = consent.files.iter().filter(|(path, hash)| said.files.get(*path) != Some(hash)).map(|(path, _)| path);
        let gone = said.files.keys().filter(|path| !consent.files.contains_key(*path));
        now.chain(gone).map(PathBuf::as_path).collect()
    }

    /// Which files an answer is about, for people, one line each.
    pub(crate) fn about(&self, consent: &Consent) -> Vec<String> {
        let (changed, folder) = (self.changed(consent), folder_of(consent));
        let since =
            (!changed.is_empty()).then(|| format!("  changed since the last answer: {}", listed(&changed, folder)));
        let differences = changed.iter().flat_map(|path| self.difference(consent, path));
        since.into_iter().chain(differences).chain(covered(consent.files.keys(), &consent.unwatched, folder)).collect()
    }

    /// How a file behind these servers differs from what it was, where that was kept.
    fn difference(&self, consent: &Consent, path: &Path) -> Vec<String> {
        let text = || {
            let said = self.said.get(&consent.file)?;
            let before = kept_texts::before(&self.folder, said.files.get(path)?)?;
            let now = kept_texts::now(path, consent.files.get(path)?)?;
            let name = path.file_name().map_or(path, Path::new).display().to_string();
            Some(compare(Some(before.as_bytes()), Some(now.as_bytes()), &name, Limits::WHOLE))
        };
        text().unwrap_or_default().lines().map(|line| format!("  {}", harmless_line(line))).collect()
    }

    /// Takes down what the person says to it, beside what other processes have taken down meanwhile.
    pub(crate) fn say(&mut self, consent: &Consent, answer: ConsentAnswer) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let _lock = lock_folder(&self.folder)?;
        self.said = said_in(&self.folder);
        let said = Said { digest: consent.digest, answer, files: consent.files.clone() };
        self.said.insert(consent.file.clone(), said);
        kept_texts::keep(&self.folder, &consent.files);
        write_whole(&self.folder.join(FILE), &serde_json::to_vec_pretty(&self.said)?, Readers::Owner)
    }
}

fn said_in(folder: &Path) -> BTreeMap<PathBuf, Said> {
    fs::read(folder.join(FILE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Which of the files behind servers an answer covers, for people: those that are watched, and what can't be.
pub(crate) fn covered<'p>(
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
    lines.map(|(head, paths, tail)| format!("  {head}{}{tail}", listed(&paths, folder))).collect()
}

/// Asks at the terminal, before anything else is shown. The end of input decides nothing.
pub(super) fn ask(
    agreements: &mut Agreements,
    consent: &Consent,
    servers: &BTreeMap<&ServerName, &ServerConfig>,
) -> io::Result<()> {
    let mut screen = io::stderr().lock();
    writeln!(screen, "{} wants to start or reach these MCP servers:", consent.file.display())?;
    for (name, config) in servers {
        for line in described(name, config) {
            writeln!(screen, "  {line}")?;
        }
    }
    for line in agreements.about(consent) {
        writeln!(screen, "{line}")?;
    }
    loop {
        write!(
            screen,
            "Use them? [y] yes, until one of these files changes  [s] the same, in the sandbox: they write here only, and have no \
             network  [n] no  [l] later: "
        )?;
        screen.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return writeln!(screen);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return agreements.say(consent, ConsentAnswer::Yes),
            "s" | "sandbox" => return agreements.say(consent, ConsentAnswer::InSandbox),
            "n" | "no" => return agreements.say(consent, ConsentAnswer::No),
            "l" | "later" => return Ok(()),
            _ => writeln!(screen, "not understood: answer y, s, n or l")?,
        }
    }
}

/// What is told where nobody can be asked.
pub(super) fn advice(
    agreements: &Agreements,
    consent: &Consent,
    servers: &BTreeMap<&ServerName, &ServerConfig>,
) -> String {
    let names: Vec<&str> = servers.keys().map(|name| name.as_str()).collect();
    let file = quoted(&consent.file.display().to_string());
    let changed = agreements.changed(consent);
    let since = if changed.is_empty() {
        String::new()
    } else {
        format!("; changed since you last answered: {}", listed(&changed, folder_of(consent)))
    };
    format!(
        "the MCP servers of {} are not used before you agree to them ({}){since}: `windlass mcp approve`, or name the \
         file with --mcp-config {file}",
        consent.file.display(),
        names.join(", ")
    )
}

fn folder_of(consent: &Consent) -> &Path {
    consent.file.parent().unwrap_or(Path::new("/"))
}

/// The first few of these files, named from this folder.
fn listed(paths: &[&Path], folder: &Path) -> String {
    let name = |path: &&Path| harmless_line(&path.strip_prefix(folder).unwrap_or(path).display().to_string());
    let mut names: Vec<String> = paths.iter().take(LISTED).map(name).collect();
    if paths.len() > LISTED {
        names.push(format!("and {} more", paths.len() - LISTED));
    }
    names.join(", ")
}

/// Everything a person should see before they agree: what is started or reached, and what goes along,
/// as it is written, so that `${VAR}` says which variable is handed over.
pub(crate) fn described(name: &ServerName, config: &ServerConfig) -> Vec<String> {
    let (reached, folder, kind, along) = match &config.reach {
        Reach::Stdio { command, args, env, cwd } => {
            let words: Vec<String> = std::iter::once(command).chain(args).map(|word| quoted(word)).collect();
            (words.join(" "), cwd.as_ref(), "with", env)
        }
        Reach::Http { url, headers, .. } => (url.clone(), None, "with the header", headers),
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

    fn consent(file: &str, files: &[(&str, &[u8])]) -> Consent {
        let files = files.iter().map(|(path, bytes)| (PathBuf::from(path), windlass::store::hash_of(bytes))).collect();
        let digest = windlass::store::hash_of(format!("{files:?}").as_bytes());
        Consent { file: file.into(), digest, files, unwatched: BTreeSet::new() }
    }

    // proves X2: no process loses the answer that another was given
    #[test]
    fn many_who_are_answered_at_once_all_find_their_answer_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = |writer: i32, turn: i32| format!("/{writer}/{turn}/.mcp.json");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let folder = dir.path();
                scope.spawn(move || {
                    let mut agreements = Agreements::read(folder);
                    for turn in 0..5 {
                        agreements.say(&consent(&file(writer, turn), &[]), ConsentAnswer::Yes).expect("taken down");
                    }
                });
            }
        });
        let agreements = Agreements::read(dir.path());
        for (writer, turn) in (0..4).flat_map(|writer| (0..5).map(move |turn| (writer, turn))) {
            assert!(agreements.has(&consent(&file(writer, turn), &[])), "{writer} {turn}");
        }
    }

    // proves X2: the person is told what is not as they agreed to it
    #[test]
    fn the_next_question_says_which_files_have_changed() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut agreements = Agreements::read(dir.path());
        let first = consent("/p/.mcp.json", &[("/p/a.py", b"1"), ("/p/b/c.py", b"1")]);
        assert!(!agreements.about(&first).concat().contains("changed"), "nobody has answered yet");
        agreements.say(&first, ConsentAnswer::Yes).expect("taken down");
        let mut second = consent("/p/.mcp.json", &[("/p/a.py", b"1"), ("/p/b/c.py", b"2")]);
        second.unwatched.insert("/p/big".into());
        let about = Agreements::read(dir.path()).about(&second);
        assert_eq!(
            about,
            [
                "  changed since the last answer: b/c.py",
                "  the answer is for what these hold now, not for what they load: a.py, b/c.py",
                "  too much to be watched: big; a change there is not asked about",
            ]
        );
        assert!(agreements.is_open(&second) && !agreements.is_open(&first));
    }

    // proves X2: a person sees how a script they agreed to has changed
    #[test]
    fn a_changed_script_is_shown_with_its_difference() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("server.js");
        let script = path.to_str().expect("a path");
        let asked = |text: &str| {
            fs::write(&path, text).expect("written");
            consent("/p/.mcp.json", &[(script, text.as_bytes())])
        };
        let mut agreements = Agreements::read(&dir.path().join("mcp"));
        agreements.say(&asked("one\ntwo\n"), ConsentAnswer::Yes).expect("taken down");
        let about = agreements.about(&asked("one\n2\u{1b}\n")).join("\n");
        assert!(about.contains("\n  -two\n  +2\u{fffd}\n"), "{about:?}");
    }
}
