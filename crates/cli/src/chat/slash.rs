//! The slash commands of the chat: one table from which the parser, the help, the completion and the hints are
//! generated.
//!
//! An input is a command if it is a single line that begins with `/` and a word without another `/` (W6). An unknown
//! command is refused, since a typo is not meant for the model; `//` sends the line as a message.

use windlass_machine::Force;
use windlass_setup::settings::near;
use windlass_vocab::Undoable;

use crate::output::short_line;

/// Characters of the typed text that an error message repeats.
const BRIEF: usize = 60;

/// A command to the chat itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlashCommand {
    New,
    Stop,
    Help,
    Status,
    Permissions,
    Model(Option<String>),
    Sessions(Option<String>),
    Fork(Option<u64>),
    Retry,
    Undo(Option<Undoable>, Force),
    Cost,
    Context,
    Compact,
    UndoCompaction,
    Thinking,
    Quit,
}

/// When a command is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlashTiming {
    Always,
    /// Not while a run works.
    Idle,
}

/// A row of the command table.
pub(crate) struct SlashRow {
    pub(crate) name: &'static str,
    /// Argument of the command as the help writes it; empty if it takes none.
    pub(crate) argument: &'static str,
    pub(crate) when: SlashTiming,
    pub(crate) help: &'static str,
    make: fn(Option<&str>) -> Option<SlashCommand>,
}

macro_rules! table {
    ($($name:literal $argument:literal $when:ident $help:literal => $make:expr,)*) => {
        pub(crate) const TABLE: &[SlashRow] =
            &[$(SlashRow { name: $name, argument: $argument, when: SlashTiming::$when, help: $help, make: $make },)*];
    };
}

table! {
    "/new" "" Idle "begin a new session" => |_| Some(SlashCommand::New),
    "/stop" "" Always "stop the run and drop what waits" => |_| Some(SlashCommand::Stop),
    "/help" "" Always "this list" => |_| Some(SlashCommand::Help),
    "/status" "" Always "model, session, folder, what is going on" => |_| Some(SlashCommand::Status),
    "/permissions" "" Always "mode, sandbox, rules and what this session allows" => |_| Some(SlashCommand::Permissions),
    "/model" "[NAME]" Always "list the models, or take others for the next run" => |name| Some(SlashCommand::Model(name.map(str::to_owned))),
    "/sessions" "[KEY]" Idle "list this folder's sessions, or go to one" => |key| Some(SlashCommand::Sessions(key.map(str::to_owned))),
    "/fork" "[SEQ]" Idle "go on in a copy of this session, cut off after record SEQ" => fork,
    "/retry" "" Idle "try the last run again" => |_| Some(SlashCommand::Retry),
    "/undo" "[ID] [force]" Idle "put files back as they were before the last call, or bring back an undo" => undo,
    "/cost" "" Always "tokens, and money where prices are known" => |_| Some(SlashCommand::Cost),
    "/context" "" Always "what fills the model's window" => |_| Some(SlashCommand::Context),
    "/compact" "[undo]" Idle "summarise the conversation before the next answer, or take that back" => compact,
    "/thinking" "" Always "show thinking whole, or folded" => |_| Some(SlashCommand::Thinking),
    "/quit" "" Always "leave; everything is kept" => |_| Some(SlashCommand::Quit),
    "/exit" "" Always "the same" => |_| Some(SlashCommand::Quit),
}

/// Words that other programs use for these commands; they are not listed.
const ALIASES: &[(&str, &str)] =
    &[("/clear", "/new"), ("/reset", "/new"), ("/usage", "/cost"), ("/resume", "/sessions"), ("/q", "/quit")];

/// What people type for something that is done outside the chat, with where.
const ELSEWHERE: &[(&str, &str)] = &[
    ("/init", "`windlass init` in a shell writes a windlass.toml; for an AGENTS.md, ask the model to write one"),
    ("/mcp", "`windlass mcp` in a shell lists, adds and tries servers"),
    ("/login", "keys are taken from the environment; `windlass doctor` in a shell says which are found"),
    ("/config", "`windlass init` in a shell writes a windlass.toml; `windlass doctor` says what is set"),
    ("/export", "`windlass sessions export KEY` in a shell writes a session out; /status names this one"),
];

fn fork(at: Option<&str>) -> Option<SlashCommand> {
    match at {
        None => Some(SlashCommand::Fork(None)),
        Some(at) => at.parse().ok().map(|at| SlashCommand::Fork(Some(at))),
    }
}

fn compact(given: Option<&str>) -> Option<SlashCommand> {
    match given {
        None => Some(SlashCommand::Compact),
        Some("undo") => Some(SlashCommand::UndoCompaction),
        Some(_) => None,
    }
}

