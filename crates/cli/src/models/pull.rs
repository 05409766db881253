//! What `windlass models pull` says: how a download ended, and what to do about it.

use serde_json::{Value, json};
use windlass::door::OLLAMA;
use windlass_provider::PullError;
use windlass_provider::known_models::measured::best_measurement;
use windlass_provider::known_models::suggested::SUGGESTED;
use windlass_provider::server_kind::ServerKind;

use super::measured::jobs_text;
use super::pull_progress::size;
use crate::output::advice::with_failure;
use crate::output::harmless_line;

/// A model that was to be downloaded.
#[derive(Debug)]
pub(crate) struct PulledModel {
    /// Its name in Ollama's library.
    pub(crate) name: String,
    /// The server.
    pub(crate) base_url: String,
    /// What came, or why it is not there.
    pub(crate) outcome: Result<PulledSize, PullError>,
}

/// The size of a model that is there now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PulledSize {
    /// Its size in bytes, as far as the server said it.
    pub(crate) total: u64,
    /// How many of them came now.
    pub(crate) downloaded: u64,
}

impl PulledModel {
    /// Whether the model is there.
    pub(crate) fn is_ok(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The lines for people.
    pub(crate) fn as_text(&self) -> String {
        let name = harmless_line(&self.name);
        match &self.outcome {
            Ok(size) => {
                format!("{name} {}. `windlass --model {}` uses it.\n{}", size_wording(*size), self.typed(), self.jobs())
            }
            Err(error) => format!("{name} was not downloaded: {}\n", harmless_line(&self.problem(error))),
        }
    }

    /// The outcome for programs.
    pub(crate) fn as_json(&self) -> Value {
        match &self.outcome {
            Ok(size) => json!({
                "name": self.name, "server": self.base_url, "ok": true, "model": self.typed(), "bytes": size.total,
                "downloaded": size.downloaded,
            }),
            Err(error) => json!({
                "name": self.name, "server": self.base_url, "ok": false, "problem": self.problem(error),
            }),
        }
    }

    /// The name by which Windlass calls it.
    fn typed(&self) -> String {
        let name = harmless_line(&self.name);
        if self.base_url == OLLAMA.base_url {
            format!("{}:{name}", OLLAMA.prefix)
        } else {
            format!("{}#{name}", harmless_line(&self.base_url))
        }
    }

    /// How it did in file jobs, if that was measured.
    fn jobs(&self) -> String {
        let best = best_measurement(ServerKind::Ollama, &self.name);
        best.map(|best| format!("{}\n", jobs_text(best))).unwrap_or_default()
    }

    /// What went wrong, and what to do.
    fn problem(&self, error: &PullError) -> String {
        let (name, base_url) = (&self.name, &self.base_url);
        match error {
            PullError::Config(error) => error.to_string(),
            PullError::Failed(failure) if failure.not_running => {
                format!("{} Start it with `ollama serve`; another server is named with --base-url.", failure.message)
            }
            PullError::Failed(failure) => {
                format!("{} What has come is kept: the same command goes on with it.", with_failure(failure))
            }
            PullError::UnknownModel(said) => format!(
                "Ollama knows no model {name:?} ({said}). Names are listed at https://ollama.com/library; {}",
                suggestions()
            ),
            PullError::NoSpace(said) => format!(
                "the disk on which Ollama keeps its models is full ({said}). Make room, or have it keep them elsewhere \
                 (OLLAMA_MODELS); `ollama rm NAME` removes one."
            ),
            PullError::Unreachable(said) => format!(
                "Ollama at {base_url} can't reach the library it downloads from ({said}). Check its network and its proxy \
                 (HTTPS_PROXY, where Ollama is started)."
            ),
            PullError::OldServer(said) => format!("this model needs a newer version of Ollama ({said})."),
            PullError::NotOllama(status) => format!(
                "{base_url} downloads no models ({status}), so it is no Ollama. Name one with --base-url, or give this \
                 server a model in its own way."
            ),
            PullError::Refused(said) => format!("Ollama at {base_url} refused: {said}"),
            PullError::Unfinished | PullError::Silent(_) => {
                format!("{error}. What has come is kept: the same command goes on with it.")
            }
        }
    }
}

fn size_wording(PulledSize { total, downloaded }: PulledSize) -> String {
    match (total, downloaded) {
        (0, _) => "is up to date".to_owned(),
        (total, 0) => format!("is up to date ({})", size(total)),
        (total, _) => format!("downloaded ({})", size(total)),
    }
}

/// A sentence that names models to begin with.
fn suggestions() -> String {
    let names: Vec<String> = SUGGESTED.iter().map(|model| format!("{} ({})", model.name, model.download)).collect();
    format!("to begin with: {}.", names.join(", "))
}

/// What to say to somebody who names no model.
pub(crate) fn no_name() -> String {
    let row = |model: &windlass_provider::known_models::suggested::SuggestedModel| {
        format!("  windlass models pull {:<20} # {}; {}", model.name, model.download, model.about)
    };
    let rows: Vec<String> = SUGGESTED.iter().map(row).collect();
    format!("name the model to download, e.g.\n{}", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use windlass_provider::PullError;
    use windlass_vocab::{Failure, FailureClass};

    use super::{PulledModel, PulledSize};

    fn said(outcome: Result<PulledSize, PullError>) -> String {
        let (name, base_url) = ("qwen3:4b".to_owned(), "http://127.0.0.1:11434/v1".to_owned());
        PulledModel { name, base_url, outcome }.as_text()
    }

    // proves E2: every failure says what to do
    #[test]
    fn every_end_of_a_download_is_worded_for_people() {
        let text = || "its words".to_owned();
        let gone = Failure { not_running: true, ..Failure::new(FailureClass::Transient, "Nothing listens there.") };
        let lost = Failure::new(FailureClass::Transient, "The connection was lost.");
        for (error, words) in [
            (PullError::Failed(gone), "Nothing listens there. Start it with `ollama serve`"),
            (PullError::Failed(lost), "The connection was lost. What has come is kept: the same command goes on"),
            (PullError::UnknownModel(text()), "knows no model \"qwen3:4b\" (its words). Names are listed at https"),
            (PullError::NoSpace(text()), "is full (its words). Make room"),
            (PullError::Unreachable(text()), "can't reach the library it downloads from (its words)"),
            (PullError::OldServer(text()), "needs a newer version of Ollama (its words)"),
            (PullError::NotOllama(404), "http://127.0.0.1:11434/v1 downloads no models (404)"),
            (PullError::Refused(text()), "refused: its words"),
            (PullError::Unfinished, "ended before the download did. What has come is kept"),
            (PullError::Silent(Duration::from_mins(15)), "has said nothing for 15 minutes. What has come is kept"),
        ] {
            let line = said(Err(error));
            assert!(line.starts_with("qwen3:4b was not downloaded: ") && line.contains(words), "{line}");
        }
        assert_eq!(
            said(Ok(PulledSize { total: 2_500_000_000, downloaded: 9 })),
            "qwen3:4b downloaded (2.5 GB). `windlass --model ollama:qwen3:4b` uses it.\n"
        );
        let again = said(Ok(PulledSize { total: 2_500_000_000, downloaded: 0 }));
        assert!(again.starts_with("qwen3:4b is up to date (2.5 GB)"), "{again}");
    }
}
