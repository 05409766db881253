//! Matches letters and stars, in time bounded by their lengths.
//!
//! A path that matches a pattern contains every pair of neighbouring letters that the pattern contains. The pairs are
//! compared first, as bits, so that checking a call against hundreds of rules takes microseconds.

/// A token of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobToken {
    Letter(char),
    /// Any run of characters.
    Star,
    /// The next two tokens, a star and a `/`, may be left out.
    Perhaps,
}

/// The set of pairs of neighbouring bytes in a text, several pairs to a bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BytePairs([u64; 4]);

impl BytePairs {
    fn add(&mut self, text: &str) {
        for pair in text.as_bytes().windows(2) {
            let bit = u8::wrapping_add(pair[0].wrapping_mul(37), pair[1].wrapping_mul(101));
            self.0[usize::from(bit >> 6)] |= 1 << (bit & 63);
        }
    }

    fn has(&self, all: &Self) -> bool {
        self.0.iter().zip(&all.0).all(|(own, wanted)| wanted & !own == 0)
    }
}

/// A path, ready to be matched with many patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathText {
    text: String,
    pairs: BytePairs,
}

impl PathText {
    pub(crate) fn new(text: String) -> Self {
        let mut pairs = BytePairs::default();
        pairs.add(&text);
        Self { text, pairs }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    tokens: Vec<GlobToken>,
    /// The letters before the first star.
    prefix: String,
    /// The letters after the last star, if there is a star.
    suffix: Option<String>,
    /// The pairs that every match contains.
    pairs: BytePairs,
}

impl Glob {
    pub(crate) fn new(tokens: Vec<GlobToken>) -> Self {
        let letter = |token: &GlobToken| match token {
            GlobToken::Letter(c) => Some(*c),
            GlobToken::Star | GlobToken::Perhaps => None,
        };
        let prefix = tokens.iter().map_while(letter).collect();
        let suffix = after_last_star(&tokens).map(|from| tokens[from..].iter().filter_map(letter).collect());
        let pairs = pairs(&tokens);
        Self { tokens, prefix, suffix, pairs }
    }

    pub(crate) fn tokens(&self) -> &[GlobToken] {
        &self.tokens
    }

    pub(crate) fn matches(&self, text: &PathText) -> bool {
        let PathText { text, pairs } = text;
        match &self.suffix {
            None => *text == self.prefix,
            Some(suffix) => {
                pairs.has(&self.pairs)
                    && text.starts_with(&self.prefix)
                    && text.ends_with(suffix.as_str())
                    && GlobMatch::through(self, text).is_at_end()
            }
        }
    }

    /// Whether the pattern matches this path or one of its parent folders.
    pub(crate) fn matches_or_holds(&self, path: &PathText) -> bool {
        let PathText { text, pairs } = path;
        match &self.suffix {
            None => text.strip_prefix(&self.prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            Some(_) => pairs.has(&self.pairs) && text.starts_with(&self.prefix) && self.reaches_the_end(text),
        }
    }

    fn reaches_the_end(&self, path: &str) -> bool {
        let mut walk = GlobMatch::new(self);
        let is_folder = |(at, c)| {
            let ends = c == '/' && at > 0 && walk.is_at_end();
            walk.step(c);
            ends
        };
        path.char_indices().any(is_folder) || walk.is_at_end()
    }

    /// Whether the pattern may match something below this folder.
    pub(crate) fn reaches_into(&self, folder: &str) -> bool {
        let common = self.prefix.len().min(folder.len());
        self.prefix.as_bytes()[..common] == folder.as_bytes()[..common]
            && GlobMatch::through(self, &format!("{folder}/")).may_go_on()
    }
}

/// All positions in a pattern that the text read so far may have led to.
struct GlobMatch<'g> {
    tokens: &'g [GlobToken],
    at: Vec<bool>,
    next: Vec<bool>,
}

impl<'g> GlobMatch<'g> {
    fn new(glob: &'g Glob) -> Self {
        let next = vec![false; glob.tokens.len() + 1];
        let mut at = next.clone();
        at[0] = true;
        let mut walk = Self { tokens: &glob.tokens, at, next };
        walk.pass_over();
        walk
    }

