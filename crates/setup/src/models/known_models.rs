//! What is known of a server's models when none is named.

use std::fmt;

/// How many models a message lists at most.
const NAMED: usize = 5;

/// What a server's list says when no model can be picked from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownModels {
    /// It lists none for conversation.
    None,
    /// It lists several, and nobody said which is meant.
    Several(Vec<String>),
    /// It could not be asked, and this is why.
    NotListed(String),
}

impl fmt::Display for KnownModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("It lists none for conversation"),
            Self::Several(ids) => {
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                write!(f, "It has {}", list_some(&ids))
            }
            Self::NotListed(error) => write!(f, "Asked for one: {error}"),
        }
    }
}

/// The first few names of a list, for a message.
pub fn list_some(names: &[&str]) -> String {
    let first = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED { format!("{first} and {} more", names.len() - NAMED) } else { first }
}
