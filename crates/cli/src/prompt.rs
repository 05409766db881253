//! Reads the prompt: the argument, or standard input for `-` and for a pipe without an argument. With both an argument
//! and a pipe the prompt is the argument, followed by the piped text as data.

use std::io::{self, Read};

use crate::piped::{self, StdinWait};

/// The longest accepted prompt, in bytes.
pub const LONGEST: usize = 64 * 1024 * 1024;

/// Separates the prompt from the piped text.
const LABEL: &str = "Standard input (data for the request above):";

/// What standard input is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinKind {
    /// A person's keyboard.
    Terminal,
    /// Another character device, such as `/dev/null`: no part of a prompt.
    Device,
    /// A pipe, a socket or a file.
    Piped,
}

/// There is no usable prompt.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// Neither an argument nor a pipe.
    #[error("there is no prompt: write `windlass run \"what to do\"`, or pipe it in: `windlass run - < prompt.txt`")]
    Missing,
    /// Nothing but blanks.
    #[error("the prompt is empty: say what to do")]
    Empty,
    /// Not text.
    #[error(
        "standard input is not valid UTF-8: the byte at offset {offset} does not belong there; convert it first, e.g. with iconv, or put it in a file in the workspace and name the file"
    )]
    NotUtf8 {
        /// Counted from 0.
        offset: usize,
    },
    /// Over the limit.
    #[error("the prompt is longer than {} MiB: put it in a file in the workspace and name the file", LONGEST / 1024 / 1024)]
    TooLong,
    /// Standard input stays open without data.
    #[error(
        "standard input is open, but nothing came for {seconds} s: give `< /dev/null` where there is none, or put slow output in a file first and give `< FILE`"
    )]
    Silent {
        /// How long we waited.
        seconds: u64,
    },
    /// Standard input could not be read.
    #[error("standard input could not be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// Reads the prompt of `windlass run`. `note` tells the person that standard input is being read.
pub fn read(
    argument: Option<&str>,
    input: StdinKind,
    stdin: impl Read + Send + 'static,
    patience: StdinWait,
    note: impl FnOnce(),
) -> Result<String, PromptError> {
    let text = match (argument, input) {
        (Some("-"), _) | (None, StdinKind::Piped | StdinKind::Device) => read_text(stdin)?,
        (Some(prompt), StdinKind::Piped) if !prompt.trim().is_empty() => {
            with_data(prompt, &text_of(piped::read_to_end(stdin, patience, note)?)?)?
        }
        (Some(prompt), StdinKind::Terminal | StdinKind::Device | StdinKind::Piped) => prompt.to_owned(),
        (None, StdinKind::Terminal) => return Err(PromptError::Missing),
    };
    if text.trim().is_empty() { Err(PromptError::Empty) } else { Ok(text) }
}

/// Returns the prompt, then the data in a fenced block. The fence is longer than any run of backticks in the data, so
/// nothing in the data can end the block.
fn with_data(prompt: &str, data: &str) -> Result<String, PromptError> {
    if data.trim().is_empty() {
        return Ok(prompt.to_owned());
    }
    let longest_run = data.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest_run + 1));
    let text = format!("{}\n\n{LABEL}\n{fence}\n{data}\n{fence}", prompt.trim_end());
    if text.len() > LONGEST { Err(PromptError::TooLong) } else { Ok(text) }
}

/// Reads all of standard input, without the line breaks at its end.
fn read_text(stdin: impl Read) -> Result<String, PromptError> {
    let mut bytes = Vec::new();
    stdin.take(LONGEST as u64 + 1).read_to_end(&mut bytes)?;
    text_of(bytes)
}

