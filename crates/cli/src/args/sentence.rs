//! `windlass "fix the bug"`: a request typed where a command belongs.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Cli;
use crate::output::quoted;

/// Returns what to type instead, if a request was typed in place of a command. `line` is the command line, without the
/// name of the program.
pub(super) fn advice(error: &clap::Error, line: &[String]) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let at = line.iter().position(|word| word == typed)?;
    let command = <Cli as clap::CommandFactory>::command();
    let is_command = |word: &String| command.get_subcommands().any(|known| known.get_name() == word);
    // A command of a command, as in `windlass sessions lst`, is no request.
    if error.kind() != ErrorKind::InvalidSubcommand || line[..at].iter().any(is_command) {
        return None;
    }
    let words: Vec<&str> = line[at..].iter().map(String::as_str).take_while(|word| !word.starts_with('-')).collect();
    let sentence = words.join(" ");
    let special = sentence.contains(['"', '$', '`', '\\', '!']);
    let shell_words = if special { quoted(&sentence) } else { format!("\"{sentence}\"") };
    let goes_on = line[..at].iter().any(|word| word == "-c" || word == "--continue");
    let shell_words = if goes_on { format!("-c {shell_words}") } else { shell_words };
    // One word may be a slip, which the parser explains.
    if !sentence.contains(char::is_whitespace) {
        return Some(format!("{error}\nTo send it as a request, type: windlass run {shell_words}"));
    }
    let near = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(near)) => near.first().map(|near| format!(" (did you mean `windlass {near}`?)")),
        _ => None,
    };
    let near = near.unwrap_or_default();
    Some(format!(
        "there is no command `{typed}`{near}. To send it as a request, type:\n  windlass run {shell_words}\n\
         `windlass` alone opens a chat; `windlass --help` lists the commands"
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::advice;
    use crate::args::Cli;

    fn advised(line: &[&str]) -> Option<String> {
        let error = Cli::try_parse_from(std::iter::once(&"windlass").chain(line)).expect_err("wrong use");
        advice(&error, &line.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    // proves W2: wrong use says what to type
    #[test]
    fn a_sentence_in_place_of_a_command_is_told_how_to_send_it() {
        for (line, command) in [
            (&["fix the bug"][..], "\n  windlass run \"fix the bug\"\n"),
            (&["fix", "the", "bug"], "\n  windlass run \"fix the bug\"\n"),
            (&["--model", "m", "fix", "it", "--json"], "\n  windlass run \"fix it\"\n"),
            (&["say `hi` to $USER"], "\n  windlass run 'say `hi` to $USER'\n"),
            (&["rn"], "\nTo send it as a request, type: windlass run \"rn\""),
            (&["rn"], "unrecognized subcommand 'rn'"),
            (&["session", "list"], "there is no command `session` (did you mean `windlass sessions`?). To send it"),
            (&["runn", "hello", "there"], "there is no command `runn` (did you mean `windlass run`?). To send it"),
            (&["-c", "hi there"], "\n  windlass run -c \"hi there\"\n"),
            (&["fix", "the", "bug"], "there is no command `fix`. To send it"),
        ] {
            let text = advised(line).unwrap_or_else(|| panic!("no advice for {line:?}"));
            assert!(text.contains(command), "{text}");
        }
        for line in [&["sessions", "lst"][..], &["sessions", "what is this"], &["--no-such-flag"]] {
            assert_eq!(advised(line), None, "{line:?}");
        }
    }
}
