//! The floor of a cold start: a program that makes one request and reads the answer.

use anyhow::Context as _;
use windlass_bench::floor::FloorWire;

fn main() -> anyhow::Result<()> {
    let base_url = std::env::args().nth(1).context("usage: windlass-first-request BASE_URL")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { FloorWire::new(&base_url)?.request(&r#"{"stream":true}"#.into()).await })
}