fn text_of(bytes: Vec<u8>) -> Result<String, PromptError> {
    if bytes.len() > LONGEST {
        return Err(PromptError::TooLong);
    }
    let mut text =
        String::from_utf8(bytes).map_err(|error| PromptError::NotUtf8 { offset: error.utf8_error().valid_up_to() })?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::{LONGEST, PromptError, StdinKind};
    use crate::piped::StdinWait;

    fn read(
        argument: Option<&str>,
        input: StdinKind,
        stdin: impl Read + Send + 'static,
    ) -> Result<String, PromptError> {
        super::read(argument, input, stdin, StdinWait::USUAL, || ())
    }

    fn piped(bytes: &'static [u8]) -> Result<String, PromptError> {
        read(None, StdinKind::Piped, bytes)
    }

    /// Fails the test when it is read.
    struct UnreadableInput;

    impl Read for UnreadableInput {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("standard input was read"))
        }
    }

    /// An input that returns parts as they are sent, and ends when the sender is dropped.
    struct SlowInput(Receiver<&'static [u8]>);

    impl Read for SlowInput {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let part = self.0.recv().unwrap_or_default();
            buffer[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    #[test]
    fn an_argument_alone_is_the_prompt_where_nothing_is_piped() {
        for input in [StdinKind::Device, StdinKind::Terminal] {
            assert_eq!(read(Some("do it\n"), input, UnreadableInput).ok().as_deref(), Some("do it\n"));
        }
        for nothing in [&b""[..], b"\n \n"] {
            assert_eq!(read(Some("do it"), StdinKind::Piped, nothing).ok().as_deref(), Some("do it"));
        }
    }

    // proves W2
    #[test]
    fn piped_text_follows_the_prompt_as_data() {
        let read = |data: &'static [u8]| read(Some("What is wrong?\n"), StdinKind::Piped, data).unwrap();
        let label = "What is wrong?\n\nStandard input (data for the request above):";
        assert_eq!(read(b" one\ntwo\r\n"), format!("{label}\n```\n one\ntwo\n```"));
        assert_eq!(read(b"```\nrm -rf\n````"), format!("{label}\n`````\n```\nrm -rf\n````\n`````"));
    }

    #[test]
    fn piped_data_that_is_no_text_or_too_much_is_refused() {
        let data = |data: &'static [u8]| read(Some("look"), StdinKind::Piped, data);
        assert!(matches!(data(b"ok \xff"), Err(PromptError::NotUtf8 { offset: 3 })));
        let endless = io::repeat(b'x').take(LONGEST as u64 * 2);
        assert!(matches!(read(Some("look"), StdinKind::Piped, endless), Err(PromptError::TooLong)));
        let full = io::repeat(b'x').take(LONGEST as u64);
        assert!(matches!(read(Some("look"), StdinKind::Piped, full), Err(PromptError::TooLong)), "with the prompt");
        assert!(matches!(read(Some("look"), StdinKind::Piped, UnreadableInput), Err(PromptError::Unreadable(_))));
        assert!(matches!(read(Some(" "), StdinKind::Piped, &b"data"[..]), Err(PromptError::Empty)));
    }

    #[test]
    fn a_silent_pipe_is_told_once_and_given_up_at_its_limit() {
        let (sender, parts) = channel();
        let (noted, notes) = channel();
        let patience = StdinWait { note_after: Duration::from_millis(5), limit: Duration::from_millis(30) };
        let note = move || noted.send(()).unwrap();
        let refused = super::read(Some("look"), StdinKind::Piped, SlowInput(parts), patience, note);
        assert!(matches!(refused, Err(PromptError::Silent { .. })));
        assert_eq!(notes.iter().count(), 1);
        drop(sender);
    }

    #[test]
    fn a_slow_pipe_is_read_to_its_end() {
        let (sender, parts) = channel();
        let patience = StdinWait { note_after: Duration::from_millis(5), limit: Duration::from_secs(60) };
        // Sends the input only after the person was notified.
        let note = move || {
            for part in [&b"late"[..], b" words"] {
                sender.send(part).unwrap();
            }
        };
        let prompt = super::read(Some("look"), StdinKind::Piped, SlowInput(parts), patience, note).unwrap();
        assert!(prompt.ends_with("\n```\nlate words\n```"), "{prompt}");
    }

    #[test]
    fn standard_input_is_the_prompt_for_a_dash_or_for_a_pipe() {
        assert_eq!(piped(b"a\nb\r\n\n").ok().as_deref(), Some("a\nb"));
        for input in [StdinKind::Piped, StdinKind::Device, StdinKind::Terminal] {
            assert_eq!(read(Some("-"), input, &b"typed"[..]).ok().as_deref(), Some("typed"));
        }
    }

    #[test]
    fn no_argument_at_a_terminal_is_a_usage_error_with_a_hint() {
        let error = read(None, StdinKind::Terminal, UnreadableInput).expect_err("nothing to do");
        assert!(error.to_string().contains("windlass run \"what to do\""));
    }

    #[test]
    fn blanks_are_no_prompt() {
        assert!(matches!(piped(b""), Err(PromptError::Empty)));
        assert!(matches!(piped(b" \n\t\n"), Err(PromptError::Empty)));
        assert!(matches!(read(Some("  "), StdinKind::Terminal, UnreadableInput), Err(PromptError::Empty)));
    }

    #[test]
    fn invalid_utf8_is_refused_with_the_offset_of_the_first_wrong_byte() {
        assert!(matches!(piped(b"gr\xc3\xbc\xdf"), Err(PromptError::NotUtf8 { offset: 4 })));
        assert!(matches!(piped(b"half \xe2\x82"), Err(PromptError::NotUtf8 { offset: 5 })));
    }

    #[test]
    fn ten_megabytes_are_taken_and_more_than_the_limit_is_refused() {
        let long = io::repeat(b'x').take(10_000_000);
        assert_eq!(read(None, StdinKind::Piped, long).map(|text| text.len()).ok(), Some(10_000_000));
        let endless = io::repeat(b'x').take(LONGEST as u64 * 2);
        assert!(matches!(read(None, StdinKind::Piped, endless), Err(PromptError::TooLong)));
    }

    #[test]
    fn an_input_that_can_not_be_read_says_so() {
        assert!(matches!(read(None, StdinKind::Piped, UnreadableInput), Err(PromptError::Unreadable(_))));
    }
}
