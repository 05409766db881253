//! `windlass doctor`: checks everything a run needs and says what to do. Exits with 0 only if no check failed.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use serde_json::json;
use windlass_setup::models::{self, ModelFallback, ModelPreference};
use windlass_setup::settings::{Env, Flags, Sources};
use windlass_setup::{secrets, test_hooks};

use super::block_on::block_on;
use super::prepared_run;
use crate::args::{DoctorArgs, VERSION};
use crate::doctor::{self, Check, CheckState};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::harmless_lines;
use crate::output::setting_words::settings_error;
use crate::screen::Colour;
use crate::streams::print;
use crate::tty;

pub(super) fn doctor(data_dir: Option<PathBuf>, args: &DoctorArgs, env: &Env) -> CommandResult {
    let size = io::stdout().is_terminal().then(|| tty::size().unwrap_or(tty::USUAL_SIZE));
    let colour = if size.is_some() { tty::colour(env) } else { Colour::None };
    block_on(async {
        let mut checks = examine(args.flags(data_dir), env.clone()).await;
        checks.push(doctor::terminal(size, env));
        let text = if args.json { as_json(&checks) } else { as_text(&checks, colour) };
        // No check prints a secret itself; this scrubs texts from elsewhere, such as error messages of servers.
        print(&secrets::scrubber(&secrets::known_secrets(env, None)).scrub(&text))?;
        let failed = checks.iter().any(|check| check.state == CheckState::Fail);
        Ok(if failed { Exit::Failed } else { Exit::Done })
    })
}

async fn examine(flags: Flags, env: Env) -> Vec<Check> {
    let sources = match prepared_run::gather_unasked(flags, env) {
        Ok(sources) => sources,
        Err(CommandError { message, .. }) => return vec![Check::fail("settings", message)],
    };
    let mut checks = configured(&sources).await;
    match sources.place() {
        Ok(place) => {
            let data_dir = &place.data_dir.value;
            let store = doctor::store(&place).await;
            // A data folder that can't be used is reported once, by the store check.
            let locks = if store.state == CheckState::Fail { std::env::temp_dir() } else { data_dir.join("guards") };
            checks.push(doctor::tools(&place.workspace, &locks).await);
            checks.push(store);
            checks.push(doctor::disk(data_dir));
        }
        Err(error) => checks.push(Check::fail("store", settings_error(&error))),
    }
    checks
}

async fn configured(sources: &Sources) -> Vec<Check> {
    let settings = match sources.resolve() {
        Ok(settings) => settings,
        Err(error) => return vec![Check::fail("settings", settings_error(&error))],
    };
    let preference = ModelPreference::new(None, ModelFallback::Refuse);
    let chosen = models::choose(&settings, preference, &test_hooks::local_servers()).await;
    let mut checks = vec![
        doctor::settings(sources, &settings),
        doctor::context_files(&sources.env, &settings),
        doctor::sandbox(&settings.sandbox.mode),
    ];
    checks.extend(doctor::model(chosen, &settings).await);
    checks
}

fn as_json(checks: &[Check]) -> String {
    let failed = checks.iter().any(|check| check.state == CheckState::Fail);
    let report = json!({ "version": VERSION, "ok": !failed, "checks": checks });
    format!("{report}\n")
}

fn painted(state: CheckState, colour: Colour) -> String {
    let word = format!("{:<4}", state.word());
    let code = match state {
        CheckState::Ok => 32,
        CheckState::Warn => 33,
        CheckState::Fail => 31,
    };
    match colour {
        Colour::None => word,
        Colour::Ansi => format!("\u{1b}[{code}m{word}\u{1b}[0m"),
    }
}

fn as_text(checks: &[Check], colour: Colour) -> String {
    const INDENT: &str = "                ";
    let mut text = format!("windlass {VERSION}\n");
    for check in checks {
        text += &format!("{}  {:<8}  {}\n", painted(check.state, colour), check.name, harmless_lines(&check.said));
        for line in &check.details {
            text += &format!("{INDENT}{}\n", harmless_lines(line));
        }
        if let Some(advice) = &check.advice {
            text += &format!("{INDENT}-> {}\n", harmless_lines(advice));
        }
    }
    let count = |state: CheckState| checks.iter().filter(|check| check.state == state).count();
    text + &match (count(CheckState::Fail), count(CheckState::Warn)) {
        (0, 0) => "Everything works.\n".to_owned(),
        (0, warned) => format!("Everything works; {warned} could be better.\n"),
        (failed, _) => format!("{failed} of {} checks failed.\n", checks.len()),
    }
}
