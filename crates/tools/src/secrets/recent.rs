//! The finders of the secrets that were used last. A server builds an agent for each request, nearly always with the same
//! secrets, and a finder takes a millisecond and 80 KiB to make.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use aho_corasick::{AhoCorasick, MatchKind};

use super::SecretForms;

/// How many are kept: the secrets of the environment, with and without those of a few settings files.
const KEPT: usize = 4;

static RECENT: Mutex<VecDeque<Arc<SecretForms>>> = Mutex::new(VecDeque::new());

/// Returns the finder of these secrets, the one that is there already if they were used before. `None` where it can't be
/// made.
pub(super) fn shared(
    names: BTreeSet<String>,
    forms: Vec<String>,
    placeholders: Vec<String>,
) -> Option<Arc<SecretForms>> {
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same =
        |known: &Arc<SecretForms>| known.forms == forms && known.placeholders == placeholders && known.names == names;
    let known = recent.iter().position(is_same);
    let found = match known.and_then(|place| recent.remove(place)) {
        Some(found) => found,
        None => Arc::new(finder_of(names, forms, placeholders)?),
    };
    recent.push_front(Arc::clone(&found));
    recent.truncate(KEPT);
    Some(found)
}

fn finder_of(names: BTreeSet<String>, forms: Vec<String>, placeholders: Vec<String>) -> Option<SecretForms> {
    // Building fails only past 2³¹ states, that is for gigabytes of secrets.
    let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms).ok()?;
    let longest = forms.iter().map(String::len).max().unwrap_or(0);
    let mut first_bytes = [false; 256];
    forms.iter().filter_map(|form| form.bytes().next()).for_each(|byte| first_bytes[usize::from(byte)] = true);
    Some(SecretForms { names, finder, forms, placeholders, longest, first_bytes })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Secrets;

    // proves X1: agents with the same secrets share what finds them, and others do not
    #[test]
    fn the_same_secrets_have_one_finder() {
        let of = |name: &str, value: &str| Secrets::new([(name, value)]).inner.expect("a secret");
        let first = of("SHARED_KEY", "sk-shared-12345678");
        assert!(Arc::ptr_eq(&first, &of("SHARED_KEY", "sk-shared-12345678")));
        assert!(!Arc::ptr_eq(&first, &of("OTHER_KEY", "sk-shared-12345678")), "its placeholder is another");
        let other = Secrets::new([("SHARED_KEY", "sk-other-12345678")]);
        assert_eq!(other.scrub("sk-shared-12345678"), "sk-shared-12345678");
    }
}
