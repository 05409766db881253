//! A block of Python that is the new text of a file, and no script: asked to correct a program, small models write the corrected
//! program. Run as a script it would change nothing. Here it becomes the script that writes the file.
//!
//! A block is taken so where it is plainly a version of a file that may be meant, or of a part of one: it has nearly all of the
//! file's lines, or only lines of one part of it, as they are or slightly changed, and what is new in it works with no files.
//! Several files may stand in one block, each below a comment with its path.

use serde_json::json;
use windlass_vocab::ReplyCall;

use super::python_command::{python_command, python_script};
use super::script::is_script_tool;

/// The most lines of a file and of a block that are compared.
const LINES: usize = 400;
/// How many of a file's lines, in percent, a version of it has.
const KEPT_PERCENT: usize = 80;
/// What a program that is meant as a script uses, and a corrected program does not begin to.
const WORKS_WITH_FILES: [&str; 11] =
    ["open(", "os.", "shutil.", "pathlib", "Path(", "subprocess", ".write", ".dump(", ".unlink", ".rename", "glob."];

/// A file that a block may be a version of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToWrite {
    /// Its path in the workspace.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Whether the run has changed it.
    pub version: FileVersion,
}

/// Whether a run has changed a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileVersion {
    /// It is as the run found it.
    Found,
    /// The run has changed it: a block with the same text repeats that change.
    Changed,
}

/// Makes a call whose script is the new text of some of these files the call that writes them; leaves any other as it is.
pub fn write_file_text(call: &mut ReplyCall, files: &[FileToWrite]) {
    let arguments: Option<serde_json::Value> =
        serde_json::from_str(&call.arguments).ok().filter(|_| is_script_tool(&call.name));
    let script = arguments.as_ref().and_then(|arguments| arguments.get("command")?.as_str()).and_then(python_script);
    // The imports that were added are no part of the text.
    let Some(block) = call.mended.clone().or(script) else { return };
    if let Some(writing) = as_writing_script(&block, files) {
        call.arguments = json!({ "command": python_command(&writing) }).to_string();
        call.mended = Some(block);
    }
}

/// Returns the script that writes the files of which the block is a new version.
fn as_writing_script(block: &str, files: &[FileToWrite]) -> Option<String> {
    let lines: Option<Vec<String>> = match sections(block, files) {
        Some(mut sections) => {
            sections.retain(|(file, text)| repeats(file, text) || lines_of(text) != lines_of(&file.text));
            let lines: Option<Vec<String>> = sections.iter().map(|(file, text)| writing_line(file, text)).collect();
            lines.filter(|lines| !lines.is_empty())
        }
        None => {
            let mut lines = files.iter().filter_map(|file| writing_line(file, block));
            Some(vec![lines.next().filter(|_| lines.next().is_none())?])
        }
    };
    lines.map(|lines| lines.join("\n"))
}

/// Splits a block at comments with the paths of files; `None` where it does not begin with one. Of a file that is there
/// twice, the last text counts.
fn sections<'f>(block: &str, files: &'f [FileToWrite]) -> Option<Vec<(&'f FileToWrite, String)>> {
    let mut sections: Vec<(&FileToWrite, String)> = Vec::new();
    for line in block.lines() {
        if let Some(file) = files.iter().find(|file| is_heading(line, &file.path)) {
            sections.retain(|(known, _)| known.path != file.path);
            sections.push((file, String::new()));
        } else if let Some((_, text)) = sections.last_mut() {
            text.push_str(line);
            text.push('\n');
        } else if !line.trim().is_empty() {
            return None;
        }
    }
    (!sections.is_empty()).then_some(sections)
}

/// Whether a line is a comment with this path and nothing else.
fn is_heading(line: &str, path: &str) -> bool {
    let Some(comment) = line.strip_prefix('#') else { return false };
    let comment = comment.trim();
    let comment = comment.strip_prefix("File:").or_else(|| comment.strip_prefix("File ")).unwrap_or(comment);
    comment.trim_matches(|letter: char| letter.is_whitespace() || "`:'\"".contains(letter)) == path
}

/// Returns the line of a script that writes a file, if the block is a new version of it or of a part of it.
fn writing_line(file: &FileToWrite, block: &str) -> Option<String> {
    let text = if repeats(file, block) { file.text.clone() } else { new_text(block, &file.text)? };
    let is_plain =
        !text.contains(['\\', '\r']) && !text.contains("'''") && !text.starts_with('\'') && !text.ends_with('\'');
    let quoted = if is_plain { format!("'''{text}'''") } else { json!(text).to_string() };
    Some(format!("open({}, \"w\", encoding=\"utf-8\", newline=\"\").write({quoted})", json!(file.path)))
}

