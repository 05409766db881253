//! The lines of a planner's reply that are steps, without the marks that models put around them.

use windlass_vocab::Json;

use crate::notes::joined_words;

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    /// It has a number, or is one that names several files.
    Numbered,
    /// It has a bullet; indented ones belong to the numbered line above.
    Bullet { indented: bool },
    /// It has no mark.
    Plain,
}

/// Returns the steps of a reply, as lines.
pub(super) fn step_lines(reply: &str) -> Vec<String> {
    if let Some(listed) = json_list(reply) {
        return listed;
    }
    let lines: Vec<(LineKind, String)> = reply.lines().filter_map(read_line).collect();
    let any = |wanted: fn(&LineKind) -> bool| lines.iter().any(|(kind, _)| wanted(kind));
    let (numbered, bullets) = (any(|kind| *kind == LineKind::Numbered), any(is_outer_bullet));
    let mut steps: Vec<String> = Vec::new();
    for (kind, text) in lines {
        match kind {
            LineKind::Bullet { indented: true } if numbered || bullets => match steps.last_mut() {
                Some(step) => *step += &format!("; {text}"),
                None => steps.push(text),
            },
            LineKind::Bullet { .. } if numbered => {}
            LineKind::Numbered | LineKind::Bullet { .. } => steps.push(text),
            // What stands around a list is no step, nor is a heading.
            LineKind::Plain if numbered || bullets || text.ends_with(':') => {}
            LineKind::Plain => steps.push(text),
        }
    }
    steps.retain(|step| !says_nothing(step));
    steps
}

const fn is_outer_bullet(kind: &LineKind) -> bool {
    matches!(kind, LineKind::Bullet { indented: false })
}

/// The word with which a planner says that nothing is to be planned.
fn says_nothing(step: &str) -> bool {
    let word = step.trim_matches(|c: char| !c.is_alphanumeric());
    word.is_empty() || word.eq_ignore_ascii_case("none")
}

/// The names under which an object of a JSON list has its step.
const STEP_KEYS: [&str; 5] = ["step", "description", "task", "action", "title"];

/// Returns the texts of a JSON list, or of the list in a JSON object, if the reply holds one.
fn json_list(reply: &str) -> Option<Vec<String>> {
    let (from, to) = (reply.find('[')?, reply.rfind(']')?);
    let value = Json::parse(reply.get(from..=to)?).ok()?.to_value();
    let texts = value
        .as_array()?
        .iter()
        .filter_map(|item| item.as_str().or_else(|| STEP_KEYS.iter().find_map(|key| item.get(*key)?.as_str())));
    let steps: Vec<String> = texts.map(joined_words).filter(|step| !says_nothing(step)).collect();
    (!steps.is_empty()).then_some(steps)
}

/// Returns how a line looks and what it says; `None` for one that says nothing.
fn read_line(line: &str) -> Option<(LineKind, String)> {
    let text = line.trim();
    if text.starts_with("```") || text.starts_with('#') {
        return None;
    }
    let indented = line.starts_with([' ', '\t']) && line.len() - line.trim_start().len() >= 2;
    let (kind, text) = match without_number(text).or_else(|| without_bullet(text).and_then(without_number)) {
        Some(rest) => (LineKind::Numbered, rest),
        None => match without_bullet(text) {
            Some(rest) => (LineKind::Bullet { indented }, rest),
            None => (LineKind::Plain, text),
        },
    };
    let text = text.strip_prefix("[ ]").or_else(|| text.strip_prefix("[x]")).unwrap_or(text).trim_start();
    // Marks of bold text, but not the `**/` of a pattern.
    let text = text.replace("**/", "\u{0}").replace("**", "").replace('\u{0}', "**/");
    let text = joined_words(&text);
    let kind = if super::for_each::begins(&text) && kind == LineKind::Plain { LineKind::Numbered } else { kind };
    (!text.is_empty()).then_some((kind, text))
}

/// Returns what follows `1.`, `1)`, `1:` or `Step 1:`.
fn without_number(text: &str) -> Option<&str> {
    let text = text.trim_start_matches("**");
    let word = text.get(..4).filter(|word| word.eq_ignore_ascii_case("step"));
    let rest = word.map_or(text, |_| text[4..].trim_start());
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = rest.get(digits..).filter(|_| (1..=3).contains(&digits))?;
    let after = after.strip_prefix(['.', ')', ':', '-'])?.trim_start_matches("**");
    after.is_empty().then_some(after).or_else(|| after.strip_prefix([' ', '\t'])).map(str::trim_start)
}

fn without_bullet(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(['-', '*', '•', '–', '+'])?;
    rest.strip_prefix([' ', '\t']).map(str::trim_start)
}
