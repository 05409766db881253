//! Notices about a server for the person; none of them stops anything.

use std::fmt;

use crate::name::ServerName;

/// A notice about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The server.
    pub server: ServerName,
    /// The event.
    pub what: NoticeKind,
}

/// The event that a notice reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The server printed something that is not a message; reported the 1st, 10th, 100th… time.
    Garbage {
        /// The kind of fault.
        fault: OutputFault,
        /// The beginning of the text, safe to display.
        sample: String,
        /// How often so far.
        times: u64,
    },
    /// A tool of the server can't be offered.
    ToolSkipped {
        /// The tool's name, safe to display.
        tool: String,
        /// Why.
        reason: String,
    },
    /// A tool has changed since it was first seen.
    ToolChanged {
        /// The tool's name.
        tool: String,
    },
    /// Not all tools of the server were listed.
    ListingCut {
        /// Why.
        reason: String,
    },
    /// The server could not be connected; it is tried again at the next run.
    Unavailable {
        /// Why.
        reason: String,
    },
    /// The server requires a login.
    NeedsAuth,
    /// The server died and is being restarted.
    Restarting {
        /// How it died.
        reason: String,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// The data about the server could not be saved.
    NotRemembered {
        /// Why.
        reason: String,
    },
}

/// A fault in a server's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputFault {
    /// Text that is not JSON: usually a log line.
    NotJson,
    /// An empty line.
    Blank,
    /// A byte order mark.
    ByteOrderMark,
    /// Lines that end with a carriage return.
    CarriageReturn,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// JSON that is not a message of the protocol.
    NotAMessage,
    /// A message longer than the limit.
    TooLong,
    /// A message nested too deeply to parse.
    TooDeep,
    /// A message cut off by the end of the output.
    BrokenOff,
    /// An answer to a request that was never sent, or is no longer open.
    Unasked,
}

impl fmt::Display for OutputFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotJson => "a line that is no message",
            Self::Blank => "an empty line",
            Self::ByteOrderMark => "a byte order mark",
            Self::CarriageReturn => "a carriage return before a line's end",
            Self::NotUtf8 => "bytes that are no UTF-8",
            Self::NotAMessage => "JSON that is no message of the protocol",
            Self::TooLong => "a message longer than the limit",
            Self::TooDeep => "a message nested too deeply",
            Self::BrokenOff => "a message that broke off",
            Self::Unasked => "an answer nobody waits for",
        })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP server `{}` ", self.server)?;
        match &self.what {
            NoticeKind::Garbage { fault, sample, times } => {
                write!(f, "printed {fault}")?;
                if *times > 1 {
                    write!(f, ", for the {times}th time")?;
                }
                if sample.is_empty() { Ok(()) } else { write!(f, ": {sample}") }
            }
            NoticeKind::ToolSkipped { tool, reason } => {
                write!(f, "has a tool that can't be offered, `{tool}`: {reason}")
            }
            NoticeKind::ToolChanged { tool } => {
                write!(
                    f,
                    "has changed its tool `{tool}` since you first saw it: it asks before each call until you accept it"
                )
            }
            NoticeKind::ListingCut { reason } => write!(f, "has not had all its tools listed: {reason}"),
            NoticeKind::Unavailable { reason } => write!(f, "is not available: {reason}"),
            NoticeKind::NeedsAuth => f.write_str(WANTS_LOGIN),
            NoticeKind::Restarting { reason, attempt } => {
                write!(f, "{reason}; it is being started again (try {attempt} of 3)")
            }
            NoticeKind::NotRemembered { reason } => write!(f, "could not be remembered: {reason}"),
        }
    }
}

/// Wording for a server that requires a login.
pub(crate) const WANTS_LOGIN: &str = "wants a person to log in";

/// How much of an invalid line a notice quotes, in characters.
pub(crate) const SAMPLE: usize = 80;

/// Makes a server's text safe to display: one line, no control or direction characters, truncated to `chars`.
pub(crate) fn printable(text: &str, chars: usize) -> String {
    let mut safe: String = text.chars().take(chars).map(|c| if is_hostile(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(chars).is_some() {
        safe.push('…');
    }
    safe
}

/// Characters that move the cursor, or hide or reorder the characters next to them.
pub(crate) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_shown_without_tricks() {
        assert_eq!(printable("a\u{1b}[2Jb\u{202e}c\n", 10), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}");
        assert_eq!(printable("abcdef", 3), "abc…");
        let notice = Notice { server: "s".parse().unwrap(), what: NoticeKind::NeedsAuth };
        assert_eq!(notice.to_string(), "MCP server `s` wants a person to log in");
    }
}
