//! A small, cautious reader of shell command lines.
//!
//! It splits a line into simple commands if it is certain of every character: words,
//! quotes, `;`, `&`, `&&`, `|`, `||`, line breaks, `2>&1` and redirection to `/dev/null`. Anything
//! else (substitution, variables, other redirections, groups, keywords, assignments, comments) makes
//! the line opaque, and a person is asked about an opaque line.

use std::iter::Peekable;
use std::str::Chars;

use crate::word::Word;

/// The result of parsing a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParsedLine {
    /// The line consists of these simple commands, each a list of words, and nothing else.
    Clear(Vec<Vec<Word>>),
    /// The line contains something the parser is not certain of.
    Opaque,
}

/// Parses `line` into simple commands.
pub(crate) fn parse(line: &str) -> ParsedLine {
    let mut reader = LineParser { chars: line.chars().peekable(), word: None, words: Vec::new(), commands: Vec::new() };
    match reader.read() {
        Some(()) if !reader.commands.is_empty() => ParsedLine::Clear(reader.commands),
        Some(()) | None => ParsedLine::Opaque,
    }
}

struct LineParser<'a> {
    chars: Peekable<Chars<'a>>,
    word: Option<Word>,
    words: Vec<Word>,
    commands: Vec<Vec<Word>>,
}

/// `None` from any of these methods means that the parser is not certain.
impl LineParser<'_> {
    fn read(&mut self) -> Option<()> {
        while let Some(c) = self.chars.next() {
            match c {
                ' ' | '\t' => self.end_word()?,
                '\n' => self.end_command_if_any()?,
                ';' => self.end_command()?,
                '&' | '|' => {
                    self.chars.next_if_eq(&c);
                    self.end_command()?;
                }
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => match self.chars.next()? {
                    '\n' => {}
                    next => self.word().push_quoted(next),
                },
                '>' | '<' => self.redirection(c)?,
                '$' | '`' | '(' | ')' | '{' | '}' => return None,
                '#' if self.word.is_none() => return None,
                c if c.is_control() => return None,
                c => self.word().push(c),
            }
        }
        self.end_command_if_any()
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn single_quoted(&mut self) -> Option<()> {
        self.word().quote();
        loop {
            match self.chars.next()? {
                '\'' => return Some(()),
                c => self.word().push_quoted(c),
            }
        }
    }

    fn double_quoted(&mut self) -> Option<()> {
        self.word().quote();
        loop {
            match self.chars.next()? {
                '"' => return Some(()),
                '$' | '`' => return None,
                '\\' => match self.chars.next()? {
                    '\n' => {}
                    c @ ('$' | '`' | '"' | '\\') => self.word().push_quoted(c),
                    c => {
                        self.word().push_quoted('\\');
                        self.word().push_quoted(c);
                    }
                },
                c => self.word().push_quoted(c),
            }
        }
    }

    /// Parses the variants of `2>&1` and `>/dev/null`, and no other redirection.
    fn redirection(&mut self, direction: char) -> Option<()> {
        match self.word.take() {
            Some(word) if word.is_quoted() || !word.as_str().bytes().all(|b| b.is_ascii_digit()) => return None,
            Some(_) | None => {}
        }
        if direction == '>' {
            self.chars.next_if_eq(&'>');
            if self.chars.next_if_eq(&'&').is_some() {
                self.chars.next_if(char::is_ascii_digit)?;
                return self.at_boundary();
            }
        }
        while self.chars.next_if_eq(&' ').is_some() {}
        for expected in "/dev/null".chars() {
            self.chars.next_if_eq(&expected)?;
        }
        self.at_boundary()
    }

    fn at_boundary(&mut self) -> Option<()> {
        self.chars.peek().is_none_or(|c| " \t\n;&|".contains(*c)).then_some(())
    }

    fn end_word(&mut self) -> Option<()> {
        let Some(word) = self.word.take().map(Word::finished) else {
            return Some(());
        };
        // A quoted program name that looks like an assignment with a quoted value is too rare to distinguish the two.
        let is_no_program = || word.is_pattern() || is_grammar(word.as_str());
        if word.is_unclear() || self.words.is_empty() && is_no_program() {
            return None;
        }
        self.words.push(word);
        Some(())
    }

    fn end_command(&mut self) -> Option<()> {
        self.end_word()?;
        if self.words.is_empty() {
            return None;
        }
        self.commands.push(std::mem::take(&mut self.words));
        Some(())
    }

    fn end_command_if_any(&mut self) -> Option<()> {
        self.end_word()?;
        if self.words.is_empty() { Some(()) } else { self.end_command() }
    }
}

