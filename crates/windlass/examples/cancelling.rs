//! Cancelling: a run can be stopped from anywhere, at any moment, and ends by itself at a deadline. A
//! tool sees the stop and answers for what it has done; the history stays whole.

use std::time::Duration;

use schemars::JsonSchema;
use windlass::{Builder, DeltaBody, Event, Function, RunErrorReason, ToolError};

#[derive(serde::Deserialize, JsonSchema)]
struct Count {
    to: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let count = Function::with_context("count", "Counts slowly.", |call, _, args: Count| async move {
        for n in 1..=args.to {
            (call.progress)(&format!("{n} "));
            tokio::select! {
                () = call.cancel.cancelled() => return Err(ToolError::new(format!("stopped at {n}"))),
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
            }
        }
        Ok("counted")
    });
    let agent = Builder::from_env()?.tool(count).deadline(Duration::from_secs(60)).build()?;
    let mut running = agent.start("Count to 1000 with your tool.").await?;
    while let Some(event) = running.next().await {
        // What a call says as it runs has no name; what the model writes of it begins with one.
        if let Event::Delta(delta) = event
            && let DeltaBody::CallDelta { name: None, text, .. } = delta.body
            && text.starts_with('1')
        {
            println!("it counts; stopping it");
            running.stop().await?;
        }
    }
    match running.answer().await {
        Ok(answer) => println!("{answer}"),
        Err(error) if matches!(error.reason, RunErrorReason::Cancelled) => println!("{error}"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
