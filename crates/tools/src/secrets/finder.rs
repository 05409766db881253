//! What finds secrets in texts; those of the secrets that were used last are kept. A server builds an agent for each request, nearly always with the same
//! secrets, and a finder takes 80 KiB and a good part of the
//! request's time to make.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use aho_corasick::{AhoCorasick, MatchKind};

/// What finds the secrets of a set, in all their forms.
pub(super) struct SecretForms {
    pub(super) names: BTreeSet<String>,
    pub(super) finder: AhoCorasick,
    /// The texts to find, and the placeholder of each.
    pub(super) forms: Vec<String>,
    pub(super) placeholders: Vec<String>,
    /// The length of the longest form.
    pub(super) longest: usize,
    /// Which bytes a form begins with.
    pub(super) first_bytes: [bool; 256],
}

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
