//! `cargo xtask kill-matrices`: runs the kill matrices, and updates the numbers of kill points they try: each in
//! docs/kill-matrices.md, the sums in the README. `tidy` compares the two; each matrix compares its own row.

use std::path::Path;
use std::process::Command;

/// The page with the table of numbers.
pub(crate) const TABLE: &str = "docs/kill-matrices.md";

/// The page with the sums.
pub(crate) const README: &str = "README.md";

/// If this variable is set, the matrices only print their rows.
const RENEWING: &str = "WINDLASS_RENEW_KILL_MATRICES";

const WORDS: &[&str] = &[
    "test",
    "--locked",
    "-p",
    "windlass-cli",
    "-p",
    "windlass-runtime",
    "--tests",
    "kill_matrix",
    "--",
    "--show-output",
];

const HEAD: &str = "# Kill matrices

A kill matrix is a test that kills one run at every possible point: before and after every journal write and in the
middle of calls; in process also inside model calls, and a second time during recovery. After each kill the run is
resumed, and the outcome of every call is compared with the rules (J3, J4). The table says how many points each matrix
tries; `cargo xtask kill-matrices` writes it. A matrix that tries another number fails. A difference of 1 % is
tolerated, because parallel calls finish in any order.

| killed | matrix | ways to die |
|---|---|---|
";

/// What is killed: its name in the table, and the text before the sum in the README.
pub(crate) const SUMS: [(&str, &str); 2] =
    [("binary", "with SIGKILL in **"), ("in process", "the loop in process in **")];

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    killed: String,
    matrix: String,
    ways: usize,
}

/// Parses the table rows among the lines of a text.
pub(crate) fn rows(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim().strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let &[killed, matrix, ways] = &cells[..] else { return None };
        SUMS.iter().find(|(word, _)| *word == killed)?;
        Some(Row { killed: killed.to_owned(), matrix: matrix.to_owned(), ways: ways.parse().ok()? })
    };
    text.lines().filter_map(row).collect()
}

/// The sum of the rows for this target, formatted as in the README.
pub(crate) fn sum(rows: &[Row], killed: &str) -> String {
    let ways: usize = rows.iter().filter(|row| row.killed == killed).map(|row| row.ways).sum();
    let digits = ways.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// The number in the README after the text `before`.
pub(crate) fn stated<'a>(readme: &'a str, before: &str) -> Option<&'a str> {
    readme.split_once(before)?.1.split_once("**").map(|(number, _)| number)
}

pub(crate) fn run(root: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(WORDS).env(RENEWING, "1").current_dir(root).output();
    let output = output.map_err(|error| format!("cargo can't be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("a matrix failed:\n{said}\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut rows = rows(&said);
    rows.sort();
    let lines: String =
        rows.iter().map(|row| format!("| {} | {} | {} |\n", row.killed, row.matrix, row.ways)).collect();
    write(root, TABLE, &format!("{HEAD}{lines}"))?;
    let mut readme = std::fs::read_to_string(root.join(README)).map_err(|error| format!("{README}: {error}"))?;
    for (killed, before) in SUMS {
        let sum = sum(&rows, killed);
        let old = stated(&readme, before).ok_or_else(|| format!("{README} does not say `{before}`"))?;
        readme = readme.replacen(&format!("{before}{old}**"), &format!("{before}{sum}**"), 1);
        println!("{killed}: {sum} ways to die");
    }
    write(root, README, &readme)
}

fn write(root: &Path, path: &str, text: &str) -> Result<(), String> {
    std::fs::write(root.join(path), text).map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{rows, stated, sum};

    #[test]
    fn rows_are_found_among_other_lines_and_summed() {
        let text = "running 1 test\n    | binary | default | 57 |\n| binary | task | 1200 |\n| killed | matrix | ways to die |\n\
                    | in process | task | 7 |\n| else | x | 9 |\n";
        let rows = rows(text);
        assert_eq!(rows.len(), 3);
        assert_eq!((sum(&rows, "binary"), sum(&rows, "in process")), ("1,257".to_owned(), "7".to_owned()));
    }

    #[test]
    fn the_number_behind_some_words_is_found() {
        assert_eq!(stated("killed in **1,257** ways, in **x", "killed in **"), Some("1,257"));
        assert_eq!(stated("killed", "killed in **"), None);
    }
}
