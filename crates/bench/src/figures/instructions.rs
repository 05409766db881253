//! Instructions of the pure parts, counted by callgrind through `benches/instructions`.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::setup::Setup;
use crate::table::Measurement;

pub(super) fn measure(_: &Setup) -> Result<Vec<Measurement>> {
    let runner = std::env::var_os("GUNGRAUN_RUNNER").unwrap_or_else(|| "gungraun-runner".into());
    for tool in [OsString::from("valgrind"), runner] {
        if Command::new(&tool).arg("--version").output().is_err() {
            let why = format!("not measured: {} is missing", tool.display());
            return Ok(vec![Measurement::noted("instructions of decide, apply and codec", why)]);
        }
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["bench", "--locked", "-p", "windlass-bench", "--bench", "instructions"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TERM_COLOR", "never")
        .output()
        .context("cargo can't be started")?;
    ensure!(output.status.success(), "the counting failed: {}", String::from_utf8_lossy(&output.stderr));
    let lines = counted(&String::from_utf8_lossy(&output.stdout));
    ensure!(!lines.is_empty(), "nothing was counted");
    Ok(lines)
}

/// Parses the runner's report: a line that names the bench, then one that begins with
/// `Instructions:`, with the new count before the bar.
fn counted(report: &str) -> Vec<Measurement> {
    let mut name = String::new();
    let mut lines = Vec::new();
    for line in report.lines() {
        match line.trim_start().strip_prefix("Instructions:") {
            Some(counts) => {
                let count = counts.split('|').next().unwrap_or_default().trim();
                lines.push(Measurement::noted(&format!("instructions of {name}"), count));
            }
            None if !line.starts_with(' ') => name = title(line).unwrap_or_default(),
            None => {}
        }
    }
    lines
}

/// The title of a line such as `instructions::machine::decide_reply turns_0:(reply_after(10))`.
fn title(line: &str) -> Option<String> {
    let (_, bench) = line.split_once("::")?.1.split_once("::")?;
    let (name, arguments) = bench.split_once(' ')?;
    let size: String = arguments.rsplit('(').next()?.chars().take_while(char::is_ascii_digit).collect();
    Some(format!("{name} at {size}"))
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn counts_are_read_off_the_report() {
        let report = "instructions::codec::encode turns_0:(Sending :: after(10))\n  \
                      Instructions:      12345|12345     (No change)\n  L1 Hits:   20|20\n";
        let lines = counted(report);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].figure, "instructions of encode at 10");
        assert_eq!(lines[0].measured, "12345");
    }
}
