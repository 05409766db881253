//! Cancelling: a run can be stopped from anywhere at any moment, and ends by itself at a deadline. A tool notices the
//! stop and can return what it has done so far; the history stays complete.

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
        // The output of a running call has no name; the model's own writing of a call begins with one.
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
