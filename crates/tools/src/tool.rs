//! The interface of a tool.
//!
//! A tool has a spec (for the model), returns the subject that rules' patterns are matched against
//! (`about`) and the preview for a person who is asked (`preview`), and runs. Running never fails:
//! every result or error is an `Outcome`. A tool whose effect is `Verifiable` can be asked
//! after a crash whether a call took place (`verify`).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use windlass_vocab::{
    Answer, CallId, EffectId, Elicitation, Outcome, Preview, Resumption, SessionId, SnapshotKind, TextOrigin, ToolSpec,
    Wait,
};

use crate::shorten::shorten;
use crate::{About, AskPolicy, CertainFailure, FileRules, PlannedChange};

/// A boxed future that can be stored and sent between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The stored result of an earlier call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpilledResult {
    /// The whole result.
    Whole {
        /// Its text.
        text: String,
        /// The origin, if the text is from outside.
        origin: Option<TextOrigin>,
    },
    /// The rules now forbid the call, for this reason, so its result is no longer readable.
    Forbidden(String),
    /// No result is stored.
    Absent,
    /// The stored results can't be read, for this reason.
    Unreadable(String),
}

/// Reads the whole text of results that were too long for the model.
pub trait SpilledResults: Send + Sync {
    /// Returns the result of an earlier call.
    fn read(&self, call: CallId) -> BoxFuture<'_, SpilledResult>;

    /// Returns the text of a file that the person attached, by the id in the note about what was left out.
    fn read_attached<'a>(&'a self, id: &'a str) -> BoxFuture<'a, SpilledResult> {
        let _ = id;
        Box::pin(std::future::ready(SpilledResult::Absent))
    }
}

/// What a search of the earlier conversation found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundText {
    /// The passages, as text.
    pub text: String,
    /// The origin of one of them, if it is from outside.
    pub origin: Option<TextOrigin>,
}

/// Searches the part of the conversation that is no longer sent.
pub trait EarlierConversation: Send + Sync {
    /// Returns passages that contain these words, the best first; an error says why the conversation can't be read.
    fn search(&self, words: String) -> BoxFuture<'_, Result<FoundText, String>>;
}

/// The context of a call.
#[derive(Clone)]
pub struct CallContext {
    /// The session it belongs to.
    pub session: SessionId,
    /// The call itself.
    pub call: CallId,
    /// The idempotency key of its effect: the same for every retry.
    pub effect_id: EffectId,
    /// Cancelled when the run is stopped.
    pub cancel: CancellationToken,
    /// Receives fragments of output while the call runs; for display, never recorded.
    pub progress: Arc<dyn Fn(&str) + Send + Sync>,
    /// Receives waits for servers; for display, never recorded.
    pub waits: Arc<dyn Fn(Wait) + Send + Sync>,
    /// Results of earlier calls, which can be read in parts.
    pub spilled: Arc<dyn SpilledResults>,
    /// The conversation so far.
    pub earlier: Arc<dyn EarlierConversation>,
    /// Asks the person while the call waits; dismisses at once if nobody is present.
    pub ask: Ask,
    /// Which files of the workspace the call must not read or change.
    pub files: FileRules,
    /// The data that a paused call resumes with.
    pub resumed: Option<Arc<Resumption>>,
    /// What a command may do in the workspace, where a sandbox confines it.
    pub workspace_use: WorkspaceUse,
}

/// What a command may do in the workspace, where a sandbox confines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkspaceUse {
    /// What the settings of the sandbox say.
    #[default]
    Configured,
    /// It may only read.
    ReadOnly,
}

impl CallContext {
    /// The context of a call outside any run: nothing of it is displayed, no earlier results exist, nobody can be
    /// asked, and only its caller can stop it.
    #[must_use]
    pub fn detached(session: SessionId) -> Self {
        let call = CallId::default();
        Self {
            session,
            call,
            effect_id: call.effect_id(session),
            cancel: CancellationToken::new(),
            progress: Arc::new(|_| {}),
            waits: Arc::new(|_| {}),
            spilled: Arc::new(NothingSpilled),
            earlier: Arc::new(NothingSpilled),
            ask: nobody_to_ask(),
            files: FileRules::default(),
            resumed: None,
            workspace_use: WorkspaceUse::default(),
        }
    }
}

struct NothingSpilled;

