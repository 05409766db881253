//! A slip: what one append leaves on the spool, in front of the slips to come.
//!
//! ```text
//! check 16 | kind 4 | length 4 | session 16 | first 8 | last 8 | epoch 8 | hash 32 | bytes
//! ```
//!
//! Numbers are little endian. A check is a hash of the check before it and of the rest of the head, so a slip counts
//! only behind the very slips it was written behind: what an earlier lap of the spool left in its place, or a
//! writer that died halfway, is never taken for one. `hash` is that of `bytes`, as everywhere in the store.

use uuid::Uuid;
use windlass_vocab::{Hash, SessionId};

use crate::line::hash_of;
use crate::{Head, Sealed};

/// The bytes before the bytes.
pub(super) const HEAD: usize = CHECK + REST;
const CHECK: usize = 16;
const REST: usize = 80;

/// Stands for all slips before a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Check(pub(super) [u8; CHECK]);

impl Check {
    /// Before the first slip of a lap of the spool.
    pub(super) fn of_lap(lap: u64) -> Self {
        Self::first_of(hash_of(&[&b"windlass spool "[..], &lap.to_le_bytes()].concat()))
    }

    fn after(self, rest: &[u8; REST]) -> Self {
        let mut both = [0; HEAD];
        both[..CHECK].copy_from_slice(&self.0);
        both[CHECK..].copy_from_slice(rest);
        Self::first_of(hash_of(&both))
    }

    fn first_of(hash: Hash) -> Self {
        let mut check = [0; CHECK];
        check.copy_from_slice(&hash.0[..CHECK]);
        Self(check)
    }
}

/// What a slip says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slip<'a> {
    /// A batch.
    Batch(Spooled<'a>),
    /// Something is about to be written into the database itself.
    Bell,
}

/// What a batch on the spool changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing but the journal.
    Journal,
    /// The session's row too.
    Row,
}

/// A batch as it lies on the spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spooled<'a> {
    pub(super) reach: Reach,
    pub(super) session: SessionId,
    /// The number of its first record.
    pub(super) first: u64,
    /// The head after it.
    pub(super) head: Head,
    pub(super) bytes: &'a [u8],
}

impl<'a> Spooled<'a> {
    pub(super) fn new(sealed: &'a Sealed, reach: Reach) -> Self {
        let first = sealed.expected.seq + 1;
        Self { reach, session: sealed.session, first, head: sealed.head, bytes: &sealed.bytes }
    }
}

const BATCH: u32 = 1;
const BELL: u32 = 2;
const BATCH_AND_ROW: u32 = 3;

impl Slip<'_> {
    /// Adds the slip to `out`, behind all that `before` stands for; gives the check after it.
    pub(super) fn write(&self, before: Check, out: &mut Vec<u8>) -> Check {
        let (rest, bytes) = match self {
            Self::Batch(batch) => (batch.rest(), batch.bytes),
            Self::Bell => {
                let mut rest = [0; REST];
                rest[..4].copy_from_slice(&BELL.to_le_bytes());
                (rest, &[][..])
            }
        };
        let check = before.after(&rest);
        out.reserve(HEAD + bytes.len());
        out.extend_from_slice(&check.0);
        out.extend_from_slice(&rest);
        out.extend_from_slice(bytes);
        check
    }
}

impl Spooled<'_> {
    fn rest(&self) -> [u8; REST] {
        let mut rest = [0; REST];
        // Longer batches do not come here (`spool::LONGEST`).
        let length = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let kind = match self.reach {
            Reach::Journal => BATCH,
            Reach::Row => BATCH_AND_ROW,
        };
        rest[..4].copy_from_slice(&kind.to_le_bytes());
        rest[4..8].copy_from_slice(&length.to_le_bytes());
        rest[8..24].copy_from_slice(self.session.0.as_bytes());
        rest[24..32].copy_from_slice(&self.first.to_le_bytes());
        rest[32..40].copy_from_slice(&self.head.seq.to_le_bytes());
        rest[40..48].copy_from_slice(&self.head.epoch.to_le_bytes());
        rest[48..].copy_from_slice(&self.head.hash.0);
        rest
    }
}

/// Whether a slip behind `before` begins with these bytes.
pub(super) fn begins(head: &[u8], before: Check) -> bool {
    take(head).is_some_and(|(check, rest, _)| before.after(&rest) == check)
}

/// The slips that `bytes` begin with, up to the first that is none, or not whole.
#[derive(Clone, Debug)]
pub(super) struct Slips<'a> {
    bytes: &'a [u8],
    check: Check,
}

impl<'a> Slips<'a> {
    /// Those behind all that `before` stands for.
    pub(super) fn new(bytes: &'a [u8], before: Check) -> Self {
        Self { bytes, check: before }
    }

    /// What all slips so far come to.
    pub(super) fn check(&self) -> Check {
        self.check
    }

    /// Whether more bytes might be more slips.
    pub(super) fn are_cut_short(&self) -> bool {
        match take(self.bytes) {
            Some((check, rest, _)) => self.check.after(&rest) == check,
            None => true,
        }
    }

