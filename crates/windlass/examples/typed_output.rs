//! Typed output: the model must answer with JSON that fits a type. An answer that does not fit goes back to it with the
//! errors, a few times; then the run fails.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass::Builder;

/// A ship as a harbour book has it.
#[derive(Debug, Deserialize, JsonSchema)]
struct Ship {
    name: String,
    /// In metres.
    length: f64,
    masts: u8,
    rig: Rig,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Rig {
    Square,
    ForeAndAft,
    Other,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let agent = Builder::from_env()?.output::<Ship>().build()?;
    let entry = "This morning the Anna came in, a square-rigged three-master of some 52 metres.";
    let ship: Ship = agent.run(entry).await?;
    println!("{} of {} m with {} masts, rig {:?}", ship.name, ship.length, ship.masts, ship.rig);
    Ok(())
}
