//! Patterns of paths: `src/*`, `**/.env`, `secrets/`.
//!
//! A pattern is made normal as the path of a call is: relative to the workspace, without `.` and `..`.
//! One that begins with `/` is held against where the workspace is. `*` stands for any run of
//! characters, in any number of folders; `**/` for any folders or none; a `/` at the end for everything
//! below. Other signs that shells know are refused rather than taken for letters, for somebody would rely
//! on them; with `\` before it a sign is a letter.

use std::path::{Path, PathBuf};

use crate::address::Side;
use crate::workspace::flatten;

/// What a path in a rule can't be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// A sign that shells know and rules do not.
    #[error(
        "`{0}` stands for nothing in a path: only `*` (any characters) and `**/` (any folders or none) do. Write one \
         rule for each path, or `\\{0}` if the name has it in it"
    )]
    Sign(char),
    /// The home folder.
    #[error("`~` stands for nothing in a path: write it relative to the workspace, or whole from `/` on")]
    Home,
    /// A way up from no certain folder.
    #[error("`..` behind a `*` leads nowhere: write the path without it")]
    Up,
}

/// Which paths are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    tokens: Vec<Token>,
    /// The folder it means everything in, if that is one.
    folder: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Letter(char),
    Star,
    /// The next two tokens, a star and a `/`, may be left out.
    Perhaps,
}

const SLASH: Token = Token::Letter('/');

/// Signs that are letters behind a backslash.
const SIGNS: &str = r"\*?[]{}~";

/// `path` as a pattern that matches nothing else.
pub(crate) fn escape(path: &str) -> String {
    let escaped = path.chars().flat_map(|c| (r"\*?[{".contains(c)).then_some('\\').into_iter().chain([c])).collect();
    if path.starts_with('~') { format!(r"\{escaped}") } else { escaped }
}

impl PathPattern {
    pub(crate) fn new(text: &str) -> Result<Self, PathFault> {
        let tokens = tokens(text)?;
        let mut parts: Vec<&[Token]> = if tokens.first() == Some(&SLASH) { vec![&[]] } else { Vec::new() };
        for part in tokens.split(|token| *token == SLASH) {
            match (is(part, ".."), parts.last()) {
                _ if part.is_empty() || is(part, ".") => {}
                (true, Some(&[])) => {}
                (true, Some(above)) if above.contains(&Token::Star) => return Err(PathFault::Up),
                (true, Some(above)) if !is(above, "..") => drop(parts.pop()),
                _ => parts.push(part),
            }
        }
        if tokens.last() == Some(&SLASH) {
            parts.push(&[Token::Star]);
        }
        let folder = match parts.as_slice() {
            [above @ .., last] if is_stars(last) => letters(&above.join(&SLASH)).filter(|above| !above.is_empty()),
            _ => None,
        };
        Ok(Self { tokens: joined(&parts), folder })
    }

    pub(crate) fn is_everything(&self) -> bool {
        is_stars(&self.tokens)
    }

    pub(crate) fn is_exactly(&self, text: &str) -> bool {
        is(&self.tokens, text)
    }

    /// Whether it means this path of a workspace that is at `roots`. What forbids everything in a folder
    /// forbids what is done to the folder itself.
    pub(crate) fn covers(&self, path: &str, roots: &[PathBuf], side: Side) -> bool {
        let covers = |path: &str| {
            let is_folder = || self.folder.as_deref() == Some(path);
            self.matches(path) || side == Side::Forbid && is_folder()
        };
        if self.tokens.first() == Some(&SLASH) && !Path::new(path).is_absolute() {
            roots.iter().any(|root| covers(&flatten(&root.join(path)).to_string_lossy()))
        } else {
            covers(path)
        }
    }

