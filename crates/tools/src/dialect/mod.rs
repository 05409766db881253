//! Dialects: calls that a model writes into its text (T4).
//!
//! The protocol: [`AcceptedForms`] defines which forms a run reads and how many calls a reply may have. A
//! [`ReplyReader`] takes the text as it arrives, in fragments cut anywhere. It emits text as soon as that is certainly
//! not part of a call, and each call once it is complete; text that may still become a call is held back until that is
//! decided. At the end it returns the fault of a call that could not be parsed. The result does not depend on where the
//! text was cut. [`read`] does the same for a complete text and returns everything as one [`ParsedReply`].
//!
//! A reply that only mentions a tool is no call. A call stands by itself: at the beginning of a line (a tag may also
//! follow the end of a sentence), not in code, not in a quotation, not in a fence that is followed by more text, and
//! not below a line that announces an example. A form without tags must also name a tool that is offered, with arguments
//! that fit it unless it is the whole reply ([`OfferedTools`]).
//!
//! In the other direction, [`prompt`] explains to a model how to call, and [`rendered`] writes the calls and results of
//! the history as text.
//!
//! ```
//! use windlass_tools::dialect::{AcceptedForms, NamedTools, TextEnd, read};
//! use windlass_vocab::{Dialect, Parallel};
//!
//! let accepted = AcceptedForms::of(&[Dialect::Native, Dialect::Bracket], None, Parallel::Off).ok_or("nothing is read")?;
//! let text = "I look.\n[local.read_file(path=\"a.txt\")]";
//! let reading = read(text, &accepted, NamedTools(|_: &str| true), TextEnd::Whole);
//! assert_eq!(reading.text, "I look.");
//! assert_eq!(reading.calls[0].name, "local.read_file");
//! assert_eq!(reading.calls[0].arguments, r#"{"path":"a.txt"}"#);
//! # Ok::<(), &str>(())
//! ```

mod accepted_forms;
mod block;
mod bracket;
mod constrained;
mod explain;
mod fence_scan;
mod file_text;
mod here_document;
mod json;
mod lines;
mod malformed_call;
mod offered_tools;
mod open_tag;
mod opening;
mod ordered_members;
mod parse_calls;
mod pending_call;
mod prompt;
mod python_command;
mod reader;
mod reader_state;
mod render;
mod scan;
mod script;
mod script_error;
mod script_imports;
mod script_language;
mod signature;
#[cfg(test)]
mod tests;
mod text_end;
mod tool_tag;
pub(crate) mod xml;

use windlass_vocab::ReplyCall;

pub(crate) use script_imports::repair_of;

pub use accepted_forms::{AcceptedForms, CallLimit};
pub use constrained::{ConstrainedEnd, ConstrainedReply, LONGEST_TEXT, SchemaUse, read_constrained, reply_schema};
pub use file_text::{FileToWrite, FileVersion, write_file_text};
pub use malformed_call::MalformedCall;
pub use offered_tools::{NamedTools, OfferedTools};
pub use prompt::{PromptStyle, prompt, prompt_style, script_prompt};
pub use python_command::python_script;
pub use reader::{ReplyPiece, ReplyReader};
pub use render::{rendered, stop_sequence};
pub use script_error::{explained_error, missing_path};
pub use script_language::ScriptLanguages;
pub use text_end::TextEnd;

/// The parsed content of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedReply {
    /// The text, without the calls.
    pub text: String,
    /// The calls, in order.
    pub calls: Vec<ReplyCall>,
    /// The fault of a call that could not be parsed, if there is one.
    pub malformed: Option<MalformedCall>,
}

impl ParsedReply {
    fn take(&mut self, piece: ReplyPiece<'_>) {
        match piece {
            ReplyPiece::Text(words) => self.text.push_str(words),
            ReplyPiece::Call { call, .. } => self.calls.push(call),
        }
    }
}

/// Parses a complete text of a model that was offered `tools`.
pub fn read(text: &str, accepted: &AcceptedForms, tools: impl OfferedTools + 'static, ended: TextEnd) -> ParsedReply {
    let mut reading = ParsedReply::default();
    let reader = ReplyReader::over(text, *accepted, Box::new(tools));
    reading.malformed = reader.finish(ended, &mut |piece| reading.take(piece));
    reading
}
