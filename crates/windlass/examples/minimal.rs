//! An agent in one line. The environment selects the model:
//!
//! ```text
//! WINDLASS_MODEL=ollama:qwen3 cargo run -p windlass --example minimal
//! ```

use windlass::Agent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    println!("{}", Agent::from_env()?.run("Say hello to a sailor in one sentence.").await?);
    Ok(())
}
