//! The time to decide whether a call is permitted, with 200 rules and the grants of a long session: from the arguments
//! of the call to the verdict. The figure is that of the slowest kind of call.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use windlass_tools::{
    Commands, FetchSettings, Permissions, Rule, Ruling, Secrets, Tool, Workspace, builtins, fetch_url,
};
use windlass_vocab::Grant;

use super::setup::Setup;
use crate::pace::median;
use crate::table::Measurement;

const LIMIT: f64 = 50.0;
/// Total number of rules; a fifth each for commands, reading, writing, pages and servers.
const RULES: usize = 200;
const GRANTS: usize = 20;
/// Calls that are timed together, because a single one is shorter than the clock's resolution.
const TOGETHER: u32 = 200;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let times = times(setup.rounds(25), TOGETHER)?;
    let (call, slowest) = times.iter().max_by_key(|(_, time)| *time).context("no call was judged")?;
    let figure = format!("judging a call with {RULES} rules, the slowest of {} kinds: {call}", times.len());
    Ok(vec![Measurement::at_most(&figure, LIMIT, slowest.as_secs_f64() * 1e6, "µs")])
}

/// Each kind of call, and the time to check one.
fn times(rounds: usize, together: u32) -> Result<Vec<(&'static str, Duration)>> {
    let folder = tempfile::tempdir()?;
    std::fs::create_dir_all(folder.path().join("src/parser"))?;
    std::fs::write(folder.path().join("src/parser/lexer.rs"), "")?;
    let workspace = Arc::new(Workspace::open(folder.path())?);
    let permissions = permissions()?;
    let grants: Vec<Grant> = (0..GRANTS).map(|n| Grant { rule: format!("run_command(tool-{n} check *)") }).collect();
    let mut tools = builtins(workspace, Commands::new(None, folder.path().join("locks")));
    tools.push(fetch_url(FetchSettings {
        private: Vec::new(),
        permissions: permissions.clone(),
        secrets: Secrets::default(),
    }));
    let mut times = Vec::new();
    for (name, tool, arguments) in calls() {
        let tool = tools.iter().find(|one| one.spec().name.bare() == tool).context("a tool is missing")?;
        let mut took = Vec::new();
        for _ in 0..rounds {
            let begun = Instant::now();
            for _ in 0..together {
                black_box(judged(tool.as_ref(), black_box(&arguments), &permissions, &grants)?);
            }
            took.push(begun.elapsed() / together);
        }
        times.push((name, median(&mut took)));
    }
    Ok(times)
}

fn judged(tool: &dyn Tool, arguments: &Value, permissions: &Permissions, grants: &[Grant]) -> Result<Ruling> {
    let about = tool.about(arguments).context("the call has no subject")?;
    Ok(permissions.check(tool.spec(), &about, tool.ask_policy(), grants))
}

fn calls() -> [(&'static str, &'static str, Value); 7] {
    let command = |line: &str| json!({"command": line});
    [
        ("a command", "run_command", command("cargo test -p windlass-tools --lib -- --nocapture")),
        (
            "a pipeline",
            "run_command",
            command("cd src && git --no-pager diff --stat HEAD~3 -- parser | grep -v lock | sort -k 2 | tail -20 2>&1"),
        ),
        (
            "a command with patterns",
            "run_command",
            command("git add src/*.rs tests/?.rs 'notes for today.md' docs/[a-f]*"),
        ),
        (
            "a script",
            "run_command",
            command("for f in src/*.rs; do timeout 5 sh -c \"wc -l $f | sort > /tmp/x\" || echo \"$f: $(date)\"; done"),
        ),
        ("reading a file", "read_file", json!({"path": "src/parser/lexer.rs"})),
        ("writing a file", "write_file", json!({"path": "src/parser/tokens.rs", "content": "x"})),
        (
            "fetching a page",
            "fetch_url",
            json!({"url": "https://docs.rs/serde/latest/serde/trait.Deserialize.html?q=1#x"}),
        ),
    ]
}

fn permissions() -> Result<Permissions> {
    let (mut allow, mut ask, mut deny) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..RULES / 5 {
        for (side, text) in [
            (0, format!("run_command(program-{n} *--flag-{n}*)")),
            (1, format!("read_file(**/secret-{n}/*.key)")),
            (2, format!("write_file(generated-{n}/)")),
            (3, format!("fetch_url(https://host-{n}.example/*)")),
            (4, format!("server-{n}.*")),
        ] {
            let side = match (side + n) % 3 {
                0 => &mut allow,
                1 => &mut ask,
                _ => &mut deny,
            };
            side.push(text.parse::<Rule>()?);
        }
    }
    Ok(Permissions { allow, ask, deny, ..Permissions::default() })
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn every_kind_of_call_is_judged() {
        let times = times(1, 1).unwrap();
        assert!(times.len() == 7 && times.iter().all(|(_, time)| !time.is_zero()), "{times:?}");
    }
}