fn undo(given: Option<&str>) -> Option<SlashCommand> {
    let mut words = given.unwrap_or_default().split_whitespace().peekable();
    let of = match words.peek() {
        Some(word) if *word != "force" => Some(words.next()?.parse().ok()?),
        Some(_) | None => None,
    };
    match (words.next(), words.next()) {
        (None, _) => Some(SlashCommand::Undo(of, Force::No)),
        (Some("force"), None) => Some(SlashCommand::Undo(of, Force::Yes)),
        (Some(_), _) => None,
    }
}

/// The meaning of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParsedInput {
    /// A command to the chat.
    Command(SlashCommand, SlashTiming),
    /// An invalid command; holds the error message.
    Invalid(String),
    /// A message for the model.
    Message(String),
}

/// Parses the typed text, which may have several lines.
pub(crate) fn read(text: &str) -> ParsedInput {
    let line = text.trim();
    if let Some(escaped) = line.strip_prefix('/').filter(|rest| split(rest).is_some()) {
        return ParsedInput::Message(escaped.to_owned());
    }
    match split(line) {
        None => ParsedInput::Message(text.to_owned()),
        Some((name, argument)) => command(line, name, argument),
    }
}

/// Splits a command line into the name, with its slash, and the argument.
fn split(line: &str) -> Option<(&str, Option<&str>)> {
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = name.strip_prefix('/')?;
    let is_command = !line.contains('\n') && word.starts_with(char::is_alphabetic) && !word.contains('/');
    is_command.then(|| (name, Some(argument.trim()).filter(|argument| !argument.is_empty())))
}

