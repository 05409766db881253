//! Line ends: text that a model wrote gets those of the file it goes into.

use std::borrow::Cow;

/// Whether every line of the text ends with CR LF.
pub(super) fn only_crlf(text: &str) -> bool {
    text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count()
}

/// Returns the text with CR LF at the end of every line.
pub(super) fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Returns `text` with CR LF at the end of every line if all lines of `file` end so.
pub(super) fn with_line_ends_of<'t>(file: &str, text: &'t str) -> Cow<'t, str> {
    if only_crlf(file) { Cow::Owned(with_crlf(text)) } else { Cow::Borrowed(text) }
}
