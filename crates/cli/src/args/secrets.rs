//! Refuses a secret that was typed where a name belongs: names are stored unchanged, so it is refused before anything
//! starts, and not printed (X1).

use std::ffi::OsStr;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use windlass_setup::secrets::{KnownSecret, is_secret};

use super::{Cli, help, sentence};
use crate::error::CommandError;
use crate::exit::Exit;

/// Arguments that are not names: requests and answers, which are scrubbed; paths; and the fields of a server's entry.
const FREE: [&str; 17] = [
    "prompt",
    "answer",
    "arguments",
    "data_dir",
    "log",
    "workspace",
    "mcp_config",
    "mcp.workspace",
    "mcp.mcp_config",
    "output",
    "file",
    "folder",
    "path",
    "command",
    "url",
    "env",
    "header",
];

/// Descriptions of arguments that have no flag, or a flag that differs from the field's name.
const NAMED: [(&str, &str); 6] = [
    ("key", "the key of the session"),
    ("server", "the name of the server"),
    ("tool", "the name of the tool"),
    ("new_key", "--as"),
    ("tags", "--tag"),
    ("continue_last", "--continue"),
];

/// Parses the process's arguments. Wrong usage is reported without the secrets in it, and ends the process.
pub(crate) fn of_process(known: &[KnownSecret], scrub: impl Fn(&str) -> String) -> Result<Cli, CommandError> {
    let line = help::as_flag(&Cli::command(), std::env::args_os().collect());
    let parsed = Cli::command().try_get_matches_from(line).and_then(|mut matches| {
        let secret = secret_in(&matches, &|text| is_secret(known, text));
        Ok((Cli::from_arg_matches_mut(&mut matches)?, secret))
    });
    match parsed {
        Ok((cli, None)) => Ok(cli),
        Ok((_, Some(what))) => Err(CommandError::secret_in(&what)),
        Err(error) if error.use_stderr() => {
            let line: Vec<String> =
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            let text = sentence::advice(&error, &line).unwrap_or_else(|| error.render().to_string());
            let text = scrub(&text);
            Err(CommandError { message: text, ..CommandError::new(Exit::Usage, "") })
        }
        // Help and version requests.
        Err(error) => error.exit(),
    }
}

/// Returns the argument that should be a name but contains a secret.
fn secret_in(matches: &ArgMatches, is_secret: &dyn Fn(&str) -> bool) -> Option<String> {
    let holds = |id: &str| {
        // A global argument is known to only one of a command and its subcommands.
        let Ok(Some(mut values)) = matches.try_get_raw(id) else { return false };
        let typed = matches.value_source(id) == Some(ValueSource::CommandLine) && !FREE.contains(&id);
        typed && values.any(|value: &OsStr| is_secret(&value.to_string_lossy()))
    };
    let found = matches.ids().map(clap::Id::as_str).find(|id| holds(id));
    let named = |id: &str| {
        let name = NAMED.iter().find(|(named, _)| *named == id).map(|(_, name)| (*name).to_owned());
        name.unwrap_or_else(|| format!("--{}", id.replace('_', "-")))
    };
    found.map(named).or_else(|| secret_in(matches.subcommand()?.1, is_secret))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{KnownSecret, secret_in};
    use crate::args::Cli;
    use windlass_setup::secrets::is_secret;

    fn found(line: &[&str]) -> Option<String> {
        let known = [KnownSecret { name: "A_KEY".into(), value: "hidden-value".into() }];
        let matches = Cli::command().try_get_matches_from(std::iter::once("windlass").chain(line.iter().copied()));
        secret_in(&matches.expect("it parses"), &|text| is_secret(&known, text))
    }

    // proves X1: every name is checked, for every command
    #[test]
    fn a_key_where_a_name_belongs_is_found() {
        const PASTED: &str = "sk-proj-0123456789abcdef";
        for (line, what) in [
            (&["run", "x", "--model", "hidden-value"][..], "--model"),
            (&["run", "x", "--model", PASTED], "--model"),
            (&["run", "x", "--preset", "a hidden-value b"], "--preset"),
            (&["run", "x", "--message-id", "hidden-value"], "--message-id"),
            (&["--session", "hidden-value"], "--session"),
            (&["chat", "--resume", PASTED], "--resume"),
            (&["run", "x", "--tag", "hidden-value"], "--tag"),
            (&["run", "x", "--allow", "fetch_url(hidden-value)"], "--allow"),
            (&["run", "x", "--base-url", "http://h/hidden-value"], "--base-url"),
            (&["fork", "a", "--as", "hidden-value"], "--as"),
            (&["sessions", "show", "hidden-value"], "the key of the session"),
            (&["answer", "hidden-value", "no"], "the key of the session"),
            (&["mcp", "test", "hidden-value"], "the name of the server"),
        ] {
            assert_eq!(found(line).as_deref(), Some(what), "{line:?}");
        }
        for line in [
            &["run", "say hidden-value"][..],
            &["run", PASTED, "--model", "gpt-5"],
            &["answer", "s", "no", "use hidden-value"],
            &["mcp", "call", "s", "t", "{\"a\": \"hidden-value\"}"],
            &["mcp", "add", "s", "--url", "http://h/", "--header", "Authorization=hidden-value"],
            &["--workspace", "/hidden-value"],
        ] {
            assert_eq!(found(line), None, "{line:?}");
        }
    }
}
