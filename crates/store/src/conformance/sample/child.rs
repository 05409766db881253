//! The report of a child session.

use windlass_vocab::{CallId, ChildReported, EndReason, NanoMoney, Record, Spending, TextOrigin, Usage};

/// The report of the child at this position.
pub(super) fn reported(child: CallId) -> Record {
    ChildReported {
        child,
        session: "0198f3a0-0000-7000-8000-0000000000c1".parse().ok(),
        reason: EndReason::Completed,
        answer: "a.txt is sorted.".into(),
        changed: vec!["a.txt".into()],
        origins: vec![TextOrigin::Page { url: "https://example.com/a".into() }],
        usage: Usage { input: 120, output: 30, calls: 2, ..Usage::default() },
        spent: Spending { cost: NanoMoney(5_000), tokens: 150 },
    }
    .into()
}
