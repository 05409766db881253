//! The members of an object in the order in which they were written. A small model imitates the calls that it sees in its own
//! history: sorted by name, the content of a file would come before its path, and be written before the model has said
//! which file it is about.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

/// An object whose members keep their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OrderedMembers(pub(super) Vec<(String, Value)>);

impl OrderedMembers {
    /// Sets a member, in its place if it is there already.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Adds a text; those of the same name make a list.
    pub(super) fn add_text(&mut self, name: &str, text: String) {
        let value = Value::String(text);
        match self.0.iter_mut().find(|(known, _)| known == name) {
            None => self.0.push((name.to_owned(), value)),
            Some((_, Value::Array(all))) => all.push(value),
            Some((_, one)) => *one = Value::Array(vec![one.take(), value]),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl Extend<(String, Value)> for OrderedMembers {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, members: I) {
        for (name, value) in members {
            self.set(&name, value);
        }
    }
}

impl fmt::Display for OrderedMembers {
    /// Writes the object as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.0.iter().map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())));
        write!(f, "{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

impl<'de> Deserialize<'de> for OrderedMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = OrderedMembers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedMembers, A::Error> {
                let mut members = OrderedMembers::default();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    members.set(&name, value);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

impl From<Map<String, Value>> for OrderedMembers {
    fn from(members: Map<String, Value>) -> Self {
        Self(members.into_iter().collect())
    }
}
