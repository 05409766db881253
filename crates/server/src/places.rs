//! A bounded number of places for each user: streams of events, bytes of bodies under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The places that users have taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserPlaces(Arc<Mutex<HashMap<String, usize>>>);

/// Places of a user, until it is dropped.
#[derive(Debug)]
pub(crate) struct TakenPlaces {
    places: UserPlaces,
    user: String,
    count: usize,
}

impl UserPlaces {
    /// Takes `count` places of a user's `most`; `None` if so many are not left.
    pub(crate) fn take(&self, user: &str, count: usize, most: usize) -> Option<TakenPlaces> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_user = taken.get(user).copied().unwrap_or_default();
        let now = of_user.checked_add(count).filter(|now| *now <= most)?;
        taken.insert(user.to_owned(), now);
        Some(TakenPlaces { places: self.clone(), user: user.to_owned(), count })
    }

    /// Returns how many places a user has taken.
    pub(crate) fn taken(&self, user: &str) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(user).copied().unwrap_or_default()
    }
}

impl Drop for TakenPlaces {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = taken.get(&self.user).copied().unwrap_or_default().saturating_sub(self.count);
        if left == 0 {
            taken.remove(&self.user);
        } else {
            taken.insert(self.user.clone(), left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::UserPlaces;

    // proves W3: a user takes no more than their places, and nobody else's
    #[test]
    fn a_user_has_as_many_places_as_allowed_and_gets_them_back() {
        let places = UserPlaces::default();
        let first = places.take("ann", 1, 2).unwrap();
        let second = places.take("ann", 1, 2).unwrap();
        assert!(places.take("ann", 1, 2).is_none());
        assert!(places.take("bob", 2, 2).is_some());
        drop(first);
        assert!(places.take("ann", 2, 2).is_none());
        assert!(places.take("ann", 1, 2).is_some(), "given back at once");
        drop(second);
        assert!(places.take("ann", usize::MAX, 2).is_none());
        assert!(places.0.lock().unwrap().is_empty(), "nothing is kept of those who have gone");
    }
}
