//! One tool call as an effect: runs it, cuts its result to what the model sees, and stores the rest.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use windlass_machine::{CallResult, Fact, State, VerifiedCall};
use windlass_tools::dialect::missing_path;
use windlass_tools::{Ask, CallContext, CallPermission, FileRules, Offer, Permissions, Secrets, Verification, cut};
use windlass_vocab::{
    CallId, CallRequested, Cut, Delta, DeltaBody, Hash, Json, Outcome, OutcomeKind, ResultCap, Resumption,
    SnapshotKind, ToolName, Wait,
};

use crate::changed_texts::changed_texts;
use crate::earlier::{SentTexts, SessionRecords};
use crate::feed::Feed;
use crate::script_guard::ScriptGuard;
use crate::script_run::{self, ChangeNote};
use crate::services::Services;
use crate::snapshot::SnapshotKeeper;
use crate::spilled::SessionSpill;
use crate::unasked_look::UnaskedLook;

/// The fact for a call's end, and the contents to store with it.
pub(crate) struct EndedCall {
    pub(crate) fact: Fact,
    pub(crate) blobs: Vec<Arc<[u8]>>,
}

/// Everything a call needs, taken from the state when it starts.
pub(crate) struct PreparedExecution {
    pub(crate) offer: Offer,
    pub(crate) keeper: SnapshotKeeper,
    pub(crate) kept: SnapshotKind,
    pub(crate) tool: ToolName,
    pub(crate) arguments: Json,
    pub(crate) context: CallContext,
    pub(crate) cap: ResultCap,
    pub(crate) change_note: ChangeNote,
    pub(crate) script_guard: Option<ScriptGuard>,
    pub(crate) timeout: Duration,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) services: Arc<Services>,
}

/// What connects a call to the driver that runs it.
pub(crate) struct DriverLink {
    pub(crate) cancel: CancellationToken,
    pub(crate) ask: Ask,
    pub(crate) resumed: Option<Arc<Resumption>>,
    pub(crate) permissions: Arc<Permissions>,
}

/// The context in which calls are made.
pub(crate) struct CallSurroundings<'a> {
    pub(crate) services: &'a Arc<Services>,
    pub(crate) state: &'a State,
    pub(crate) offer: Offer,
    pub(crate) keeper: SnapshotKeeper,
    pub(crate) feed: &'a Feed,
}

pub(crate) fn prepare(
    world: CallSurroundings<'_>,
    request: &CallRequested,
    edited: Option<&Json>,
    live: DriverLink,
) -> Option<PreparedExecution> {
    let CallSurroundings { services, state, offer, keeper, feed } = world;
    let policy = state.control.run.as_ref()?.policy();
    let spilled = SessionSpill {
        store: Arc::clone(&services.store),
        session: state.session,
        offer: offer.clone(),
        permissions: Arc::clone(&live.permissions),
        secrets: Arc::clone(&services.secrets),
    };
    let earlier = SessionRecords {
        store: Arc::clone(&services.store),
        session: state.session,
        offer: offer.clone(),
        permissions: Arc::clone(&live.permissions),
        secrets: Arc::clone(&services.secrets),
        sent: SentTexts::for_tool(request.tool.as_ref(), &state.transcript.history),
    };
    let context = CallContext {
        session: state.session,
        call: request.call,
        effect_id: request.effect_id.clone(),
        cancel: live.cancel,
        progress: progress(&services.secrets, feed.clone(), request.call),
        waits: waits(feed.clone(), request.call),
        spilled: Arc::new(spilled),
        earlier: Arc::new(earlier),
        ask: live.ask,
        files: FileRules::of(Arc::clone(&live.permissions)),
        resumed: live.resumed,
        workspace_use: script_run::workspace_use(state, &live.permissions),
    };
    Some(PreparedExecution {
        offer,
        keeper,
        kept: request.snapshot,
        tool: request.tool.clone()?,
        arguments: edited.unwrap_or(&request.arguments).clone(),
        context,
        cap: policy.result_cap,
        change_note: ChangeNote::of(state, request.snapshot),
        script_guard: ScriptGuard::of(state, request, edited.unwrap_or(&request.arguments), &live.permissions),
        timeout: Duration::from_millis(policy.tool_timeout_ms),
        permissions: live.permissions,
        services: Arc::clone(services),
    })
}