const KEYWORDS: &[&str] = &[
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select",
    "then", "time", "until", "while",
];

/// Whether a word, as the first of a command, is a keyword or an assignment rather than the program.
pub(crate) fn is_grammar(word: &str) -> bool {
    KEYWORDS.contains(&word) || word.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words of each command; `None` for an opaque line.
    fn words(line: &str) -> Option<Vec<Vec<String>>> {
        match parse(line) {
            ParsedLine::Clear(commands) => {
                Some(commands.iter().map(|words| words.iter().map(|word| word.as_str().to_owned()).collect()).collect())
            }
            ParsedLine::Opaque => None,
        }
    }

    fn clear(commands: &[&[&str]]) -> Option<Vec<Vec<String>>> {
        Some(commands.iter().map(|words| words.iter().map(|&word| word.to_owned()).collect()).collect())
    }

    // proves T8
    #[test]
    fn a_plain_line_is_taken_apart() {
        for (line, want) in [
            ("git status", clear(&[&["git", "status"]])),
            ("  git   status  ", clear(&[&["git", "status"]])),
            ("git status; rm -rf /", clear(&[&["git", "status"], &["rm", "-rf", "/"]])),
            ("a && b || c | d & e", clear(&[&["a"], &["b"], &["c"], &["d"], &["e"]])),
            ("a\nb\n\n", clear(&[&["a"], &["b"]])),
            ("git commit -m 'a; b'", clear(&[&["git", "commit", "-m", "a; b"]])),
            (r#"echo "a \"b\" c" d\;e"#, clear(&[&["echo", "a \"b\" c", "d;e"]])),
            ("g'i't push", clear(&[&["git", "push"]])),
            ("cargo test 2>&1 | tail -5", clear(&[&["cargo", "test"], &["tail", "-5"]])),
            ("cargo test >/dev/null 2>&1", clear(&[&["cargo", "test"]])),
            ("cargo test 2> /dev/null; ls", clear(&[&["cargo", "test"], &["ls"]])),
            ("ls *.rs", clear(&[&["ls", "*.rs"]])),
            ("sleep 1 &", clear(&[&["sleep", "1"]])),
            ("a \\\n b", clear(&[&["a", "b"]])),
            ("[ -f x ]", clear(&[&["[", "-f", "x", "]"]])),
        ] {
            assert_eq!(words(line), want, "{line}");
        }
    }

    // proves T8
    #[test]
    fn a_line_with_anything_uncertain_in_it_is_opaque() {
        for line in [
            "",
            " ",
            "echo $(rm x)",
            "echo `rm x`",
            "echo \"$(rm x)\"",
            "echo \"`rm x`\"",
            "echo $HOME",
            "git log > file",
            "git log >> file",
            "git log 2>file",
            "cat < file",
            "cat << E",
            "(rm x)",
            "{ rm x; }",
            "{rm,-rf,x}",
            "if true; then rm x; fi",
            "for x in a; do rm x; done",
            "! git x",
            "X=1 git x",
            "X='1' git x",
            "X\\\n=1 git x",
            "X=\"a b\" git x",
            "'X=1' git x",
            "'if' x",
            "a;;b",
            "a && && b",
            "; a",
            "| a",
            "git x # y",
            "echo 'open",
            "echo \"open",
            "a \\",
            "/bin/r* x",
            "git x >&file",
            "a >/dev/nullx",
            "a &> b",
            "diff <(a) <(b)",
            "a\u{0}b",
            "a\rb",
            "x2>&1y",
            "ls ~/'a b'",
            "ls ~'x'",
        ] {
            assert_eq!(parse(line), ParsedLine::Opaque, "{line:?}");
        }
    }

    #[test]
    fn a_long_line_is_read_in_no_time() {
        let _ = parse(&"a;".repeat(500_000));
    }
}
