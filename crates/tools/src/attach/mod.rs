//! Files that a person attaches to a message: what a file holds decides how it is sent, not its name (C9). Images are sent
//! as they are, and everything else as text. What a person names is read wherever it lies, without a rule.

pub(crate) mod image;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use windlass_vocab::{AttachedFile, AttachedText, file_size};

use self::image::{ImageKind, LARGEST_IMAGE, image};
use crate::builtin::file_kind::{SAMPLE, binary};

/// The most bytes of a PDF document.
pub(crate) const LARGEST_PDF: u64 = 50_000_000;
/// The most bytes of a text file.
const LARGEST_TEXT: u64 = 10_000_000;

/// Endings of names that promise an image.
const IMAGE_ENDINGS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// The program that is started to read a PDF document, and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdfProgram {
    /// The program. Its `main` must read the document when it is given these arguments.
    pub program: PathBuf,
    /// The arguments.
    pub args: Vec<String>,
}

/// Why a file can't be attached. Each reads as the end of a sentence that begins with the file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// The path leads nowhere.
    #[error("there is no such file")]
    Missing,
    /// The path leads to a folder.
    #[error("it is a folder, and only files can be attached")]
    Folder,
    /// The path leads to a device, a pipe or a socket.
    #[error("it is not a regular file")]
    NotRegular,
    /// The file can't be read.
    #[error("it can't be read: {0}")]
    Unreadable(String),
    /// The file is empty.
    #[error("it is empty")]
    Empty,
    /// The file is larger than what is sent.
    #[error("it has {}, and {kind} of at most {} can be attached", file_size(*.bytes), file_size(*.most))]
    TooLarge {
        /// What kind of file it is, in the plural.
        kind: &'static str,
        /// Its size.
        bytes: u64,
        /// The largest size.
        most: u64,
    },
    /// The name promises an image, and the content is none.
    #[error("its name says that it is an image, but its content is not one of PNG, JPEG, GIF or WebP")]
    NotAnImage,
    /// The file begins like an image of this kind, and has no size.
    #[error("it begins like {0}, but is damaged: it has no width and height")]
    DamagedImage(&'static str),
    /// The file is neither an image nor text.
    #[error("it is {0}; images, PDF documents and text can be attached")]
    Binary(&'static str),
    /// The document needs a password.
    #[error("it is a PDF document with a password; save a copy without one, and attach that")]
    EncryptedPdf,
    /// The document can't be parsed.
    #[error("it is a damaged PDF document")]
    DamagedPdf,
    /// The document has no text, or none that its fonts say how to read.
    #[error("it is a PDF document without text, perhaps of scanned pages; pictures of them can be attached")]
    PdfWithoutText,
    /// Reading the document took more memory or time than it may.
    #[error("it is a PDF document that takes too much memory or time to read")]
    PdfTakesTooMuch,
    /// No process can be started that would read it.
    #[error("it is a PDF document, and there is no program to read it with; attach its text instead")]
    NoPdfProgram,
}

/// Reads a file that a person attaches. A PDF document may be made to take all memory or time, so `pdf` reads it, in a process
/// of its own.
pub fn attached_file(path: &Path, pdf: Option<&PdfProgram>) -> Result<AttachedFile, AttachError> {
    let metadata = fs::metadata(path).map_err(|error| explained(&error))?;
    if metadata.is_dir() {
        return Err(AttachError::Folder);
    }
    // Opening a pipe would wait for somebody to write into it.
    if !metadata.is_file() {
        return Err(AttachError::NotRegular);
    }
    let mut file = File::open(path).map_err(|error| explained(&error))?;
    let mut content = Vec::new();
    read(&mut file, SAMPLE as u64, &mut content)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let bytes = metadata.len().max(content.len() as u64);
    match ImageKind::of(&content) {
        Some(_) => image_file(&name, bytes, file, content),
        None if has_image_ending(&name) => Err(AttachError::NotAnImage),
        None if content.starts_with(b"%PDF-") => pdf_file(name, bytes, file, content, pdf),
        None => text_file(name, bytes, file, content),
    }
}

/// Whether the ending of a name promises an image.
#[must_use]
pub fn has_image_ending(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| IMAGE_ENDINGS.contains(&ending.as_str()))
}

fn image_file(name: &str, bytes: u64, mut file: File, mut content: Vec<u8>) -> Result<AttachedFile, AttachError> {
    let kind = binary(&content).unwrap_or("an image");
    within("images", bytes, LARGEST_IMAGE)?;
    read(&mut file, LARGEST_IMAGE, &mut content)?;
    image(name, content.into()).map(AttachedFile::Image).ok_or(AttachError::DamagedImage(kind))
}

fn text_file(name: String, bytes: u64, mut file: File, mut content: Vec<u8>) -> Result<AttachedFile, AttachError> {
    if let Some(kind) = binary(&content) {
        return Err(AttachError::Binary(kind));
    }
    if content.is_empty() {
        return Err(AttachError::Empty);
    }
    within("text files", bytes, LARGEST_TEXT)?;
    read(&mut file, LARGEST_TEXT, &mut content)?;
    let text = String::from_utf8_lossy(&content).replace('\0', "␀");
    Ok(AttachedFile::Text(AttachedText { name, media_type: "text/plain".into(), bytes, text, cut: None, origin: None }))
}

/// Reads the text of a PDF document.
fn pdf_file(
    name: String,
    bytes: u64,
    mut file: File,
    mut content: Vec<u8>,
    program: Option<&PdfProgram>,
) -> Result<AttachedFile, AttachError> {
    within("PDF documents", bytes, LARGEST_PDF)?;
    read(&mut file, LARGEST_PDF, &mut content)?;
    let text = pdf_text(program.ok_or(AttachError::NoPdfProgram)?, content)?;
    Ok(AttachedFile::Text(AttachedText {
        name,
        media_type: "application/pdf".into(),
        bytes,
        text,
        cut: None,
        origin: None,
    }))
}

#[cfg(feature = "pdf")]
use crate::pdf::child::pdf_text;

#[cfg(not(feature = "pdf"))]
fn pdf_text(_: &PdfProgram, _: Vec<u8>) -> Result<String, AttachError> {
    Err(AttachError::NoPdfProgram)
}

fn within(kind: &'static str, bytes: u64, most: u64) -> Result<(), AttachError> {
    if bytes > most { Err(AttachError::TooLarge { kind, bytes, most }) } else { Ok(()) }
}

/// Appends at most `most` bytes of a file, which may grow meanwhile.
fn read(file: &mut File, most: u64, content: &mut Vec<u8>) -> Result<(), AttachError> {
    file.take(most).read_to_end(content).map(drop).map_err(|error| explained(&error))
}

fn explained(error: &io::Error) -> AttachError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => AttachError::Missing,
        io::ErrorKind::PermissionDenied => AttachError::Unreadable("permission denied".into()),
        _ => AttachError::Unreadable(error.to_string()),
    }
}
