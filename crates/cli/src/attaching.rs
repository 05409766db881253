//! Files that a person attaches to a message: reads them, says what was attached, and what a model can't be sent.

use std::path::{Component, Path, PathBuf};

use windlass::door::{ResolvedModel, read_attached};
use windlass_vocab::{AttachedFile, ResultCap, file_size};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_line;

/// The most bytes of images that a message sends: servers refuse larger requests.
const MOST_IMAGES: u64 = 30_000_000;

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

/// Names a file by its path in the workspace, so that the model can tell it from another and change it; one from elsewhere
/// keeps its own name.
pub(crate) fn named_in(workspace: &Path, path: &Path, mut file: AttachedFile) -> AttachedFile {
    let inside = path.strip_prefix(workspace).ok();
    let plain = inside.filter(|inside| inside.components().all(|part| matches!(part, Component::Normal(_))));
    if let Some(inside) = plain.map(|inside| inside.display().to_string()) {
        match &mut file {
            AttachedFile::Image(image) => image.name = inside,
            AttachedFile::Text(text) => text.name = inside,
        }
    }
    file
}

/// Returns the lines about texts of which only a part is sent at first.
pub(crate) fn cut_notes(files: &[AttachedFile], most: ResultCap) -> Vec<String> {
    let note = |file: &AttachedFile| match file {
        AttachedFile::Text(text) if text.text.chars().nth(most.chars as usize).is_some() => {
            let name = harmless_line(&text.name);
            Some(format!("{name} is long: its beginning and its end are sent, and the model can read the rest"))
        }
        AttachedFile::Text(_) | AttachedFile::Image(_) => None,
    };
    files.iter().filter_map(note).collect()
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
    let all: u64 = images.iter().map(|image| image.content.len() as u64).sum();
    if all > MOST_IMAGES {
        let (all, most) = (file_size(all), file_size(MOST_IMAGES));
        return Err(format!("the images have {all} together, and a message sends {most} at most: attach fewer"));
    }
    let is_large = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX) > most;
    match images.into_iter().find(|image| is_large(image.content.len())) {
        Some(image) => {
            let (name, size) = (harmless_line(&image.name), file_size(image.content.len() as u64));
            let most = file_size(most);
            Err(format!(
                "{name} has {size}, and the model's server accepts images of at most {most}: attach a smaller copy"
            ))
        }
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use windlass_vocab::{AttachedFile, AttachedText, ResultCap, Spill};

    use super::{cut_notes, named_in};

    fn text(chars: usize) -> AttachedFile {
        let (name, media_type) = ("x.txt".to_owned(), "text/plain".to_owned());
        AttachedFile::Text(AttachedText {
            name,
            media_type,
            bytes: 3,
            text: "x".repeat(chars),
            cut: None,
            origin: None,
        })
    }

    // proves C9
    #[test]
    fn a_file_of_the_workspace_is_named_by_its_path_there() {
        for (path, name) in
            [("/w/a/x.txt", "a/x.txt"), ("/w/x.txt", "x.txt"), ("/other/x.txt", "x.txt"), ("/w/../y", "x.txt")]
        {
            let AttachedFile::Text(named) = named_in(Path::new("/w"), Path::new(path), text(1)) else { panic!("text") };
            assert_eq!(named.name, name, "{path}");
        }
    }

    // proves C9
    #[test]
    fn a_text_of_which_a_part_is_sent_is_named() {
        let cap = ResultCap { chars: 5, rest: Spill::Keep };
        assert_eq!(cut_notes(&[text(5)], cap), Vec::<String>::new());
        let note = "x.txt is long: its beginning and its end are sent, and the model can read the rest";
        assert_eq!(cut_notes(&[text(6)], cap), [note]);
    }
}