    /// The bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len()
    }
}

impl<'a> Iterator for Slips<'a> {
    type Item = Slip<'a>;

    fn next(&mut self) -> Option<Slip<'a>> {
        let (check, rest, left) = take(self.bytes)?;
        if self.check.after(&rest) != check {
            return None;
        }
        let (slip, left) = read(&rest, left)?;
        (self.check, self.bytes) = (check, left);
        Some(slip)
    }
}

fn take(bytes: &[u8]) -> Option<(Check, [u8; REST], &[u8])> {
    let (check, bytes) = bytes.split_first_chunk::<CHECK>()?;
    let (rest, bytes) = bytes.split_first_chunk::<REST>()?;
    Some((Check(*check), *rest, bytes))
}

/// The slip whose head goes on with `rest`, and what follows it.
fn read<'a>(rest: &[u8; REST], bytes: &'a [u8]) -> Option<(Slip<'a>, &'a [u8])> {
    let word = |at: usize| rest[at..].first_chunk::<4>().map(|word| u32::from_le_bytes(*word));
    let number = |at: usize| rest[at..].first_chunk::<8>().map(|number| u64::from_le_bytes(*number));
    let reach = match word(0)? {
        BELL => return Some((Slip::Bell, bytes)),
        BATCH => Reach::Journal,
        BATCH_AND_ROW => Reach::Row,
        _ => return None,
    };
    let (bytes, left) = bytes.split_at_checked(word(4)? as usize)?;
    let hash = Hash(*rest[48..].first_chunk()?);
    let session = SessionId(Uuid::from_bytes(*rest[8..].first_chunk()?));
    let head = Head { seq: number(32)?, epoch: number(40)?, hash };
    let batch = Spooled { reach, session, first: number(24)?, head, bytes };
    (hash_of(bytes) == hash).then_some((Slip::Batch(batch), left))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Check, HEAD, Reach, Slip, Slips, Spooled, begins};
    use crate::Head;
    use crate::line::hash_of;

    fn batch(bytes: &[u8], number: u64) -> Slip<'_> {
        let head = Head { seq: number + 3, hash: hash_of(bytes), epoch: number / 2 };
        let reach = if number == 9 { Reach::Row } else { Reach::Journal };
        Slip::Batch(Spooled {
            reach,
            session: windlass_vocab::SessionId(uuid::Uuid::from_u128(7)),
            first: number,
            head,
            bytes,
        })
    }

    /// Three slips, where each begins, and where the last ends.
    fn three() -> (Vec<u8>, [usize; 4]) {
        let mut bytes = Vec::new();
        let mut check = Check::of_lap(1);
        let mut places = [0; 4];
        for (n, slip) in [batch(b"one\n", 1), Slip::Bell, batch(b"two\nlines\n", 9)].iter().enumerate() {
            check = slip.write(check, &mut bytes);
            places[n + 1] = bytes.len();
        }
        (bytes, places)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (bytes, _) = three();
        let mut slips = Slips::new(&bytes, Check::of_lap(1));
        assert_eq!(slips.by_ref().collect::<Vec<_>>(), [batch(b"one\n", 1), Slip::Bell, batch(b"two\nlines\n", 9)]);
        assert_eq!(slips.left(), 0);
        assert!(begins(&bytes[..HEAD], Check::of_lap(1)));
    }

    #[test]
    fn a_slip_cut_short_anywhere_is_none() {
        // proves J9: nothing half-written is taken for whole
        let (bytes, places) = three();
        for cut in 0..=bytes.len() {
            let whole = places[1..].iter().filter(|end| **end <= cut).count();
            let mut slips = Slips::new(&bytes[..cut], Check::of_lap(1));
            assert_eq!(slips.by_ref().count(), whole, "cut at {cut}");
            assert!(slips.are_cut_short(), "cut at {cut}");
        }
    }

    #[test]
    fn a_bit_that_fell_over_ends_the_slips() {
        // proves J9, J11
        let (bytes, places) = three();
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 0x10;
            let whole = places[1..].iter().filter(|end| **end <= at).count();
            assert_eq!(Slips::new(&other, Check::of_lap(1)).count(), whole, "at {at}");
        }
    }

    #[test]
    fn slips_of_another_lap_or_behind_others_are_none() {
        let (bytes, places) = three();
        assert_eq!(Slips::new(&bytes, Check::of_lap(2)).count(), 0);
        assert!(!Slips::new(&bytes, Check::of_lap(2)).are_cut_short());
        assert!(!begins(&bytes, Check::of_lap(2)));
        // The first slip gives way to another of the same length; those behind it are no longer meant.
        let mut other = Vec::new();
        batch(b"ONE\n", 1).write(Check::of_lap(1), &mut other);
        other.extend_from_slice(&bytes[places[1]..]);
        assert_eq!(Slips::new(&other, Check::of_lap(1)).count(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            prop_assert_eq!(Slips::new(&bytes, Check::of_lap(3)).count(), 0);
        }
    }
}
