//! Counts the kill points that the kill matrices try. Each matrix reports its number; docs/kill-matrices.md lists them
//! all, and the README their sums, so an outdated number fails a test. `cargo xtask kill-matrices` updates them.

use std::path::Path;

/// What a kill matrix kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillTarget {
    /// The real binary, with SIGKILL.
    Binary,
    /// The loop in process, by stopping its store and its effects.
    InProcess,
}

impl KillTarget {
    /// Its name in the table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::InProcess => "in process",
        }
    }
}

/// Path of the page that lists the numbers.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kill-matrices.md");

/// Set while the numbers are being updated: then they are only printed.
const RENEWING: &str = "WINDLASS_RENEW_KILL_MATRICES";

/// Prints how many kill points a matrix has tried, as a row of the table, and compares it with the listed number.
/// Concurrent calls finish in any order, which changes a count of hundreds a little: a difference of one per cent is
/// allowed, and so none for a count below a hundred.
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
