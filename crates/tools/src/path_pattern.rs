//! Patterns of paths: `src/*`, `**/.env`, `secrets/`.
//!
//! A pattern is normalized like the path of a call: relative to the workspace, without `.` and `..`.
//! One that begins with `/` is compared with the absolute path. `*` stands for any run of
//! characters, in any number of folders; `**/` for any folders or none; a `/` at the end for everything
//! below. Other special characters of shells are refused rather than taken literally, because somebody would
//! rely on them; with `\` before it a special character is literal.
//!
//! In a rule that forbids, a pattern matches more, because the same file may be reached by other paths: everything
//! below the path it names, a folder if the pattern names everything in it, and all of these in any case of letters,
//! because some file systems ignore case.

use std::path::{Path, PathBuf};

use crate::flat_path::flatten;
use crate::path_glob::{Glob, GlobToken, PathText};

/// Why a path in a rule is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// A special character that shells know and rules do not.
    #[error(
        "`{0}` stands for nothing in a path: only `*` (any characters) and `**/` (any folders or none) do. Write one \
         rule for each path, or `\\{0}` if the name has it in it"
    )]
    Sign(char),
    /// The home folder.
    #[error("`~` stands for nothing in a path: write it relative to the workspace, or whole from `/` on")]
    Home,
    /// `..` after a star, where the parent folder is unknown.
    #[error("`..` behind a `*` leads nowhere: write the path without it")]
    Up,
}

/// A pattern of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    glob: Glob,
    /// The same in lower case, for rules that forbid.
    folded: Glob,
    /// The folder, in lower case, if the pattern names everything in it.
    folder: Option<Glob>,
}

const SLASH: GlobToken = GlobToken::Letter('/');

/// Characters that are literal after a backslash.
const ESCAPABLE: &str = r"\*?[]{}~";

/// Returns `path` as a pattern that matches nothing else.
pub(crate) fn escape(path: &str) -> String {
    let escaped = path.chars().flat_map(|c| (r"\*?[{".contains(c)).then_some('\\').into_iter().chain([c])).collect();
    if path.starts_with('~') { format!(r"\{escaped}") } else { escaped }
}

impl PathPattern {
    pub(crate) fn new(text: &str) -> Result<Self, PathFault> {
        let tokens = tokens(text)?;
        let mut parts: Vec<&[GlobToken]> = if tokens.first() == Some(&SLASH) { vec![&[]] } else { Vec::new() };
        for part in tokens.split(|token| *token == SLASH) {
            match (is(part, ".."), parts.last()) {
                _ if part.is_empty() || is(part, ".") => {}
                (true, Some(&[])) => {}
                (true, Some(above)) if above.contains(&GlobToken::Star) => return Err(PathFault::Up),
                (true, Some(above)) if !is(above, "..") => drop(parts.pop()),
                _ => parts.push(part),
            }
        }
        if tokens.last() == Some(&SLASH) {
            parts.push(&[GlobToken::Star]);
        }
        let folder = match parts.as_slice() {
            // A pattern of everything everywhere names no folder.
            [above @ .., last] if is_stars(last) && above.last().is_some_and(|part| !is_stars(part)) => {
                Some(Glob::new(fold(&joined(above))))
            }
            _ => None,
        };
        let tokens = joined(&parts);
        Ok(Self { folded: Glob::new(fold(&tokens)), glob: Glob::new(tokens), folder })
    }

    pub(crate) fn is_everything(&self) -> bool {
        is_stars(self.glob.tokens())
    }

    pub(crate) fn is_exactly(&self, text: &str) -> bool {
        is(self.glob.tokens(), text)
    }

    /// Returns the literal path in the pattern, without a leading `**/` and without the part for everything below it.
    pub(crate) fn literal_path(&self) -> Option<String> {
        let tokens = self.glob.tokens();
        let tokens = tokens.strip_prefix(&[GlobToken::Perhaps, GlobToken::Star, SLASH]).unwrap_or(tokens);
        let end = tokens.iter().rposition(|token| *token != GlobToken::Star).map_or(0, |last| last + 1);
        let tokens = if end < tokens.len() { tokens[..end].strip_suffix(&[SLASH])? } else { tokens };
        let letter = |token: &GlobToken| match token {
            GlobToken::Letter(c) => Some(*c),
            GlobToken::Star | GlobToken::Perhaps => None,
        };
        tokens.iter().map(letter).collect::<Option<String>>().filter(|path| !path.is_empty())
    }

