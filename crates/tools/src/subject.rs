//! What a rule's pattern is matched against.
//!
//! A subject is a web address, what is done to files ([`crate::access`]), or a text with parts: the simple
//! commands of a command line. Allowing takes a match of every part; forbidding takes a match of any part or *suspect*, a looser reading
//! that may be wrong in the direction of caution. A subject that is not understood is never allowed
//! by a pattern with a star.

use std::path::Path;

use crate::access::Files;
use crate::address::Address;
use crate::command_line::{self, Reading};
use crate::path_pattern;
use crate::sandbox::Reach;
use crate::suspects::{RUNNERS, suspects};
use crate::text_pattern::escape;

/// Whether the parts are all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clarity {
    /// They are.
    Clear,
    /// There may be more to it.
    Opaque,
}

/// What a rule's pattern is matched against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub(crate) whole: String,
    pub(crate) parts: Vec<String>,
    pub(crate) suspects: Vec<String>,
    pub(crate) clarity: Clarity,
    /// The pattern that would allow this and calls like it; `None` means any call of the tool.
    pub(crate) general: Option<String>,
    /// The web address it is, if it is one.
    pub(crate) address: Option<Address>,
    /// What is done to files, if that is what the call is about.
    pub(crate) files: Option<Files>,
    /// How far a command reaches.
    pub(crate) reach: Reach,
}

impl Subject {
    /// One text.
    pub fn text(text: impl Into<String>) -> Self {
        let whole = text.into();
        Self::clear(whole.clone(), vec![whole])
    }

    fn clear(whole: String, parts: Vec<String>) -> Self {
        Self {
            whole,
            parts,
            suspects: Vec::new(),
            clarity: Clarity::Clear,
            general: None,
            address: None,
            files: None,
            reach: Reach::Inside,
        }
    }

    /// Several texts.
    #[must_use]
    pub fn texts(parts: Vec<String>) -> Self {
        Self::clear(parts.join(" "), parts)
    }

    /// The paths a call names, and all it does to files. Calls like it are those in the same folder, and below the
    /// folder of the workspace itself those on the same files.
    pub(crate) fn files(named: Vec<String>, files: Files) -> Self {
        let general = match common_folder(&named) {
            Some(folder) => format!("{}/*", path_pattern::escape(&folder)),
            None => path_pattern::escape(&named.join(" ")),
        };
        Self { general: Some(general), files: Some(files), ..Self::texts(named) }
    }

    /// A web address. Calls like it are those of the same host.
    pub(crate) fn address(address: &Address) -> Self {
        let general = Some(format!("{}/*", address.origin()));
        Self { general, address: Some(address.clone()), ..Self::text(address.as_str()) }
    }

    /// The same command, reaching that far.
    pub(crate) fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// A shell's command line.
    #[must_use]
    pub fn command(line: &str) -> Self {
        let whole = line.trim().to_owned();
        let suspects = suspects(&whole);
        match command_line::read(&whole) {
            Reading::Clear(commands) => Self {
                parts: commands.iter().map(|words| words.join(" ")).collect(),
                general: Some(generalise(&commands).unwrap_or_else(|| escape(&whole))),
                suspects,
                clarity: Clarity::Clear,
                address: None,
                files: None,
                reach: Reach::Inside,
                whole,
            },
            Reading::Opaque => Self {
                parts: Vec::new(),
                general: Some(escape(&whole)),
                suspects,
                clarity: Clarity::Opaque,
                address: None,
                files: None,
                reach: Reach::Inside,
                whole,
            },
        }
    }
}

/// The deepest folder that all of these are in, if it is not the workspace itself.
fn common_folder(paths: &[String]) -> Option<String> {
    let folder = |path: &String| Path::new(path).parent().map(Path::to_owned);
    let mut common = folder(paths.first()?)?;
    for path in paths {
        // What is in the workspace and what is outside have no folder in common, and `/` has none above it.
        while !folder(path)?.starts_with(&common) {
            if !common.pop() {
                return None;
            }
        }
    }
    common.into_os_string().into_string().ok().filter(|folder| !matches!(folder.as_str(), "" | "." | "/"))
}

/// Programs that destroy whatever they are given, or run it as a matter of course: allowing one of them,
/// or of [`RUNNERS`], with any arguments would allow everything.
const TOO_BROAD: &[&str] = &["chmod", "chown", "dd", "find", "kill", "killall", "mv", "pkill", "rm"];

/// `cargo *` for any number of cargo commands.
fn generalise(commands: &[Vec<String>]) -> Option<String> {
    let program = commands.first()?.first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let same = commands.iter().all(|words| words.first() == Some(program));
    let is_too_broad = TOO_BROAD.contains(&name) || RUNNERS.contains(&name);
    (same && !is_too_broad).then(|| format!("{} *", escape(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves T8: a yes to one file is no yes to all
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
            let subject = Subject::files(paths.iter().map(|path| (*path).to_owned()).collect(), Files::default());
            assert_eq!(subject.general.as_deref(), Some(want), "{paths:?}");
        }
    }

    // proves T8
    #[test]
    fn a_command_generalises_to_its_program_unless_that_would_allow_everything() {
        for (line, want) in [
            ("cargo test -p x", "cargo *"),
            ("git add . && git commit -m 'a b'", "git *"),
            ("cargo test && git push", "cargo test && git push"),
            ("rm *.o", r"rm \*.o"),
            ("sudo ls", "sudo ls"),
            ("nice -n 5 ls", "nice -n 5 ls"),
            ("timeout 5 ls", "timeout 5 ls"),
            ("/bin/rm x", "/bin/rm x"),
            ("echo $(date)", "echo $(date)"),
            ("ls > files", "ls > files"),
        ] {
            assert_eq!(Subject::command(line).general.as_deref(), Some(want), "{line}");
        }
    }
}