    fn through(glob: &'g Glob, text: &str) -> Self {
        let mut walk = Self::new(glob);
        text.chars().for_each(|c| walk.step(c));
        walk
    }

    fn step(&mut self, c: char) {
        self.next.fill(false);
        for (i, token) in self.tokens.iter().enumerate().filter(|(i, _)| self.at[*i]) {
            match token {
                GlobToken::Letter(letter) if *letter == c => self.next[i + 1] = true,
                GlobToken::Star => self.next[i] = true,
                GlobToken::Letter(_) | GlobToken::Perhaps => {}
            }
        }
        std::mem::swap(&mut self.at, &mut self.next);
        self.pass_over();
    }

    /// Adds the positions after tokens that may match nothing.
    fn pass_over(&mut self) {
        for (i, token) in self.tokens.iter().enumerate() {
            match token {
                GlobToken::Star if self.at[i] => self.at[i + 1] = true,
                GlobToken::Perhaps if self.at[i] => (self.at[i + 1], self.at[i + 3]) = (true, true),
                GlobToken::Star | GlobToken::Perhaps | GlobToken::Letter(_) => {}
            }
        }
    }

    fn is_at_end(&self) -> bool {
        self.at.last() == Some(&true)
    }

    /// Whether some continuation of the text can match to the end.
    fn may_go_on(&self) -> bool {
        self.at[..self.tokens.len()].contains(&true)
    }
}

/// Returns where the letters after the last star begin. The `/` of a star that may be left out is not one of
/// them.
fn after_last_star(tokens: &[GlobToken]) -> Option<usize> {
    let (mut at, mut after) = (0, None);
    while let Some(token) = tokens.get(at) {
        at += match token {
            GlobToken::Letter(_) | GlobToken::Star => 1,
            GlobToken::Perhaps => 3,
        };
        if !matches!(token, GlobToken::Letter(_)) {
            after = Some(at);
        }
    }
    after
}

/// Returns the pairs in every run of letters that can't be left out.
fn pairs(tokens: &[GlobToken]) -> BytePairs {
    let (mut pairs, mut run, mut at) = (BytePairs::default(), String::new(), 0);
    while let Some(token) = tokens.get(at) {
        match token {
            GlobToken::Letter(c) => run.push(*c),
            GlobToken::Star | GlobToken::Perhaps => {
                pairs.add(&run);
                run.clear();
            }
        }
        at += if *token == GlobToken::Perhaps { 3 } else { 1 };
    }
    pairs.add(&run);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `*` is a star, `+` a star with a `/` that may be left out.
    fn glob(text: &str) -> Glob {
        let tokens = text.chars().flat_map(|c| match c {
            '*' => vec![GlobToken::Star],
            '+' => vec![GlobToken::Perhaps, GlobToken::Star, GlobToken::Letter('/')],
            c => vec![GlobToken::Letter(c)],
        });
        Glob::new(tokens.collect())
    }

    // proves X5
    #[test]
    fn what_may_be_below_a_folder_is_known_without_looking() {
        for (pattern, folder, want) in [
            ("a/b/*", "a", true),
            ("a/b", "a", true),
            ("a/b", "a/b", false),
            ("a/b", "b", false),
            ("ab/c", "a", false),
            ("+.env", "src", true),
            ("src/+x", "src/a/b", true),
            ("src/+x", "lib", false),
            ("*", "a", true),
            ("é/x", "é", true),
            ("é/x", "ê", false),
        ] {
            assert_eq!(glob(pattern).reaches_into(folder), want, "{pattern} into {folder}");
        }
    }

    // proves T8
    #[test]
    fn beginnings_and_ends_that_overlap_are_no_match() {
        for (pattern, text, want) in [
            ("ab*ba", "aba", false),
            ("ab*ba", "abba", true),
            ("+a", "a", true),
            ("+a", "b/a", true),
            ("+a", "ba", false),
            ("x/+a", "x/a", true),
            ("x/+a", "x/a/a", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(glob(pattern).matches(&PathText::new(text.into())), want, "{pattern} on {text}");
        }
    }
}
