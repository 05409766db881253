//! The name of a server, as the configuration gives it.

use std::fmt;
use std::str::FromStr;

use windlass_vocab::ToolName;

/// Longer names leave too little room for the tool's name in the name the model sees.
const LONGEST: usize = 40;

/// A server's name: letters, digits, `_` and `-`. It is the first part of its tools' names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(String);

/// A text that can't be a server's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` can't be the name of a server: {}", .name.escape_debug(), .problem)]
pub struct NameError {
    name: String,
    problem: &'static str,
}

impl ServerName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ServerName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let problem = if text.is_empty() {
            "it is empty"
        } else if text.len() > LONGEST {
            "it has more than 40 characters"
        } else if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
            "use letters, digits, `_` and `-` only"
        } else if text == ToolName::LOCAL {
            "`local` is where the built-in tools are"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(NameError { name: text.to_owned(), problem })
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_be_mistaken_for_something_else_is_refused() {
        for good in ["git", "my-server_2", "A"] {
            assert_eq!(good.parse::<ServerName>().unwrap().as_str(), good);
        }
        for bad in ["", "local", "a.b", "a b", "é", "a/b", "..", &"x".repeat(41), "a\u{202e}b"] {
            assert!(bad.parse::<ServerName>().is_err(), "{bad}");
        }
    }
}
