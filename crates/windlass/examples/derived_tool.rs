//! A tool from a type: the type of the arguments declares the tool to the model, and a method of it does the work. All
//! tools of an agent share its `Deps`.

use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use windlass::{Builder, CallContext, ToolArgs, ToolError, TypedTool, typed};

/// The state that the agent's tools share.
#[derive(Default)]
struct Ledger {
    entries: Mutex<Vec<(String, i64)>>,
}

/// Books an amount. Use it once for each amount.
#[derive(Deserialize, JsonSchema, ToolArgs)]
#[tool(timeout_ms = 5_000)]
struct BookAmount {
    /// What it was for.
    purpose: String,
    /// In cents; what was spent is negative.
    cents: i64,
}

impl TypedTool for BookAmount {
    type Deps = Ledger;
    type Answer = ();

    async fn run(self, ledger: Arc<Ledger>, _: CallContext) -> Result<(), ToolError> {
        if self.cents == 0 {
            return Err(ToolError::new("there is nothing to book: the amount is 0"));
        }
        ledger.entries.lock().unwrap_or_else(PoisonError::into_inner).push((self.purpose, self.cents));
        Ok(())
    }
}

/// Says the balance in cents.
#[derive(Deserialize, JsonSchema, ToolArgs)]
#[tool(read_only)]
struct Balance {}

impl TypedTool for Balance {
    type Deps = Ledger;
    type Answer = String;

    async fn run(self, ledger: Arc<Ledger>, _: CallContext) -> Result<String, ToolError> {
        let entries = ledger.entries.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(entries.iter().map(|(_, cents)| cents).sum::<i64>().to_string())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let agent =
        Builder::from_env()?.deps(Ledger::default()).tool(typed::<BookAmount>()).tool(typed::<Balance>()).build()?;
    let prompt = "I earned 20 euros for a song and spent 4.50 on rope. Book that, and tell me the balance.";
    println!("{}", agent.run(prompt).await?);
    for (purpose, cents) in agent.deps().entries.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("{cents:>6} {purpose}");
    }
    Ok(())
}
