//! The arguments of `undo` and `audit`.

use std::path::PathBuf;

use clap::Args;
use windlass_vocab::{Timestamp, Undoable};

pub(super) const UNDO_EXAMPLES: &str = "\
Examples:
  windlass undo                     take back what the last call did to files; again: the call before
  windlass undo --dry-run           only say what would be done
  windlass undo notes --call 2.1.0  take back what this call of session `notes` did
  windlass undo notes --call u1     bring back what undo u1 took back

`windlass sessions show` lists the calls. Nothing is touched if one of the files was changed since;
the difference is shown instead. What commands did in .git and in ignored files is not taken back.";

pub(super) const AUDIT_EXAMPLES: &str = "\
Examples:
  windlass audit --since 2h
  windlass audit notes --tool 'run_*'
  windlass audit --since 2026-11-01 --json | jq 'select(.verdict == \"deny\")'
  windlass audit --json | jq 'select(.outside_sandbox or .network) | .about'

What a call was about, and whether it had the network or left the sandbox, is told while its session
is there. Lines of removed sessions are kept, with a BLAKE3 digest of the arguments.";

// `windlass undo`.
#[derive(Clone, Debug, Args)]
pub struct UndoArgs {
    /// The session [default: the last one of this folder]
    #[arg(value_parser = super::name::name)]
    pub key: Option<String>,
    /// The call to undo, or the undo to take back [default: the last call that changed files]
    #[arg(long, value_name = "ID")]
    pub call: Option<Undoable>,
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Put files back although they were changed since; that can be undone as well
    #[arg(long)]
    pub force: bool,
    /// The folder of a session whose own was moved
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
}

// `windlass audit`.
#[derive(Clone, Debug, Args)]
pub struct AuditArgs {
    /// Calls of this session only, there or removed [default: those of all sessions]
    #[arg(value_parser = super::name::name)]
    pub key: Option<String>,
    /// The same as KEY
    #[arg(long, value_name = "KEY", value_parser = super::name::name, conflicts_with = "key")]
    pub session: Option<String>,
    /// Calls since then: 2h, 7d, 2w, 2026-11-15 or 2026-11-15T08:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub since: Option<Since>,
    /// Calls of this tool only, named as in a rule: `run_command`, `hub.*`
    #[arg(long, value_name = "TOOL", value_parser = super::name::name)]
    pub tool: Option<String>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// A time in the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// This many milliseconds ago.
    Ago(u64),
    /// This time.
    Moment(Timestamp),
}

pub(super) fn since(text: &str) -> Result<Since, String> {
    let day = format!("{text}T00:00:00.000Z");
    let second = text.strip_suffix('Z').map(|text| format!("{text}.000Z"));
    let moment = [Some(text.to_owned()), Some(day), second].into_iter().flatten().find_map(|text| text.parse().ok());
    if let Some(moment) = moment {
        return Ok(Since::Moment(moment));
    }
    let ago =
        super::deadline::parse(text).map_err(|_| "write it like 2h, 7d, 2w, 2026-11-15 or 2026-11-15T08:00:00Z")?;
    Ok(Since::Ago(u64::try_from(ago.as_millis()).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use windlass_vocab::Timestamp;

    use super::{Since, since};

    #[test]
    fn a_moment_is_a_while_ago_a_day_or_a_time() {
        assert_eq!(since("2h"), Ok(Since::Ago(7_200_000)));
        assert_eq!(since("7d"), Ok(Since::Ago(604_800_000)));
        assert_eq!(since("1970-01-02"), Ok(Since::Moment(Timestamp(86_400_000))));
        assert_eq!(since("1970-01-01T00:00:01Z"), Ok(Since::Moment(Timestamp(1_000))));
        assert_eq!(since("1970-01-01T00:00:00.005Z"), Ok(Since::Moment(Timestamp(5))));
        for text in ["", "yesterday", "2026-13-01", "5"] {
            assert!(since(text).is_err(), "{text}");
        }
    }
}
