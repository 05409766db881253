//! File tools and commands in a folder: the current one, unless another is given.
//!
//! A command runs under a guard process, which ends it and all it started even if this program is killed, and `init`
//! lets this program serve as that guard. Commands ask first, and here nobody answers, so only those that a rule allows
//! are run.

use std::process::ExitCode;

use windlass::Builder;

fn main() -> anyhow::Result<ExitCode> {
    if let Some(code) = windlass::init() {
        return Ok(code);
    }
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    tokio::runtime::Runtime::new()?.block_on(async {
        let agent = Builder::from_env()?.workspace(folder).allow("run_command(wc *)").build()?;
        println!("{}", agent.run("How many lines do the files here have? Write it to lines.txt.").await?);
        Ok(ExitCode::SUCCESS)
    })
}
