//! The shard of a session, one of 4,096. Computed, never stored, so it can't go stale.

use sha2::{Digest, Sha256};
use windlass_vocab::SessionId;

/// The first 12 bits of the SHA-256 of the session id's 16 bytes.
#[must_use]
pub fn shard(session: SessionId) -> u16 {
    let digest = Sha256::digest(session.0.as_bytes());
    u16::from(digest[0]) << 4 | u16::from(digest[1]) >> 4
}

#[cfg(test)]
mod tests {
    use super::shard;

    #[test]
    fn the_shard_of_a_session_never_changes() {
        // Computed with another implementation of SHA-256.
        for (session, expected) in
            [("00000000-0000-0000-0000-000000000000", 0x374), ("0198f3a0-1234-7abc-8def-0123456789ab", 0xa1c)]
        {
            assert_eq!(shard(session.parse().unwrap()), expected, "{session}");
        }
    }
}
