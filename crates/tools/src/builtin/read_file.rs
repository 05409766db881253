//! `read_file`: a window of a text file, or of an earlier result that was shortened.
//!
//! The text has no line numbers, so that the model can copy it into an edit unchanged. Only the bytes up to the end of
//! the window are read, whatever the file's size.
//!
//! Lines and columns refer to the text with secrets replaced (X1): no window begins or ends inside a secret.

use std::io::{self, BufRead, Cursor, Read};
use std::sync::Arc;

use cap_std::fs::File;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{CallId, Hash, Outcome, TextOrigin, ToolSpec, file_size};

use super::answer::{invalid_arguments, run_blocking};
use super::arguments::parse_arguments;
use super::file_kind::{SAMPLE, binary};
use super::near_paths::with_near_paths;
use super::spec::file_read_spec;
use crate::about_files::READ;
use crate::attach::image::{ImageKind, LARGEST_IMAGE, image};
use crate::cut::thousands;
use crate::refusal::Refusal;
use crate::{About, BoxFuture, CallContext, CertainFailure, FileRules, SpilledResult, Tool, Workspace};

const LINES: u64 = 2_000;
/// The most characters in one result, a little under the usual limit.
const CHARS: usize = 15_000;
/// The most bytes that are read after a window to count the lines there are in all.
const COUNTED: u64 = 4 << 20;

#[derive(Deserialize)]
pub(super) struct ReadFileArguments {
    pub(super) path: String,
    #[serde(default = "one")]
    pub(super) offset: u64,
    #[serde(default = "one")]
    pub(super) column: u64,
    pub(super) limit: Option<u64>,
}

impl ReadFileArguments {
    /// Takes a zero, which models give for what they would leave out, as left out.
    pub(super) fn without_zeros(self) -> Self {
        let limit = self.limit.filter(|limit| *limit > 0);
        Self { offset: self.offset.max(1), column: self.column.max(1), limit, ..self }
    }
}

pub(super) fn one() -> u64 {
    1
}

pub(super) struct ReadFile {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl ReadFile {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file, or `call:ID`."},
                "offset": {"type": "integer", "minimum": 0, "description": "The first line to show, from 1."},
                "limit": {"type": "integer", "minimum": 0, "description": "How many lines to show at most; 2000 if left out."},
                "column": {"type": "integer", "minimum": 0, "description": "Where in the first line to begin, in bytes from 1; only for lines too long to show whole."}
            },
            "required": ["path"],
            "additionalProperties": false
        });
        let description = include_str!("read_file.md");
        Self { spec: file_read_spec("read_file", description, &schema), workspace }
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        let path = arguments.get("path").and_then(Value::as_str)?;
        let is_kept = KeptText::named(path).is_some();
        Some(if is_kept { About::text(path) } else { self.workspace.about(path, READ) })
    }

    fn origin(&self, arguments: &Value) -> Option<TextOrigin> {
        let path = arguments.get("path")?.as_str().filter(|path| KeptText::named(path).is_none())?;
        self.workspace.untracked(path).then(|| TextOrigin::File { path: path.to_owned() })
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let path = arguments.get("path").and_then(Value::as_str)?;
        self.workspace.unusable(path).map(CertainFailure::by_arguments)
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let workspace = Arc::clone(&self.workspace);
        let arguments = match parse_arguments::<ReadFileArguments>(arguments) {
            Ok(arguments) => arguments.without_zeros(),
            Err(problem) => return invalid_arguments(problem),
        };
        Box::pin(async move {
            match KeptText::named(&arguments.path) {
                Some(kept) => from_kept(kept, &context, &arguments).await.unwrap_or_else(Outcome::from),
                None => {
                    let read = run_blocking(move || {
                        let read = image_or_text(&workspace, &arguments, &context.files);
                        read.map_err(|refusal| with_near_paths(refusal, &workspace, &arguments.path, &context.files))
                    });
                    read.await.unwrap_or_else(Outcome::from)
                }
            }
        })
    }
}

/// A file that was opened, with its first bytes.
struct ReadableFile {
    sample: Vec<u8>,
    file: File,
    bytes: u64,
}

impl ReadableFile {
    fn open(workspace: &Workspace, path: &str, rules: &FileRules) -> Result<Self, Refusal> {
        let (mut file, metadata) = workspace.file(path, rules)?;
        let mut sample = Vec::with_capacity(SAMPLE);
        let read = file.by_ref().take(SAMPLE as u64).read_to_end(&mut sample);
        read.map_err(|error| workspace.explain(path, &error))?;
        Ok(Self { sample, file, bytes: metadata.len() })
    }

    /// Returns the requested part of a text.
    fn text(self, workspace: &Workspace, arguments: &ReadFileArguments) -> Result<String, Refusal> {
        let path = &arguments.path;
        let size = thousands_of(self.bytes);
        if let Some(kind) = binary(&self.sample) {
            return Err(
                format!("`{path}` is {kind} ({size} bytes), not text, and can't be read with this tool.").into()
            );
        }
        let reader = workspace.secrets().reader(Cursor::new(self.sample).chain(self.file));
        let window = window(reader, arguments).map_err(|error| workspace.explain(path, &error))?;
        window.rendered(path, arguments, &size)
    }

