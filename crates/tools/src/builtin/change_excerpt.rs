//! The answer to a change: the changed lines as they read now, with a little context, so that the model sees what it did
//! without another call. Short, because every model pays for it.

use std::fmt::Write as _;

use crate::Secrets;
use crate::cut::thousands;
use crate::shorten::shorten;

/// Most lines and characters that are shown, and lines of context on each side of a change.
const LINES: usize = 12;
const CHARS: usize = 600;
const AROUND: usize = 2;

/// Returns how the changed part of a file reads now: all of it if it is short. Secrets are replaced before lines are
/// compared and cut.
pub(super) fn change_excerpt(secrets: &Secrets, before: &str, after: &str) -> String {
    let seen = |text: &str| secrets.scrub(text).replace('\0', "␀").replace("\r\n", "\n");
    let (before, after) = (seen(before), seen(after));
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if new.is_empty() {
        return "It is empty now.".into();
    }
    if new.len() <= LINES && after.chars().count() <= CHARS {
        return format!("It reads now:\n{}", after.trim_end_matches('\n'));
    }
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - same;
    let same_end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let (from, to) = (same.saturating_sub(AROUND), (new.len() - same_end + AROUND).min(new.len()));
    let shown = shown_lines(&new[from.min(new.len() - 1)..to]);
    let last = from + shown.len();
    let mut text = format!(
        "Lines {} to {} of {} read now:\n{}",
        thousands(from + 1),
        thousands(last),
        thousands(new.len()),
        shown.join("\n")
    );
    if last < to {
        // Writing to a string never fails.
        let _ = write!(text, "\n[and {} more changed lines]", thousands(to - last));
    }
    text
}

/// Returns as many lines as there is room for, at least one; long ones are shortened.
fn shown_lines(lines: &[&str]) -> Vec<String> {
    let (mut shown, mut room) = (Vec::new(), CHARS);
    for line in lines.iter().take(LINES) {
        let line = shorten(line, CHARS / 3);
        let length = line.chars().count();
        if length > room && !shown.is_empty() {
            break;
        }
        room = room.saturating_sub(length);
        shown.push(line);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(before: &str, after: &str) -> String {
        change_excerpt(&Secrets::default(), before, after)
    }

    fn numbered(lines: std::ops::RangeInclusive<usize>) -> String {
        lines.map(|number| format!("line {number}\n")).collect()
    }

    // proves T10: the model sees what a change made
    #[test]
    fn a_short_file_is_shown_whole_and_of_a_long_one_the_changed_lines() {
        assert_eq!(now("a\n", "b\n"), "It reads now:\nb");
        assert_eq!(now("a\n", ""), "It is empty now.");
        let long = numbered(1..=40);
        let changed = long.replace("line 20\n", "twenty\n");
        assert_eq!(now(&long, &changed), "Lines 18 to 22 of 40 read now:\nline 18\nline 19\ntwenty\nline 21\nline 22");
        let added = format!("{long}new\n");
        assert_eq!(now(&long, &added), "Lines 39 to 41 of 41 read now:\nline 39\nline 40\nnew");
        let removed = long.replace("line 20\n", "");
        assert_eq!(now(&long, &removed), "Lines 18 to 21 of 39 read now:\nline 18\nline 19\nline 21\nline 22");
        let cut = long.replace("line 39\nline 40\n", "");
        assert_eq!(now(&long, &cut), "Lines 37 to 38 of 38 read now:\nline 37\nline 38");
    }

    // proves T10: a result stays short
    #[test]
    fn however_much_was_changed_little_is_shown() {
        let told = now("", &numbered(1..=5_000));
        assert!(told.ends_with("line 12\n[and 4,988 more changed lines]"), "{told}");
        let told = now("", &format!("{}\n", "x".repeat(100_000)));
        assert!(told.chars().count() < 300, "{}", told.chars().count());
        let wide = format!("{}\n", "y".repeat(190)).repeat(50);
        assert!(now("", &wide).chars().count() < 700);
    }

    // proves X1
    #[test]
    fn a_secret_is_not_shown() {
        let secrets = Secrets::new([("KEY", "sk-12345678901234567890")]);
        let told = change_excerpt(&secrets, "a\n", "key = sk-12345678901234567890\n");
        assert!(told.contains("⟦secret:KEY⟧") && !told.contains("sk-1234"), "{told}");
    }
}
