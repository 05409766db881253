//! Images of messages and results, as a wire writes them. A message refers to an image by the hash of its content; the
//! contents are given to [`Segments`] before the message is encoded. A model that can't be sent an image gets a sentence
//! in its place, so the same history serves every model of a chain (C9).

use std::borrow::Cow;

use bytes::BytesMut;
use data_encoding::BASE64;
use windlass_vocab::{ImageRef, file_size};

use crate::ability::WireKind;
use crate::config::ModelConfig;
use crate::image_contents::ImageContents;
use crate::segments::Segments;

/// Returns the most bytes of an image file that a wire's own server accepts. Anthropic accepts 5 MiB in base64, OpenAI
/// 20 MB; what other servers accept is unknown.
#[must_use]
pub fn largest_image(wire: WireKind) -> u64 {
    match wire {
        WireKind::Messages => 5 * 1024 * 1024 / 4 * 3,
        WireKind::Chat | WireKind::Responses => 20_000_000,
    }
}

/// Why an image is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnsentReason {
    /// The model takes none.
    NoSight,
    /// Its file has more bytes than this.
    TooLarge(u64),
    /// No wire takes this kind of image.
    UnknownKind,
    /// Its content is not in the store.
    ContentMissing,
    /// This wire takes none in such a result.
    NotInResult,
}

impl UnsentReason {
    fn words(self) -> Cow<'static, str> {
        match self {
            Self::NoSight => "this model can't see images".into(),
            Self::TooLarge(most) => {
                format!("larger than the {} that this model's server accepts", file_size(most)).into()
            }
            Self::UnknownKind => "of a kind that models don't accept".into(),
            Self::ContentMissing => "its content is no longer stored".into(),
            Self::NotInResult => "it can't be shown with this result".into(),
        }
    }
}

/// Where an image stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImagePlace {
    /// In a message of the user role.
    Message,
    /// In a result, where the wire takes images.
    Result,
    /// In a result, where the wire takes none.
    TextResult,
}

/// An image that is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentImage<'a> {
    pub(crate) media_type: &'static str,
    content: &'a [u8],
}

impl SentImage<'_> {
    /// Writes its content in base64.
    pub(crate) fn write_base64(&self, out: &mut BytesMut) {
        let start = out.len();
        out.resize(start + BASE64.encode_len(self.content.len()), 0);
        BASE64.encode_mut(self.content, &mut out[start..]);
    }

    /// Writes it as a data URL, in quotes.
    pub(crate) fn write_data_url(&self, out: &mut BytesMut) {
        out.extend_from_slice(b"\"data:");
        out.extend_from_slice(self.media_type.as_bytes());
        out.extend_from_slice(b";base64,");
        self.write_base64(out);
        out.extend_from_slice(b"\"");
    }
}

/// What is known of the images of the messages that are about to be written, for one model.
#[derive(Debug)]
pub(crate) struct ImageSource {
    sees: bool,
    most: u64,
    contents: ImageContents,
}

impl ImageSource {
    /// Takes the contents that `segments` was given.
    pub(crate) fn take(config: &ModelConfig, segments: &mut Segments) -> Self {
        let (sees, most) = (config.sees_images(), largest_image(config.wire));
        Self { sees, most, contents: segments.take_images() }
    }

    fn look_up<'a>(&'a self, image: &ImageRef, place: ImagePlace) -> Result<SentImage<'a>, UnsentReason> {
        if !self.sees {
            return Err(UnsentReason::NoSight);
        }
        match place {
            ImagePlace::TextResult => return Err(UnsentReason::NotInResult),
            ImagePlace::Message | ImagePlace::Result => {}
        }
        if image.bytes > self.most {
            return Err(UnsentReason::TooLarge(self.most));
        }
        let media_type = sent_media_type(&image.media_type).ok_or(UnsentReason::UnknownKind)?;
        let content = self.contents.get(&image.blob).ok_or(UnsentReason::ContentMissing)?;
        Ok(SentImage { media_type, content })
    }

    /// Returns those of the images that are sent at this place.
    pub(crate) fn sent<'a>(
        &'a self,
        images: &'a [ImageRef],
        place: ImagePlace,
    ) -> impl Iterator<Item = SentImage<'a>> + 'a {
        images.iter().filter_map(move |image| self.look_up(image, place).ok())
    }

    /// Returns a text with a line for each image that is not sent, and in messages for those that are too, because a
    /// result names its images itself.
    pub(crate) fn text_with<'t>(&self, text: &'t str, images: &[ImageRef], place: ImagePlace) -> Cow<'t, str> {
        let mut whole = Cow::Borrowed(text);
        for image in images {
            let line = match (self.look_up(image, place), place) {
                (Ok(_), ImagePlace::Message) => format!("[{}]", image.description()),
                (Ok(_), ImagePlace::Result | ImagePlace::TextResult) => continue,
                (Err(reason), _) => format!("[{}: {}]", image.description(), reason.words()),
            };
            let words = whole.to_mut();
            if !words.is_empty() {
                words.push('\n');
            }
            words.push_str(&line);
        }
        whole
    }
}

/// Returns the media type as it is written; `None` for one that the wires don't take.
fn sent_media_type(media_type: &str) -> Option<&'static str> {
    ["image/png", "image/jpeg", "image/gif", "image/webp"].into_iter().find(|known| *known == media_type)
}