    /// Returns an image, whole. A model that can't see images gets a sentence in its place.
    fn image(self, workspace: &Workspace, path: &str) -> Result<Outcome, Refusal> {
        if self.bytes > LARGEST_IMAGE {
            let (size, most) = (file_size(self.bytes), file_size(LARGEST_IMAGE));
            return Err(format!("`{path}` is an image of {size}, and models are sent images of at most {most}.").into());
        }
        let (kind, size) = (binary(&self.sample).unwrap_or("an image"), thousands_of(self.bytes));
        let damaged =
            || format!("`{path}` looks like {kind} ({size} bytes), but is damaged: it has no width and height.");
        let mut content = self.sample;
        let read = self.file.take(LARGEST_IMAGE).read_to_end(&mut content);
        read.map_err(|error| workspace.explain(path, &error))?;
        let found = image(path.rsplit('/').next().unwrap_or(path), content.into());
        let found = found.ok_or_else(|| Refusal::from(damaged()))?;
        let text = format!("[{}]", found.reference(Hash::default()).description());
        Ok(Outcome { images: Box::new([found]), ..Outcome::ok(text) })
    }
}

/// Returns an image, or the requested part of a text.
fn image_or_text(workspace: &Workspace, arguments: &ReadFileArguments, rules: &FileRules) -> Result<Outcome, Refusal> {
    let opened = ReadableFile::open(workspace, &arguments.path, rules)?;
    match ImageKind::of(&opened.sample) {
        Some(_) => opened.image(workspace, &arguments.path),
        None => opened.text(workspace, arguments).map(Outcome::ok),
    }
}

/// Returns the requested part of a text file.
pub(super) fn from_file(
    workspace: &Workspace,
    arguments: &ReadFileArguments,
    rules: &FileRules,
) -> Result<String, Refusal> {
    ReadableFile::open(workspace, &arguments.path, rules)?.text(workspace, arguments)
}

/// A text that is kept outside the workspace because the model was shown a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeptText<'a> {
    /// The result of this call.
    Result(&'a str),
    /// A file that the person attached.
    Attachment(&'a str),
}

impl<'a> KeptText<'a> {
    fn named(path: &'a str) -> Option<Self> {
        let result = path.strip_prefix("call:").map(Self::Result);
        result.or_else(|| path.strip_prefix("attached:").map(Self::Attachment))
    }
}

async fn from_kept(
    kept: KeptText<'_>,
    context: &CallContext,
    arguments: &ReadFileArguments,
) -> Result<Outcome, Refusal> {
    let (found, absent) = match kept {
        KeptText::Result(call) => {
            let call: CallId = call.parse().map_err(|_| {
                Refusal::not_found(format!("`call:{call}` names no result: write it as the note gave it."))
            })?;
            let absent = format!("No longer result is kept of call {call}: all of it was shown.");
            (context.spilled.read(call).await, absent)
        }
        KeptText::Attachment(id) => {
            let absent = format!("`attached:{id}` names no attachment: write it as the note gave it.");
            (context.spilled.read_attached(id).await, absent)
        }
    };
    let (text, origin) = match found {
        SpilledResult::Whole { text, origin } => (text, origin),
        SpilledResult::Forbidden(reason) => return Err(Refusal::denied(reason)),
        SpilledResult::Absent => return Err(Refusal::not_found(absent)),
        SpilledResult::Unreadable(problem) => return Err(problem.into()),
    };
    let size = thousands(text.len());
    let window = window(Cursor::new(text), arguments).map_err(|error| error.to_string())?;
    let text = window.rendered(&arguments.path, arguments, &size)?;
    Ok(Outcome { origin, ..Outcome::ok(text) })
}

/// The requested part of a text, and its position in the whole.
struct Window {
    text: String,
    /// Why there is nothing to show.
    beyond: Option<BeyondText>,
    /// Line and column at which the next window begins.
    next: Option<(u64, u64)>,
    /// The number of lines in all, if there is a next window and they were counted.
    lines: Option<u64>,
}

/// What the window is beyond of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BeyondText {
    /// The text has so many lines.
    Lines(u64),
    /// Its first line has so many bytes.
    Columns(u64),
}

impl Window {
    fn beyond(what: BeyondText) -> Self {
        Self { text: String::new(), beyond: Some(what), next: None, lines: None }
    }
}