impl SpilledResults for NothingSpilled {
    fn read(&self, _: CallId) -> BoxFuture<'_, SpilledResult> {
        Box::pin(std::future::ready(SpilledResult::Absent))
    }
}

impl EarlierConversation for NothingSpilled {
    fn search(&self, _: String) -> BoxFuture<'_, Result<FoundText, String>> {
        Box::pin(std::future::ready(Ok(FoundText::default())))
    }
}

/// Asks the person a question during a call.
pub type Ask = Arc<dyn Fn(Elicitation) -> BoxFuture<'static, Answer> + Send + Sync>;

/// Returns an `Ask` for calls without a person present: it dismisses every question at once.
#[must_use]
pub fn nobody_to_ask() -> Ask {
    Arc::new(|_| Box::pin(std::future::ready(Answer::dismissed())))
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("session", &self.session)
            .field("call", &self.call)
            .field("effect_id", &self.effect_id)
            .finish_non_exhaustive()
    }
}

/// Whether a call that a crash interrupted took place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// It took place, with this result.
    Done(Outcome),
    /// It did not take place; running it again is safe.
    NotDone,
    /// Unknown.
    Unknown,
}

/// A tool the model can call.
pub trait Tool: Send + Sync {
    /// Returns the spec for the model, which also says what running the tool twice would mean.
    fn spec(&self) -> &ToolSpec;

    /// Runs the tool. The arguments are an object that fits the schema.
    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome>;

    /// Returns the preview a person sees before the call runs. On an error there is no preview, and the call won't run.
    /// The preview is shown in full; one too long to read is an error too.
    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        Ok(all_arguments(self.spec(), arguments))
    }

    /// Returns one line that names the call's confinement, if that differs from call to call. It is shown directly
    /// below the title of the preview, so that nothing the model wrote precedes it.
    fn confinement_line(&self, arguments: &Value) -> Option<String> {
        let _ = arguments;
        None
    }

    /// Returns why the call can't succeed at present, if that is certain: then no person is asked, and the model gets
    /// the reason. A reason that the content of a file gives is used only if the model may read that file.
    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let _ = arguments;
        None
    }

    /// Returns the subject that rules' patterns are matched against; `None` means the arguments as JSON.
    fn about(&self, arguments: &Value) -> Option<About> {
        let _ = arguments;
        None
    }

    /// Returns the origin of a result's text, if that is from outside (X4).
    fn origin(&self, arguments: &Value) -> Option<TextOrigin> {
        let _ = arguments;
        None
    }

    /// Returns when a person is asked if no rule matches.
    fn ask_policy(&self) -> AskPolicy {
        AskPolicy::ByEffect
    }

    /// Checks whether a call that a crash interrupted took place.
    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        let _ = (context, arguments);
        Box::pin(std::future::ready(Verification::Unknown))
    }

    /// Returns which snapshot of files is taken before a call, so that it can be undone (T9).
    fn snapshot_kind(&self) -> SnapshotKind {
        SnapshotKind::None
    }

    /// Returns the paths a call is about to change, if its snapshot covers those.
    fn planned_changes(&self, arguments: &Value) -> Vec<PlannedChange> {
        let _ = arguments;
        Vec::new()
    }

    /// Returns the files whose content a call would lose: those that it deletes, empties or replaces by others.
    fn lost_files(&self, arguments: &Value) -> Vec<String> {
        let planned = self.planned_changes(arguments).into_iter();
        planned.filter(|change| matches!(change, PlannedChange::Entry(_))).map(PlannedChange::into_path).collect()
    }

    /// Returns the tool's own time limit, if it needs another than the run's.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Returns how long the tool may continue after a stop or timeout before it is dropped: time to finish
    /// work that must not be left half-done.
    fn stop_grace(&self) -> Duration {
        Duration::ZERO
    }
}

/// Returns a preview of all arguments unchanged.
fn all_arguments(spec: &ToolSpec, arguments: &Value) -> Preview {
    const TITLE: usize = 160;
    let name = spec.name.display_name();
    let line = arguments.to_string();
    let title = format!("{name}({})", shorten(&line, TITLE));
    if line.chars().count() <= TITLE {
        return Preview { title, body: String::new(), rule: None };
    }
    let body = serde_json::to_string_pretty(arguments).unwrap_or(line);
    Preview { title, body, rule: None }
}
