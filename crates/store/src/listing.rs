//! The list of an owner's sessions in pages: pinned ones first, then the most recently changed. A page is read from the
//! rows alone, never from a journal.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use windlass_vocab::{SessionId, Timestamp};

use crate::SessionRow;

/// The number of rows of a page, unless the caller chooses another.
const PAGE: NonZeroU32 = NonZeroU32::MIN.saturating_add(49);

/// Which of an owner's sessions to list, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionQuery {
    /// Only sessions with this text in their title, key, last prompt or folder, in any letter case. Blank text finds
    /// all.
    pub search: Option<String>,
    /// Whether archived sessions are listed.
    pub archived: ArchivedFilter,
    /// Whether the sessions of a plan's steps are listed.
    pub children: ChildFilter,
    /// Where the page before this one ended; `None` for the first page.
    pub after: Option<SessionCursor>,
    /// The most rows of a page.
    pub limit: NonZeroU32,
}

impl Default for SessionQuery {
    fn default() -> Self {
        let (archived, children) = (ArchivedFilter::LeftOut, ChildFilter::LeftOut);
        Self { search: None, archived, children, after: None, limit: PAGE }
    }
}

/// Whether archived sessions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ArchivedFilter {
    /// Only the others are.
    #[default]
    LeftOut,
    /// Nothing else is.
    Only,
    /// They are listed among the others.
    Included,
}

/// Whether sessions are listed that another session started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChildFilter {
    /// Only those whose parent is gone: nobody would find them otherwise.
    #[default]
    LeftOut,
    /// They are listed among the others.
    Included,
}

/// One page of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionList {
    /// The sessions, in order.
    pub rows: Vec<SessionRow>,
    /// Where the next page starts; `None` if this is the last one.
    pub next: Option<SessionCursor>,
}

impl SessionList {
    /// Cuts the rows, which are one more than the limit if there is a next page.
    pub(crate) fn cut(mut rows: Vec<SessionRow>, limit: NonZeroU32) -> Self {
        let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| has_more).map(SessionCursor::of);
        Self { rows, next }
    }
}

/// A position in the list. It stays valid when sessions change: a session that moves to the front meanwhile is not
/// listed again. As text it can be handed to a client and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionCursor {
    // The list is in descending order of these fields.
    pub(crate) pinned: bool,
    pub(crate) updated: Timestamp,
    pub(crate) session: SessionId,
}

impl SessionCursor {
    /// The position of a row: a page after it starts with the next row.
    #[must_use]
    pub const fn of(row: &SessionRow) -> Self {
        Self { pinned: row.pinned, updated: row.updated, session: row.session }
    }
}

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", u8::from(self.pinned), self.updated.0, self.session)
    }
}

/// The text is no position in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no position in a list of sessions")]
pub struct ParseCursorError;

impl FromStr for SessionCursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        let (pinned, rest) = text.split_once('.').ok_or(ParseCursorError)?;
        let (updated, session) = rest.split_once('.').ok_or(ParseCursorError)?;
        let pinned = match pinned {
            "0" => false,
            "1" => true,
            _ => return Err(ParseCursorError),
        };
        let updated = Timestamp(updated.parse().map_err(|_| ParseCursorError)?);
        Ok(Self { pinned, updated, session: session.parse().map_err(|_| ParseCursorError)? })
    }
}

/// The columns of a row that decide whether it is listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilteredColumns<'a> {
    pub(crate) key: &'a str,
    pub(crate) title: Option<&'a str>,
    pub(crate) workspace: Option<&'a str>,
    pub(crate) last_prompt: Option<&'a str>,
    pub(crate) archived: Option<Timestamp>,
}

impl<'a> From<&'a SessionRow> for FilteredColumns<'a> {
    fn from(row: &'a SessionRow) -> Self {
        Self {
            key: &row.key,
            title: row.title.as_deref(),
            workspace: row.workspace.as_deref(),
            last_prompt: row.last_prompt.as_deref(),
            archived: row.archived,
        }
    }
}

/// The part of a query that looks at one row at a time, prepared for many rows. The parent of a child session is not
/// its business.
pub(crate) struct RowFilter {
    archived: ArchivedFilter,
    /// The searched text in lower case.
    search: Option<String>,
}

impl RowFilter {
    pub(crate) fn new(query: &SessionQuery) -> Self {
        let search = query.search.as_deref().map(str::trim).filter(|text| !text.is_empty());
        Self { archived: query.archived, search: search.map(str::to_lowercase) }
    }

    pub(crate) fn admits(&self, columns: FilteredColumns<'_>) -> bool {
        let FilteredColumns { key, title, workspace, last_prompt, archived } = columns;
        let is_wanted = match self.archived {
            ArchivedFilter::LeftOut => archived.is_none(),
            ArchivedFilter::Only => archived.is_some(),
            ArchivedFilter::Included => true,
        };
        let Some(search) = &self.search else { return is_wanted };
        let texts = [Some(key), title, workspace, last_prompt];
        is_wanted && texts.into_iter().flatten().any(|text| text.to_lowercase().contains(search.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::{ArchivedFilter, FilteredColumns, ParseCursorError, RowFilter, SessionCursor, SessionQuery};
    use windlass_vocab::Timestamp;

    #[test]
    fn a_cursor_is_read_as_it_was_written_or_not_at_all() {
        let session = "0198f3a0-0000-7000-8000-000000000001".parse().unwrap();
        for (pinned, updated) in [(true, 0), (false, -1), (false, i64::MAX), (true, 1_794_711_660_000)] {
            let cursor = SessionCursor { pinned, updated: Timestamp(updated), session };
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for forged in ["", ".", "1.2", "2.0.0198f3a0-0000-7000-8000-000000000001", "1.x.y", "1.5.notes", "1.5.é"] {
            assert_eq!(forged.parse::<SessionCursor>(), Err(ParseCursorError), "{forged}");
        }
    }

    // proves W3
    #[test]
    fn a_search_finds_any_letter_case_in_title_key_prompt_and_folder() {
        let columns = FilteredColumns {
            key: "run-1",
            title: Some("Über Größen"),
            workspace: Some("/home/ada/Notes"),
            last_prompt: Some("Fix the PARSER"),
            archived: None,
        };
        let finds = |search: &str| {
            RowFilter::new(&SessionQuery { search: Some(search.into()), ..SessionQuery::default() }).admits(columns)
        };
        for search in ["", "  ", "RUN-1", "über GRÖSSEN".trim_end_matches("SSEN"), "ada/notes", " the parser "] {
            assert!(finds(search), "{search}");
        }
        for search in ["run-2", "ada  notes", "%", "_", "*"] {
            assert!(!finds(search), "{search}");
        }
    }

    // proves W3
    #[test]
    fn archived_sessions_are_left_out_listed_alone_or_among_the_others() {
        let columns =
            |archived| FilteredColumns { key: "a", title: None, workspace: None, last_prompt: None, archived };
        for (filter, expected) in [
            (ArchivedFilter::LeftOut, (true, false)),
            (ArchivedFilter::Only, (false, true)),
            (ArchivedFilter::Included, (true, true)),
        ] {
            let filter = RowFilter::new(&SessionQuery { archived: filter, ..SessionQuery::default() });
            assert_eq!((filter.admits(columns(None)), filter.admits(columns(Some(Timestamp(5))))), expected);
        }
    }
}
