//! The subject of a call, which the patterns of rules are matched against.
//!
//! A subject is a web address, a set of accesses to files ([`crate::access`]), or a text with parts: the simple
//! commands of a command line. A rule allows only if every part matches. A rule forbids if any part or *suspect*
//! matches; a suspect is a looser reading of the line, which may be wrong in the direction of caution. An opaque
//! subject is never allowed by a pattern with a star.

use std::collections::BTreeMap;
use std::path::Path;

use crate::address::Address;
use crate::command_line::{self, ParsedLine};
use crate::command_rules::{general_pattern, literal_words};
use crate::file_accesses::FileAccesses;
use crate::path_pattern;
use crate::rule::{BLANKS, Rule};
use crate::sandbox_use::SandboxUse;
use crate::suspects::Suspects;
use crate::text_pattern::escape;
use crate::uncertain_command::UncertainCommand;
use crate::word::{Word, command_text};

/// Whether the parts are the complete subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clarity {
    /// The parts are complete.
    Clear,
    /// There may be more than the parts.
    Opaque,
}

/// The subject of a call: rules' patterns are matched against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub(crate) whole: String,
    pub(crate) parts: Vec<String>,
    pub(crate) suspects: Vec<String>,
    /// Suspects in which some characters are uncertain.
    pub(crate) uncertain: Vec<UncertainCommand>,
    /// For each part with a risky prefix: how many of its first bytes an allow rule must contain literally.
    pub(crate) literal_prefixes: BTreeMap<String, usize>,
    pub(crate) clarity: Clarity,
    /// The pattern that would allow this and calls like it; `None` means any call of the tool.
    pub(crate) general: Option<String>,
    /// The web address, if the call is about one.
    pub(crate) address: Option<Address>,
    /// The accesses to files, if the call is about files.
    pub(crate) files: Option<FileAccesses>,
    /// How a command uses the sandbox.
    pub(crate) sandbox_use: SandboxUse,
}

impl About {
    /// A subject of one text.
    pub fn text(text: impl Into<String>) -> Self {
        let whole = text.into();
        Self::clear(whole.clone(), vec![whole])
    }

    fn clear(whole: String, parts: Vec<String>) -> Self {
        Self {
            whole,
            parts,
            suspects: Vec::new(),
            uncertain: Vec::new(),
            literal_prefixes: BTreeMap::new(),
            clarity: Clarity::Clear,
            general: None,
            address: None,
            files: None,
            sandbox_use: SandboxUse::Confined,
        }
    }

    /// A subject of several texts.
    #[must_use]
    pub fn texts(parts: Vec<String>) -> Self {
        Self::clear(parts.join(" "), parts)
    }

    /// The paths that a call names, and all its accesses to files. The general pattern covers the paths' common folder;
    /// for files directly in the workspace it covers only those files.
    pub(crate) fn files(named: Vec<String>, files: FileAccesses) -> Self {
        let general = match common_folder(&named) {
            Some(folder) => format!("{}/*", path_pattern::escape(&folder)),
            None => path_pattern::escape(&named.join(" ")),
        };
        Self { general: Some(general), files: Some(files), ..Self::texts(named) }
    }

    /// A web address. The general pattern covers the same host.
    #[cfg(feature = "fetch")]
    pub(crate) fn address(address: &Address) -> Self {
        let general = Some(format!("{}/*", address.origin()));
        Self { general, address: Some(address.clone()), ..Self::text(address.as_str()) }
    }

    /// The same command with this use of the sandbox.
    pub(crate) fn with_sandbox_use(self, sandbox_use: SandboxUse) -> Self {
        Self { sandbox_use, ..self }
    }

    /// A shell command line that runs in `folder`. A leading `cd` to that same folder (`cd FOLDER && cargo test`)
    /// changes nothing, so rules that allow the rest allow the line. A rule that forbids `cd` still forbids it.
    #[must_use]
    pub fn command_in(folder: &Path, line: &str) -> Self {
        let mut about = Self::command(line);
        let ParsedLine::Clear(commands) = command_line::parse(&about.whole) else { return about };
        if let Some((first, rest)) = commands.split_first()
            && !rest.is_empty()
            && stays_in(folder, first)
        {
            about.suspects.push(about.parts.remove(0));
            about.general = Some(common_pattern(rest).unwrap_or_else(|| escape(&about.whole)));
        }
        about
    }

    /// A shell command line.
    #[must_use]
    pub fn command(line: &str) -> Self {
        // Trim only the shell's blanks: to a shell any other whitespace is part of a word, at the end of a line too.
        let whole = line.trim_matches(BLANKS).to_owned();
        let Suspects { mut texts, uncertain } = Suspects::of(&whole);
        let commands = match command_line::parse(&whole) {
            ParsedLine::Clear(commands) => commands,
            ParsedLine::Opaque => {
                let general = Some(escape(&whole));
                let clear = Self::clear(whole, Vec::new());
                return Self { general, suspects: texts, uncertain, clarity: Clarity::Opaque, ..clear };
            }
        };
        let general = Some(common_pattern(&commands).unwrap_or_else(|| escape(&whole)));
        let (mut parts, mut spelled) = (Vec::new(), BTreeMap::new());
        for words in &commands {
            let part = command_text(words);
            match literal_words(words) {
                0 => {}
                count => drop(spelled.insert(part.clone(), command_text(&words[..count]).len())),
            }
            if words.iter().any(Word::needs_quotes) {
                texts.push(words.iter().map(Word::as_str).collect::<Vec<_>>().join(" "));
            }
            parts.push(part);
        }
        Self { general, suspects: texts, uncertain, literal_prefixes: spelled, ..Self::clear(whole, parts) }
    }

