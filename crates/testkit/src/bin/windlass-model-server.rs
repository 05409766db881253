//! `windlass-model-server`: the scripted model server as a program, for benches and for tests of the
//! real binary. Its first line of output is the address it listens on; it runs until it is stopped.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use windlass_testkit::{ModelServer, Script, ScriptStep, ScriptedCall, ServerOptions};

const USAGE: &str = "\
usage: windlass-model-server (--script FILE.json | --preset hello | --preset turns) [options]
  --port N            listen on this port of 127.0.0.1 (a free one unless given)
  --log FILE          append each request as a JSON line
  --latency-ms N      wait so long before the first byte of a reply
  --quick             count replies without parsing or recording requests (for benches)
  --with-stdin        stop when standard input closes
for the preset `turns`:
  --turns N           replies in all, the last one without a call (10)
  --text-bytes N      text in each reply (0)
  --tool NAME         the tool called (todo)
  --arguments JSON    its arguments; $STEP becomes the number of the reply ({})";

#[derive(Default)]
struct ServerArguments {
    script: Option<String>,
    preset: Option<String>,
    options: ServerOptions,
    latency_ms: Option<u64>,
    turns: Option<usize>,
    text_bytes: Option<usize>,
    tool: Option<String>,
    tool_arguments: Option<String>,
    inspection: Option<windlass_testkit::Inspection>,
    lifeline: Option<StdinLifeline>,
}

/// Standard input; the server stops when it ends.
struct StdinLifeline;

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("windlass-model-server: {what}");
            ExitCode::from(2)
        }
    }
}

fn run(words: VecDeque<String>) -> Result<(), String> {
    let arguments = parse(words)?;
    let server = ModelServer::with(script(&arguments)?, &arguments.options).map_err(|error| error.to_string())?;
    let mut out = std::io::stdout();
    writeln!(out, "listening on http://{}", server.address()).and_then(|()| out.flush()).map_err(|e| e.to_string())?;
    match arguments.lifeline {
        Some(StdinLifeline) => {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
        }
        None => server.join(),
    }
    Ok(())
}

fn parse(mut words: VecDeque<String>) -> Result<ServerArguments, String> {
    let mut arguments = ServerArguments::default();
    while let Some(word) = words.pop_front() {
        let mut value = || words.pop_front().ok_or_else(|| format!("{word} needs a value\n{USAGE}"));
        match word.as_str() {
            "--script" => arguments.script = Some(value()?),
            "--preset" => arguments.preset = Some(value()?),
            "--port" => arguments.options.port = number(&value()?)?,
            "--log" => arguments.options.log = Some(value()?.into()),
            "--latency-ms" => arguments.latency_ms = Some(number(&value()?)?),
            "--turns" => arguments.turns = Some(number(&value()?)?),
            "--text-bytes" => arguments.text_bytes = Some(number(&value()?)?),
            "--tool" => arguments.tool = Some(value()?),
            "--arguments" => arguments.tool_arguments = Some(value()?),
            "--quick" => arguments.inspection = Some(windlass_testkit::Inspection::Quick),
            "--with-stdin" => arguments.lifeline = Some(StdinLifeline),
            _ => return Err(format!("unknown argument `{word}`\n{USAGE}")),
        }
    }
    Ok(arguments)
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number that fits here"))
}

fn script(arguments: &ServerArguments) -> Result<Script, String> {
    let mut script = match (&arguments.script, arguments.preset.as_deref()) {
        (Some(path), None) => {
            let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
            Script::parse(&text).map_err(|error| format!("{path}: {error}"))?
        }
        (None, Some("hello")) => Script::of([ScriptStep::say("Hello.")]),
        (None, Some("turns")) => turns(arguments)?,
        (None, Some(other)) => return Err(format!("there is no preset `{other}`\n{USAGE}")),
        (Some(_), Some(_)) | (None, None) => return Err(format!("give one of --script and --preset\n{USAGE}")),
    };
    if let Some(latency_ms) = arguments.latency_ms {
        script.pace.latency_ms = latency_ms;
    }
    if let Some(inspection) = arguments.inspection {
        script.inspection = inspection;
    }
    Ok(script)
}

fn turns(arguments: &ServerArguments) -> Result<Script, String> {
    let text = arguments.tool_arguments.as_deref().unwrap_or("{}");
    let call = ScriptedCall {
        name: arguments.tool.clone().unwrap_or_else(|| "todo".to_owned()),
        arguments: serde_json::from_str(text).map_err(|error| format!("--arguments is no JSON: {error}"))?,
        id: None,
    };
    Ok(Script::turns(arguments.turns.unwrap_or(10), arguments.text_bytes.unwrap_or(0), &call))
}
