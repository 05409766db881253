//! The calls under way on a connection, so that what a server says in mid-call finds its call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken, RequestId};
use windlass_tools::{CallContext, Secrets};

use crate::notice::printable;

/// The calls under way. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerCalls {
    under_way: Arc<Mutex<HashMap<RequestId, ServerCall>>>,
    /// What is not seen of what a server says of them.
    secrets: Secrets,
}

#[derive(Clone, Debug)]
struct ServerCall {
    token: ProgressToken,
    context: CallContext,
    pauses: Pauses,
    /// How often its server asked.
    asked: u32,
}

/// How often a server may ask in one call; then it is not heard any more.
const QUESTIONS: u32 = 20;

/// How long a call that was sent may take to be entered, and how often that is looked at.
const MOMENTS: Duration = Duration::from_millis(500);
const MOMENT: Duration = Duration::from_millis(2);

/// How many questions of a call wait for a person: meanwhile its time does not run.
pub(crate) type Pauses = tokio::sync::watch::Sender<usize>;

/// A call that is under way as long as this is held.
#[derive(Debug)]
pub(crate) struct ServerCallEntry {
    calls: ServerCalls,
    id: RequestId,
}

impl Drop for ServerCallEntry {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}

impl ServerCalls {
    /// None yet.
    pub(crate) fn hiding(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone(), ..Self::default() }
    }

    /// Adds a call.
    pub(crate) fn enter(
        &self,
        id: RequestId,
        token: ProgressToken,
        context: CallContext,
        pauses: Pauses,
    ) -> ServerCallEntry {
        self.lock().insert(id.clone(), ServerCall { token, context, pauses, asked: 0 });
        ServerCallEntry { calls: self.clone(), id }
    }

    /// Waits until a call is under way: a quick server may ask before its call is entered here.
    pub(crate) async fn any(&self) {
        let entered = async {
            while self.lock().is_empty() {
                tokio::time::sleep(MOMENT).await;
            }
        };
        let _ = tokio::time::timeout(MOMENTS, entered).await;
    }

    /// Shows how far a call is, by what its server says.
    pub(crate) fn progressed(&self, params: &ProgressNotificationParam) {
        let token = params.progress_token.0.to_string();
        let call = self.lock().values().find(|call| call.token.0.to_string() == token).map(|call| call.context.clone());
        let Some(call) = call else { return };
        let done = match params.total {
            Some(total) if total > 0.0 => format!("{}/{total}", params.progress),
            Some(_) | None => params.progress.to_string(),
        };
        let message = params
            .message
            .as_ref()
            .map(|message| format!(" {}", printable(&self.secrets.scrub(message), 500)))
            .unwrap_or_default();
        (call.progress)(&format!("{done}{message}\n"));
    }

    /// The call a server's question belongs to: the one it names, else the only one there is. None
    /// once it has asked too often.
    pub(crate) fn asking(
        &self,
        request: Option<&RequestId>,
        token: Option<&ProgressToken>,
    ) -> Option<(CallContext, Pauses)> {
        let mut calls = self.lock();
        let by_token = |call: &ServerCall| token.is_some_and(|token| call.token == *token);
        let of_token = calls.iter().find(|(_, call)| by_token(call)).map(|(id, _)| id.clone());
        let only = calls.keys().next().filter(|_| calls.len() == 1).cloned();
        let named = request.filter(|id| calls.contains_key(id)).cloned().or(of_token).or(only)?;
        let call = calls.get_mut(&named)?;
        call.asked += 1;
        (call.asked <= QUESTIONS).then(|| (call.context.clone(), call.pauses.clone()))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, ServerCall>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
