//! Long text cut short for a line that people or the model read.

/// The first `chars` characters of `text`, with an ellipsis where more were there.
pub(crate) fn shorten(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
