//! The text of PDF documents (C9). A document may be made to take all memory or time, so it is read in a process of its
//! own, which the kernel holds to limits: see [`child`].

pub(crate) mod child;
mod cmap;
mod font;
mod glyph_names;
mod page_text;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use self::page_text::TextCollector;
use crate::attach::AttachError;

/// The most pages that are read.
const PAGES: usize = 2_000;
/// The most bytes of text that are read.
const TEXT: usize = 8_000_000;

/// Returns the text of a document.
fn text_of(document: Vec<u8>) -> Result<String, AttachError> {
    let pdf = Pdf::new(document).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected | DecryptionError::UnsupportedAlgorithm) => {
            AttachError::EncryptedPdf
        }
        LoadPdfError::Decryption(_) | LoadPdfError::Invalid => AttachError::DamagedPdf,
    })?;
    let mut collected = TextCollector::new(TEXT);
    let pages = pdf.pages();
    if pages.is_empty() {
        return Err(AttachError::DamagedPdf);
    }
    for (number, page) in pages.iter().take(PAGES).enumerate() {
        if number > 0 && !collected.text.is_empty() {
            collected.text.push('\n');
        }
        collected.add_page(page);
    }
    if pages.len() > PAGES || collected.is_full() {
        collected.text.push_str("[the document goes on; no more of it was read]\n");
    }
    if collected.text.trim().is_empty() { Err(AttachError::PdfWithoutText) } else { Ok(collected.text) }
}

#[cfg(test)]
mod tests;
