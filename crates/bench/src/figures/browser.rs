//! What a person waits for at the page, in Debian's chromium: its first paint from the start of the program on, a long session,
//! and the longest frame while they scroll through ten thousand messages. `web/tests/browser/figures.mjs` drives the browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::json;
use windlass_store::{Durability, SessionLog as _, SqliteOptions, SqliteStore};
use windlass_testkit::node;

use super::setup::Setup;
use crate::simulated_journal::SimulatedJournal;
use crate::table::Measurement;

const RECORDS: u64 = 100_000;
const MESSAGES: u32 = 10_000;
const PAINT_LIMIT_MS: f64 = 300.0;
const OPEN_LIMIT_MS: f64 = 200.0;
const FRAME_LIMIT_MS: f64 = 50.0;

/// Names the variable with the folder of the packages that drive the browser.
const PACKAGES: &str = "BROWSER_PACKAGES";

/// What the script measured, in milliseconds.
#[derive(Debug, Deserialize)]
struct PageFigures {
    first_paint: f64,
    session_shown: f64,
    long_session: f64,
    frames: u32,
    frame_p99: f64,
    longest_frame: f64,
}

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let (long, many) = tokio::runtime::Runtime::new()?.block_on(fill(&dir.path().join("data")))?;
    let figures = script(setup, dir.path(), &long, &many)?;
    let frames = format!("{} frames, p99 {:.1} ms", figures.frames, figures.frame_p99);
    Ok(vec![
        Measurement::at_most(
            "the page's first paint, from the start of the program",
            PAINT_LIMIT_MS,
            figures.first_paint,
            "ms",
        ),
        Measurement::noted("until the last session's messages are shown", format!("{:.1} ms", figures.session_shown)),
        Measurement::at_most(
            "opening the page of a session of 100,000 records",
            OPEN_LIMIT_MS,
            figures.long_session,
            "ms",
        ),
        Measurement::at_most(
            "the longest frame while scrolling through 10,000 messages",
            FRAME_LIMIT_MS,
            figures.longest_frame,
            "ms",
        ),
        Measurement::noted("the frames of that", frames),
    ])
}

/// Makes the two sessions, and returns their ids: one of many records, one of many messages.
async fn fill(data: &Path) -> Result<(String, String)> {
    let options = SqliteOptions { durability: Durability::Normal, ..SqliteOptions::default() };
    let store = SqliteStore::open(data, options)?;
    let mut long = SimulatedJournal::open(1)?;
    long.ask()?;
    while long.records() < RECORDS {
        long.turn()?;
    }
    long.answer("That was a long haul.")?;
    let mut many = SimulatedJournal::open(2)?;
    for number in 0..MESSAGES / 2 {
        many.ask()?;
        many.answer(&answer(number))?;
    }
    let ids = (long.session().to_string(), many.session().to_string());
    store.restore(long.batches).await?;
    store.restore(many.batches).await?;
    Ok(ids)
}

/// An answer as models write them: a paragraph, a list, now and then a block of code.
fn answer(number: u32) -> String {
    let code = if number.is_multiple_of(5) { "\n\n```sh\nls -l\ncat notes.txt\n```" } else { "" };
    format!("**Load {number}** is up. {}\n\n- one rope\n- `two` pawls{code}", "It went well. ".repeat(12))
}

fn script(setup: &Setup, dir: &Path, long: &str, many: &str) -> Result<PageFigures> {
    let packages = PathBuf::from(std::env::var_os(PACKAGES).with_context(|| format!("{PACKAGES} is not set"))?);
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let path = |path: PathBuf| path.display().to_string();
    let serve = ["serve", "--address", "127.0.0.1:0", "--model", "scripted", "--base-url", "http://127.0.0.1:9/v1"];
    let mut arguments = serve.map(str::to_owned).to_vec();
    arguments.extend(["--workspace".to_owned(), path(dir.to_owned()), "--data-dir".to_owned(), path(dir.join("data"))]);
    let wish = json!({
        "program": setup.programs.windlass,
        "arguments": arguments,
        "config": dir.join("config"),
        "rounds": setup.rounds(10),
        "long": long,
        "many": many,
        "runs": MESSAGES / 2,
    });
    let output = Command::new(node(&packages.with_file_name("npm")))
        .arg(web.join("tests/browser/figures.mjs"))
        .env("FIGURES", wish.to_string())
        .env("BROWSER_OUTPUT", dir)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("Node can't be started")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "the browser's script failed:\n{text}");
    let line = text.lines().last().context("the script said nothing")?;
    serde_json::from_str(line).with_context(|| format!("the script said:\n{text}"))
}
