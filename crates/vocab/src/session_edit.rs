//! What a person may change of a session as a whole, beside its conversation.

use serde::{Deserialize, Serialize};

use crate::SessionChanged;

/// A change of a session as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEdit {
    /// Give it this title.
    Title(String),
    /// List it before the sessions that are not pinned, and exempt it from clean-up.
    Pin,
    /// List it among the others again.
    Unpin,
    /// Leave it out of the list.
    Archive,
    /// List it again.
    Unarchive,
    /// Have the conversation so far summarised before the next run answers.
    Compact,
}

impl From<SessionEdit> for SessionChanged {
    fn from(edit: SessionEdit) -> Self {
        match edit {
            SessionEdit::Title(title) => Self { title: Some(title), ..Self::default() },
            SessionEdit::Pin => Self { pinned: Some(true), ..Self::default() },
            SessionEdit::Unpin => Self { pinned: Some(false), ..Self::default() },
            SessionEdit::Archive => Self { archived: Some(true), ..Self::default() },
            SessionEdit::Unarchive => Self { archived: Some(false), ..Self::default() },
            SessionEdit::Compact => Self { compact: Some(true), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SessionEdit;
    use crate::SessionChanged;

    // proves J7
    #[test]
    fn a_record_without_the_newer_fields_reads_and_writes_as_before() {
        let old = r#"{"title":"Notes"}"#;
        let changed: SessionChanged = serde_json::from_str(old).unwrap();
        assert_eq!((changed.pinned, changed.archived, changed.compact), (None, None, None));
        assert_eq!(serde_json::to_string(&changed).unwrap(), old);
        assert_eq!(SessionChanged::from(SessionEdit::Title("Notes".into())), changed);
    }

    #[test]
    fn each_edit_is_written_as_the_one_field_it_changes() {
        for (edit, text) in [
            (SessionEdit::Pin, r#"{"pinned":true}"#),
            (SessionEdit::Unpin, r#"{"pinned":false}"#),
            (SessionEdit::Archive, r#"{"archived":true}"#),
            (SessionEdit::Unarchive, r#"{"archived":false}"#),
            (SessionEdit::Compact, r#"{"compact":true}"#),
        ] {
            let changed = SessionChanged::from(edit);
            assert_eq!(serde_json::to_string(&changed).unwrap(), text);
            assert_eq!(serde_json::from_str::<SessionChanged>(text).unwrap(), changed);
        }
    }
}
