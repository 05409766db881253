//! Which sessions a clean-up archives, and which it deletes. The decision looks at rows alone; the caller carries it out
//! and leaves a session alone that a process holds.

use std::collections::{BTreeMap, BTreeSet};

use windlass_vocab::{SessionId, Timestamp};

use crate::SessionRow;

const DAY_MS: u64 = 86_400_000;

/// How long sessions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionRetention {
    /// A session that has not changed for this long is archived.
    pub archive_after_ms: u64,
    /// A session that has been archived for this long is deleted.
    pub delete_after_ms: u64,
}

impl Default for SessionRetention {
    /// Archived after 30 days, deleted 90 days after that.
    fn default() -> Self {
        Self { archive_after_ms: 30 * DAY_MS, delete_after_ms: 90 * DAY_MS }
    }
}

/// The sessions to archive: those that have not changed for long, are not pinned and have no open run. The session of a
/// plan's step stays with its parent.
#[must_use]
pub fn sessions_to_archive(rows: &[SessionRow], now: Timestamp, retention: SessionRetention) -> Vec<SessionId> {
    let families = Families::of(rows);
    let is_due = |row: &&SessionRow| {
        row.archived.is_none()
            && families.is_head(row)
            && families.may_be_put_away(row)
            && now.ms_since(families.updated(row)) >= retention.archive_after_ms
    };
    rows.iter().filter(is_due).map(|row| row.session).collect()
}

/// The sessions to delete: those that have been archived for long, with the sessions of their plans' steps, which come
/// right before their parent. A pinned one or one with an open run is never deleted.
#[must_use]
pub fn sessions_to_delete(rows: &[SessionRow], now: Timestamp, retention: SessionRetention) -> Vec<SessionId> {
    let families = Families::of(rows);
    let is_due = |row: &&SessionRow| {
        families.is_head(row)
            && families.may_be_put_away(row)
            // A process of an older version may have changed it since, and not taken it out of the archive.
            && row.archived.is_some_and(|at| now.ms_since(at.max(families.updated(row))) >= retention.delete_after_ms)
    };
    let due = rows.iter().filter(is_due);
    due.flat_map(|row| families.children(row).map(|child| child.session).chain([row.session])).collect()
}

/// Rows with the children of each, which are kept and deleted with it.
struct Families<'a> {
    known: BTreeSet<SessionId>,
    children: BTreeMap<SessionId, Vec<&'a SessionRow>>,
}

impl<'a> Families<'a> {
    fn of(rows: &'a [SessionRow]) -> Self {
        let mut children: BTreeMap<SessionId, Vec<&SessionRow>> = BTreeMap::new();
        for row in rows {
            if let Some((parent, _)) = row.parent() {
                children.entry(parent).or_default().push(row);
            }
        }
        Self { known: rows.iter().map(|row| row.session).collect(), children }
    }

