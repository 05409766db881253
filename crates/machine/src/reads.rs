//! The file reads of a run, to recognise one that repeats an earlier one (L11; see `repeated_read`).
//!
//! Reads are indexed by the hash of their request, in a form that is cheap to copy: every decision works on a copy of
//! the guards' observations, and a run may read thousands of times. The entries are in immutable layers that are only
//! merged: each is at least twice as long as the next, so there are few, and copies share them.

use std::sync::Arc;

use windlass_vocab::CallId;

/// A finished read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlierRead {
    /// The call.
    pub(crate) call: CallId,
    /// The hash of the request and its result.
    pub(crate) result: u64,
}

/// A layer: sorted by request hash, without duplicates.
type Layer = Arc<[(u64, EarlierRead)]>;

/// The reads, by the hash of their request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EarlierReads {
    /// Oldest and longest first.
    layers: Vec<Layer>,
}

impl EarlierReads {
    /// Returns the newest read with this request.
    pub(crate) fn get(&self, asked: u64) -> Option<EarlierRead> {
        self.layers.iter().rev().find_map(|layer| {
            let place = layer.binary_search_by_key(&asked, |(hash, _)| *hash).ok()?;
            layer.get(place).map(|(_, read)| *read)
        })
    }

    /// Adds a read; it replaces an earlier one with the same request.
    pub(crate) fn insert(&mut self, asked: u64, read: EarlierRead) {
        let mut fresh = vec![(asked, read)];
        while let Some(older) = self.layers.pop_if(|layer| layer.len() < 2 * fresh.len()) {
            fresh = merged(&older, &fresh);
        }
        self.layers.push(fresh.into());
    }

    /// Removes all reads.
    pub(crate) fn clear(&mut self) {
        self.layers.clear();
    }
}

/// Merges two layers; where both have an entry the newer wins.
fn merged(older: &[(u64, EarlierRead)], newer: &[(u64, EarlierRead)]) -> Vec<(u64, EarlierRead)> {
    let mut all = [newer, older].concat();
    // The sort is stable: of equal keys the newer entry comes first, and `dedup` keeps the first.
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
