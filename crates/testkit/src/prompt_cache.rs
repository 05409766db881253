//! The prompt cache of a server, as providers describe theirs: what a request begins with is read from the cache if an
//! earlier request began with the same bytes. Messages keeps what ends at a mark and reads at marks; the other wires
//! keep whole requests and read in blocks. A token is four bytes.

use windlass_provider::WireKind;

use crate::script::TokenCounts;

/// The mark of the Messages wire.
const MARK: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;
const BYTES_PER_TOKEN: usize = 4;
/// The other wires read in blocks of this many tokens.
const BLOCK: u64 = 128;

/// What was sent so far.
#[derive(Debug, Default)]
pub(crate) struct PromptCacheModel {
    /// What is kept: starts of requests, without marks.
    kept: Vec<Vec<u8>>,
}

impl PromptCacheModel {
    /// Counts the tokens of a request, and keeps it.
    pub(crate) fn count(&mut self, wire: WireKind, raw: &[u8], completion: u64) -> TokenCounts {
        let (body, marks) = without_marks(raw);
        let prompt = tokens(body.len());
        let (cached, cache_written) = match wire {
            WireKind::Messages => {
                let is_kept = |end: &&usize| self.kept.iter().any(|kept| *kept == body[..**end]);
                let read = marks.iter().rev().find(is_kept).map_or(0, |end| tokens(*end));
                self.kept.extend(marks.iter().map(|end| body[..*end].to_vec()));
                (read, marks.last().map_or(0, |end| tokens(*end).saturating_sub(read)))
            }
            WireKind::Chat | WireKind::Responses => {
                let common = self.kept.iter().map(|kept| common_prefix(kept, &body)).max().unwrap_or(0);
                self.kept.push(body);
                (tokens(common) / BLOCK * BLOCK, 0)
            }
        };
        TokenCounts { prompt, completion, cached, cache_written }
    }
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(u64::MAX)
}

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Returns a request without its marks, and where they stood.
fn without_marks(raw: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut body, mut ends, mut from) = (Vec::with_capacity(raw.len()), Vec::new(), 0);
    for at in memchr::memmem::find_iter(raw, MARK) {
        body.extend_from_slice(&raw[from..at]);
        ends.push(body.len());
        from = at + MARK.len();
    }
    body.extend_from_slice(&raw[from..]);
    (body, ends)
}

#[cfg(test)]
mod tests {
    use windlass_provider::WireKind;

    use super::PromptCacheModel;
    use crate::script::TokenCounts;

    fn counts(cache: &mut PromptCacheModel, wire: WireKind, raw: &str) -> (u64, u64, u64) {
        let TokenCounts { prompt, cached, cache_written, .. } = cache.count(wire, raw.as_bytes(), 1);
        (prompt, cached, cache_written)
    }

    #[test]
    fn messages_reads_at_a_mark_what_an_earlier_mark_kept() {
        let mark = r#","cache_control":{"type":"ephemeral"}"#;
        let mut cache = PromptCacheModel::default();
        let (a, b, c) = ("a".repeat(40), "b".repeat(40), "c".repeat(40));
        assert_eq!(counts(&mut cache, WireKind::Messages, &format!("{a}{mark}{b}{mark}tail")), (21, 0, 20));
        assert_eq!(counts(&mut cache, WireKind::Messages, &format!("{a}{mark}{b}{mark}{c}{mark}tail")), (31, 20, 10));
        // Without the mark in between, only the first part is found.
        assert_eq!(counts(&mut cache, WireKind::Messages, &format!("{a}{mark}{b}{b}{mark}")), (30, 10, 20));
    }

    #[test]
    fn the_other_wires_read_whole_blocks_of_what_is_the_same() {
        let mut cache = PromptCacheModel::default();
        let start = "a".repeat(1_400);
        assert_eq!(counts(&mut cache, WireKind::Chat, &start), (350, 0, 0));
        assert_eq!(counts(&mut cache, WireKind::Chat, &format!("{start}b")), (350, 256, 0));
    }
}
