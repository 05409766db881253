//! How fast calls are parsed out of text: megabytes per second of replies that contain calls in every dialect
//! and much text that only looks like one, and whether four times the text takes four times as long.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use windlass_tools::dialect::{AcceptedForms, NamedTools, ParsedReply, TextEnd, read};
use windlass_vocab::{Dialect, Parallel};

use super::setup::Setup;
use crate::pace::median;
use crate::table::{Mark, Measurement};

const LEAST: f64 = 100.0;
/// Neither size fits into a CPU cache.
const SMALL: usize = 40 << 20;
const LARGE: usize = 160 << 20;
/// Four times the text may take this many times as long; a quadratic parser would take 16 times.
const GROWTH: f64 = 6.0;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let mut lines = Vec::new();
    for (name, unit) in [("replies with calls", REPLY), ("prose", PROSE), ("openings of calls", ADVERSE)] {
        let mut kept = Vec::new();
        let small = timed(setup, &repeated(unit, SMALL), &mut kept)?;
        let large = timed(setup, &repeated(unit, LARGE), &mut kept)?;
        let rate = LARGE as f64 / 1e6 / large.as_secs_f64();
        lines.push(Measurement {
            figure: format!("reading calls out of text: {name}"),
            target: format!("≥ {LEAST} MB/s"),
            measured: format!("{rate:.0} MB/s"),
            mark: if rate >= LEAST { Mark::Met } else { Mark::Missed },
        });
        let growth = large.as_secs_f64() / small.as_secs_f64();
        lines.push(Measurement::at_most(&format!("{name}: 160 MB in times of 40 MB"), GROWTH, growth, "×"));
    }
    Ok(lines)
}

fn repeated(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len())
}

/// The median time to parse `text`. Results are kept, so that every round gets fresh memory, which takes longer than
/// memory that the allocator reuses.
fn timed(setup: &Setup, text: &str, kept: &mut Vec<ParsedReply>) -> Result<Duration> {
    let dialects = [Dialect::ToolBlock, Dialect::Bracket, Dialect::Lines, Dialect::BareJson];
    let spoken = AcceptedForms::of(&dialects, None, Parallel::On).context("nothing is read")?;
    let mut times = Vec::new();
    for _ in 0..setup.rounds(5) {
        let begun = Instant::now();
        let reading = read(text, &spoken, NamedTools(|name: &str| name.ends_with("read_file")), TextEnd::Whole);
        times.push(begun.elapsed());
        ensure!(reading.text.len() <= text.len(), "more came out than went in");
        kept.push(reading);
    }
    Ok(median(&mut times))
}

/// A reply that contains calls, and text that looks like calls.
const REPLY: &str = "I read the file first, then I look at what [it](https://example.com) says about `<tool>`.\n\n\
    <tool>\n<server_name>local</server_name>\n<tool_name>read_file</tool_name>\n<arguments>\n\
    {\"path\": \"src/main.rs\", \"offset\": 120, \"note\": \"a text of some length, with \\\"quotes\\\" and </tool> in it\"}\n\
    </arguments>\n</tool>\n\nThen the other one:\n\n[local.read_file(path=\"docs/notes.md\", limit=20)]\n\n\
    ```rust\nfn main() {\n    println!(\"{}\", [1, 2, 3].len());\n}\n```\n\n\
    {\"name\": \"read_file\", \"arguments\": {\"path\": \"Cargo.toml\"}}\n\n\
    | a | table |\n|---|---|\n| of | things |\n\nTool: local.read_file\nArguments: {\"path\": \"README.md\"}\n\n\
    Nothing else is needed; the rest of this paragraph is ordinary prose that goes on for a while, as answers do.\n";

const PROSE: &str = "The crew hauls at the bars, the pawls clack over the teeth, and the chain comes in link by \
    link until the anchor breaks out and the ship swings to the wind.\n";

const ADVERSE: &str = "[read_file(\n<tool><tool_name>{\"id\": [\n";
