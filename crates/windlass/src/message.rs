//! A message to an agent, with the files attached to it.

use std::path::{Path, PathBuf};

use windlass_runtime::SentMessage;
use windlass_tools::{AttachError, attached_file};
use windlass_vocab::AttachedFile;

/// A message, with files attached to it. Plain text is a message too.
///
/// ```no_run
/// # async fn example(agent: windlass::Agent) -> Result<(), windlass::RunError> {
/// use windlass::Prompt;
///
/// let answer = agent.run(Prompt::new("What is on this photo?").attach("photo.png")).await?;
/// # Ok(())
/// # }
/// ```
///
/// What a file holds decides how it is sent: an image (PNG, JPEG, GIF, WebP) to models that can see, text and the text of a PDF
/// document as text. A model that can't see is told the name and the size of an image. PDF documents are read in a process
/// of their own, so they need `init` at the start of `main`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a message does nothing before it is sent"]
pub struct Prompt {
    text: String,
    paths: Vec<PathBuf>,
}

impl Prompt {
    /// Returns a message that is only text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), paths: Vec::new() }
    }

    /// Attaches a file. It is read when the message is sent, wherever it lies.
    pub fn attach(mut self, path: impl Into<PathBuf>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// Reads the attached files.
    pub(crate) async fn read(self) -> Result<SentMessage, (PathBuf, AttachError)> {
        let Self { text, paths } = self;
        if paths.is_empty() {
            return Ok(SentMessage { text, files: Vec::new() });
        }
        let read = |path: PathBuf| read_attached(&path).map_err(|error| (path, error));
        let reading = tokio::task::spawn_blocking(move || paths.into_iter().map(read).collect());
        let files: Result<Vec<AttachedFile>, _> = match reading.await {
            Ok(files) => files,
            Err(error) => Err((PathBuf::new(), AttachError::Unreadable(error.to_string()))),
        };
        Ok(SentMessage { text, files: files? })
    }
}

/// Reads a file that a person attaches, wherever it lies.
pub fn read_attached(path: &Path) -> Result<AttachedFile, AttachError> {
    #[cfg(feature = "pdf")]
    let pdf = crate::guard::own_pdf_program();
    #[cfg(not(feature = "pdf"))]
    let pdf = None;
    attached_file(path, pdf.as_ref())
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        Self::new(text)
    }
}
