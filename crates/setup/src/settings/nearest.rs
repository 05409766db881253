//! What a person probably meant.

/// No name of ours is nearly as long.
const LONGEST: usize = 60;

/// The right name this one is probably meant for, if it is near enough to any.
pub fn near<'a>(wrong: &str, right: &[&'a str]) -> Option<&'a str> {
    let length = wrong.chars().count();
    // Half the letters wrong is no longer a slip of the finger.
    let near = |name: &&&str| length <= LONGEST && strsim::damerau_levenshtein(wrong, name) <= length.max(2) / 2;
    right.iter().filter(near).min_by_key(|name| strsim::damerau_levenshtein(wrong, name)).copied()
}

/// A sentence part for a name that does not exist: the nearest right one, or all of them.
pub fn nearest(wrong: &str, right: &[&str]) -> String {
    match near(wrong, right) {
        Some(name) => format!("did you mean {name:?}?"),
        None => format!("what may stand here: {}", right.join(", ")),
    }
}
