//! `windlass models pull`: has Ollama download models, and shows how far it has come.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use windlass_provider::server_kind::ServerKind;
use windlass_provider::{HttpClient, HttpConfig, ModelConfig, PullStep, Secret, pull_model};
use windlass_setup::secrets;
use windlass_setup::settings::{Env, ModelEndpoint, SettingsError, Sources};

use super::block_on::block_on;
use super::prepared_run;
use crate::args::ModelsArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::interrupts::{self, OnInterrupt};
use crate::models::{PullProgress, PulledModel, PulledSize, no_name};
use crate::output::harmless_line;
use crate::streams::{StandardStream, print, print_notice};
use crate::tty;

/// How often the line of a terminal is written again.
const REDRAW: Duration = Duration::from_millis(100);

pub(super) fn pull(data_dir: Option<PathBuf>, args: &ModelsArgs, env: Env) -> CommandResult {
    let names: Vec<&str> = args.names.iter().chain(&args.model).map(String::as_str).collect();
    if names.is_empty() {
        return Err(CommandError::new(Exit::Usage, no_name()));
    }
    let sources = prepared_run::gather_unasked(args.flags(data_dir), env)?;
    let targets = names.iter().map(|name| target(&sources, args, name)).collect::<Result<Vec<_>, _>>()?;
    let view = if io::stderr().is_terminal() && !tty::is_dumb(&sources.env) { PullView::Line } else { PullView::Log };
    let http = HttpClient::new(HttpConfig::default());
    let http = http.map_err(|error| CommandError::new(Exit::Failed, error.to_string()))?;
    block_on(async {
        let _ends = interrupts::set_action(OnInterrupt::CommandEnds(Exit::Cancelled));
        let mut pulled = Vec::with_capacity(targets.len());
        for config in &targets {
            let mut shown = ShownProgress::new(view, harmless_line(&config.model));
            let outcome = tokio::select! {
                biased;
                _ = tokio::signal::ctrl_c() => {
                    shown.clear();
                    print_notice("windlass: stopped; Ollama keeps what has come, and the same command goes on with it");
                    return Ok(Exit::Cancelled);
                }
                outcome = pull_model(config, &http, |step| shown.step(step)) => outcome,
            };
            shown.clear();
            let size = PulledSize { total: shown.progress.total(), downloaded: shown.progress.downloaded() };
            let (name, base_url) = (config.model.clone(), config.base_url.clone());
            pulled.push(PulledModel { name, base_url, outcome: outcome.map(|()| size) });
        }
        let as_json =
            || format!("{}\n", json!({ "models": pulled.iter().map(PulledModel::as_json).collect::<Vec<_>>() }));
        let text = if args.json { as_json() } else { pulled.iter().map(PulledModel::as_text).collect() };
        // Messages of servers are somebody else's text.
        print(&secrets::scrubber(&secrets::known_secrets(&sources.env, None)).scrub(&text))?;
        Ok(if pulled.iter().all(PulledModel::is_ok) { Exit::Done } else { Exit::Failed })
    })
}

/// Returns the server that downloads a model, and the model's name there: the server that is named with it or with
/// --base-url, the configured one if it is Ollama, else Ollama on this machine.
fn target(sources: &Sources, args: &ModelsArgs, name: &str) -> Result<ModelConfig, CommandError> {
    let mut settings = sources.resolve()?;
    let name = name.strip_prefix("ollama:").unwrap_or(name);
    let with_address = name.contains("://");
    let is_meant = |endpoint: &ModelEndpoint| args.base_url.is_some() || endpoint.kind() == ServerKind::Ollama;
    if with_address {
        settings.use_models(sources.models_named(name, None)?);
    } else if !settings.endpoint.as_ref().is_some_and(is_meant) {
        settings.use_models(sources.models_named("ollama:any", None)?);
    }
    let id = match &settings.model {
        Some(model) if with_address => model.value.as_str(),
        Some(_) | None => name,
    };
    let endpoint = settings.endpoint.as_ref().ok_or(SettingsError::NoServer)?;
    let config = ModelConfig::of(endpoint.kind(), &endpoint.base_url.value, id);
    let api_key = endpoint.api_key.as_ref().map(|key| Secret::new(key.value.expose()));
    Ok(ModelConfig { api_key, ..config })
}

/// How progress is shown on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PullView {
    /// As one line, written again and again.
    Line,
    /// As a line now and then.
    Log,
}

struct ShownProgress {
    progress: PullProgress,
    view: PullView,
    name: String,
    begun: Instant,
    drawn: Option<Instant>,
}

impl ShownProgress {
    fn new(view: PullView, name: String) -> Self {
        Self { progress: PullProgress::default(), view, name, begun: Instant::now(), drawn: None }
    }

    fn step(&mut self, step: PullStep) {
        let is_layer = step.layer.is_some();
        self.progress.note(step);
        match self.view {
            PullView::Line if is_layer && self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW) => {}
            PullView::Line => {
                let (columns, _) = tty::size_of(io::stderr()).unwrap_or(tty::USUAL_SIZE);
                let line = self.progress.line(&self.name, columns, self.begun.elapsed());
                // Nobody watches if standard error is closed.
                let _ = write!(StandardStream::Error, "\r{line}\u{1b}[K");
                let _ = StandardStream::Error.flush();
                self.drawn = Some(Instant::now());
            }
            PullView::Log => {
                if let Some(line) = self.progress.log_line(&self.name) {
                    print_notice(&line);
                }
            }
        }
    }

    /// Takes the line away, so that what follows stands alone.
    fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _ = write!(StandardStream::Error, "\r\u{1b}[K");
            let _ = StandardStream::Error.flush();
        }
    }
}
