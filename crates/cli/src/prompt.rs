//! The request: the argument, or standard input for `-` and for no argument with a pipe. With an
//! argument standard input is left alone, so that a script whose input never ends does not hang.

use std::io::{self, Read};

/// The longest prompt taken.
pub const LONGEST: usize = 64 * 1024 * 1024;

/// What standard input is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A person's keyboard.
    Terminal,
    /// A pipe, a file, or nothing.
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
        "the prompt is not valid UTF-8: the byte at offset {offset} of standard input does not belong there; convert it first, e.g. with iconv"
    )]
    NotUtf8 {
        /// Counted from 0.
        offset: usize,
    },
    /// Over the limit.
    #[error("the prompt is longer than {} MiB: put it in a file in the workspace and name the file", LONGEST / 1024 / 1024)]
    TooLong,
    /// It could not be read.
    #[error("standard input could not be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// The prompt of `windlass run`.
pub fn read(argument: Option<&str>, input: Input, stdin: impl Read) -> Result<String, PromptError> {
    let text = match (argument, input) {
        (Some("-"), _) | (None, Input::Piped) => read_text(stdin)?,
        (Some(text), _) => text.to_owned(),
        (None, Input::Terminal) => return Err(PromptError::Missing),
    };
    if text.trim().is_empty() { Err(PromptError::Empty) } else { Ok(text) }
}

/// All of standard input, without the line breaks at its end.
fn read_text(stdin: impl Read) -> Result<String, PromptError> {
    let mut bytes = Vec::new();
    stdin.take(LONGEST as u64 + 1).read_to_end(&mut bytes)?;
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

    use super::{Input, LONGEST, PromptError, read};

    fn piped(bytes: &[u8]) -> Result<String, PromptError> {
        read(None, Input::Piped, bytes)
    }

    /// Fails the test when it is read.
    struct Untouchable;

    impl Read for Untouchable {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("standard input was read"))
        }
    }

    #[test]
    fn the_argument_is_the_prompt_and_standard_input_is_left_alone() {
        for input in [Input::Piped, Input::Terminal] {
            assert_eq!(read(Some("do it\n"), input, Untouchable).ok().as_deref(), Some("do it\n"));
        }
    }

    #[test]
    fn standard_input_is_the_prompt_for_a_dash_or_for_a_pipe() {
        assert_eq!(piped(b"a\nb\r\n\n").ok().as_deref(), Some("a\nb"));
        for input in [Input::Piped, Input::Terminal] {
            assert_eq!(read(Some("-"), input, &b"typed"[..]).ok().as_deref(), Some("typed"));
        }
    }

    #[test]
    fn no_argument_at_a_terminal_is_a_usage_error_with_a_hint() {
        let error = read(None, Input::Terminal, Untouchable).expect_err("nothing to do");
        assert!(error.to_string().contains("windlass run \"what to do\""));
    }

    #[test]
    fn blanks_are_no_prompt() {
        assert!(matches!(piped(b""), Err(PromptError::Empty)));
        assert!(matches!(piped(b" \n\t\n"), Err(PromptError::Empty)));
        assert!(matches!(read(Some("  "), Input::Terminal, Untouchable), Err(PromptError::Empty)));
    }

    #[test]
    fn invalid_utf8_is_refused_with_the_offset_of_the_first_wrong_byte() {
        assert!(matches!(piped(b"gr\xc3\xbc\xdf"), Err(PromptError::NotUtf8 { offset: 4 })));
        assert!(matches!(piped(b"half \xe2\x82"), Err(PromptError::NotUtf8 { offset: 5 })));
    }

    #[test]
    fn ten_megabytes_are_taken_and_more_than_the_limit_is_refused() {
        let long = vec![b'x'; 10_000_000];
        assert_eq!(piped(&long).map(|text| text.len()).ok(), Some(10_000_000));
        let endless = io::repeat(b'x').take(LONGEST as u64 * 2);
        assert!(matches!(read(None, Input::Piped, endless), Err(PromptError::TooLong)));
    }

    #[test]
    fn an_input_that_can_not_be_read_says_so() {
        assert!(matches!(read(None, Input::Piped, Untouchable), Err(PromptError::Unreadable(_))));
    }
}
