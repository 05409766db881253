//! The names of models in one setting: one, or a chain of several, in the order in which they are tried.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use windlass_vocab::ModelName;

/// The names, as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelList(Vec<String>);

impl ModelList {
    /// Parses names with commas between them.
    pub(super) fn parse(text: &str) -> Self {
        Self(text.split(',').map(|name| name.trim().to_owned()).collect())
    }

    /// The first name; empty if there is none.
    pub(super) fn first(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// The names after the first.
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        self.0.iter().skip(1).map(String::as_str)
    }

    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Says what is wrong with the list, apart from its names.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.0.len() > 1 && self.0.iter().any(String::is_empty) {
            return Err("an entry of the chain of models is empty".to_owned());
        }
        let twice = self.0.iter().enumerate().find(|(at, name)| self.0[..*at].contains(name));
        twice.map_or(Ok(()), |(_, name)| Err(named_twice(name)))
    }
}

/// The problem of a chain that falls back on a model that has just failed.
pub(super) fn named_twice(name: &str) -> String {
    format!("the chain contains the model {name:?} twice")
}

/// Takes what may be the name of a model.
pub(super) fn check_model(name: String) -> Result<ModelName, String> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err("this is not the name of a model".into());
    }
    Ok(ModelName(name))
}

impl<'de> Deserialize<'de> for ModelList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = ModelList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ModelList, E> {
        Ok(ModelList::parse(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ModelList, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = list.next_element::<String>()? {
            names.push(name.trim().to_owned());
        }
        Ok(ModelList(names))
    }
}
