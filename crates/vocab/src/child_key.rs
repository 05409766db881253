//! The key of a child session: the session that started it, and the position in that session. So a child is started
//! once, however often its parent is resumed.

use crate::{CallId, SessionId};

/// Returns the key of the child at this position of a session.
#[must_use]
pub fn child_key(parent: SessionId, child: CallId) -> String {
    child.effect_id(parent).0
}

/// Returns the session that started the session with this key, and the position there; `None` for the key of a session
/// that no other one started.
#[must_use]
pub fn parent_in_key(key: &str) -> Option<(SessionId, CallId)> {
    let (parent, child) = key.split_once(':')?;
    Some((parent.parse().ok()?, child.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{child_key, parent_in_key};
    use crate::{CallId, RunId, TurnId};

    // proves S3
    #[test]
    fn the_key_of_a_child_names_its_parent_and_its_position() {
        let parent = "0198f3a0-0000-7000-8000-000000000001".parse().unwrap();
        let child = CallId { run: RunId(2), turn: TurnId(3), index: 4 };
        let key = child_key(parent, child);
        assert_eq!(key, "0198f3a0-0000-7000-8000-000000000001:2.3.4");
        assert_eq!(parent_in_key(&key), Some((parent, child)));
        for other in ["", "notes", "telegram:12", "0198f3a0-0000-7000-8000-000000000001:2.3", "a:1.2.3"] {
            assert_eq!(parent_in_key(other), None, "{other}");
        }
    }
}
