//! The error of a Python script, in the words that its writer needs: which line of the script failed, what usually causes
//! that, and the error. A traceback has the line's number alone, and many lines about the library below it.

use serde_json::Value;
use windlass_vocab::Json;

use super::python_command::python_script;

const TRACEBACK: &str = "Traceback (most recent call last):";
/// The beginning of the line about a place in the script itself.
const IN_SCRIPT: &str = "File \"<string>\", line ";
/// What stands between two tracebacks of one error.
const CHAINS: [&str; 2] = [
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
];
/// Where the libraries of Python lie.
const LIBRARY: &str = "/lib/python";

/// The error of a path that is not there, up to the path.
const NOT_FOUND: &str = "FileNotFoundError: [Errno 2] No such file or directory: '";

/// What usually causes an error, and how to avoid it.
struct Advice {
    /// The error, by what its line contains.
    error: &'static str,
    told: &'static str,
}

const EMPTY_LINES: &str =
    "Some lines are empty or have fewer parts: take lines with splitlines(), and skip those that do not fit.";
const NO_NUMBER: &str = "Not every line has a number there: skip headings and empty lines.";
const PATHS: &str = "Use the paths as they are listed. A folder has to be made before something is put into it: \
    os.makedirs(folder, exist_ok=True).";

const ADVICE: &[Advice] = &[
    Advice { error: "IndexError: list index out of range", told: EMPTY_LINES },
    Advice { error: "ValueError: not enough values to unpack", told: EMPTY_LINES },
    Advice { error: "ValueError: too many values to unpack", told: "Some lines have more parts: look at the text." },
    Advice { error: "ValueError: could not convert string to float", told: NO_NUMBER },
    Advice { error: "ValueError: invalid literal for int()", told: NO_NUMBER },
    Advice {
        error: "JSONDecodeError",
        told: "The file is not valid JSON, so json can't read it: read it as text, correct the text with replace(), and \
               write it back.",
    },
    Advice { error: "FileNotFoundError", told: PATHS },
    Advice { error: "NotADirectoryError", told: PATHS },
    Advice { error: "IsADirectoryError", told: PATHS },
    Advice { error: "ModuleNotFoundError", told: "Use the standard library alone." },
    Advice { error: "NameError", told: "A script knows nothing of the ones before it: define it here." },
];

/// Returns the path that a Python script did not find, if that is the error it ended with.
#[must_use]
pub fn missing_path(result: &str) -> Option<&str> {
    let is_note = |line: &&str| line.trim().is_empty() || line.starts_with('[') && line.ends_with(']');
    let error = result.lines().rev().find(|line| !is_note(line))?;
    // An error about two paths does not say which is not there.
    error.strip_prefix(NOT_FOUND)?.strip_suffix('\'').filter(|path| !path.is_empty() && !path.contains('\''))
}

/// Returns the result of a script that failed, with its traceback in plain words; other results as they are. `near` are
/// paths like the one that it did not find.
#[must_use]
pub fn explained_error(result: &str, arguments: &Json, near: &[String]) -> String {
    let arguments = arguments.to_value();
    let script = arguments.get("command").and_then(Value::as_str).and_then(python_script);
    script.and_then(|script| explained(result, &script, near)).unwrap_or_else(|| result.to_owned())
}

fn explained(result: &str, script: &str, near: &[String]) -> Option<String> {
    let (before, traceback) = result.split_at(start_of_error(result)?);
    let lines: Vec<&str> = traceback.lines().collect();
    let last = lines.iter().rposition(|line| *line == TRACEBACK)?;
    let frames = lines.get(last + 1..)?;
    let end = frames.iter().position(|line| !line.starts_with(' '))?;
    let (frames, error) = frames.split_at(end);
    let number = frames.iter().rev().find_map(|line| line_of_script(line))?;
    let source = script.lines().nth(number.checked_sub(1)?)?.trim();
    let mut told = format!("{before}The script failed in line {number}: {source}\n");
    if let Some(place) = frames.iter().rev().find(|line| is_file_of_workspace(line)) {
        told.push_str(&format!("{}\n", place.trim()));
    }
    // The notes about the exit and the sandbox follow the error.
    let notes = error.iter().position(|line| line.starts_with('[')).unwrap_or(error.len());
    let (error, notes) = error.split_at(notes);
    let error = error.join("\n");
    if let Some(advice) = ADVICE.iter().find(|advice| error.contains(advice.error)) {
        told.push_str(&format!("{}\n", advice.told));
    }
    if !near.is_empty() {
        told.push_str(&format!("Similar paths are there: {}\n", near.join(", ")));
    }
    // Last, because people are shown the last line.
    told.push_str(error.trim_end());
    notes.iter().for_each(|note| told.push_str(&format!("\n{note}")));
    Some(told)
}

