//! Files that a line of the chat names: `@path`, and the whole path of an image, as it is pasted or dropped into a
//! terminal. `@path` counts only where the person typed it: text that was copied from elsewhere must not send a file of
//! theirs to a provider.

use std::path::{Path, PathBuf};

use windlass::door::read_attached;
use windlass_tools::{AttachError, has_image_ending};
use windlass_vocab::AttachedFile;

use crate::attaching::{attached_line, named_in};
use crate::output::harmless_line;

/// What a line attaches.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LineAttachments {
    pub(crate) files: Vec<AttachedFile>,
    /// Where each of them is.
    pub(crate) paths: Vec<PathBuf>,
    /// What the person should know about a file that is not attached.
    pub(crate) notes: Vec<String>,
}

impl LineAttachments {
    /// Returns what the person is told, in whole lines.
    pub(crate) fn lines(&self) -> String {
        let attached = attached_line(&self.files);
        self.notes.iter().chain(&attached).map(|line| format!("{line}\n")).collect()
    }
}

/// How a file is named in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MentionKind {
    /// By `@`: the person wants it attached.
    At,
    /// By its whole path, and the name is an image's.
    ImagePath,
}

/// A file named in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mention {
    kind: MentionKind,
    path: String,
}

/// A line, and where the files are that it names.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttachingLine {
    pub(crate) line: String,
    /// What was pasted into it.
    pub(crate) pasted: Vec<String>,
    pub(crate) workspace: PathBuf,
    pub(crate) home: Option<PathBuf>,
}

impl AttachingLine {
    /// Returns the documents that take time to read, for a line that says so.
    pub(crate) fn documents(&self) -> Vec<String> {
        let ends = |path: &str| without_marks(path).to_lowercase().ends_with(".pdf");
        let documents = mentions(&self.line).into_iter().filter(|mention| ends(&mention.path));
        documents.map(|mention| harmless_line(without_marks(&mention.path))).collect()
    }
}

/// Reads the files that a line names. An error says why the line should not be sent.
pub(crate) fn attach(asked: &AttachingLine) -> Result<LineAttachments, String> {
    let AttachingLine { line, pasted, workspace, home } = asked;
    let mut found = LineAttachments::default();
    let mut seen: Vec<PathBuf> = Vec::new();
    let pasted: Vec<Mention> = pasted.iter().flat_map(|text| mentions(text)).collect();
    for Mention { kind, path: named } in mentions(line) {
        let (name, shorter) = (harmless_line(&named), without_marks(&named));
        // A mark may have been typed behind the paste.
        if kind == MentionKind::At && pasted.iter().any(|mention| without_marks(&mention.path) == shorter) {
            if place(shorter, workspace, home.as_deref()).is_file() {
                let name = harmless_line(shorter);
                found.notes.push(format!("@{name} was pasted, so it is not attached; type it to attach it"));
            }
            continue;
        }
        let (path, read) = first_readable(&named, workspace, home.as_deref());
        if seen.contains(&path) {
            continue;
        }
        match (read, kind) {
            (Ok(file), _) => {
                found.files.push(named_in(workspace, &path, file));
                found.paths.push(path.clone());
            }
            (Err(AttachError::Missing), MentionKind::At) if shorter.contains(['/', '.']) => {
                let name = harmless_line(shorter);
                found.notes.push(format!("there is no file {name}, so nothing is attached for it"));
            }
            (Err(AttachError::Missing), MentionKind::At | MentionKind::ImagePath) => {}
            (Err(AttachError::Folder), MentionKind::At) => {
                found.notes.push(format!("{name} is a folder, and only files are attached"));
            }
            (Err(error), MentionKind::At) => {
                return Err(format!("{name} can't be attached: {error}; nothing was sent"));
            }
            (Err(error), MentionKind::ImagePath) => found.notes.push(format!("{name} is not attached: {error}")),
        }
        seen.push(path);
    }
    Ok(found)
}

/// Reads the file by this name, or else without the marks of a sentence at its end.
fn first_readable(named: &str, workspace: &Path, home: Option<&Path>) -> (PathBuf, Result<AttachedFile, AttachError>) {
    let path = place(named, workspace, home);
    let read = read_attached(&path);
    let shorter = without_marks(named);
    if read == Err(AttachError::Missing) && shorter != named && !shorter.is_empty() {
        let path = place(shorter, workspace, home);
        let read = read_attached(&path);
        return (path, read);
    }
    (path, read)
}

/// Returns a name without the marks of a sentence at its end.
fn without_marks(named: &str) -> &str {
    named.trim_end_matches([',', '.', ';', ':', '!', '?', ')', '"', '\''])
}

fn place(named: &str, workspace: &Path, home: Option<&Path>) -> PathBuf {
    match (named.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) | (None, _) => workspace.join(named),
    }
}

/// Returns the files that a line names, in order.
fn mentions(line: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return found;
        }
        let (kind, word) = match rest.strip_prefix('@') {
            Some(word) => (MentionKind::At, word),
            None => (MentionKind::ImagePath, rest),
        };
        let (path, after) = word_at(word, kind);
        rest = after;
        let path = path.strip_prefix("file://").map_or(path.clone(), str::to_owned);
        let counts = match kind {
            MentionKind::At => !path.is_empty(),
            MentionKind::ImagePath => {
                let is_whole = path.starts_with('/') || path.starts_with("~/");
                is_whole && has_image_ending(path.trim_end_matches([',', '.', ';', ':', '!', '?', ')']))
            }
        };
        if counts {
            found.push(Mention { kind, path });
        }
    }
}

