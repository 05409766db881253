//! A process with one idle session, like a program that embeds an agent: it makes one run, then prints how much
//! memory it uses. Its arguments are the server's address and a folder.

use std::path::Path;

use anyhow::{Result, bail};
use windlass_bench::child::{alone, idle};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [base_url, dir] = words.as_slice() else { bail!("it takes an address and a folder") };
    println!("{}", alone()?.block_on(idle(base_url, Path::new(dir)))?);
    Ok(())
}
