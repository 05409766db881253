//! `search_files`: searches the content or the paths of files. Patterns take linear time.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::File;
use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{Outcome, TextOrigin, ToolSpec};

use super::answer::{invalid_arguments, run_blocking};
use super::arguments::parse_arguments;
use super::file_kind::{SAMPLE, binary};
use super::near_paths::with_near_paths;
use super::spec::file_read_spec;
use super::walk::{FoundFile, walk};
use crate::about_files::READ;
use crate::cut::thousands;
use crate::file_rules::left_out_note;
use crate::refusal::Refusal;
use crate::shorten::shorten;
use crate::{About, BoxFuture, CallContext, CertainFailure, Secrets, Tool, Workspace, no_follow, shown_path};

const LARGEST: u64 = 10 << 20;
const MATCHES: usize = 100;
const LONGEST_LINE: usize = 300;

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SearchIn {
    #[default]
    Content,
    Names,
}

#[derive(Deserialize)]
struct SearchFilesArguments {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    glob: Option<String>,
    #[serde(default, rename = "in")]
    place: SearchIn,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    #[serde(default)]
    limit: Option<usize>,
}

impl SearchFilesArguments {
    /// Returns the glob; an empty one means that none was given.
    fn glob(&self) -> Option<&str> {
        self.glob.as_deref().filter(|glob| !glob.is_empty())
    }
}

pub(super) struct SearchFiles {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl SearchFiles {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "The regular expression; may be empty with \"in\": \"names\"."},
                "path": {"type": "string", "description": "The file or directory to search; the workspace if left out."},
                "glob": {"type": "string", "description": "Only files whose name fits this glob (`*.EXTENSION`), or whose path does if it has a `/`."},
                "in": {"type": "string", "enum": ["content", "names"], "description": "What is searched; content if left out."},
                "literal": {"type": "boolean", "description": "Take the pattern as plain text."},
                "ignore_case": {"type": "boolean"},
                "context": {"type": "integer", "minimum": 0, "maximum": 10, "description": "Lines to show around each match."},
                "limit": {"type": "integer", "minimum": 0, "maximum": 1000, "description": "At most so many matches; 100 if left out."}
            },
            "required": ["pattern"],
            "additionalProperties": false
        });
        let description = include_str!("search_files.md");
        Self { spec: file_read_spec("search_files", description, &schema), workspace }
    }
}

impl Tool for SearchFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        Some(self.workspace.about(arguments.get("path").and_then(Value::as_str).unwrap_or("."), READ))
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or(".");
        self.workspace.unusable(path).map(CertainFailure::by_arguments)
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let workspace = Arc::clone(&self.workspace);
        match parse_arguments::<SearchFilesArguments>(arguments) {
            Ok(arguments) => Box::pin(run_blocking(move || {
                let searched = FileSearch::new(&arguments, workspace.secrets()).and_then(|mut search| {
                    let path = arguments.path.as_deref().unwrap_or(".");
                    let searched = search.run(&workspace, path, &context);
                    searched.map_err(|refusal| with_near_paths(refusal, &workspace, path, &context.files))?;
                    let untracked = search.matched.iter().find(|path| workspace.untracked(path));
                    let origin = untracked.map(|path| TextOrigin::File { path: path.clone() });
                    Ok(Outcome { origin, ..Outcome::ok(search.rendered()) })
                });
                searched.unwrap_or_else(Outcome::from)
            })),
            Err(problem) => invalid_arguments(problem),
        }
    }
}

/// A search in progress.
struct FileSearch<'a> {
    arguments: &'a SearchFilesArguments,
    secrets: &'a Secrets,
    regex: Regex,
    glob: Option<GlobMatcher>,
    lines: Vec<String>,
    matches: usize,
    files: usize,
    binary: usize,
    large: usize,
    /// The number of files that a rule hides.
    left_out: usize,
    /// The files whose content matches.
    matched: Vec<String>,
}

impl<'a> FileSearch<'a> {
    fn new(arguments: &'a SearchFilesArguments, secrets: &'a Secrets) -> Result<Self, Refusal> {
        let pattern = if arguments.literal { regex::escape(&arguments.pattern) } else { arguments.pattern.clone() };
        let regex =
            RegexBuilder::new(&pattern).case_insensitive(arguments.ignore_case).size_limit(4 << 20).build().map_err(
                |error| {
                    let why = format!("The pattern is no regular expression ({error}).");
                    Refusal::wrong_argument(why + " Set literal to search for it as it is.")
                },
            )?;
        let glob = arguments.glob().map(compile_glob).transpose().map_err(Refusal::wrong_argument)?;
        Ok(Self {
            arguments,
            secrets,
            regex,
            glob,
            lines: Vec::new(),
            matches: 0,
            files: 0,
            binary: 0,
            large: 0,
            left_out: 0,
            matched: Vec::new(),
        })
    }

    fn limit(&self) -> usize {
        self.arguments.limit.filter(|limit| *limit > 0).unwrap_or(MATCHES)
    }

