//! A tool from a closure. The schema for the model comes from the type of the arguments; an error is an answer too,
//! which the model reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use windlass::{Builder, Function, ToolError};

/// The state that the agent's tools share.
struct Shop {
    stock: BTreeMap<&'static str, u32>,
}

#[derive(serde::Deserialize, JsonSchema)]
struct Fruit {
    /// In the singular, in English.
    fruit: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let stock =
        Function::new("stock", "Says how many of a fruit are left.", |shop: Arc<Shop>, args: Fruit| async move {
            match shop.stock.get(args.fruit.as_str()) {
                Some(left) => Ok(format!("{left} left")),
                None => Err(ToolError::new(format!("no such fruit; there are: {:?}", shop.stock.keys()))),
            }
        });
    let agent = Builder::from_env()?
        .deps(Shop { stock: BTreeMap::from([("apple", 3), ("pear", 0)]) })
        .tool(stock.read_only())
        .build()?;
    println!("{}", agent.run("Are there apples left? And plums?").await?);
    Ok(())
}
