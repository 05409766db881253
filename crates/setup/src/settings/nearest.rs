//! Suggests a name for a misspelt one.

/// No valid name is nearly as long.
const LONGEST: usize = 60;

/// Returns the most similar valid name, if one is similar enough.
pub fn near<'a>(wrong: &str, right: &[&'a str]) -> Option<&'a str> {
    let length = wrong.chars().count();
    // With more than half of the letters wrong it is not a typo.
    let near = |name: &&&str| length <= LONGEST && strsim::damerau_levenshtein(wrong, name) <= length.max(2) / 2;
    right.iter().filter(near).min_by_key(|name| strsim::damerau_levenshtein(wrong, name)).copied()
}

/// A clause for a name that does not exist: the nearest valid one, or all of them.
pub fn nearest(wrong: &str, right: &[&str]) -> String {
    if let Some(name) = near(wrong, right) {
        return format!("did you mean {name:?}?");
    }
    // `day_limit` for `day_cost_limit`.
    let words: Vec<&str> = wrong.split('_').collect();
    let has_all = |name: &&&str| words.len() > 1 && words.iter().all(|word| name.split('_').any(|part| part == *word));
    let longer: Vec<String> = right.iter().filter(has_all).map(|name| format!("{name:?}")).collect();
    if longer.is_empty() {
        format!("what may stand here: {}", right.join(", "))
    } else {
        format!("did you mean {}?", longer.join(" or "))
    }
}
