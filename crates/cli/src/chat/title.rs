//! A session's title: the beginning of its first message.

/// Most characters of a title.
const LONGEST: usize = 60;

/// Returns the first non-empty line of `text`; a long one is cut at a word.
pub(crate) fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let Some((end, _)) = line.char_indices().nth(LONGEST) else { return line.to_owned() };
    let cut = &line[..end];
    let word = cut.rfind(char::is_whitespace).filter(|at| cut[..*at].chars().count() > LONGEST / 2).unwrap_or(end);
    format!("{}…", cut[..word].trim_end())
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_title_is_the_first_line_cut_at_a_word() {
        assert_eq!(title("\n  mend the parser \nand more"), "mend the parser");
        let long = "please look at every file of this project and tell me what it is for";
        assert_eq!(title(long), "please look at every file of this project and tell me what…");
        assert_eq!(title(&"ß".repeat(61)), format!("{}…", "ß".repeat(60)));
        assert_eq!(title(" \n"), "");
    }
}
