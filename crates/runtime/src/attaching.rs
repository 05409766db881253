//! Files attached to a message, as they are recorded: images and the rest of long texts become blobs (C9).

use std::sync::Arc;

use windlass_store::hash_of;
use windlass_tools::{Secrets, cut_text};
use windlass_vocab::{AttachedFile, AttachedText, Attachment, Cut, ImageContent, ResultCap, Spill};

use crate::scrub::scrub_origin;

/// How many digits of a hash name an attachment to the model.
const ID_DIGITS: usize = 12;

/// What a message carries besides its text.
#[derive(Debug, Default)]
pub(crate) struct PreparedAttachments {
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) blobs: Vec<Arc<[u8]>>,
}

impl PreparedAttachments {
    /// Cuts texts like results, once secrets are replaced, so that no part of one remains at the cut.
    pub(crate) fn new(secrets: &Secrets, cap: ResultCap, files: Vec<AttachedFile>) -> Self {
        let mut prepared = Self::default();
        for file in files {
            let attachment = match scrubbed(secrets, file) {
                AttachedFile::Image(image) => prepared.image(&image),
                AttachedFile::Text(text) => prepared.text(cap, text),
            };
            prepared.attachments.push(attachment);
        }
        prepared
    }

    fn image(&mut self, image: &ImageContent) -> Attachment {
        self.blobs.push(Arc::clone(&image.content));
        Attachment::Image(image.reference(hash_of(&image.content)))
    }

    fn text(&mut self, cap: ResultCap, whole: AttachedText) -> Attachment {
        let hash = hash_of(whole.text.as_bytes());
        let id = &hash.to_string()[..ID_DIGITS];
        let cap = ResultCap { rest: Spill::Keep, ..cap };
        let (text, info) = cut_text(whole.text, cap, &format_args!("attached:{id}"));
        let cut = info.map(|info| {
            let blob = info.keep.map(|whole| {
                self.blobs.push(whole.into_bytes().into());
                hash
            });
            Cut { total_chars: info.total_chars, shown_chars: info.shown_chars, blob }
        });
        Attachment::Text(AttachedText { text, cut, ..whole })
    }
}

/// Returns the file with secrets replaced in its name and its text. An image is left as it is.
pub(crate) fn scrubbed(secrets: &Secrets, file: AttachedFile) -> AttachedFile {
    let clean = |text: &str| secrets.scrub(text).into_owned();
    match file {
        AttachedFile::Image(image) => AttachedFile::Image(ImageContent { name: clean(&image.name), ..image }),
        AttachedFile::Text(mut text) => {
            text.origin.iter_mut().for_each(|origin| scrub_origin(secrets, origin));
            AttachedFile::Text(AttachedText { name: clean(&text.name), text: clean(&text.text), ..text })
        }
    }
}

/// Whether this is the id by which the model knows an attached text.
pub(crate) fn is_named(text: &AttachedText, id: &str) -> bool {
    let blob = text.cut.as_ref().and_then(|cut| cut.blob);
    id.len() == ID_DIGITS && blob.is_some_and(|hash| hash.to_string().starts_with(id))
}

#[cfg(test)]
mod tests {
    use windlass_store::hash_of;
    use windlass_tools::Secrets;
    use windlass_vocab::{AttachedFile, AttachedText, Attachment, ResultCap, Spill};

    use super::{PreparedAttachments, is_named};

    // proves C9, X1, T6
    #[test]
    fn a_long_text_is_cut_after_its_secrets_are_replaced_and_kept_whole_under_an_id() {
        let secrets = Secrets::new([("KEY", "sk-0123456789")]);
        let text = format!("{}sk-0123456789{}", "a".repeat(70), "b".repeat(200));
        let whole = AttachedText {
            name: "a.txt".into(),
            media_type: "text/plain".into(),
            bytes: 283,
            text,
            cut: None,
            origin: None,
        };
        let cap = ResultCap { chars: 100, rest: Spill::Drop };
        let prepared = PreparedAttachments::new(&secrets, cap, vec![AttachedFile::Text(whole)]);
        let [Attachment::Text(text)] = &prepared.attachments[..] else { panic!("{prepared:?}") };
        let [blob] = &prepared.blobs[..] else { panic!("{prepared:?}") };
        let kept = String::from_utf8(blob.to_vec()).unwrap();
        assert_eq!(kept, format!("{}⟦secret:KEY⟧{}", "a".repeat(70), "b".repeat(200)));
        assert!(!text.text.contains("sk-"), "{}", text.text);
        let id = &hash_of(blob).to_string()[..12];
        assert!(text.text.contains(&format!("read_file, path \"attached:{id}\", offset 1")), "{}", text.text);
        assert!(is_named(text, id) && !is_named(text, &id[..11]) && !is_named(text, "000000000000"));
    }
}