/// Returns where the last traceback begins, with those that its error was raised from.
fn start_of_error(result: &str) -> Option<usize> {
    let mut start = result.rfind(TRACEBACK)?;
    while CHAINS.iter().any(|chain| result[..start].trim_end().ends_with(chain)) {
        start = result[..start].rfind(TRACEBACK)?;
    }
    Some(start)
}

/// Returns the number of the line of the script, where this line of a traceback is about one.
fn line_of_script(line: &str) -> Option<usize> {
    let number = line.trim_start().strip_prefix(IN_SCRIPT)?;
    number.split(',').next()?.parse().ok()
}

/// Whether this line of a traceback is about a module that is neither the script nor a library.
fn is_file_of_workspace(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("File \"") && !line.starts_with("File \"<") && !line.contains(LIBRARY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(script: &str, result: &str) -> String {
        let quoted = format!("python3 -Bu -c '{}'", script.replace('\'', "'\\''"));
        explained_error(result, &Json::from(&serde_json::json!({ "command": quoted })), &[])
    }

    // proves T4: the writer of a script is shown the line that failed and what to do, not the inside of a library
    #[test]
    fn a_traceback_becomes_the_line_that_failed_and_advice() {
        let script = "text = open('a.json').read()\ndata = json.loads(text)";
        let result = "started\nTraceback (most recent call last):\n  File \"<string>\", line 2, in <module>\n  \
            File \"/usr/lib/python3.12/json/__init__.py\", line 346, in loads\n    return decode(s)\n           ^^^^\n\
            json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n[exit code 1]\n[The sandbox x]";
        let told = told(script, result);
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[..2], ["started", "The script failed in line 2: data = json.loads(text)"], "{told}");
        assert!(lines[2].starts_with("The file is not valid JSON"), "{told}");
        assert_eq!(lines[3], "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)");
        assert_eq!(lines[4..], ["[exit code 1]", "[The sandbox x]"]);
    }

    // proves T4: of chained errors the last one counts, and a module of the workspace is named
    #[test]
    fn the_last_of_chained_errors_is_told_with_the_module_it_is_in() {
        let chained = "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nKeyError: 'a'\n\n\
            During handling of the above exception, another exception occurred:\n\n\
            Traceback (most recent call last):\n  File \"<string>\", line 2, in <module>\n  \
            File \"/srv/ship/average.py\", line 7, in mean\n    return total / count\nZeroDivisionError: division by zero\n[exit code 1]";
        assert_eq!(
            told("a\nmean([])", chained),
            "The script failed in line 2: mean([])\nFile \"/srv/ship/average.py\", line 7, in mean\n\
             ZeroDivisionError: division by zero\n[exit code 1]"
        );
    }

    // proves T4: only the path of the error that ended the script is looked for
    #[test]
    fn the_missing_path_is_that_of_the_last_error() {
        let error = "FileNotFoundError: [Errno 2] No such file or directory: 'b.txt'";
        assert_eq!(missing_path(&format!("out\n{error}\n[exit code 1]\n")), Some("b.txt"));
        assert_eq!(missing_path(&format!("{error}\nKeyError: 'a'\n[exit code 1]")), None);
        assert_eq!(missing_path(&format!("{error} -> 'no/b.txt'")), None);
    }

    // proves T4
    #[test]
    fn what_is_no_traceback_of_the_script_stays_as_it_is() {
        for result in [
            "no\n[exit code 1]",
            "Traceback (most recent call last):",
            "  File \"<string>\", line 1\n    x = (\nSyntaxError: x",
        ] {
            assert_eq!(told("x = (", result), result);
        }
        let other = Json::from(&serde_json::json!({ "command": "cat a.txt" }));
        assert_eq!(
            explained_error("Traceback (most recent call last):\nx", &other, &[]),
            "Traceback (most recent call last):\nx"
        );
    }
}
