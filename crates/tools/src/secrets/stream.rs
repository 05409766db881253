//! Scrubs text that arrives in pieces: text that may be the beginning of a secret is held back until that is
//! decided. The returned pieces, joined, are the same as `scrub` of the whole.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use super::{SecretForms, Secrets};

/// Scrubs text that arrives in pieces.
#[derive(Clone, Debug)]
pub struct StreamScrubber {
    secrets: Secrets,
    held: Vec<u8>,
}

impl StreamScrubber {
    pub(super) fn new(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone(), held: Vec::new() }
    }

    /// Takes the next piece and returns the text that can be shown.
    pub fn push<'p>(&mut self, piece: &'p str) -> Cow<'p, str> {
        if self.secrets.inner.is_none() {
            return Cow::Borrowed(piece);
        }
        let mut shown = Vec::new();
        self.push_bytes(piece.as_bytes(), &mut shown);
        Cow::Owned(text_of(shown))
    }

    /// Whether any text is held back.
    #[must_use]
    pub fn holds_back(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns the rest, at the end of the input.
    #[must_use]
    pub fn finish(&mut self) -> String {
        let mut rest = Vec::new();
        self.finish_bytes(&mut rest);
        text_of(rest)
    }

    /// The same for bytes, which need not be text.
    pub fn push_raw(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(piece.len());
        self.push_bytes(piece, &mut shown);
        shown
    }

    /// Scrubs a whole text, which need not be UTF-8.
    pub(super) fn whole(mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        self.held.extend_from_slice(bytes);
        self.finish_bytes(&mut shown);
        shown
    }

    fn push_bytes(&mut self, piece: &[u8], shown: &mut Vec<u8>) {
        let Some(inner) = self.secrets.inner.clone() else { return shown.extend_from_slice(piece) };
        self.held.extend_from_slice(piece);
        let mut done = 0;
        loop {
            let rest = &self.held[done..];
            let open = inner.first_unfinished(rest);
            let Some(found) = inner.finder.find(rest).filter(|found| found.start() < open) else {
                shown.extend_from_slice(&rest[..open]);
                self.held.drain(..done + open);
                return;
            };
            shown.extend_from_slice(&rest[..found.start()]);
            shown.extend_from_slice(inner.placeholders[found.pattern().as_usize()].as_bytes());
            done += found.end();
        }
    }

    fn finish_bytes(&mut self, shown: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        match &self.secrets.inner {
            Some(inner) => inner.finder.replace_all_with_bytes(&held, shown, |found, _, shown| {
                shown.extend_from_slice(inner.placeholders[found.pattern().as_usize()].as_bytes());
                true
            }),
            None => shown.extend_from_slice(&held),
        }
    }
}

/// A secret in text begins and ends at character boundaries, so the rest of the text is valid UTF-8.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl SecretForms {
    /// Returns the first position in `bytes` where a secret may begin that more bytes could complete or lengthen.
    fn first_unfinished(&self, bytes: &[u8]) -> usize {
        let earliest = bytes.len().saturating_sub(self.longest.saturating_sub(1));
        let begins = |at: &usize| {
            let end = &bytes[*at..];
            self.first_bytes[usize::from(end[0])]
                && self.forms.iter().any(|form| form.len() > end.len() && form.as_bytes().starts_with(end))
        };
        (earliest..bytes.len()).find(begins).unwrap_or(bytes.len())
    }
}

/// Reads `source` scrubbed: the reader's caller can cut anywhere, because no secret is left.
#[derive(Debug)]
pub(crate) struct ScrubbedReader<R> {
    source: R,
    scrubber: StreamScrubber,
    chunk: Box<[u8]>,
    ready: Vec<u8>,
    taken: usize,
}

impl<R: Read> ScrubbedReader<R> {
    pub(super) fn new(source: R, secrets: &Secrets) -> Self {
        let chunk = vec![0; 64 * 1024].into_boxed_slice();
        Self { source, scrubber: StreamScrubber::new(secrets), chunk, ready: Vec::new(), taken: 0 }
    }
}

impl<R: Read> BufRead for ScrubbedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.taken == self.ready.len() {
            self.ready.clear();
            self.taken = 0;
            let read = match self.source.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                self.scrubber.finish_bytes(&mut self.ready);
                break;
            }
            self.scrubber.push_bytes(&self.chunk[..read], &mut self.ready);
        }
        Ok(&self.ready[self.taken..])
    }

    fn consume(&mut self, amount: usize) {
        self.taken = self.ready.len().min(self.taken + amount);
    }
}

impl<R: Read> Read for ScrubbedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}