    /// Whether the pattern matches that path in any folder.
    pub(crate) fn is_in_any_folder(&self) -> bool {
        self.glob.tokens().starts_with(&[GlobToken::Perhaps, GlobToken::Star, SLASH])
    }

    /// Whether the pattern allows this path of a workspace at `roots`.
    pub(crate) fn allows(&self, path: &PathText, roots: &[PathBuf]) -> bool {
        self.matches_at_roots(path, roots, |path| self.glob.matches(path))
    }

    /// Whether the pattern forbids an access to this path, which is in lower case, of a workspace at `roots`.
    pub(crate) fn forbids(&self, folded: &PathText, roots: &[PathBuf], extent: PathExtent) -> bool {
        self.matches_at_roots(folded, roots, |path| {
            if path == folded {
                self.forbids_here(path, extent)
            } else {
                self.forbids_here(&PathText::new(path.as_str().to_lowercase()), extent)
            }
        })
    }

    fn forbids_here(&self, path: &PathText, extent: PathExtent) -> bool {
        self.folded.matches_or_holds(path)
            || self.folder.as_ref().is_some_and(|folder| folder.matches_or_holds(path))
            || extent == PathExtent::WithAllBelow && self.folded.reaches_into(path.as_str())
    }

    /// Matches a pattern that begins with `/` against the absolute path, any other against the relative one.
    fn matches_at_roots(&self, path: &PathText, roots: &[PathBuf], fits: impl Fn(&PathText) -> bool) -> bool {
        if self.glob.tokens().first() != Some(&SLASH) || Path::new(path.as_str()).is_absolute() {
            return fits(path);
        }
        let whole = |root: &PathBuf| flatten(&root.join(path.as_str())).to_string_lossy().into_owned();
        roots.iter().any(|root| fits(&PathText::new(whole(root))))
    }
}

/// Which part of the tree at a path a call accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathExtent {
    /// The path alone.
    Itself,
    /// The path and everything that may be below it.
    WithAllBelow,
}

fn tokens(text: &str) -> Result<Vec<GlobToken>, PathFault> {
    if text == "~" || text.starts_with("~/") {
        return Err(PathFault::Home);
    }
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '*' => GlobToken::Star,
            '?' | '[' | '{' => return Err(PathFault::Sign(c)),
            '\\' => GlobToken::Letter(chars.next_if(|next| ESCAPABLE.contains(*next)).unwrap_or(c)),
            c => GlobToken::Letter(c),
        });
    }
    Ok(tokens)
}

/// Joins the components of a path; `**` before the last one means any folders or none.
fn joined(parts: &[&[GlobToken]]) -> Vec<GlobToken> {
    let mut joined = Vec::new();
    let Some((last, above)) = parts.split_last() else {
        return vec![GlobToken::Letter('.')];
    };
    for part in above {
        if part.len() > 1 && is_stars(part) {
            joined.extend([GlobToken::Perhaps, GlobToken::Star, SLASH]);
        } else {
            joined.extend_from_slice(part);
            joined.push(SLASH);
        }
    }
    // A path that is `/` alone has one empty component.
    joined.extend_from_slice(if parts.len() == 1 && last.is_empty() { &[SLASH] } else { last });
    joined
}

fn fold(tokens: &[GlobToken]) -> Vec<GlobToken> {
    let mut folded = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            GlobToken::Letter(c) => folded.extend(c.to_lowercase().map(GlobToken::Letter)),
            GlobToken::Star | GlobToken::Perhaps => folded.push(*token),
        }
    }
    folded
}

fn is_stars(part: &[GlobToken]) -> bool {
    !part.is_empty() && part.iter().all(|token| *token == GlobToken::Star)
}

