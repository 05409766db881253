//! The running calls of a connection, so that a message of the server during a call is routed to that call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken, RequestId};
use windlass_tools::{CallContext, Secrets};

use crate::notice::printable;

/// The running calls. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerCalls {
    under_way: Arc<Mutex<HashMap<RequestId, ServerCall>>>,
    /// Secrets to remove from the server's progress messages.
    secrets: Secrets,
}

#[derive(Clone, Debug)]
struct ServerCall {
    token: ProgressToken,
    context: CallContext,
    pauses: Pauses,
    /// How many questions the server has asked in this call.
    asked: u32,
}

/// How many questions a server may ask in one call; further ones are dismissed.
const QUESTIONS: u32 = 20;

/// How long to wait until a call that was sent is registered, and the polling interval.
const MOMENTS: Duration = Duration::from_millis(500);
const MOMENT: Duration = Duration::from_millis(2);

/// How many questions of a call wait for a person: while there are any, the call's time limit is suspended.
pub(crate) type Pauses = tokio::sync::watch::Sender<usize>;

/// Registers a running call; removed on drop.
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
    /// Returns an empty list of calls.
    pub(crate) fn hiding(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone(), ..Self::default() }
    }

    /// Registers a call.
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

    /// Waits until a call is registered: a fast server may ask before its call is registered here.
    pub(crate) async fn any(&self) {
        let entered = async {
            while self.lock().is_empty() {
                tokio::time::sleep(MOMENT).await;
            }
        };
        let _ = tokio::time::timeout(MOMENTS, entered).await;
    }

    /// Reports a server's progress notification for its call.
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

    /// Returns the call that a server's question belongs to: the one it names, else the only running one. `None` once
    /// the server has asked too often.
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