    fn run(&mut self, workspace: &Workspace, path: &str, context: &CallContext) -> Result<(), Refusal> {
        match workspace.file(path, &context.files) {
            Ok((file, metadata)) => self.one_file(&workspace.relative(path)?, file, metadata.len()),
            Err(_) => {
                self.left_out = walk(workspace, path, &context.files, &mut |found| {
                    if context.cancel.is_cancelled() || self.matches >= self.limit() {
                        return ControlFlow::Break(());
                    }
                    self.visit(found);
                    ControlFlow::Continue(())
                })?;
            }
        }
        Ok(())
    }

    fn visit(&mut self, found: &FoundFile<'_>) {
        let fits = |glob: &GlobMatcher| match self.arguments.glob() {
            Some(text) if text.contains('/') => glob.is_match(&found.path),
            Some(_) | None => glob.is_match(found.name),
        };
        if !self.glob.as_ref().is_none_or(fits) {
            return;
        }
        match self.arguments.place {
            SearchIn::Names => {
                self.files += 1;
                let path = found.path.to_string_lossy();
                let path = self.secrets.scrub(&path);
                if self.regex.is_match(path.as_bytes()) {
                    self.matches += 1;
                    self.lines.push(shown_path(&path).into_owned());
                }
            }
            SearchIn::Content => {
                if let Ok(file) = no_follow::open_file(found.folder, found.name)
                    && let Ok(metadata) = file.metadata()
                    && metadata.is_file()
                {
                    self.one_file(&found.path, file, metadata.len());
                }
            }
        }
    }

    fn one_file(&mut self, path: &Path, mut file: File, size: u64) {
        self.files += 1;
        if size > LARGEST {
            self.large += 1;
            return;
        }
        let mut content = Vec::new();
        // A file that can't be read to its end is searched as far as possible.
        let _ = file.by_ref().take(LARGEST).read_to_end(&mut content);
        if binary(&content[..content.len().min(SAMPLE)]).is_some() {
            self.binary += 1;
            return;
        }
        // No pattern finds a secret, and no excerpt begins inside one.
        if self.secrets.is_in(&content) {
            content = self.secrets.scrub_bytes(&content);
        }
        let before = self.matches;
        self.lines_of(&shown_path(&path.to_string_lossy()), &content);
        if self.matches > before {
            self.matched.push(path.to_string_lossy().into_owned());
        }
    }

    /// Adds the matching lines, each with its context, none twice.
    fn lines_of(&mut self, path: &str, content: &[u8]) {
        let around = self.arguments.context;
        let content = content.strip_suffix(b"\n").unwrap_or(content);
        let lines: Vec<&[u8]> =
            content.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
        let mut next = 0;
        for (index, line) in lines.iter().enumerate() {
            if self.matches >= self.limit() || !self.regex.is_match(line) {
                continue;
            }
            self.matches += 1;
            let from = index.saturating_sub(around).max(next);
            if around > 0 && from > next && next > 0 {
                self.lines.push("--".into());
            }
            let to = (index + around + 1).min(lines.len());
            for (number, line) in lines.iter().enumerate().take(to).skip(from) {
                let mark = if self.regex.is_match(line) { ':' } else { '-' };
                self.lines.push(format!("{path}{mark}{}{mark} {}", number + 1, self.excerpt(line)));
            }
            next = next.max(to);
        }
    }

    /// Returns a line, or the part of a long one around the match.
    fn excerpt(&self, line: &[u8]) -> String {
        if line.len() <= LONGEST_LINE {
            return String::from_utf8_lossy(line).into_owned();
        }
        let start = self.regex.find(line).map_or(0, |found| found.start().saturating_sub(LONGEST_LINE / 3));
        let before = if start > 0 { "…" } else { "" };
        let part = &line[start..line.len().min(start + LONGEST_LINE * 4)];
        format!("{before}{}", shorten(&String::from_utf8_lossy(part), LONGEST_LINE))
    }

    fn rendered(&self) -> String {
        let mut notes = Vec::new();
        if self.matches >= self.limit() {
            notes.push(format!("stopped at {} matches: narrow the pattern, path or glob to see others", self.matches));
        } else if self.matches == 0 {
            notes.push(format!("no match in {} files", thousands(self.files)));
        }
        if self.binary > 0 {
            notes.push(format!("{} binary files skipped", thousands(self.binary)));
        }
        if self.large > 0 {
            notes.push(format!("{} files over 10 MiB skipped", thousands(self.large)));
        }
        notes.extend(left_out_note(self.left_out));
        let mut text = self.lines.join("\n");
        if !notes.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text += &format!("[{}]", notes.join("; "));
        }
        text
    }
}

fn compile_glob(glob: &str) -> Result<GlobMatcher, String> {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let compiled = GlobBuilder::new(glob).literal_separator(true).build();
    compiled.map(|glob| glob.compile_matcher()).map_err(|error| format!("The glob can't be used: {error}."))
}