/// Returns the word that the text begins with, and what follows it. A path in quotes may contain blanks, and so may one
/// with a backslash before each, as a shell writes them. Other quotes are those of a sentence.
fn word_at(text: &str, kind: MentionKind) -> (String, &str) {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    if let Some((inside, after)) = quote.and_then(|quote| text[1..].split_once(quote)) {
        let is_path = match kind {
            MentionKind::At => true,
            MentionKind::ImagePath => ["/", "~/", "file://"].iter().any(|start| inside.starts_with(start)),
        };
        if is_path {
            return (inside.to_owned(), after);
        }
    }
    let mut word = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => word.extend(chars.next().map(|(_, escaped)| escaped)),
            c if c.is_whitespace() => return (word, &text[at..]),
            c => word.push(c),
        }
    }
    (word, "")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{AttachingLine, LineAttachments, MentionKind, attach, mentions};

    fn whole_path(dir: &std::path::Path) -> String {
        dir.join("a.png").display().to_string()
    }

    fn png() -> Vec<u8> {
        [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &[0, 0, 0, 2, 0, 0, 0, 1, 8, 2, 0, 0, 0]].concat()
    }

    // proves C9
    #[test]
    fn files_are_named_by_an_at_sign_and_images_by_their_whole_path() {
        let found = |line: &str| -> Vec<(MentionKind, String)> {
            mentions(line).into_iter().map(|mention| (mention.kind, mention.path)).collect()
        };
        let at = |path: &str| (MentionKind::At, path.to_owned());
        let image = |path: &str| (MentionKind::ImagePath, path.to_owned());
        assert_eq!(found("look at @a.png and @\"my b.txt\" now"), [at("a.png"), at("my b.txt")]);
        assert_eq!(found("/tmp/my\\ a.PNG what is it?"), [image("/tmp/my a.PNG")]);
        assert_eq!(
            found("'/tmp/my a.jpg' file:///tmp/b.webp ~/c.gif"),
            ["/tmp/my a.jpg", "/tmp/b.webp", "~/c.gif"].map(image)
        );
        assert_eq!(found("\"compare @a.png and @b.png\""), [at("a.png"), at("b.png\"")]);
        for line in ["me@example.org", "a @ b", "/tmp/notes.txt", "images/a.png", "it's here", ""] {
            assert_eq!(found(line), [], "{line}");
        }
    }

    // proves C9
    #[test]
    fn a_line_attaches_the_files_it_names_once_and_says_what_it_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        fs::create_dir(dir.join("src")).unwrap();
        fs::write(dir.join("a.png"), png()).unwrap();
        fs::write(dir.join("notes.txt"), "words").unwrap();
        fs::write(dir.join("none.png"), "words").unwrap();
        let entered = |line: &str, pasted: &[&str]| AttachingLine {
            line: line.to_owned(),
            pasted: pasted.iter().map(|text| (*text).to_owned()).collect(),
            workspace: dir.to_owned(),
            home: Some(dir.to_owned()),
        };
        let attached = |line: &str| attach(&entered(line, &[]));
        let whole = whole_path(dir);
        let found = attached(&format!("what is on @a.png, see (@notes.txt) and {whole}?")).unwrap();
        let names: Vec<String> = found.files.iter().map(windlass_vocab::AttachedFile::description).collect();
        assert_eq!(names, ["a.png, 2 × 1, 29 bytes"]);
        let found = attached("@notes.txt: and @~/a.png").unwrap();
        assert_eq!(found.files.len(), 2);
        for line in ["ask @anna", "ask @bob.", "and @carol?"] {
            assert_eq!(attached(line).unwrap(), LineAttachments::default(), "{line}");
        }
        assert_eq!(attached("\"compare @a.png and @notes.txt\"").unwrap().files.len(), 2);
        // Text from elsewhere attaches nothing by an at sign; what is typed beside it does.
        let found = attach(&entered("@notes.txt or see @~/a.png.", &["see @~/a.png"])).unwrap();
        assert_eq!(found.files.len(), 1);
        assert_eq!(found.notes, ["@~/a.png was pasted, so it is not attached; type it to attach it"]);
        assert_eq!(attach(&entered(&whole_path(dir), &[whole_path(dir).as_str()])).unwrap().files.len(), 1);
        assert_eq!(entered("read @big.PDF, and @notes.txt", &[]).documents(), ["big.PDF"]);
        let notes = [
            "there is no file types/node, so nothing is attached for it",
            "src/ is a folder, and only files are attached",
        ];
        assert_eq!(attached("@types/node in @src/").unwrap().notes, notes);
        let refused = attached("look at @none.png").unwrap_err();
        assert!(
            refused.starts_with("none.png can't be attached: its name says") && refused.ends_with("nothing was sent")
        );
        let pasted = attached(&dir.join("none.png").display().to_string()).unwrap();
        assert!(pasted.files.is_empty() && pasted.notes[0].contains("is not attached: its name says"), "{pasted:?}");
    }
}
