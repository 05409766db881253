//! The file reads of a run, so that one that repeats an earlier one is known (L11; `repeated_read` says what follows).
//!
//! What was read is kept by what was asked, in a form that is cheap to copy: every decision works on a copy of
//! what the guards have seen, and a run may read thousands of times. The entries lie in layers that are never
//! changed, only merged: each is at least twice as long as the next, so there are few, and a copy shares them.

use std::sync::Arc;

use windlass_vocab::CallId;

/// A read that has its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlierRead {
    /// The call.
    pub(crate) call: CallId,
    /// The hash of what was asked and what came of it.
    pub(crate) result: u64,
}

/// A layer: sorted by what was asked, which is there once.
type Layer = Arc<[(u64, EarlierRead)]>;

/// The reads, by the hash of what they asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EarlierReads {
    /// The oldest and longest first.
    layers: Vec<Layer>,
}

impl EarlierReads {
    /// The newest read that asked this.
    pub(crate) fn get(&self, asked: u64) -> Option<EarlierRead> {
        self.layers.iter().rev().find_map(|layer| {
            let place = layer.binary_search_by_key(&asked, |(hash, _)| *hash).ok()?;
            layer.get(place).map(|(_, read)| *read)
        })
    }

    /// Adds a read; from now on it is the one that asked this.
    pub(crate) fn insert(&mut self, asked: u64, read: EarlierRead) {
        let mut fresh = vec![(asked, read)];
        while let Some(older) = self.layers.pop_if(|layer| layer.len() < 2 * fresh.len()) {
            fresh = merged(&older, &fresh);
        }
        self.layers.push(fresh.into());
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.layers.clear();
    }
}

/// Both layers as one; where both have an entry the newer counts.
fn merged(older: &[(u64, EarlierRead)], newer: &[(u64, EarlierRead)]) -> Vec<(u64, EarlierRead)> {
    let mut all = [newer, older].concat();
    // Stable: of two that are equal the newer stays in front, and the first of equals is kept.
    all.sort_by_key(|(hash, _)| *hash);
    all.dedup_by_key(|(hash, _)| *hash);
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{ProptestConfig, proptest};
    use windlass_vocab::{CallId, RunId, TurnId};

    use super::{EarlierRead, EarlierReads};

    fn call(index: u32) -> EarlierRead {
        EarlierRead { call: CallId { run: RunId(1), turn: TurnId(1), index }, result: u64::from(index) }
    }

    #[test]
    fn a_copy_shares_what_was_read_however_much_it_is() {
        let mut reads = EarlierReads::default();
        for index in 0..10_000u32 {
            reads.insert(u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15), call(index));
        }
        assert!(reads.layers.len() <= 14, "{} layers", reads.layers.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn reads_answer_as_a_map_would(asked: Vec<u8>, forgets_at: u8) {
            // proves L11
            let (mut reads, mut map) = (EarlierReads::default(), BTreeMap::new());
            for (index, asked) in (0u32..).zip(asked) {
                if asked == forgets_at {
                    reads.clear();
                    map.clear();
                } else {
                    reads.insert(asked.into(), call(index));
                    map.insert(u64::from(asked), call(index));
                }
            }
            for asked in 0..=255 {
                assert_eq!(reads.get(asked), map.get(&asked).copied());
            }
        }
    }
}
