//! An agent in ten lines.
//!
//! ```text
//! OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=qwen3 cargo run -p windlass --example minimal
//! ```

use std::env::var;

use anyhow::Context as _;
use windlass::Agent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let agent = Agent::builder()
        .base_url(var("OPENAI_BASE_URL").unwrap_or_else(|_| "https://api.openai.com/v1".to_owned()))
        .api_key(var("OPENAI_API_KEY").unwrap_or_default())
        .model(var("OPENAI_MODEL").context("set OPENAI_MODEL to the id of a model")?)
        .build()?;
    println!("{}", agent.run_typed("hello", "Say hello to a sailor in one sentence.").await?);
    Ok(())
}
