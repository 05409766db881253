//! Reads the front matter of a SKILL.md: the lines between two `---`, of which `name` and `description` are used.
//!
//! Front matter is YAML. Only what skills need of it is understood: keys at the beginning of a line, with a value that
//! is plain or quoted text, or a block (`|`, `>`). The values of other keys are passed over, whatever they are.

use std::iter::Peekable;

/// The most characters of a description that are listed.
const MOST_DESCRIPTION: usize = 1_024;
/// The most characters of a name.
const MOST_NAME: usize = 64;

/// What the front matter says of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SkillHeader {
    pub(super) name: String,
    /// On one line.
    pub(super) description: String,
}

/// Why the front matter of a skill can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    /// The file does not begin with it.
    #[error("SKILL.md does not begin with front matter (a line `---`)")]
    Absent,
    /// It has no end.
    #[error("the front matter of SKILL.md has no end (a second line `---`)")]
    Unclosed,
    /// A line is not a key with a value.
    #[error("line {line} of SKILL.md is not `key: value`")]
    Line {
        /// The line, from 1.
        line: usize,
    },
    /// The value of a key that is needed is not text.
    #[error("line {line} of SKILL.md: {key:?} must be text on one line or a block")]
    Value {
        /// The line, from 1.
        line: usize,
        /// The key.
        key: &'static str,
    },
    /// A key that is needed appears twice.
    #[error("line {line} of SKILL.md: {key:?} is there twice")]
    Twice {
        /// The line, from 1.
        line: usize,
        /// The key.
        key: &'static str,
    },
    /// A key that is needed is missing or empty.
    #[error("the front matter of SKILL.md has no {key:?}")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// The name is not of the form that names have.
    #[error("the name {name:?} must be 1 to 64 lower-case letters, digits and hyphens")]
    Name {
        /// The name.
        name: String,
    },
}

/// Returns the name and description in the front matter of `text`.
pub(super) fn skill_header(text: &str) -> Result<SkillHeader, FrontMatterError> {
    let mut header = HeaderLines::of(text)?;
    let (mut name, mut description) = (None, None);
    while let Some((line, content)) = header.lines.next() {
        if is_blank(content) {
            continue;
        }
        let (key, value) = key_and_value(content).ok_or(FrontMatterError::Line { line })?;
        let (key, slot) = match key {
            "name" => ("name", &mut name),
            "description" => ("description", &mut description),
            _ => {
                header.pass_value();
                continue;
            }
        };
        let text = header.scalar(value).ok_or(FrontMatterError::Value { line, key })?;
        if slot.replace(text).is_some() {
            return Err(FrontMatterError::Twice { line, key });
        }
    }
    let wanted = |slot: Option<String>, key| {
        let text = slot.map(|text| one_line(&text)).filter(|text| !text.is_empty());
        text.ok_or(FrontMatterError::Missing { key })
    };
    let (name, description) = (wanted(name, "name")?, wanted(description, "description")?);
    if !is_name(&name) {
        let name = name.chars().take(MOST_NAME).collect();
        return Err(FrontMatterError::Name { name });
    }
    Ok(SkillHeader { name, description: shortened(description) })
}

/// Whether this is a name of a skill.
fn is_name(name: &str) -> bool {
    let fits = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    (1..=MOST_NAME).contains(&name.len()) && name.chars().all(fits)
}

/// Returns the text without line breaks and control characters: the index has one line for each skill.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MOST_DESCRIPTION) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text,
    }
}

/// The lines of the front matter, with their numbers.
struct HeaderLines<'t> {
    lines: Peekable<std::vec::IntoIter<(usize, &'t str)>>,
}

impl<'t> HeaderLines<'t> {
    fn of(text: &'t str) -> Result<Self, FrontMatterError> {
        let mut lines = (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim_end));
        if lines.next().is_none_or(|(_, first)| first != "---") {
            return Err(FrontMatterError::Absent);
        }
        let mut inside = Vec::new();
        for (number, line) in lines {
            if line == "---" || line == "..." {
                return Ok(Self { lines: inside.into_iter().peekable() });
            }
            inside.push((number, line));
        }
        Err(FrontMatterError::Unclosed)
    }

    /// Passes over the value of a key that is not used: lines that are indented, or items of a list.
    fn pass_value(&mut self) {
        let belongs = |line: &str| line.is_empty() || line.starts_with([' ', '\t']) || line.starts_with('-');
        while self.lines.next_if(|(_, line)| belongs(line)).is_some() {}
    }

    /// Returns the indented lines that follow, trimmed.
    fn indented(&mut self) -> Vec<&'t str> {
        let mut lines = Vec::new();
        while let Some((_, line)) = self.lines.next_if(|(_, line)| line.is_empty() || line.starts_with([' ', '\t'])) {
            lines.push(line.trim());
        }
        lines
    }

    /// Returns the text of a value that begins with `value`; `None` if it is something else than text.
    fn scalar(&mut self, value: &str) -> Option<String> {
        let rest = self.indented();
        match value.chars().next() {
            Some('|' | '>') => {
                let is_marker = value[1..].chars().all(|character| matches!(character, '+' | '-' | '1'..='9'));
                is_marker.then(|| rest.join("\n"))
            }
            Some(quote @ ('"' | '\'')) => {
                let whole = std::iter::once(value).chain(rest).collect::<Vec<_>>().join(" ");
                quoted(&whole[1..], quote)
            }
            Some('[' | '{' | '&' | '*' | '!' | '%' | '@' | '`') => None,
            Some(_) | None => {
                let lines = std::iter::once(value).chain(rest).map(without_comment);
                Some(lines.collect::<Vec<_>>().join(" "))
            }
        }
    }
}

