//! A command with uncertain characters: where a shell replaces a pattern by file names (`git pu?h`), it may be another
//! command than it seems. Such a text is matched against the patterns of rules that forbid or ask, to find out whether
//! it may expand to a command that they match.

use crate::text_pattern::Pattern;
use crate::word::Word;

/// A text with gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UncertainCommand(Vec<UncertainToken>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UncertainToken {
    Char(char),
    /// Any characters of one word.
    InWord,
    /// Nothing, or a blank and [`UncertainToken::Anything`]: a pattern may expand to several names.
    MoreWords,
    Anything,
}

impl UncertainCommand {
    /// A text of which nothing is known.
    pub(crate) fn of_anything() -> Self {
        Self(vec![UncertainToken::Anything])
    }

    /// Returns `name`, the end of `program`, and the words after it as a text with gaps; `None` if all is certain.
    pub(crate) fn of(program: &Word, name: &str, words: &[&Word]) -> Option<Self> {
        if !program.is_pattern() && !words.iter().any(|word| word.is_pattern()) {
            return None;
        }
        let mut tokens = Vec::new();
        push_word(&mut tokens, program, program.as_str().len() - name.len());
        for word in words {
            tokens.push(UncertainToken::Char(' '));
            push_word(&mut tokens, word, 0);
        }
        Some(Self(tokens))
    }

    /// Whether some expansion of this text matches the pattern.
    pub(crate) fn may_match(&self, pattern: &Pattern) -> bool {
        // `git *` matches `git` as well.
        let alone = match pattern.pieces() {
            [first, last] if last.is_empty() => first.strip_suffix(' '),
            _ => None,
        };
        self.meets(pattern.pieces()) || alone.is_some_and(|alone| self.meets(&[alone.to_owned()]))
    }

    /// Whether some text is both an expansion of this one and a match of the pieces with anything between them.
    fn meets(&self, pieces: &[String]) -> bool {
        let first = pieces.first().map_or("", String::as_str);
        let differs = |(token, c): (&UncertainToken, char)| matches!(token, UncertainToken::Char(own) if *own != c);
        let certain = self.0.iter().take_while(|token| matches!(token, UncertainToken::Char(_)));
        if certain.zip(first.chars()).any(differs) {
            return false;
        }
        let mut wanted: Vec<Option<char>> = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            if index > 0 {
                wanted.push(None);
            }
            wanted.extend(piece.chars().map(Some));
        }
        // The tokens that may be next after each wanted character, as a set of positions.
        let mut next = self.skipping(vec![0]);
        for want in wanted {
            next = match want {
                Some(c) => self.skipping(next.into_iter().filter_map(|at| self.take(at, c)).collect()),
                // A star may skip any tokens from the first position reached on.
                None => next.first().map(|&first| (first..=self.0.len()).collect()).unwrap_or_default(),
            };
            if next.is_empty() {
                return false;
            }
        }
        next.last() == Some(&self.0.len())
    }

    /// Returns the position after `c`, if `c` may be next at `at`.
    fn take(&self, at: usize, c: char) -> Option<usize> {
        match self.0.get(at)? {
            UncertainToken::Char(own) => (*own == c).then_some(at + 1),
            UncertainToken::InWord => (c != ' ').then_some(at),
            UncertainToken::MoreWords => (c == ' ').then_some(at + 1),
            UncertainToken::Anything => Some(at),
        }
    }

    /// Returns the positions and those after tokens that may be empty there, sorted.
    fn skipping(&self, places: Vec<usize>) -> Vec<usize> {
        let mut all: Vec<usize> = Vec::with_capacity(places.len());
        for mut place in places {
            loop {
                all.push(place);
                place += match self.0.get(place) {
                    Some(UncertainToken::InWord | UncertainToken::Anything) => 1,
                    // Without a blank there are no more words.
                    Some(UncertainToken::MoreWords) => 2,
                    Some(UncertainToken::Char(_)) | None => break,
                };
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Adds the tokens of a word from the byte `start` on.
fn push_word(tokens: &mut Vec<UncertainToken>, word: &Word, start: usize) {
    let mut patterns = word.patterns().iter().copied().filter(|at| *at >= start).peekable();
    let is_pattern = patterns.peek().is_some();
    for (at, c) in word.as_str().char_indices().filter(|(at, _)| *at >= start) {
        if patterns.next_if_eq(&at).is_none() {
            tokens.push(UncertainToken::Char(c));
            continue;
        }
        tokens.push(UncertainToken::InWord);
        if c == '[' {
            break;
        }
    }
    if is_pattern {
        tokens.extend([UncertainToken::MoreWords, UncertainToken::Anything]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uncertain_command(line: &str) -> Option<UncertainCommand> {
        let words: Vec<Word> = line.split(' ').map(Word::uncertain).collect();
        let (first, rest) = words.split_first().unwrap();
        UncertainCommand::of(first, first.as_str().rsplit('/').next().unwrap(), &rest.iter().collect::<Vec<_>>())
    }

    // proves X5
    #[test]
    fn a_text_with_gaps_may_be_what_fits_into_them() {
        for (line, pattern, want) in [
            ("git pu?h", "git push *", true),
            ("git pu?h origin", "git push *", true),
            ("git pu[s]h", "git push *", true),
            ("git pu[", "git push *", false),
            ("git p*", "git push *", true),
            ("git *", "git push origin", true),
            ("git p*", "git push origin", true),
            ("git pull?", "git push *", false),
            ("git add *.rs", "git push *", false),
            ("git add *.rs", "*--force*", true),
            ("git add src/*.rs", "*--force*", true),
            ("git push origi?", "git push --force*", false),
            ("git push ?-force", "git push --force*", true),
            ("/bin/r?", "rm *", true),
            ("/b?n/ls", "rm *", false),
            ("/bin/r? -rf", "rm -rf *", true),
            ("/bin/ls r? x", "rm -rf *", false),
            ("r* x", "rm -rf *", true),
            ("gi[t] push", "git push *", true),
            ("?it push", "git push *", true),
            ("*.rs push", "git push *", false),
            ("* x", "git push *", true),
            ("ls *", "rm *", false),
            ("ls *", "*", true),
            ("ls *", "ls", false),
            ("ls *", "ls *", true),
            ("l*", "ls *", true),
        ] {
            let may = uncertain_command(line)
                .is_some_and(|uncertain_command| uncertain_command.may_match(&Pattern::new(pattern)));
            assert_eq!(may, want, "{line} against {pattern}");
        }
        assert!(UncertainCommand::of_anything().may_match(&Pattern::new("git push *")));
        assert_eq!(uncertain_command("git push"), None);
    }
}
