//! `Tool: name` on one line, `Arguments: {…}` on the next.

use serde::de::IgnoredAny;
use windlass_vocab::ReplyCall;

use super::malformed_call::MalformedCall;
use super::offered_tools::OfferedTools;
use super::opening::{CallForm, CallOpening};
use crate::repair::mend;

/// How the line with the tool's name begins.
const TOOL: &[&str] = &["tool:", "action:"];
/// How the line with the arguments begins.
const ARGUMENTS: &[&str] = &["arguments:", "args:", "parameters:", "action input:"];
/// The maximum length of a name, and of the white space between.
const SHORT: usize = 128;

/// Whether a text begins with a label.
enum Label<'a> {
    No,
    More,
    /// It does; this is the text after it.
    Yes(&'a str),
}

/// Checks whether `text` begins with one of `labels`. Models often write a label in bold.
fn label<'a>(text: &'a str, labels: &[&str]) -> Label<'a> {
    let plain = text.trim_start_matches('*');
    if text.len() - plain.len() > 2 {
        return Label::No;
    }
    for label in labels {
        match plain.get(..label.len()) {
            Some(begin) if begin.eq_ignore_ascii_case(label) => {
                let behind = &plain[label.len()..];
                // Half of the mark that ends the bold text.
                if behind == "*" {
                    return Label::More;
                }
                return Label::Yes(behind.strip_prefix("**").unwrap_or(behind));
            }
            Some(_) => {}
            None if label.get(..plain.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(plain)) => {
                return Label::More;
            }
            None => {}
        }
    }
    Label::No
}

/// Checks whether `text`, which is at the beginning of a line, opens a call.
pub(super) fn find_opening(text: &str, tools: &dyn OfferedTools) -> CallOpening {
    let behind = match label(text, TOOL) {
        Label::No => return CallOpening::No,
        Label::More => return CallOpening::More,
        Label::Yes(behind) => behind,
    };
    let Some(end) = behind.as_bytes().iter().take(SHORT).position(|byte| *byte == b'\n') else {
        return if behind.len() < SHORT { CallOpening::More } else { CallOpening::No };
    };
    if !tools.knows(name(&behind[..end])) {
        return CallOpening::No;
    }
    let next = behind[end..].trim_start();
    if behind[end..].len() - next.len() > SHORT {
        return CallOpening::No;
    }
    match label(next, ARGUMENTS) {
        _ if next.is_empty() => CallOpening::More,
        Label::No => CallOpening::No,
        Label::More => CallOpening::More,
        Label::Yes(behind) => {
            let arguments = behind.trim_start();
            match arguments.as_bytes().first() {
                _ if behind.len() - arguments.len() > SHORT => CallOpening::No,
                None => CallOpening::More,
                Some(b'{') => CallOpening::Yes(CallForm::Lines { arguments: text.len() - arguments.len() }),
                Some(_) => CallOpening::No,
            }
        }
    }
}

/// Returns the name on the first line, without quotes or markup.
fn name(line: &str) -> &str {
    line.trim().trim_matches(['`', '*', '"', '\''])
}

/// Parses the call whose arguments begin at `arguments` in `text`.
pub(super) fn call(text: &str, arguments: usize) -> Result<ReplyCall, MalformedCall> {
    let first = text.split('\n').next().unwrap_or_default();
    let name = first.split_once(':').map_or("", |(_, behind)| name(behind.strip_prefix("**").unwrap_or(behind)));
    let arguments = text[arguments..].trim();
    if let Err(error) = serde_json::from_str::<IgnoredAny>(arguments)
        && let Err(fault) = mend(arguments)
    {
        let fault = fault.message().unwrap_or_else(|| error.to_string());
        return Err(MalformedCall::parse(format!("the arguments of `{name}` are not well-formed JSON: {fault}.")));
    }
    Ok(ReplyCall { provider_id: None, name: name.to_owned(), arguments: arguments.to_owned(), mended: None })
}
