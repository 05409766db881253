//! The calls under way on a connection, so that what a server says in mid-call finds its call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ProgressToken, RequestId};
use windlass_tools::CallContext;

/// The calls under way. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls(Arc<Mutex<HashMap<RequestId, UnderWay>>>);

#[derive(Clone, Debug)]
struct UnderWay {
    token: ProgressToken,
    context: CallContext,
    pauses: Pauses,
}

/// How many questions of a call wait for a person: meanwhile its time does not run.
pub(crate) type Pauses = tokio::sync::watch::Sender<usize>;

/// A call that is under way as long as this is held.
#[derive(Debug)]
pub(crate) struct Entry {
    calls: Calls,
    id: RequestId,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}

impl Calls {
    /// Adds a call.
    pub(crate) fn enter(&self, id: RequestId, token: ProgressToken, context: CallContext, pauses: Pauses) -> Entry {
        self.lock().insert(id.clone(), UnderWay { token, context, pauses });
        Entry { calls: self.clone(), id }
    }

    /// The call a server's progress belongs to.
    pub(crate) fn by_token(&self, token: &ProgressToken) -> Option<CallContext> {
        let text = token.0.to_string();
        self.lock().values().find(|call| call.token.0.to_string() == text).map(|call| call.context.clone())
    }

    /// The call a server's question belongs to: the one it names, else the only one there is.
    pub(crate) fn asking(
        &self,
        request: Option<&RequestId>,
        token: Option<&ProgressToken>,
    ) -> Option<(CallContext, Pauses)> {
        let calls = self.lock();
        let of = |call: &UnderWay| (call.context.clone(), call.pauses.clone());
        let named = request.and_then(|id| calls.get(id));
        let named = named.or_else(|| token.and_then(|token| calls.values().find(|call| call.token == *token)));
        match (named, calls.len()) {
            (Some(call), _) => Some(of(call)),
            (None, 1) => calls.values().next().map(of),
            (None, _) => None,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, UnderWay>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