fn is_blank(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

/// Splits a line into its key and the beginning of the value.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key =
        !key.is_empty() && key.chars().all(|character| character.is_ascii_alphanumeric() || "_-.".contains(character));
    let is_separated = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_separated).then(|| (key, value.trim()))
}

fn without_comment(line: &str) -> &str {
    if line.starts_with('#') {
        return "";
    }
    line.split_once(" #").map_or(line, |(text, _)| text.trim_end())
}

/// Returns the text up to the closing quote; `None` if there is none, or something follows it.
fn quoted(text: &str, quote: char) -> Option<String> {
    let (mut value, mut characters) = (String::new(), text.chars());
    while let Some(character) = characters.next() {
        match character {
            '\\' if quote == '"' => value.push(escaped(characters.next()?)?),
            '\'' if quote == '\'' && characters.as_str().starts_with('\'') => {
                characters.next();
                value.push('\'');
            }
            closing if closing == quote => {
                let after = characters.as_str().trim();
                return (after.is_empty() || after.starts_with('#')).then_some(value);
            }
            other => value.push(other),
        }
    }
    None
}

/// Returns the character behind a backslash; `None` for an escape that is not understood.
fn escaped(character: char) -> Option<char> {
    match character {
        'n' | 't' | 'r' => Some(' '),
        '"' | '\\' | '/' | ' ' => Some(character),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(lines: &str) -> Result<SkillHeader, FrontMatterError> {
        skill_header(&format!("---\n{lines}\n---\nBody.\n"))
    }

    // proves C8
    #[test]
    fn name_and_description_are_read_in_every_form_that_skills_use() {
        for (lines, description) in [
            ("name: pdf\ndescription: Reads PDF files.", "Reads PDF files."),
            ("description: 'It''s for PDF.' # a note\nname: \"pdf\"", "It's for PDF."),
            ("name: pdf\ndescription: \"Say \\\"aye\\\".\"", "Say \"aye\"."),
            ("name: pdf\ndescription: >-\n  Reads PDF\n  files.\nlicense: MIT", "Reads PDF files."),
            ("name: pdf\ndescription: |\n  One.\n\n  Two.", "One. Two."),
            ("name: pdf\ndescription: Use it: for PDF\n  and more.", "Use it: for PDF and more."),
            ("# a comment\n\nname: pdf\nallowed-tools:\n- Read\n- Bash\nmetadata:\n  name: no\ndescription: D.", "D."),
            ("name: pdf\r\ndescription: D.\r", "D."),
            ("name: pdf # the name\ndescription: é\u{7}é", "é é"),
        ] {
            let want = SkillHeader { name: "pdf".into(), description: description.into() };
            assert_eq!(header(lines), Ok(want), "{lines}");
        }
        assert_eq!(
            skill_header("\u{feff}---\nname: a\ndescription: D.\n...\n").map(|header| header.name),
            Ok("a".into())
        );
        let long = header(&format!("name: pdf\ndescription: {}", "é".repeat(2_000))).expect("it is cut");
        assert_eq!(long.description.chars().count(), MOST_DESCRIPTION + 1);
    }

    // proves C8: broken front matter is said, with its line
    #[test]
    fn front_matter_that_is_broken_is_refused_with_the_reason() {
        let missing = |key| FrontMatterError::Missing { key };
        let value = |line, key| FrontMatterError::Value { line, key };
        for (lines, error) in [
            ("name: pdf", missing("description")),
            ("name: pdf\ndescription:", missing("description")),
            ("name: pdf\ndescription: ''", missing("description")),
            ("description: D.", missing("name")),
            ("name pdf\ndescription: D.", FrontMatterError::Line { line: 2 }),
            ("name: pdf\n- a list\ndescription: D.", FrontMatterError::Line { line: 3 }),
            ("name: [pdf]\ndescription: D.", value(2, "name")),
            ("name: pdf\ndescription: \"no end", value(3, "description")),
            ("name: pdf\ndescription: \"\\x41\"", value(3, "description")),
            ("name: pdf\ndescription: 'a' b", value(3, "description")),
            ("name: pdf\nname: pdg\ndescription: D.", FrontMatterError::Twice { line: 3, key: "name" }),
        ] {
            assert_eq!(header(lines), Err(error), "{lines}");
        }
        for name in ["PDF", "a b", "../../etc", "a/b", "..", "naïve", &"a".repeat(65)] {
            let refused = header(&format!("name: {name}\ndescription: D."));
            assert!(matches!(refused, Err(FrontMatterError::Name { .. })), "{name}: {refused:?}");
        }
        assert_eq!(skill_header(""), Err(FrontMatterError::Absent));
        assert_eq!(skill_header("# A skill\n"), Err(FrontMatterError::Absent));
        assert_eq!(skill_header("---\nname: a\ndescription: D.\n"), Err(FrontMatterError::Unclosed));
    }
}
