//! Misspelt names (T3): which tool a model meant by a name that no tool has.
//!
//! A typing error is forgiven, a different word is not: `get_label` is no misspelling of `set_label`,
//! nor `delete_x` of `create_x`. So names are compared word by word, and the word that differs must not be
//! one that a model would write on purpose.

use windlass_vocab::{ToolName, ToolSpec};

use crate::alias::folded;
use crate::names::only;

/// Returns the tool that `bare` is a misspelling of: on `server` if one was named, else on `local`. A name that
/// differs only in case or separators is found on any server, if it is the only one.
pub(crate) fn nearest(server: Option<&str>, bare: &str, specs: &[ToolSpec]) -> Option<usize> {
    let wanted = folded(bare);
    if wanted.is_empty() {
        return None;
    }
    let there = |spec: &ToolSpec| server.is_none_or(|server| spec.name.server() == server);
    if let Some(index) = only(specs, |spec| there(spec) && folded(spec.name.bare()) == wanted) {
        return Some(index);
    }
    let server = server.unwrap_or(ToolName::LOCAL);
    let words = words(bare);
    let misspells = |spec: &ToolSpec| spec.name.server() == server && is_slip(&words, &self::words(spec.name.bare()));
    only(specs, misspells)
}

/// Splits a name into words, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let parts = !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        if parts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether exactly one word differs, by a typing error.
fn is_slip(written: &[String], meant: &[String]) -> bool {
    if written.len() != meant.len() {
        return false;
    }
    let mut differing = written.iter().zip(meant).filter(|(written, meant)| written != meant);
    match (differing.next(), differing.next()) {
        (Some((written, meant)), None) => is_slip_of_word(written, meant),
        _ => false,
    }
}

fn is_slip_of_word(written: &str, meant: &str) -> bool {
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>();
    let slips = match meant.chars().count() {
        0..=3 => return false,
        4..=7 => 1,
        _ => 2,
    };
    let turned = |a: &str, b: &str| {
        ["un", "de", "dis", "re", "in", "non", "sub", "pre"].iter().any(|prefix| a.strip_prefix(prefix) == Some(b))
    };
    digits(written) == digits(meant)
        && !ACTIONS.contains(&written)
        && !turned(written, meant)
        && !turned(meant, written)
        && strsim::damerau_levenshtein(written, meant) <= slips
}

/// Words that say what a tool does. A model that writes one means it, so none is taken for a misspelling.
const ACTIONS: &[&str] = &[
    "accept",
    "activate",
    "add",
    "allow",
    "append",
    "apply",
    "approve",
    "archive",
    "assign",
    "attach",
    "begin",
    "block",
    "book",
    "build",
    "buy",
    "call",
    "cancel",
    "change",
    "check",
    "clear",
    "clone",
    "close",
    "commit",
    "compare",
    "connect",
    "copy",
    "count",
    "create",
    "deactivate",
    "decline",
    "delete",
    "deny",
    "deploy",
    "describe",
    "detach",
    "diff",
    "disable",
    "disconnect",
    "download",
    "drop",
    "edit",
    "enable",
    "encrypt",
    "end",
    "execute",
    "export",
    "fetch",
    "find",
    "follow",
    "fork",
    "format",
    "generate",
    "get",
    "grant",
    "hide",
    "import",
    "insert",
    "install",
    "invite",
    "join",
    "kill",
    "leave",
    "link",
    "list",
    "load",
    "lock",
    "log",
    "login",
    "logout",
    "make",
    "mark",
    "merge",
    "mount",
    "move",
    "mute",
    "open",
    "order",
    "patch",
    "pause",
    "pay",
    "pin",
    "play",
    "post",
    "publish",
    "pull",
    "purge",
    "push",
    "put",
    "query",
    "read",
    "rebase",
    "receive",
    "refund",
    "reject",
    "release",
    "reload",
    "remove",
    "rename",
    "reopen",
    "replace",
    "reply",
    "request",
    "reset",
    "resolve",
    "restart",
    "restore",
    "resume",
    "revert",
    "revoke",
    "rollback",
    "run",
    "save",
    "schedule",
    "search",
    "select",
    "sell",
    "send",
    "set",
    "share",
    "show",
    "sign",
    "start",
    "stash",
    "stop",
    "store",
    "submit",
    "subscribe",
    "sync",
    "tag",
    "take",
    "test",
    "track",
    "transfer",
    "trash",
    "trigger",
    "unblock",
    "undo",
    "unlink",
    "unlock",
    "unpin",
    "unsubscribe",
    "untag",
    "update",
    "upgrade",
    "upload",
    "upsert",
    "validate",
    "verify",
    "view",
    "wait",
    "watch",
    "withdraw",
    "write",
];