    fn children(&self, row: &SessionRow) -> impl Iterator<Item = &'a SessionRow> {
        self.children.get(&row.session).into_iter().flatten().copied()
    }

    /// Whether the session has no parent, or one that is gone.
    fn is_head(&self, row: &SessionRow) -> bool {
        row.parent().is_none_or(|(parent, _)| !self.known.contains(&parent))
    }

    fn may_be_put_away(&self, row: &SessionRow) -> bool {
        let is_kept = |row: &SessionRow| row.pinned || row.status.is_open();
        !is_kept(row) && !self.children(row).any(is_kept)
    }

    /// When the session or one of its children last changed.
    fn updated(&self, row: &SessionRow) -> Timestamp {
        self.children(row).map(|child| child.updated).fold(row.updated, Timestamp::max)
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{SessionId, Timestamp, child_key};

    use super::{DAY_MS, SessionRetention, sessions_to_archive, sessions_to_delete};
    use crate::{SessionRow, SessionStatus};

    const LIMITS: SessionRetention = SessionRetention { archive_after_ms: 30 * DAY_MS, delete_after_ms: 90 * DAY_MS };

    fn id(n: u8) -> SessionId {
        SessionId(uuid::Uuid::from_u128(n.into()))
    }

    fn day(n: i64) -> Timestamp {
        Timestamp(n * 86_400_000)
    }

    /// A session that was last used on day 0.
    fn row(n: u8) -> SessionRow {
        SessionRow {
            session: id(n),
            owner: "ada".into(),
            key: format!("s{n}"),
            title: None,
            workspace: None,
            status: SessionStatus::Idle,
            created: day(0),
            updated: day(0),
            last_prompt: None,
            runs: 1,
            pinned: false,
            archived: None,
        }
    }

    fn child(n: u8, parent: u8) -> SessionRow {
        let call = "1.1.0".parse().unwrap();
        SessionRow { key: child_key(id(parent), call), ..row(n) }
    }

    // proves W3
    #[test]
    fn a_session_is_archived_once_it_has_not_changed_for_the_limit() {
        let rows = [row(1), SessionRow { updated: day(1), ..row(2) }, SessionRow { updated: day(99), ..row(3) }];
        let archived = |now| sessions_to_archive(&rows, now, LIMITS);
        assert_eq!(archived(Timestamp(day(30).0 - 1)), []);
        assert_eq!(archived(day(30)), [id(1)]);
        assert_eq!(archived(day(31)), [id(1), id(2)]);
        let short = SessionRetention { archive_after_ms: DAY_MS, ..LIMITS };
        assert_eq!(sessions_to_archive(&rows, day(2), short), [id(1), id(2)]);
    }

    // proves W3
    #[test]
    fn pinned_open_and_archived_sessions_are_not_archived() {
        let open = |n, status| SessionRow { status, ..row(n) };
        let rows = [
            SessionRow { pinned: true, ..row(1) },
            open(2, SessionStatus::Processing),
            open(3, SessionStatus::ToolLoop),
            open(4, SessionStatus::Waiting),
            open(5, SessionStatus::Failed),
            SessionRow { archived: Some(day(1)), ..row(6) },
        ];
        assert_eq!(sessions_to_archive(&rows, day(1_000), LIMITS), [id(5)]);
    }

    // proves W3
    #[test]
    fn an_archived_session_is_deleted_after_the_limit_and_a_pinned_one_never() {
        let archived = |n| SessionRow { archived: Some(day(30)), ..row(n) };
        let rows = [
            archived(1),
            SessionRow { pinned: true, ..archived(2) },
            SessionRow { status: SessionStatus::Waiting, ..archived(3) },
            row(4),
            SessionRow { updated: day(100), ..archived(5) },
        ];
        let deleted = |now| sessions_to_delete(&rows, now, LIMITS);
        assert_eq!(deleted(Timestamp(day(120).0 - 1)), []);
        assert_eq!(deleted(day(120)), [id(1)]);
        assert_eq!(deleted(day(190)), [id(1), id(5)]);
        assert_eq!(deleted(day(9_999)), [id(1), id(5)]);
        // A clock that went back deletes nothing.
        assert_eq!(deleted(day(-1)), []);
    }

    // proves W3, S3
    #[test]
    fn the_sessions_of_a_plans_steps_are_kept_and_deleted_with_their_parent() {
        let parent = SessionRow { archived: Some(day(30)), ..row(1) };
        let rows = [child(2, 1), parent.clone(), child(3, 1), child(4, 9)];
        assert_eq!(sessions_to_archive(&rows, day(60), LIMITS), [id(4)], "only the child whose parent is gone");
        assert_eq!(sessions_to_delete(&rows, day(500), LIMITS), [id(2), id(3), id(1)]);
        for kept in [
            SessionRow { status: SessionStatus::Waiting, ..child(2, 1) },
            SessionRow { pinned: true, ..child(2, 1) },
            SessionRow { updated: day(450), ..child(2, 1) },
        ] {
            let rows = [kept, parent.clone(), SessionRow { archived: None, ..row(7) }];
            assert_eq!(sessions_to_delete(&rows, day(500), LIMITS), []);
        }
    }
}
