//! A Python script as a command line: the argument of an interpreter, quoted as one word of the shell.

/// How Python is run: it leaves no compiled files beside those it imports, and output in the order it was printed.
const PYTHON: &str = "python3 -Bu -c ";

/// Returns the command line that runs a script.
pub(super) fn python_command(script: &str) -> String {
    format!("{PYTHON}{}", quoted(script))
}

/// Returns the script of a command line that a Python block became.
#[must_use]
pub fn python_script(command: &str) -> Option<String> {
    let word = command.strip_prefix(PYTHON)?;
    let script = word.strip_prefix('\'')?.strip_suffix('\'')?.replace("'\\''", "'");
    (quoted(&script) == word).then_some(script)
}

/// Returns a text as one word of the shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