/// Whether a block is the text of a file that the run has changed.
fn repeats(file: &FileToWrite, block: &str) -> bool {
    file.version == FileVersion::Changed && lines_of(block) == lines_of(&file.text)
}

/// Returns a text with the block in the place of what it is a new version of, with the line ends of the text.
fn new_text(block: &str, text: &str) -> Option<String> {
    let new = with_part(block, text).or_else(|| is_version(block, text).then(|| block.to_owned()))?;
    let new = format!("{}\n", new.trim_matches('\n').trim_end());
    Some(if text.contains("\r\n") { new.replace('\n', "\r\n") } else { new })
}

/// Whether a block is a new version of a text. What lacks its beginning or its end is a part.
fn is_version(block: &str, text: &str) -> bool {
    let (new, old) = (lines_of(block), lines_of(text));
    let has = |line: Option<&&str>| line.is_some_and(|old| new.iter().any(|new| are_similar(new, old)));
    may_be_version(&new, &old)
        && has(old.first())
        && has(old.last())
        && common_lines(&new, &old) * 100 >= old.len() * KEPT_PERCENT
}

/// Whether the lines of a block may be those of a text, some of them changed: one is as it was, and what is new works with no
/// files.
fn may_be_version(new: &[&str], old: &[&str]) -> bool {
    let works_with_files = |line: &&&str| WORKS_WITH_FILES.iter().any(|word| line.contains(word));
    let mut changed = new.iter().filter(|line| !old.contains(line));
    (2..=LINES).contains(&old.len())
        && new.len() <= LINES
        && new != old
        && new.iter().any(|line| old.contains(line))
        && !changed.any(|line| works_with_files(&line))
}

/// Returns a text in which the block takes the place of the part that it is a new version of: the one part that has as many
/// lines, each of them the same or similar.
fn with_part(block: &str, text: &str) -> Option<String> {
    let (new, old) = (lines_of(block), lines_of(text));
    if new.len() < 2 || !may_be_version(&new, &old) {
        return None;
    }
    let is_part = |part: &[&str]| part.iter().zip(&new).all(|(old, new)| are_similar(new, old));
    let mut parts = old.windows(new.len()).enumerate().filter(|(_, part)| is_part(part));
    let (first, part) = parts.next().filter(|_| parts.next().is_none())?;
    let is_changed = part != new;
    let mut place = 0usize;
    let lines = text.lines().map(|line| {
        if line.trim_end().is_empty() {
            return line;
        }
        let in_part = place.checked_sub(first).and_then(|place| new.get(place));
        place += 1;
        in_part.copied().unwrap_or(line)
    });
    is_changed.then(|| lines.collect::<Vec<_>>().join("\n"))
}

