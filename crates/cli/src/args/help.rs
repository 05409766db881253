//! `windlass help COMMAND` means `windlass COMMAND --help`. Clap's own `help` would take every sentence that begins with
//! the word for a command.

use std::ffi::OsString;

/// Returns the command line with `help` in front of a command written as the command's `--help`. `line` begins with the
/// name of the program.
pub(super) fn as_flag(command: &clap::Command, line: Vec<OsString>) -> Vec<OsString> {
    let asked = match line.get(1..) {
        Some([help, asked @ ..]) if help == "help" => asked,
        _ => return line,
    };
    let is_command = |name: &OsString| command.get_subcommands().any(|known| known.get_name() == name.as_os_str());
    if asked.first().is_some_and(|first| !is_command(first)) {
        return line;
    }
    let program = line.iter().take(1);
    program.chain(asked).cloned().chain(["--help".into()]).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory as _;

    use super::as_flag;
    use crate::args::Cli;

    // proves W2: help is found where other programs have it, and a request for help stays a request
    #[test]
    fn help_before_a_command_is_the_help_of_the_command() {
        for (line, want) in [
            (&["help"][..], &["--help"][..]),
            (&["help", "run"], &["run", "--help"]),
            (&["help", "sessions", "rm"], &["sessions", "rm", "--help"]),
            (&["help", "me", "with", "this"], &["help", "me", "with", "this"]),
            (&["run", "help"], &["run", "help"]),
            (&[], &[]),
        ] {
            let words = |line: &[&str]| -> Vec<OsString> { ["windlass"].iter().chain(line).map(Into::into).collect() };
            assert_eq!(as_flag(&Cli::command(), words(line)), words(want), "{line:?}");
        }
    }
}
