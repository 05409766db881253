//! Counts how often calls of a session had to be repaired, and why (T3).

use std::collections::BTreeMap;

use windlass_vocab::{Record, Repair};

/// The repairs in these records, counted by kind.
#[must_use]
pub fn repairs<'a>(records: impl IntoIterator<Item = &'a Record>) -> BTreeMap<Repair, u64> {
    let mut counts = BTreeMap::new();
    for record in records {
        if let Record::CallRequested(requested) = record {
            for repair in &requested.repairs {
                *counts.entry(*repair).or_default() += 1;
            }
        }
    }
    counts
}