    /// All places in the pattern at once that the text so far may have led to.
    fn matches(&self, text: &str) -> bool {
        let mut at = vec![false; self.tokens.len() + 1];
        at[0] = true;
        self.pass_over(&mut at);
        for c in text.chars() {
            let mut next = vec![false; at.len()];
            for (i, token) in self.tokens.iter().enumerate().filter(|(i, _)| at[*i]) {
                match token {
                    Token::Letter(letter) if *letter == c => next[i + 1] = true,
                    Token::Star => next[i] = true,
                    Token::Letter(_) | Token::Perhaps => {}
                }
            }
            at = next;
            self.pass_over(&mut at);
        }
        at.last() == Some(&true)
    }

    /// What needs no character may be passed over.
    fn pass_over(&self, at: &mut [bool]) {
        for (i, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Star if at[i] => at[i + 1] = true,
                Token::Perhaps if at[i] => (at[i + 1], at[i + 3]) = (true, true),
                Token::Star | Token::Perhaps | Token::Letter(_) => {}
            }
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, PathFault> {
    if text == "~" || text.starts_with("~/") {
        return Err(PathFault::Home);
    }
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '*' => Token::Star,
            '?' | '[' | '{' => return Err(PathFault::Sign(c)),
            '\\' => Token::Letter(chars.next_if(|next| SIGNS.contains(*next)).unwrap_or(c)),
            c => Token::Letter(c),
        });
    }
    Ok(tokens)
}

/// The parts of a path as one, `**` on the way being any folders or none.
fn joined(parts: &[&[Token]]) -> Vec<Token> {
    let mut joined = Vec::new();
    let Some((last, above)) = parts.split_last() else {
        return vec![Token::Letter('.')];
    };
    for part in above {
        if part.len() > 1 && is_stars(part) {
            joined.extend([Token::Perhaps, Token::Star, SLASH]);
        } else {
            joined.extend_from_slice(part);
            joined.push(SLASH);
        }
    }
    // Of a path that is `/` alone only the nothing before it is left.
    joined.extend_from_slice(if parts.len() == 1 && last.is_empty() { &[SLASH] } else { last });
    joined
}

fn is_stars(part: &[Token]) -> bool {
    !part.is_empty() && part.iter().all(|token| *token == Token::Star)
}

fn is(part: &[Token], text: &str) -> bool {
    letters(part).is_some_and(|letters| letters == text)
}

/// The text that is meant, if it is one only.
fn letters(part: &[Token]) -> Option<String> {
    let letter = |token: &Token| match token {
        Token::Letter(c) => Some(*c),
        Token::Star | Token::Perhaps => None,
    };
    part.iter().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str, side: Side) -> bool {
        let roots = ["/port/me/ship".into(), "/link".into()];
        PathPattern::new(pattern).unwrap().covers(path, &roots, side)
    }

    // proves T8: a pattern that looks as if it protects something does
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
            ("/port/me/ship/.env", ".env", true),
            ("/link/.env", ".env", true),
            ("/port/*/.env", ".env", true),
            ("/port/me/ship/sub/", "sub/a", true),
            ("/port/me/ship/**/.env", ".env", true),
            ("/port/me/ship", ".", true),
            ("/port/me/other/.env", ".env", false),
            ("/port/me/ship/*", "../out", false),
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
            for side in [Side::Allow, Side::Forbid] {
                assert_eq!(covers(pattern, path, side), want, "{pattern} on {path}");
            }
        }
    }

    // proves T8
    #[test]
    fn a_folder_goes_with_all_that_is_in_it_where_it_is_forbidden() {
        for pattern in ["sub/", "sub/*", "./sub/**", "/link/sub/"] {
            assert!(covers(pattern, "sub", Side::Forbid) && !covers(pattern, "sub", Side::Allow), "{pattern}");
        }
        assert!(!covers("*/*", "sub", Side::Forbid));
    }

    // proves T8: nobody relies on a sign that stands for nothing
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
        assert!(!covers(&"**/*a".repeat(20), &"a/".repeat(2_000), Side::Forbid));
    }
}
