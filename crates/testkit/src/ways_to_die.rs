//! How many ways to die the kill matrices try. Each matrix says its number; docs/kill-matrices.md states them all,
//! and the README the sums, so a number that has gone stale fails a test. `cargo xtask kill-matrices` renews them.

use std::path::Path;

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillTarget {
    /// The real binary, with SIGKILL.
    Binary,
    /// The loop in process, by stopping its store and its effects.
    InProcess,
}

impl KillTarget {
    /// The word for it in the table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::InProcess => "in process",
        }
    }
}

/// Where the numbers are stated.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kill-matrices.md");

/// Set where the numbers are being renewed: then they are only printed.
const RENEWING: &str = "WINDLASS_RENEW_KILL_MATRICES";

/// Prints how many ways to die a matrix has tried, as a row of the table, and compares it with what is stated.
/// Calls that run side by side finish in any order, which moves a count of hundreds a little: one in a hundred is
/// allowed, and so nothing to a count below that.
pub fn count_ways_to_die(killed: KillTarget, matrix: &str, counted: usize) -> Result<(), String> {
    let row = format!("| {} | {matrix} |", killed.word());
    println!("{row} {counted} |");
    if std::env::var_os(RENEWING).is_some() {
        return Ok(());
    }
    let table = std::fs::read_to_string(Path::new(TABLE)).map_err(|error| format!("{TABLE}: {error}"))?;
    compare(&table, &row, counted)
}

fn compare(table: &str, row: &str, counted: usize) -> Result<(), String> {
    let stated = table.lines().find_map(|line| line.strip_prefix(row)?.trim_matches(['|', ' ']).parse::<usize>().ok());
    match stated {
        Some(stated) if stated.abs_diff(counted) <= stated / 100 => Ok(()),
        Some(stated) => Err(format!(
            "{row} tried {counted} ways to die, and docs/kill-matrices.md states {stated}; renew it with \
             `cargo xtask kill-matrices`"
        )),
        None => Err(format!(
            "docs/kill-matrices.md has no row `{row}`, which tried {counted} ways to die; renew it with \
             `cargo xtask kill-matrices`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn a_small_count_must_be_exact_and_one_of_hundreds_nearly() {
        let table = "| where | matrix | ways |\n| binary | default | 57 |\n| in process | task | 700 |\n";
        for (row, counted, fits) in [
            ("| binary | default |", 57, true),
            ("| binary | default |", 58, false),
            ("| in process | task |", 693, true),
            ("| in process | task |", 708, false),
            ("| binary | task |", 1, false),
        ] {
            assert_eq!(compare(table, row, counted).is_ok(), fits, "{row} {counted}");
        }
    }
}