    /// Whether this allow rule covers this part.
    pub(crate) fn is_covered(&self, part: &str, rule: &Rule) -> bool {
        rule.covers(part) && self.literal_prefixes.get(part).is_none_or(|bytes| rule.has_literal_prefix(*bytes))
    }
}

/// Whether this command is a `cd` to `folder`, in which it runs.
fn stays_in(folder: &Path, words: &[Word]) -> bool {
    match words {
        [cd, to] => {
            let path = Path::new(to.as_str());
            cd.as_str() == "cd" && !to.is_pattern() && (path == Path::new(".") || path == folder)
        }
        [..] => false,
    }
}

/// Returns the deepest folder that contains all these paths, unless that is the workspace itself.
fn common_folder(paths: &[String]) -> Option<String> {
    let folder = |path: &String| Path::new(path).parent().map(Path::to_owned);
    let mut common = folder(paths.first()?)?;
    for path in paths {
        // A path in the workspace and one outside have no common folder, and `/` has no parent.
        while !folder(path)?.starts_with(&common) {
            if !common.pop() {
                return None;
            }
        }
    }
    common.into_os_string().into_string().ok().filter(|folder| !matches!(folder.as_str(), "" | "." | "/"))
}

/// Returns the pattern that allows each of these commands and similar ones, if there is one.
fn common_pattern(commands: &[Vec<Word>]) -> Option<String> {
    let mut patterns = commands.iter().map(|words| general_pattern(words));
    let first = patterns.next()??;
    patterns.all(|pattern| pattern.as_ref() == Some(&first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves T8: approving one file does not approve all files
    #[test]
    fn paths_generalise_to_their_folder_and_never_to_the_whole_workspace() {
        for (paths, want) in [
            (&["src/main.rs"][..], "src/*"),
            (&["src/a/b.rs"], "src/a/*"),
            (&["README.md"], "README.md"),
            (&["app/[id]/c"], r"app/\[id]/*"),
            (&["a*b/c"], r"a\*b/*"),
            (&["src/a/x", "src/b/y"], "src/*"),
            (&["src/a", "b"], "src/a b"),
            (&["a", "b"], "a b"),
            (&["../out"], "../*"),
            (&["."], "."),
            (&["/etc/x", "y"], "/etc/x y"),
            (&["y", "/etc/x"], "y /etc/x"),
            (&["/etc/x", "/etc/y"], "/etc/*"),
        ] {
            let about = About::files(paths.iter().map(|path| (*path).to_owned()).collect(), FileAccesses::default());
            assert_eq!(about.general.as_deref(), Some(want), "{paths:?}");
        }
    }

    // proves T8, X5: a `cd` to the current folder allows nothing more, and a rule can still forbid it
    #[test]
    fn going_to_the_folder_a_line_runs_in_is_no_part_of_it_but_still_suspect() {
        let about = About::command_in(Path::new("/work"), "cd /work && cargo test -p x");
        assert_eq!((about.parts, about.general.as_deref()), (vec!["cargo test -p x".into()], Some("cargo test *")));
        assert!(about.suspects.contains(&"cd /work".to_owned()), "{:?}", about.suspects);
        for line in ["cd /work", "cd /other && cargo test", "cargo test && cd /work", "cd $x && ls"] {
            assert_eq!(About::command_in(Path::new("/work"), line), About::command(line), "{line}");
        }
    }

    // proves T8, X5
    #[test]
    fn a_command_generalises_to_what_was_seen_of_it() {
        for (line, want) in [
            ("cargo test -p x", "cargo test *"),
            ("cargo --locked test", "cargo --locked test *"),
            ("cargo test && cargo test --doc", "cargo test *"),
            ("git status", "git status *"),
            ("git --no-pager diff HEAD~1", "git --no-pager diff *"),
            ("/usr/bin/git log -5", "/usr/bin/git log *"),
            ("gh pr view 5", "gh pr view *"),
            ("ls -l src", "ls *"),
            ("ls", "ls *"),
            ("grep 'a b' x", "grep *"),
        ] {
            assert_eq!(About::command(line).general.as_deref(), Some(want), "{line}");
        }
        for line in [
            "git add . && git commit -m 'a b'",
            "cargo test && git push",
            "cargo test 2>&1 | tail -5",
            "git push origin main",
            "git pull",
            "git checkout x",
            "git config --get x",
            "git -C . status",
            "git -c a=b status",
            "git x",
            "git",
            "git log --output=x",
            "git grep -O x",
            "cargo run -- x",
            "cargo +nightly test",
            "cargo test --config x",
            "cargo install x",
            "npm test",
            "npm run build",
            "python3 x.py",
            "node -e x",
            "make test",
            "awk x y",
            "sed -n 5p x",
            "tar tf x",
            "curl https://x/",
            "docker ps",
            "ssh x ls",
            "env ls",
            "xargs ls",
            "find . -name x",
            "sudo ls",
            "nice -n 5 ls",
            "timeout 5 ls",
            "sort -o x y",
            "rg --pre x y",
            "./run.sh x",
            "./git status",
            "bin/ls",
            "unheard-of x",
            "rm x",
            "/bin/rm x",
            "touch x",
            "cd x",
            "export X",
            "echo $(date)",
            "ls > files",
            "ls src/?.rs",
        ] {
            assert_eq!(About::command(line).general.as_deref(), Some(line), "{line}");
        }
        assert_eq!(About::command("rm *.o").general.as_deref(), Some(r"rm \*.o"));
    }
}