fn command(line: &str, name: &str, argument: Option<&str>) -> ParsedInput {
    let of = |list: &[(&str, &'static str)]| {
        list.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map(|(_, meaning)| *meaning)
    };
    if let Some(place) = of(ELSEWHERE) {
        return ParsedInput::Invalid(format!("{}: {place}", name.to_lowercase()));
    }
    let known = of(ALIASES).unwrap_or(name);
    let Some(entry) = TABLE.iter().find(|entry| entry.name.eq_ignore_ascii_case(known)) else {
        return ParsedInput::Invalid(unknown(name));
    };
    match argument {
        Some(_) if entry.argument.is_empty() => ParsedInput::Invalid(format!(
            "{} takes nothing after it; `/{}` sends it to the model",
            entry.name,
            brief(line)
        )),
        argument => match (entry.make)(argument) {
            Some(command) => ParsedInput::Command(command, entry.when),
            None => {
                let given = brief(argument.unwrap_or_default());
                ParsedInput::Invalid(format!("{} {}: `{given}` can't be read", entry.name, entry.argument))
            }
        },
    }
}

fn unknown(name: &str) -> String {
    let word = |name: &'static str| name.trim_start_matches('/');
    let names: Vec<&str> = TABLE.iter().map(|entry| word(entry.name)).collect();
    let nearest = near(&name.trim_start_matches('/').to_lowercase(), &names);
    let name = brief(name);
    match nearest {
        Some(nearest) => format!("there is no command {name}: did you mean /{nearest}? (/{name} is sent to the model)"),
        None => format!("there is no command {name}: /help lists them (/{name} is sent to the model)"),
    }
}

/// The typed text, shortened for an error message.
fn brief(text: &str) -> String {
    short_line(text, BRIEF)
}

/// Returns the list that `/help` prints.
pub(crate) fn help() -> String {
    let usage = |entry: &SlashRow| format!("{} {}", entry.name, entry.argument).trim_end().to_owned();
    let width = TABLE.iter().map(|entry| usage(entry).len()).max().unwrap_or(0);
    let mut text: String = TABLE.iter().map(|entry| format!("  {:<width$}  {}\n", usage(entry), entry.help)).collect();
    text.push_str(
        "\n  Alt-Enter or \\ at the end of a line begins another line.\n  \
         /word begins a command; //word is sent to the model as /word.\n  \
         /a/path, and text of several lines, is sent as it is.\n  \
         What you type while a run works steers it.\n  \
         @path attaches a file (image, PDF, text; Tab completes it), and so does a pasted path of an image.\n  \
         Ctrl-C stops the run, twice leaves; Ctrl-D leaves.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use windlass_machine::Force;

    use super::{ALIASES, ParsedInput, SlashCommand, SlashTiming, TABLE, help, read, unknown};

    // proves W6, L8
    #[test]
    fn a_command_is_read_trimmed_and_in_any_case_and_a_path_is_for_the_model() {
        for line in ["/stop", "  /STOP ", "/Stop\n"] {
            assert_eq!(read(line), ParsedInput::Command(SlashCommand::Stop, SlashTiming::Always), "{line:?}");
        }
        for text in [
            "/usr/bin/foo is broken",
            "/etc/passwd",
            "/stop\nis what I typed",
            "/hepl\n",
            "/** a comment",
            "// a comment",
            "//usr/bin",
            "/",
            "/ 2",
            "/2",
            "hello /stop",
            "",
        ] {
            let expected = if text == "/hepl\n" { ParsedInput::Invalid(unknown("/hepl")) } else { message(text) };
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    // proves W6
    #[test]
    fn a_command_that_does_not_exist_is_refused_with_the_nearest_name() {
        for (line, nearest) in [
            ("/hepl", "did you mean /help?"),
            ("/Stopp", "did you mean /stop?"),
            ("/stop!", "did you mean /stop?"),
            (" /sesions notes", "did you mean /sessions?"),
            ("/weather", "/help lists them"),
            ("/tmp is full", "/help lists them"),
        ] {
            let ParsedInput::Invalid(text) = read(line) else { panic!("{line} is taken") };
            let name = line.split_whitespace().next().unwrap();
            assert_eq!(text, format!("there is no command {name}: {nearest} (/{name} is sent to the model)"));
        }
        for line in ["/stop it", "/help me with this"] {
            let expected = format!("takes nothing after it; `/{line}` sends it to the model");
            assert!(matches!(read(line), ParsedInput::Invalid(text) if text.ends_with(&expected)), "{line}");
        }
    }

    // proves W6
    #[test]
    fn two_slashes_send_what_would_be_a_command() {
        for (line, sent) in [("//hepl", "/hepl"), (" //help me\n", "/help me"), ("//tmp is full", "/tmp is full")] {
            assert_eq!(read(line), message(sent), "{line}");
        }
    }

    fn message(text: &str) -> ParsedInput {
        ParsedInput::Message(text.to_owned())
    }

    #[test]
    fn a_command_takes_the_argument_its_row_names() {
        assert_eq!(read("/model"), ParsedInput::Command(SlashCommand::Model(None), SlashTiming::Always));
        assert_eq!(
            read("/model  big one "),
            ParsedInput::Command(SlashCommand::Model(Some("big one".into())), SlashTiming::Always)
        );
        assert_eq!(read("/compact undo"), ParsedInput::Command(SlashCommand::UndoCompaction, SlashTiming::Idle));
        assert!(matches!(read("/compact all"), ParsedInput::Invalid(_)));
        assert_eq!(read("/fork 12"), ParsedInput::Command(SlashCommand::Fork(Some(12)), SlashTiming::Idle));
        assert!(matches!(read("/fork twelve"), ParsedInput::Invalid(_)));
        let undo = |of: Option<&str>, force| {
            ParsedInput::Command(SlashCommand::Undo(of.map(|of| of.parse().unwrap()), force), SlashTiming::Idle)
        };
        assert_eq!(read("/undo"), undo(None, Force::No));
        assert_eq!(read("/undo u1"), undo(Some("u1"), Force::No));
        assert_eq!(read("/undo force"), undo(None, Force::Yes));
        assert_eq!(read("/undo 2.1.0 force"), undo(Some("2.1.0"), Force::Yes));
        for line in ["/undo everything", "/undo u1 now", "/undo force u1"] {
            assert!(matches!(read(line), ParsedInput::Invalid(_)), "{line}");
        }
    }

    // proves W6
    #[test]
    fn words_of_other_programs_are_understood_or_say_where_to_do_it() {
        let command = |command, when| ParsedInput::Command(command, when);
        assert_eq!(read("/clear"), command(SlashCommand::New, SlashTiming::Idle));
        assert_eq!(read("/Usage"), command(SlashCommand::Cost, SlashTiming::Always));
        assert_eq!(read("/resume notes"), command(SlashCommand::Sessions(Some("notes".into())), SlashTiming::Idle));
        for (line, place) in [("/init", "`windlass init`"), ("/mcp list", "`windlass mcp`")] {
            assert!(matches!(read(line), ParsedInput::Invalid(text) if text.contains(place)), "{line}");
        }
        for (alias, name) in ALIASES {
            assert!(TABLE.iter().any(|entry| entry.name == *name), "{alias}");
        }
    }

    #[test]
    fn every_row_is_in_the_help_and_can_be_typed() {
        for entry in TABLE {
            assert!(help().contains(&format!("  {}", entry.name)), "{}", entry.name);
            assert!(matches!(read(entry.name), ParsedInput::Command(..)), "{}", entry.name);
        }
    }
}