/// Returns a callback that publishes a call's progress. A secret may be split over two fragments, so a possible
/// beginning of one is held back; at the end it is dropped, because the result contains it anyway.
fn progress(secrets: &Secrets, feed: Feed, call: CallId) -> Arc<dyn Fn(&str) + Send + Sync> {
    let scrubber = Mutex::new(secrets.stream());
    Arc::new(move |fragment| {
        // The lock is held until the delta is published, so that fragments keep their order.
        let mut scrubber = scrubber.lock().unwrap_or_else(PoisonError::into_inner);
        let text = scrubber.push(fragment);
        if !text.is_empty() {
            let body = DeltaBody::CallDelta { call, name: None, text: text.into_owned() };
            feed.publish_delta(Delta { run: call.run, turn: call.turn, attempt: 0, offset: 0, body });
        }
    })
}

/// Returns a callback that publishes what a call waits for at a server.
fn waits(feed: Feed, call: CallId) -> Arc<dyn Fn(Wait) + Send + Sync> {
    Arc::new(move |wait| {
        let body = DeltaBody::Waiting { call: Some(call), wait };
        feed.publish_delta(Delta { run: call.run, turn: call.turn, attempt: 0, offset: 0, body });
    })
}

/// Returns paths like the one that a script did not find.
async fn near_missing(services: &Services, permissions: &Arc<Permissions>, path: &str) -> Vec<String> {
    let Some(workspace) = services.workspace.clone() else { return Vec::new() };
    UnaskedLook { workspace, permissions: Arc::clone(permissions) }.near(path.to_owned()).await
}

/// Runs a call to its end, if permitted; a call that could not be prepared gets a result too.
pub(crate) async fn run(call: CallId, permission: CallPermission, prepared: Option<PreparedExecution>) -> EndedCall {
    match prepared {
        // Boxed: what a tool's future holds would be copied with each future that this one becomes part of.
        Some(prepared) => Box::pin(prepared.run(permission)).await,
        None => unprepared(call),
    }
}

/// Asks the tool whether a call's effect took place.
pub(crate) async fn verify(call: CallId, prepared: Option<PreparedExecution>) -> EndedCall {
    match prepared {
        Some(prepared) => prepared.verify().await,
        None => unprepared(call),
    }
}

impl PreparedExecution {
    async fn run(self, permission: CallPermission) -> EndedCall {
        let (call, session) = (self.context.call, self.context.session);
        let begun = self.services.clock.now();
        let outcome = match permission {
            CallPermission::Ask { preview, because } => {
                return EndedCall { fact: Fact::CallNeedsApproval { call, preview, because }, blobs: Vec::new() };
            }
            CallPermission::Refused { reason, remedy } => {
                Outcome { remedy, ..Outcome::new(OutcomeKind::Denied, reason) }
            }
            CallPermission::Run(judged) => {
                let files = self.context.files.clone().for_call(judged);
                let context = CallContext { files, ..self.context };
                self.offer.run(&self.tool, context, &self.arguments, self.timeout).await
            }
        };
        if let Some(pause) = outcome.pause {
            return EndedCall { fact: Fact::CallPaused { call, pause }, blobs: Vec::new() };
        }
        let took_ms = self.services.clock.now().ms_since(begun);
        let (mut finished, blobs) = finish(&self.services, self.cap, call, outcome, took_ms);
        finished.files = self.keeper.changed(&self.services, session, call, self.kept).await;
        let mut told = String::new();
        if let (Some(guard), Some(files)) = (&self.script_guard, &finished.files)
            && let Some((files, restored)) = guard.restore(&self.services, session, files).await
        {
            finished.files = Some(files);
            told.push_str(&format!("\n{restored}"));
        }
        if self.change_note == ChangeNote::Added
            && let Some(files) = &finished.files
        {
            told.push_str(&changed_texts(&self.services, &self.permissions, files).await);
        }
        let near = match missing_path(&finished.text).filter(|_| self.change_note == ChangeNote::Added) {
            Some(path) => near_missing(&self.services, &self.permissions, path).await,
            None => Vec::new(),
        };
        self.change_note.add_to(&mut finished, &self.arguments, &told, &near);
        EndedCall { fact: Fact::CallDone { call, finished }, blobs }
    }