fn is(part: &[GlobToken], text: &str) -> bool {
    part.iter().copied().eq(text.chars().map(GlobToken::Letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(pattern: &str, path: &str) -> bool {
        PathPattern::new(pattern).unwrap().allows(&PathText::new(path.into()), &roots())
    }

    fn forbids(pattern: &str, path: &str) -> bool {
        PathPattern::new(pattern).unwrap().forbids(&PathText::new(path.to_lowercase()), &roots(), PathExtent::Itself)
    }

    // proves X3
    #[test]
    fn a_path_is_spelled_out_but_for_the_folders_around_it() {
        for (pattern, path) in [
            ("secrets/", Some("secrets")),
            ("secrets/**", Some("secrets")),
            ("**/.Env", Some(".Env")),
            ("**/.github/workflows/", Some(".github/workflows")),
            (r"a\*b", Some("a*b")),
            ("/etc/x", Some("/etc/x")),
            ("*.pem", None),
            ("a/*/b", None),
            ("init*", None),
            ("**", None),
        ] {
            assert_eq!(PathPattern::new(pattern).unwrap().literal_path().as_deref(), path, "{pattern}");
        }
    }

    fn roots() -> [PathBuf; 2] {
        ["/port/me/Ship".into(), "/link".into()]
    }

    // proves T8: a pattern that looks as if it protects something does protect it
    #[test]
    fn a_path_is_meant_however_the_pattern_is_written() {
        for (pattern, path, want) in [
            ("**/.env", ".env", true),
            ("**/.env", "a/b/.env", true),
            ("**/.env", "x.env", false),
            ("**/*.rs", "a.rs", true),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/a/b.rs", true),
            ("src/**/*.rs", "srca.rs", false),
            ("src/**", "src/a/b", true),
            ("a/**/**/b", "a/b", true),
            ("**", ".env", true),
            ("src/*", "src/a/b", true),
            ("./.env", ".env", true),
            ("././a//b", "a/b", true),
            ("a/../.env", ".env", true),
            (".", ".", true),
            ("./", "a/b", true),
            ("sub/", "sub/a/b", true),
            ("sub/", "subs/a", false),
            ("/port/me/Ship/.env", ".env", true),
            ("/link/.env", ".env", true),
            ("/port/*/.env", ".env", true),
            ("/port/me/Ship/sub/", "sub/a", true),
            ("/port/me/Ship/**/.env", ".env", true),
            ("/port/me/Ship", ".", true),
            ("/port/me/other/.env", ".env", false),
            ("/port/me/Ship/*", "../out", false),
            ("/etc/*", "/etc/x", true),
            ("/..//etc/./x", "/etc/x", true),
            ("/", "/", true),
            ("../*", "../out", true),
            (r"app/\[id]/*", "app/[id]/x", true),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            (r"\~/x", "~/x", true),
            (r"a\b", r"a\b", true),
            ("*b*b", "ab", false),
        ] {
            assert_eq!(allows(pattern, path), want, "{pattern} on {path}");
            assert_eq!(forbids(pattern, path), want, "{pattern} on {path}");
        }
    }

    // proves T8
    #[test]
    fn a_folder_goes_with_all_that_is_in_it_where_it_is_forbidden() {
        for pattern in ["sub/", "sub/*", "./sub/**", "/link/sub/"] {
            assert!(forbids(pattern, "sub") && !allows(pattern, "sub"), "{pattern}");
        }
        assert!(forbids("**/.git/", "a/.git") && forbids("**/.git/", ".git"));
        assert!(!forbids("*/*", "sub"));
    }

    // proves X5: a file system may ignore case, and a folder includes its content
    #[test]
    fn what_is_forbidden_is_forbidden_in_any_case_and_with_all_below_it() {
        for (pattern, path) in [
            ("secrets", "secrets/a/key"),
            ("**/.env", "a/.ENV"),
            ("Secrets/", "secrets/key"),
            ("/port/me/Ship/Sub", "sUB/x"),
            ("/port/me", "anything"),
            ("ÄRGER/", "ärger/x"),
        ] {
            assert!(forbids(pattern, path) && !allows(pattern, path), "{pattern} on {path}");
        }
        assert!(!forbids("sec", "secrets/key") && !forbids("secrets/key", "secrets"));
    }

    // proves T8: a special character without a meaning is refused, so that nobody relies on it
    #[test]
    fn a_sign_that_stands_for_nothing_is_refused() {
        for (pattern, want) in [
            ("?env", PathFault::Sign('?')),
            ("[.]env", PathFault::Sign('[')),
            ("{.env,x}", PathFault::Sign('{')),
            ("~/x", PathFault::Home),
            ("*/../x", PathFault::Up),
        ] {
            assert_eq!(PathPattern::new(pattern), Err(want), "{pattern}");
        }
        for path in ["a*b", r"\*", "app/[id]/{x}?", "~/x", "~", "a~", "x y"] {
            assert!(PathPattern::new(&escape(path)).unwrap().is_exactly(path), "{path}: {}", escape(path));
        }
    }

    #[test]
    fn a_long_path_is_matched_in_no_time() {
        assert!(!forbids(&"**/*a".repeat(20), &"ab/".repeat(2_000)));
    }
}
