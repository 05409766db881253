//! What a person should know of a server, though nothing stops for it.

use std::fmt;

use crate::name::ServerName;

/// Something a person should know of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The server.
    pub server: ServerName,
    /// What there is to know.
    pub what: NoticeKind,
}

/// What there is to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// It printed something that is no message; told the 1st, 10th, 100th… time.
    Garbage {
        /// What was wrong.
        fault: OutputFault,
        /// The beginning of it, safe to show.
        sample: String,
        /// How often so far.
        times: u64,
    },
    /// A tool of it can't be offered.
    ToolSkipped {
        /// Its name, safe to show.
        tool: String,
        /// Why.
        reason: String,
    },
    /// A tool is not what it was when it was first seen.
    ToolChanged {
        /// Its name.
        tool: String,
    },
    /// Not all of its tools were listed.
    ListingCut {
        /// Why.
        reason: String,
    },
    /// It could not be reached, and is tried again at the next run.
    Unavailable {
        /// Why.
        reason: String,
    },
    /// It wants a person to log in.
    NeedsAuth,
    /// It died and is started again.
    Restarting {
        /// How it died.
        reason: String,
        /// Which try this is, from 1.
        attempt: u32,
    },
    /// Something it wants remembered could not be written down.
    NotRemembered {
        /// Why.
        reason: String,
    },
}

/// What can be wrong with what a server prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputFault {
    /// Text that is no JSON: a log line, mostly.
    NotJson,
    /// An empty line.
    Blank,
    /// A byte order mark.
    ByteOrderMark,
    /// Lines that end with a carriage return.
    CarriageReturn,
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// JSON that is no message of the protocol.
    NotAMessage,
    /// A message longer than the limit.
    TooLong,
    /// A message nested deeper than can be read.
    TooDeep,
    /// A message that broke off.
    BrokenOff,
    /// An answer to a question that was not asked, or not any more.
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

/// What is said of a server that a person has to log in to.
pub(crate) const WANTS_LOGIN: &str = "wants a person to log in";

/// How much of a line that is no message is told, in characters.
pub(crate) const SAMPLE: usize = 80;

/// Text from a server made safe to show: one line, no control or direction characters, cut at `chars`.
pub(crate) fn printable(text: &str, chars: usize) -> String {
    let mut safe: String = text.chars().take(chars).map(|c| if is_hostile(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(chars).is_some() {
        safe.push('…');
    }
    safe
}

/// Characters that move the cursor, hide or turn round what stands beside them.
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