    async fn verify(self) -> EndedCall {
        let (call, session) = (self.context.call, self.context.session);
        // Verifying reads files, which a rule may forbid by now.
        if let Some(reason) = self.offer.forbidden(&self.tool, &self.arguments, &self.permissions) {
            let outcome = Outcome::new(OutcomeKind::Denied, reason);
            let (finished, blobs) = finish(&self.services, self.cap, call, outcome, 0);
            return EndedCall { fact: Fact::CallDone { call, finished }, blobs };
        }
        let verification = self.offer.verify(&self.tool, self.context, &self.arguments, self.timeout).await;
        let files = self.keeper.changed(&self.services, session, call, self.kept).await;
        // The call changes only these files, and they are unchanged.
        let untouched = self.kept == SnapshotKind::Paths
            && files.as_ref().is_some_and(|files| files.changes.is_empty() && files.unseen.is_none());
        let (verified, blobs) = match verification {
            Verification::Done(outcome) => {
                let (mut finished, blobs) = finish(&self.services, self.cap, call, outcome, 0);
                finished.files = files;
                (VerifiedCall::Done(Box::new(finished)), blobs)
            }
            Verification::NotDone => (VerifiedCall::NotDone, Vec::new()),
            Verification::Unknown if untouched => (VerifiedCall::NotDone, Vec::new()),
            Verification::Unknown => (VerifiedCall::Unknown, Vec::new()),
        };
        EndedCall { fact: Fact::CallVerified { call, verified }, blobs }
    }
}

fn unprepared(call: CallId) -> EndedCall {
    let finished = CallResult::new(OutcomeKind::Unknown, "This tool is no longer there.");
    EndedCall { fact: Fact::CallDone { call, finished }, blobs: Vec::new() }
}

/// Replaces secrets before the result is cut, so that no part of one remains at the cut.
fn finish(
    services: &Services,
    cap: ResultCap,
    call: CallId,
    outcome: Outcome,
    took_ms: u64,
) -> (CallResult, Vec<Arc<[u8]>>) {
    let text = match services.secrets.scrub(&outcome.text) {
        std::borrow::Cow::Borrowed(_) => outcome.text,
        std::borrow::Cow::Owned(clean) => clean,
    };
    let (text, info) = cut(text, cap, call);
    let mut blobs: Vec<Arc<[u8]>> = Vec::new();
    let cut = info.map(|info| {
        let blob = info.keep.map(|whole| {
            let bytes: Arc<[u8]> = whole.into_bytes().into();
            let hash: Hash = windlass_store::hash_of(&bytes);
            blobs.push(bytes);
            hash
        });
        Cut { total_chars: info.total_chars, shown_chars: info.shown_chars, blob }
    });
    let finished = CallResult {
        outcome: outcome.kind,
        text,
        cut,
        took_ms,
        structured: outcome.structured,
        images: outcome
            .images
            .iter()
            .map(|image| {
                blobs.push(Arc::clone(&image.content));
                image.reference(windlass_store::hash_of(&image.content))
            })
            .collect(),
        exit: outcome.exit,
        origin: outcome.origin,
        remedy: outcome.remedy,
        plan: outcome.plan,
        files: None,
    };
    (finished, blobs)
}

#[cfg(test)]
mod tests {
    use windlass_tools::Secrets;
    use windlass_vocab::{CallId, Delta, DeltaBody, Event};

    use super::progress;
    use crate::feed::{Feed, Interest};

    // proves X1
    #[test]
    fn a_secret_split_over_fragments_of_progress_is_not_shown() {
        let text = "key sk-0123456789 here";
        for cut in 0..=text.len() {
            let feed = Feed::new(0);
            let mut shown = feed.join(Interest::Everything).unwrap().events;
            let publish = progress(&Secrets::new([("KEY", "sk-0123456789")]), feed, CallId::default());
            publish(&text[..cut]);
            publish(&text[cut..]);
            let mut seen = String::new();
            while let Ok(published) = shown.try_recv() {
                if let Event::Delta(Delta { body: DeltaBody::CallDelta { text, .. }, .. }) = published.event() {
                    seen.push_str(text);
                }
            }
            assert_eq!(seen, "key ⟦secret:KEY⟧ here", "cut at {cut}");
        }
    }
}
