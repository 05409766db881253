//! `windlass-bench`: measures every figure and prints the table.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use mimalloc::MiMalloc;
use windlass_bench::child;
use windlass_bench::figures::{Effort, FIGURES, Setup};
use windlass_bench::programs::Programs;
use windlass_bench::table::HEAD;
use windlass_vocab::Timestamp;

/// The same allocator as in the `windlass` program; the floors use it too.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.split_first() {
        Some((first, rest)) if first == child::WORD => child::act(rest).map(|number| println!("{number}")),
        _ => measure(&words),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("windlass-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(words: &[String]) -> Result<()> {
    let (effort, only) = parse(words)?;
    let setup = Setup { programs: Programs::find()?, effort };
    println!("Measured {} at commit {} on {} cores.\n\n{HEAD}", date(), commit(), cores());
    for (name, figure) in FIGURES.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)) {
        eprintln!("measuring {name}");
        for line in figure(&setup).with_context(|| format!("the figure `{name}` could not be measured"))? {
            println!("{line}");
        }
    }
    Ok(())
}

fn parse(words: &[String]) -> Result<(Effort, Option<String>)> {
    let names: Vec<&str> = FIGURES.iter().map(|(name, _)| *name).collect();
    let usage = format!("usage: cargo xtask bench [--quick] [--only NAME], NAME being one of {}", names.join(", "));
    let (mut effort, mut only) = (Effort::Whole, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => effort = Effort::Quick,
            "--only" => {
                let name = words.next().filter(|name| names.contains(&name.as_str()));
                only = Some(name.context(usage.clone())?.clone());
            }
            _ => bail!("{usage}"),
        }
    }
    Ok((effort, only))
}

fn date() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp(i64::try_from(since.as_millis()).unwrap_or_default()).to_string();
    now.split('T').next().unwrap_or_default().to_owned()
}

fn commit() -> String {
    let git = Command::new("git")
        .args(["rev-parse", "--short", "HEAD"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .ok();
    let said = git.filter(|output| output.status.success()).and_then(|output| String::from_utf8(output.stdout).ok());
    said.map_or_else(|| "unknown".to_owned(), |said| said.trim().to_owned())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
