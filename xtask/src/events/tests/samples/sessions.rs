//! The records of a session as a whole.

use windlass_vocab::{
    AttachedText, Attachment, Cut, ImageRef, ImportDetails, LeaseTaken, MessageAccepted, Origin, Record,
    SessionChanged, SessionOpened,
};

use super::{BLOB, CALL, every, session, text_origins};

pub(super) fn image() -> ImageRef {
    let (name, media_type) = ("a.png".into(), "image/png".into());
    ImageRef { name, media_type, bytes: 9, width: 3, height: 2, blob: BLOB }
}

pub(super) fn cut() -> Cut {
    Cut { total_chars: 9, shown_chars: 4, blob: Some(BLOB) }
}

fn attached_text() -> AttachedText {
    AttachedText {
        name: "a.txt".into(),
        media_type: "text/plain".into(),
        bytes: 9,
        text: "text".into(),
        cut: Some(cut()),
        origin: text_origins().pop(),
    }
}

pub(super) fn records() -> Vec<Record> {
    vec![
        SessionOpened {
            owner: "ada".into(),
            key: "notes".into(),
            workspace: Some("/home/ada/notes".into()),
            parent: Some((session(), CALL)),
            version: "0.1.0".into(),
            forked_from: vec![Origin { session: session(), seq: 4 }],
        }
        .into(),
        SessionChanged {
            title: Some("Notes".into()),
            key: Some("tidy".into()),
            imported: Some(ImportDetails { workspace: Some("/home/ada/old".into()), owner: Some("ada".into()) }),
            pinned: Some(true),
            archived: Some(true),
            compact: Some(true),
        }
        .into(),
        LeaseTaken { epoch: 2, holder: "host:1".into() }.into(),
        MessageAccepted {
            message_id: "m1".into(),
            text: "Tidy my notes.".into(),
            attachments: every!(Attachment: Image(image()), Text(attached_text())),
        }
        .into(),
    ]
}
