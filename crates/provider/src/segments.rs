//! The stable part of the request body.
//!
//! The protocol: a codec calls [`Segments::extend`] with the epoch of its request. While the epoch stays the same,
//! the bytes written before are kept and only new messages are appended; when it changes, or the history got shorter,
//! everything is encoded again. The bytes are shared with the running request, not copied: the buffer grows in place
//! once that request is over.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use windlass_vocab::{Hash, Message};

use crate::call_ids::CallIds;
use crate::image_contents::ImageContents;

/// The part of a request body that never changes again: the prefix and each message once.
#[derive(Debug, Default)]
pub struct Segments {
    /// The epoch of the history the bytes were written for.
    epoch: Option<u64>,
    stable: Bytes,
    /// Where the prefix ends.
    prefix_end: usize,
    /// Where each message ends.
    ends: Vec<usize>,
    /// The ids of the calls in the messages that are written.
    ids: CallIds,
    /// The contents of images in messages that are about to be written.
    images: ImageContents,
}

/// Writes one message, given its position in the history and the ids of the calls before it.
pub(crate) type WriteMessage<'a, M> = &'a mut dyn FnMut(&mut BytesMut, usize, &M, &mut CallIds);

impl Segments {
    /// Extends the stable bytes to `history` and returns them: `prefix` writes the start if there is none yet,
    /// `message` each message that has not been written.
    pub(crate) fn extend<M>(
        &mut self,
        epoch: u64,
        history: &[M],
        prefix: &mut dyn FnMut(&mut BytesMut) -> serde_json::Result<()>,
        message: WriteMessage<'_, M>,
    ) -> serde_json::Result<Bytes> {
        let fits = self.epoch == Some(epoch) && history.len() >= self.ends.len();
        let before = if fits { std::mem::take(self) } else { Self::default() };
        // Empty until the new bytes are complete: a failing `prefix` leaves nothing.
        *self = Self::default();
        let Self { stable, mut prefix_end, mut ends, mut ids, epoch: _, images } = before;
        let mut written = BytesMut::from(stable);
        if !fits {
            prefix(&mut written)?;
            prefix_end = written.len();
        }
        for (place, new) in history.iter().enumerate().skip(ends.len()) {
            message(&mut written, place, new, &mut ids);
            ends.push(written.len());
        }
        let stable = with_little_room(written).freeze();
        *self = Self { epoch: Some(epoch), stable: stable.clone(), prefix_end, ends, ids, images };
        Ok(stable)
    }

    /// Returns the images of the messages that the next encoding will write, by their hashes. Their contents are needed
    /// only once: what is written stays.
    #[must_use]
    pub fn unwritten_images(&self, epoch: u64, history: &[Message]) -> Vec<Hash> {
        let fits = self.epoch == Some(epoch) && history.len() >= self.ends.len();
        let written = if fits { self.ends.len() } else { 0 };
        history.iter().skip(written).flat_map(Message::images).map(|image| image.blob).collect()
    }

    /// Gives the content of an image to the next encoding.
    pub fn give_image(&mut self, blob: Hash, content: Arc<[u8]>) {
        self.images.insert(blob, content);
    }

    pub(crate) fn take_images(&mut self) -> ImageContents {
        std::mem::take(&mut self.images)
    }

    /// Returns where the prefix ends in the stable bytes.
    pub(crate) fn prefix_end(&self) -> usize {
        self.prefix_end
    }

    /// Returns where the message at `place` ends in the stable bytes; one that is not written ends where they do.
    pub(crate) fn end_of(&self, place: usize) -> usize {
        self.ends.get(place).copied().unwrap_or(self.stable.len())
    }
}

/// Returns these bytes in a buffer with room for an eighth more. One that grows by itself doubles, and a session holds its
/// buffer for as long as it lives.
fn with_little_room(written: BytesMut) -> BytesMut {
    let room = written.len() / 8;
    if written.capacity() - written.len() <= 2 * room {
        return written;
    }
    let mut fitted = BytesMut::with_capacity(written.len() + room);
    fitted.extend_from_slice(&written);
    fitted
}

#[cfg(test)]
mod tests {
    use super::Segments;

    struct WriteCounter {
        prefixes: usize,
        messages: usize,
    }

    fn extend(segments: &mut Segments, count: &mut WriteCounter, epoch: u64, history: &[&str]) -> bytes::Bytes {
        let (mut prefixes, mut messages) = (0, 0);
        let bytes = segments.extend(
            epoch,
            history,
            &mut |out| {
                prefixes += 1;
                out.extend_from_slice(b"[");
                Ok(())
            },
            &mut |out, _, text, _| {
                messages += 1;
                out.extend_from_slice(text.as_bytes());
            },
        );
        count.prefixes += prefixes;
        count.messages += messages;
        bytes.unwrap()
    }

    #[test]
    fn the_buffer_has_little_room_however_the_history_grew() {
        let (mut segments, mut count) = (Segments::default(), WriteCounter { prefixes: 0, messages: 0 });
        let texts: Vec<String> = (1..40).map(|size| "x".repeat(size * 7 % 300)).collect();
        let history: Vec<&str> = texts.iter().map(String::as_str).collect();
        for turn in 1..=history.len() {
            drop(extend(&mut segments, &mut count, 1, &history[..turn]));
            let buffer = std::mem::take(&mut segments.stable).try_into_mut().unwrap();
            assert_eq!(buffer, format!("[{}", history[..turn].concat()));
            let room = buffer.capacity() - buffer.len();
            assert!(room <= buffer.len() / 4, "{room} beside {}", buffer.len());
            segments.stable = buffer.freeze();
        }
        assert_eq!(count.messages, history.len(), "each is written once");
    }

    // proves M6
    #[test]
    fn each_message_is_written_once_while_the_epoch_holds() {
        let (mut segments, mut count) = (Segments::default(), WriteCounter { prefixes: 0, messages: 0 });
        let history = ["a", "b", "c", "d"];
        for turn in 1..=history.len() {
            let bytes = extend(&mut segments, &mut count, 1, &history[..turn]);
            assert_eq!(bytes, format!("[{}", history[..turn].concat()));
        }
        assert_eq!((count.prefixes, count.messages), (1, 4));
    }

    #[test]
    fn a_new_epoch_or_a_shorter_history_is_written_afresh() {
        let (mut segments, mut count) = (Segments::default(), WriteCounter { prefixes: 0, messages: 0 });
        extend(&mut segments, &mut count, 1, &["a", "b"]);
        assert_eq!(extend(&mut segments, &mut count, 2, &["s", "b"]), "[sb");
        assert_eq!(extend(&mut segments, &mut count, 2, &["s"]), "[s");
        assert_eq!((count.prefixes, count.messages), (3, 5));
    }

    #[test]
    fn bytes_in_flight_stay_as_they_are_when_the_history_grows() {
        let (mut segments, mut count) = (Segments::default(), WriteCounter { prefixes: 0, messages: 0 });
        let in_flight = extend(&mut segments, &mut count, 1, &["a"]);
        let next = extend(&mut segments, &mut count, 1, &["a", "b"]);
        assert_eq!((&in_flight[..], &next[..]), (&b"[a"[..], &b"[ab"[..]));
        assert_eq!(count.messages, 2);
    }
}