fn window(mut reader: impl BufRead, arguments: &ReadFileArguments) -> io::Result<Window> {
    let skipped = skip_lines(&mut reader, arguments.offset - 1)?;
    if skipped < arguments.offset - 1 || (skipped > 0 && reader.fill_buf()?.is_empty()) {
        return Ok(Window::beyond(BeyondText::Lines(skipped)));
    }
    let columns = skip_columns(&mut reader, arguments.column - 1)?;
    if columns < arguments.column - 1 {
        return Ok(Window::beyond(BeyondText::Columns(columns)));
    }
    let (mut line, mut column, mut lines, mut text) = (arguments.offset, arguments.column, 0, String::new());
    let mut room = CHARS;
    while lines < arguments.limit.unwrap_or(LINES) && room > 0 {
        let mut bytes = Vec::new();
        reader.by_ref().take(room as u64).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            break;
        }
        complete_character(&mut reader, &mut bytes)?;
        let part = String::from_utf8_lossy(&bytes);
        room = room.saturating_sub(part.chars().count());
        text.push_str(&part);
        if bytes.ends_with(b"\n") {
            (line, column, lines) = (line + 1, 1, lines + 1);
        } else {
            column += bytes.len() as u64;
        }
    }
    let next = if reader.fill_buf()?.is_empty() { None } else { Some((line, column)) };
    let rest = if next.is_some() { count_lines(reader)? } else { None };
    Ok(Window { text: text.replace('\0', "␀"), beyond: None, next, lines: rest.map(|rest| line - 1 + rest) })
}

/// Counts the lines that are left, if that is not too much to read.
fn count_lines(reader: impl BufRead) -> io::Result<Option<u64>> {
    let mut rest = reader.take(COUNTED);
    let (mut lines, mut ends_open) = (0, false);
    loop {
        let buffer = rest.fill_buf()?;
        let Some(last) = buffer.last() else { break };
        ends_open = *last != b'\n';
        lines += buffer.iter().filter(|byte| **byte == b'\n').count() as u64;
        let used = buffer.len();
        rest.consume(used);
    }
    Ok((rest.limit() > 0).then_some(lines + u64::from(ends_open)))
}

/// Skips bytes of the line that the reader is in. Returns how many there were.
fn skip_columns(reader: &mut impl BufRead, columns: u64) -> io::Result<u64> {
    let mut passed = 0;
    while passed < columns {
        let buffer = reader.fill_buf()?;
        let wanted = usize::try_from(columns - passed).unwrap_or(usize::MAX).min(buffer.len());
        let used = buffer[..wanted].iter().position(|byte| *byte == b'\n').unwrap_or(wanted);
        if used == 0 {
            break;
        }
        reader.consume(used);
        passed += used as u64;
    }
    Ok(passed)
}

/// Skips `lines` lines. Returns how many there were, including a last line without a line break.
fn skip_lines(reader: &mut impl BufRead, lines: u64) -> io::Result<u64> {
    let (mut passed, mut open) = (0, 0);
    while passed < lines {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(passed + open);
        }
        let used = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                (passed, open) = (passed + 1, 0);
                at + 1
            }
            None => {
                open = 1;
                buffer.len()
            }
        };
        reader.consume(used);
    }
    Ok(passed)
}

/// Reads the rest of a character that the limit has cut.
fn complete_character(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<()> {
    for _ in 0..3 {
        let open = std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
        match reader.fill_buf()?.first() {
            Some(next) if open => bytes.push(*next),
            Some(_) | None => break,
        }
        reader.consume(1);
    }
    Ok(())
}

impl Window {
    /// Returns the text with a note on its position, if it is not the whole text.
    fn rendered(self, path: &str, arguments: &ReadFileArguments, size: &str) -> Result<String, Refusal> {
        let offset = arguments.offset;
        match self.beyond {
            Some(BeyondText::Lines(lines)) => {
                let lines = thousands_of(lines);
                return Err(Refusal::not_found(format!("`{path}` has no line {offset}: it has {lines} lines.")));
            }
            Some(BeyondText::Columns(columns)) => {
                let columns = thousands_of(columns);
                let text = format!("Line {offset} of `{path}` has only {columns} bytes: leave column out.");
                return Err(Refusal::not_found(text));
            }
            None => {}
        }
        let whole = arguments.offset == 1 && arguments.column == 1 && self.next.is_none();
        let from = thousands_of(arguments.offset);
        let all = self.lines.map_or_else(|| format!("a file of {size} bytes"), thousands_of);
        let note = match self.next {
            None if whole && self.text.is_empty() => "[the file is empty]".into(),
            None if whole => return Ok(self.text),
            None => format!("[from line {from} to the end of the file]"),
            Some((line, 1)) => {
                let rest = if arguments.limit.is_some() { ", and no limit to get all the rest" } else { "" };
                format!("[lines {from} to {} of {all}; go on with offset {line}{rest}]", thousands_of(line - 1))
            }
            Some((line, column)) => format!(
                "[from line {from} to the middle of line {}, of {all}; go on with offset {line}, column {column}]",
                thousands_of(line)
            ),
        };
        let separator = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
        Ok(format!("{}{separator}{note}", self.text))
    }
}

fn thousands_of(number: u64) -> String {
    thousands(usize::try_from(number).unwrap_or(usize::MAX))
}