fn lines_of(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

/// Returns how many lines of two texts are the same or similar, in the same order.
fn common_lines(new: &[&str], old: &[&str]) -> usize {
    let mut best = vec![0; new.len() + 1];
    for known in old {
        let mut diagonal = 0;
        for (place, line) in new.iter().enumerate() {
            let above = best[place + 1];
            best[place + 1] = if are_similar(line, known) { diagonal + 1 } else { above.max(best[place]) };
            diagonal = above;
        }
    }
    best.last().copied().unwrap_or_default()
}

/// Whether two lines differ in no more than one part, which is shorter than what they share.
fn are_similar(one: &str, other: &str) -> bool {
    let start = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let shorter = one.len().min(other.len());
    let end = one.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count().min(shorter - start);
    (start + end) * 2 >= one.len().max(other.len())
}

#[cfg(test)]
mod tests {
    use super::super::script;
    use super::super::script_language::ScriptLanguage;
    use super::*;

    const PAGES: &str =
        "def pages(lines, per_page):\n    return math.ceil(lines / per_page)\n\n\nprint(pages(95, 40))\n";

    const HOW: &str = "encoding=\"utf-8\", newline=\"\"";

    fn file(path: &str, text: &str) -> FileToWrite {
        FileToWrite { path: path.to_owned(), text: text.to_owned(), version: FileVersion::Found }
    }

    // proves T4, L11: a program that was written and is shown again is the same change, not a script
    #[test]
    fn a_block_with_the_text_that_the_run_wrote_writes_it_again() {
        let block = format!("import math\n\n{PAGES}");
        for (before, after) in
            [(PAGES.to_owned(), block.clone()), (PAGES.replace('\n', "\r\n"), block.replace('\n', "\r\n"))]
        {
            let first = as_writing_script(&block, &[file("pages.py", &before)]).expect("a version");
            let written = [FileToWrite { version: FileVersion::Changed, ..file("pages.py", &after) }];
            assert_eq!(as_writing_script(&block, &written).as_ref(), Some(&first));
            assert_eq!(as_writing_script(&format!("# pages.py\n{block}"), &written), Some(first), "below its path");
        }
        assert_eq!(as_writing_script(PAGES, &[file("pages.py", PAGES)]), None, "as it was before");
    }

    // proves T4: a corrected program becomes the script that writes it
    #[test]
    fn a_block_that_is_a_version_of_a_file_is_written_to_it() {
        let block = format!("import math\n\n{}", PAGES.replace("\n\n\n", "\n\n"));
        let files = [file("pages.py", PAGES), file("other.py", "a = 1\nb = 2\n")];
        let script = as_writing_script(&block, &files).expect("a version of pages.py");
        assert_eq!(script, format!("open(\"pages.py\", \"w\", {HOW}).write('''{block}''')"));
        let mut call = script::call(ScriptLanguage::Python, 0, &block).expect("a script").expect("a call");
        write_file_text(&mut call, &files);
        assert_eq!(call.mended.as_deref(), Some(block.trim_end()));
        assert!(call.arguments.contains("pages.py"), "{}", call.arguments);
    }

    // proves T4: several files in one block, and the last text of each
    #[test]
    fn comments_with_paths_divide_a_block() {
        let files = [
            file("shop/prices.py", "def calc(items):\n    return sum(items)\n"),
            file("shop/pay.py", "from prices import calc\n\nbasket = [4, 7]\nprint(calc(basket))\n"),
        ];
        let pay = "from prices import total\n\nbasket = [4, 7]\nprint(total(basket))\n";
        let prices = "def total(items):\n    return sum(items)\n";
        let block = format!("# shop/pay.py\n{pay}# File: shop/prices.py\n{prices}\n# shop/pay.py\n{pay}");
        let script = as_writing_script(&block, &files).expect("both files");
        let line = |path: &str, text: &str| format!("open(\"{path}\", \"w\", {HOW}).write('''{text}''')");
        assert_eq!(script, format!("{}\n{}", line("shop/prices.py", prices), line("shop/pay.py", pay)));
        let block = block.replace("return sum(items)", "return 0");
        assert_eq!(as_writing_script(&block, &files), None, "no line of prices.py is as it was");
    }

    // proves T4: a corrected part takes its place
    #[test]
    fn a_block_that_is_a_version_of_a_part_replaces_it() {
        let files =
            [file("greet.py", "def greet(name)\n    return name\n\nprint(greet('a'))\n"), file("pages.py", PAGES)];
        let script = as_writing_script("def greet(name):\n    return name", &files);
        let text = "def greet(name):\n    return name\n\nprint(greet('a'))\n";
        assert_eq!(script, Some(format!("open(\"greet.py\", \"w\", {HOW}).write('''{text}''')")));
    }

    // proves T4: a part that has most of the lines is a part all the same, and line ends stay as they are
    #[test]
    fn a_long_part_does_not_take_the_place_of_the_file() {
        let old = "def double(x)\n    y = 2 * x\n    # twice\n    return y\n\nprint(double(4))\n";
        let part = "def double(x):\n    y = 2 * x\n    # twice\n    return y";
        let script = as_writing_script(part, &[file("double.py", old)]).expect("a part");
        assert!(script.contains("print(double(4))") && script.contains("def double(x):"), "{script}");
        let longer = format!("import math\n{part}");
        assert_eq!(as_writing_script(&longer, &[file("double.py", old)]), None, "its end is not there");
        let script = as_writing_script(part, &[file("double.py", &old.replace('\n', "\r\n"))]).expect("a part");
        assert!(script.contains(r"return y\r\n"), "{script}");
    }

    // proves T4: what works with files, or is no version of one, stays a script
    #[test]
    fn scripts_stay_scripts() {
        let files =
            [file("pages.py", PAGES), file("greet.py", "def greet(name)\n    return name\n\nprint(greet('a'))\n")];
        for script in [
            PAGES,
            "text = open('pages.py').read()\nprint(text)",
            "def greet(name):\n    return name\n    # more\n    # more",
            "def pages(lines, per_page):\n    return math.ceil(lines / per_page)",
            "import math\nprint(math.ceil(95 / 40))",
            "def pages(lines, per_page):\n    return math.ceil(lines / per_page)\n\n\nprint(pages(95, 40))\nopen('x', 'w')",
        ] {
            assert_eq!(as_writing_script(script, &files), None, "{script}");
        }
    }
}
