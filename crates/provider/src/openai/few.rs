//! A list that nearly always has one item at most, and then takes no room of its own.

use serde::Deserialize;

/// The items, in order.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<T>")]
pub(super) struct Few<T> {
    first: Option<T>,
    more: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { first: None, more: Vec::new() }
    }
}

impl<T> Few<T> {
    /// Adds an empty item, to be filled in.
    pub(super) fn add(&mut self) -> &mut T
    where
        T: Default,
    {
        if self.first.is_none() {
            return self.first.insert(T::default());
        }
        self.more.push_mut(T::default())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The item, where there is just one.
    pub(super) fn only(&self) -> Option<&T> {
        self.first.as_ref().filter(|_| self.more.is_empty())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.more)
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(items: Vec<T>) -> Self {
        let mut items = items.into_iter();
        Self { first: items.next(), more: items.collect() }
    }
}
