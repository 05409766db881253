//! Shortens long text to a line that people or the model read.

/// Returns the first `chars` characters of `text`, with an ellipsis if there are more.
pub(crate) fn shorten(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
