//! Following a run: prints the text as it is written, the calls as they start and end, and the end.

use std::io::Write as _;

use windlass::{Builder, DeltaBody, Event, Function, Record};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let roll = Function::plain("roll_dice", "Rolls a die.", |(): ()| async { "a four" });
    let agent = Builder::from_env()?.tool(roll.repeatable()).build()?;
    let mut running = agent.start("Roll a die twice and say what came.").await?;
    while let Some(event) = running.next().await {
        match event {
            Event::Delta(delta) => {
                if let DeltaBody::TextDelta { text } = delta.body {
                    print!("{text}");
                    std::io::stdout().flush()?;
                }
            }
            Event::Record(envelope) => match &envelope.record {
                Record::CallRequested(requested) => println!("[{} {}]", requested.name, requested.arguments.as_str()),
                Record::CallFinished(finished) => println!("[{:?}: {}]", finished.outcome, finished.text),
                _ => {}
            },
        }
    }
    let ended = running.ended().await?;
    println!("\n[{:?} after {} turns, {} tokens written]", ended.reason, ended.turns, ended.usage.output);
    Ok(())
}
