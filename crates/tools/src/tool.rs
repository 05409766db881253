//! What a tool is.
//!
//! A tool has a spec (what the model is told), says what a rule's pattern is matched against
//! (`about`) and what a person is shown when asked (`preview`), and runs. Running never fails:
//! everything that can happen is an `Outcome`. A tool whose effect is `Verifiable` can be asked
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

/// A future that can be kept and sent.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An earlier call's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpilledResult {
    /// All of its text.
    Whole {
        /// Its text.
        text: String,
        /// Where it came from, if from outside.
        origin: Option<TextOrigin>,
    },
    /// The call would not be allowed by now, for this reason, and its result is not shown any more.
    Forbidden(String),
    /// None is kept.
    Absent,
}

/// Reads results that were too long for the model, whole.
pub trait SpilledResults: Send + Sync {
    /// An earlier call's result.
    fn read(&self, call: CallId) -> BoxFuture<'_, SpilledResult>;
}

/// What a call knows of its surroundings.
#[derive(Clone)]
pub struct CallContext {
    /// The session it belongs to.
    pub session: SessionId,
    /// The call itself.
    pub call: CallId,
    /// The key of its effect to the outside: the same for every try of it.
    pub effect_id: EffectId,
    /// Cancelled when the run is stopped.
    pub cancel: CancellationToken,
    /// Takes fragments of output while the call runs; for showing, never recorded.
    pub progress: Arc<dyn Fn(&str) + Send + Sync>,
    /// Is told what of a server is waited for; for showing, never recorded.
    pub waits: Arc<dyn Fn(Wait) + Send + Sync>,
    /// Results of earlier calls that are read in parts.
    pub spilled: Arc<dyn SpilledResults>,
    /// Asks the person while the call waits; dismissed at once where nobody is there.
    pub ask: Ask,
    /// What of the workspace it must not read or change.
    pub files: FileRules,
    /// What a call that was paused is run again with.
    pub resumed: Option<Arc<Resumption>>,
}

impl CallContext {
    /// A call that belongs to no run: nothing is shown of it, nothing was spilled before it, nobody is
    /// there to ask, and only whoever made it can stop it.
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
            ask: nobody_to_ask(),
            files: FileRules::default(),
            resumed: None,
        }
    }
}

struct NothingSpilled;

impl SpilledResults for NothingSpilled {
    fn read(&self, _: CallId) -> BoxFuture<'_, SpilledResult> {
        Box::pin(std::future::ready(SpilledResult::Absent))
    }
}

/// Asks the person something in the middle of a call.
pub type Ask = Arc<dyn Fn(Elicitation) -> BoxFuture<'static, Answer> + Send + Sync>;

/// What a call asks with where nobody is there: every question is dismissed at once.
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

/// Whether a call cut short by a crash took place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// It did, and this is its result.
    Done(Outcome),
    /// It did not; running it again is safe.
    NotDone,
    /// It can't be told.
    Unknown,
}

/// A tool the model can call.
pub trait Tool: Send + Sync {
    /// What the model is told, and what running it twice would mean.
    fn spec(&self) -> &ToolSpec;

    /// Does it. The arguments are an object that fits the schema.
    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome>;

    /// What a person is shown before it runs. An error means it can't be shown, and it won't run.
    /// It is shown whole; one too long to be read is an error too.
    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        Ok(all_arguments(self.spec(), arguments))
    }

    /// What holds it while it runs, in a line, where that differs from call to call. It is shown directly below the
    /// title of the preview, so that nothing the model wrote comes before it.
    fn confinement_line(&self, arguments: &Value) -> Option<String> {
        let _ = arguments;
        None
    }

    /// Why it can't succeed as things are now, where that is certain: then nobody is asked about it, and the model is
    /// told. Of a tool with a `path` only where the model may read what is there.
    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let _ = arguments;
        None
    }

    /// What a rule's pattern is matched against; the arguments as JSON unless the tool says otherwise.
    fn about(&self, arguments: &Value) -> Option<About> {
        let _ = arguments;
        None
    }

    /// Where the text of a call's result comes from, if from outside (X4).
    fn origin(&self, arguments: &Value) -> Option<TextOrigin> {
        let _ = arguments;
        None
    }

    /// When a person is asked and no rule speaks of it.
    fn ask_policy(&self) -> AskPolicy {
        AskPolicy::ByEffect
    }

    /// Whether a call cut short by a crash took place.
    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        let _ = (context, arguments);
        Box::pin(std::future::ready(Verification::Unknown))
    }

    /// What is kept of the files before a call of it, so that it can be undone (T9).
    fn snapshot_kind(&self) -> SnapshotKind {
        SnapshotKind::None
    }

    /// The paths a call is about to change, where it keeps those.
    fn planned_changes(&self, arguments: &Value) -> Vec<PlannedChange> {
        let _ = arguments;
        Vec::new()
    }

    /// How long it may take, where the run's own limit does not fit.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// How long it is waited for after a stop or at its time limit before it is dropped: time to
    /// bring to an end what can't be left half-done.
    fn stop_grace(&self) -> Duration {
        Duration::ZERO
    }
}

/// Arguments as they are.
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
