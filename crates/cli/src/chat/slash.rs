//! What a person may tell the chat itself: one table that the parser, the help, the completion and
//! the hints are made from. Other slash text goes to the model (W6).

use windlass::machine::Force;
use windlass_vocab::Undoable;

/// Something told to the chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slash {
    New,
    Stop,
    Help,
    Status,
    Model(Option<String>),
    Sessions(Option<String>),
    Fork(Option<u64>),
    Retry,
    Undo(Option<Undoable>, Force),
    Cost,
    Thinking,
    Quit,
}

/// When a command may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// Not while a run works.
    Idle,
}

/// A row of the table.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// What may follow the name, as the help writes it; empty when nothing may.
    pub(crate) argument: &'static str,
    pub(crate) when: When,
    pub(crate) help: &'static str,
    make: fn(Option<&str>) -> Option<Slash>,
}

macro_rules! table {
    ($($name:literal $argument:literal $when:ident $help:literal => $make:expr,)*) => {
        pub(crate) const TABLE: &[Entry] =
            &[$(Entry { name: $name, argument: $argument, when: When::$when, help: $help, make: $make },)*];
    };
}

table! {
    "/new" "" Idle "begin a new session" => |_| Some(Slash::New),
    "/stop" "" Always "stop the run and drop what waits" => |_| Some(Slash::Stop),
    "/help" "" Always "this list" => |_| Some(Slash::Help),
    "/status" "" Always "model, session, folder, what is going on" => |_| Some(Slash::Status),
    "/model" "[NAME]" Always "show the model, or take another for the next run" => |name| Some(Slash::Model(name.map(str::to_owned))),
    "/sessions" "[KEY]" Idle "list this folder's sessions, or go to one" => |key| Some(Slash::Sessions(key.map(str::to_owned))),
    "/fork" "[SEQ]" Idle "go on in a copy of this session, cut off after record SEQ" => fork,
    "/retry" "" Idle "try the last run again" => |_| Some(Slash::Retry),
    "/undo" "[ID] [force]" Idle "put files back as they were before the last call, or bring back an undo" => undo,
    "/cost" "" Always "tokens, and money where prices are known" => |_| Some(Slash::Cost),
    "/thinking" "" Always "show thinking whole, or folded" => |_| Some(Slash::Thinking),
    "/quit" "" Always "leave; everything is kept" => |_| Some(Slash::Quit),
    "/exit" "" Always "the same" => |_| Some(Slash::Quit),
}

fn fork(at: Option<&str>) -> Option<Slash> {
    match at {
        None => Some(Slash::Fork(None)),
        Some(at) => at.parse().ok().map(|at| Slash::Fork(Some(at))),
    }
}

fn undo(given: Option<&str>) -> Option<Slash> {
    let mut words = given.unwrap_or_default().split_whitespace().peekable();
    let of = match words.peek() {
        Some(word) if *word != "force" => Some(words.next()?.parse().ok()?),
        Some(_) | None => None,
    };
    match (words.next(), words.next()) {
        (None, _) => Some(Slash::Undo(of, Force::No)),
        (Some("force"), None) => Some(Slash::Undo(of, Force::Yes)),
        (Some(_), _) => None,
    }
}

/// What a line means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It is for the chat.
    Command(Slash, When),
    /// It is for the chat, but can't be understood.
    Wrong(String),
    /// It is for the model.
    Message,
}

/// Reads a line.
pub(crate) fn read(line: &str) -> Meaning {
    let line = line.trim();
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = Some(argument.trim()).filter(|argument| !argument.is_empty());
    let Some(entry) = TABLE.iter().find(|entry| entry.name.eq_ignore_ascii_case(name)) else { return Meaning::Message };
    match argument {
        // "/help me with this" is said to the model.
        Some(_) if entry.argument.is_empty() => Meaning::Message,
        argument => match (entry.make)(argument) {
            Some(command) => Meaning::Command(command, entry.when),
            None => {
                let given = argument.unwrap_or_default();
                Meaning::Wrong(format!("{} {}: `{given}` can't be read", entry.name, entry.argument))
            }
        },
    }
}

/// The list `/help` shows.
pub(crate) fn help() -> String {
    let usage = |entry: &Entry| format!("{} {}", entry.name, entry.argument).trim_end().to_owned();
    let width = TABLE.iter().map(|entry| usage(entry).len()).max().unwrap_or(0);
    let mut text: String = TABLE.iter().map(|entry| format!("  {:<width$}  {}\n", usage(entry), entry.help)).collect();
    text.push_str(
        "\n  Alt-Enter or \\ at the end of a line begins another line.\n  \
         What you type while a run works steers it.\n  \
         @ and Tab complete the path of a file.\n  \
         Ctrl-C stops the run, twice leaves; Ctrl-D leaves.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use windlass::machine::Force;

    use super::{Meaning, Slash, TABLE, When, help, read};

    // proves W6, L8
    #[test]
    fn a_command_is_read_trimmed_and_in_any_case_and_other_slash_text_is_for_the_model() {
        for line in ["/stop", "  /STOP ", "/Stop\n"] {
            assert_eq!(read(line), Meaning::Command(Slash::Stop, When::Always), "{line:?}");
        }
        for line in ["/etc/passwd is what?", "/stop it", "/help me", "/stopp", "/", "hello /stop", ""] {
            assert_eq!(read(line), Meaning::Message, "{line:?}");
        }
    }

    #[test]
    fn a_command_takes_the_argument_its_row_names() {
        assert_eq!(read("/model"), Meaning::Command(Slash::Model(None), When::Always));
        assert_eq!(read("/model  big one "), Meaning::Command(Slash::Model(Some("big one".into())), When::Always));
        assert_eq!(read("/fork 12"), Meaning::Command(Slash::Fork(Some(12)), When::Idle));
        assert!(matches!(read("/fork twelve"), Meaning::Wrong(_)));
        let undo = |of: Option<&str>, force| {
            Meaning::Command(Slash::Undo(of.map(|of| of.parse().unwrap()), force), When::Idle)
        };
        assert_eq!(read("/undo"), undo(None, Force::No));
        assert_eq!(read("/undo u1"), undo(Some("u1"), Force::No));
        assert_eq!(read("/undo force"), undo(None, Force::Yes));
        assert_eq!(read("/undo 2.1.0 force"), undo(Some("2.1.0"), Force::Yes));
        for line in ["/undo everything", "/undo u1 now", "/undo force u1"] {
            assert!(matches!(read(line), Meaning::Wrong(_)), "{line}");
        }
    }

    #[test]
    fn every_row_is_in_the_help_and_can_be_typed() {
        for entry in TABLE {
            assert!(help().contains(&format!("  {}", entry.name)), "{}", entry.name);
            assert!(matches!(read(entry.name), Meaning::Command(..)), "{}", entry.name);
        }
    }
}
