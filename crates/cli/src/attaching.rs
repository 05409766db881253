//! Files that a person attaches to a message: reads them, says what was attached, and what a model can't be sent.

use std::path::PathBuf;

use windlass::door::{ResolvedModel, read_attached};
use windlass_vocab::{AttachedFile, file_size};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_line;

/// Reads the files named on the command line.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<AttachedFile>, CommandError> {
    let read = |path: &PathBuf| {
        read_attached(path).map_err(|error| {
            let path = harmless_line(&path.display().to_string());
            CommandError::new(Exit::Usage, format!("{path} can't be attached: {error}"))
        })
    };
    paths.iter().map(read).collect()
}

/// Returns the line that says what was attached; `None` for nothing.
pub(crate) fn attached_line(files: &[AttachedFile]) -> Option<String> {
    let names: Vec<String> = files.iter().map(|file| harmless_line(&file.description())).collect();
    (!names.is_empty()).then(|| format!("attached {}", names.join("; ")))
}

/// Checks that images can be sent. Returns a note where no model of the chain is sent any, and an error for an image that
/// is too large for all that are.
pub(crate) fn check_images(files: &[AttachedFile], chain: &[ResolvedModel]) -> Result<Option<String>, String> {
    let images = files.iter().filter_map(|file| match file {
        AttachedFile::Image(image) => Some(image),
        AttachedFile::Text(_) => None,
    });
    let images: Vec<_> = images.collect();
    let Some(first) = chain.first().filter(|_| !images.is_empty()) else { return Ok(None) };
    let Some(most) = chain.iter().filter_map(ResolvedModel::largest_image).max() else {
        let name = harmless_line(first.name.as_str());
        return Ok(Some(format!(
            "{name} is not known to see images, so it is told only their names and sizes; `images = true` in its table \
             [models.\"{name}\"] says that it can"
        )));
    };
    let is_large = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX) > most;
    match images.into_iter().find(|image| is_large(image.content.len())) {
        Some(image) => {
            let (name, size) = (harmless_line(&image.name), file_size(image.content.len() as u64));
            Err(format!("{name} has {size}, and the model's server accepts images of at most {}", file_size(most)))
        }
        None => Ok(None),
    }
}
