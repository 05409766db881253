//! A call of a server's tool, from the connection to the outcome (P3, P4, J4).
//!
//! The call settles at once when it is stopped, when it times out or when the server is gone; the server is notified
//! and keeps running. A server that needs something from the person asks during the call or, in the newest revision,
//! returns early to ask; then the call is paused, which survives a restart of Windlass, and is made again with the
//! answers.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, ErrorCode, RequestId,
    RequestMetaObject, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use windlass_tools::{CallContext, OutputSchema, ServerStage, with_wait_notice};
use windlass_vocab::{EffectClass, Outcome, OutcomeKind, ToolName, Wait, WaitFor};

use crate::connect::challenge;
use crate::connection::ServerConnection;
use crate::listing::ListedTool;
use crate::pause::{self, AfterInputRequired, AttemptInput};
use crate::result;
use crate::server::Server;
use crate::stdio::UNREADABLE;

/// The entry of `_meta` that holds the effect id: the same for every attempt of a call (J4).
pub const EFFECT_ID: &str = "windlass/effect-id";

/// How often one call may request further authorization.
const STEP_UPS: usize = 3;
/// How often a server may request that the call be made again, with or without questions to the person.
const ROUNDS: u32 = 10;

/// A call to make.
pub(crate) struct ToolCallRequest {
    pub(crate) server: Arc<Server>,
    pub(crate) tool: Arc<ListedTool>,
    pub(crate) output: Arc<OnceLock<Result<OutputSchema, String>>>,
    pub(crate) arguments: Map<String, Value>,
}

impl ToolCallRequest {
    /// The wait for the answer, as reported to the person.
    fn wait(&self) -> Wait {
        let tool = ToolName(format!("{}.{}", self.server.name, self.tool.name));
        Wait { what: WaitFor::Answer(tool), limit_ms: milliseconds(self.server.config.call_timeout) }
    }
}

/// How one request ended.
enum RequestEnd {
    Answered(Box<ServerResult>),
    Failed(ServiceError),
    Stopped,
    TimedOut,
    Gone,
}

/// Makes the call and returns its outcome.
pub(crate) async fn run(ask: ToolCallRequest, context: CallContext) -> Outcome {
    let server = &ask.server;
    let connection = tokio::select! {
        biased;
        () = context.cancel.cancelled() => return Outcome::new(OutcomeKind::Cancelled, "Stopped before it had begun."),
        connected = starting(server, &context) => match connected {
            Ok(connection) => connection,
            Err(reason) => return unavailable(server, &reason),
        },
    };
    if let Err(what) = server.still_has(&ask.tool) {
        let text =
            format!("`{}.{}` was not run: {what}. It is offered anew in the next run.", server.name, ask.tool.name);
        return Outcome::error(text);
    }
    let mut input = match &context.resumed {
        None => AttemptInput::default(),
        Some(resumed) => match AttemptInput::resumed(resumed, server.root_uri().as_deref()) {
            Ok(input) => input,
            Err(outcome) => return *outcome,
        },
    };
    let (mut connection, mut step_ups) = (connection, 0);
    loop {
        let ended = request(&ask, &connection, &context, &input).await;
        match ended {
            RequestEnd::Failed(ServiceError::TransportSend(error))
                if step_ups < STEP_UPS && challenge(&error).is_some() =>
            {
                step_ups += 1;
                let said = challenge(&error).flatten();
                if let Err(reason) = server.step_up(said.as_deref()).await {
                    return unavailable(server, &reason);
                }
                match server.connected().await {
                    Ok(anew) => connection = anew,
                    Err(reason) => return unavailable(server, &reason),
                }
            }
            RequestEnd::Answered(answer) => match *answer {
                ServerResult::InputRequiredResult(_) if input.count >= ROUNDS => {
                    return Outcome::error("The server wants the call made again and again, without end.");
                }
                ServerResult::InputRequiredResult(wanted) => {
                    match pause::next(&server.name, wanted, input.count, server.root_uri().as_deref()) {
                        AfterInputRequired::Again(again) => input = again,
                        AfterInputRequired::Settled(outcome) => return *outcome,
                    }
                }
                answer => return result::outcome(&ask.tool, &ask.output, answer),
            },
            RequestEnd::Failed(error) => return failed(&ask, error),
            RequestEnd::Stopped => return stopped(&ask),
            RequestEnd::TimedOut => return timed_out(&ask),
            RequestEnd::Gone => return connection_gone(&ask, &connection),
        }
    }
}

/// Waits for the connection, and reports the wait.
async fn starting(server: &Arc<Server>, context: &CallContext) -> Result<Arc<ServerConnection>, String> {
    let wait = Wait {
        what: WaitFor::Servers(vec![server.name.to_string()]),
        limit_ms: milliseconds(server.config.startup_timeout),
    };
    with_wait_notice(server.connected(), || (context.waits)(wait)).await
}

fn milliseconds(limit: Duration) -> u64 {
    u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)
}

fn unavailable(server: &Server, reason: &str) -> Outcome {
    let again = match server.stage() {
        Some(ServerStage::Missed { .. }) => " It is not waited for again in this run.",
        Some(ServerStage::Awaited { .. } | ServerStage::Remembered { .. } | ServerStage::Listed) | None => "",
    };
    let text = format!("MCP server `{}` {reason}.{again}", server.name);
    Outcome::new(OutcomeKind::InfrastructureError, text)
}

/// Sends the request and waits until it is answered, fails, is stopped or times out.
async fn request(
    ask: &ToolCallRequest,
    connection: &ServerConnection,
    context: &CallContext,
    input: &AttemptInput,
) -> RequestEnd {
    let mut params = CallToolRequestParams::new(ask.tool.name.clone());
    params.arguments = Some(ask.arguments.clone());
    params.input_responses = input.responses.clone();
    params.request_state = input.state.clone();
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let mut meta = RequestMetaObject::new();
    meta.insert(EFFECT_ID.into(), Value::String(context.effect_id.as_str().to_owned()));
    let options = PeerRequestOptions::no_options().with_meta(meta);
    let sent = tokio::select! {
        sent = connection.peer.send_request_with_option(request, options) => sent,
        () = context.cancel.cancelled() => return RequestEnd::Stopped,
        () = connection.gone.cancelled() => return RequestEnd::Gone,
    };
    let RequestHandle { mut rx, id, progress_token, peer, .. } = match sent {
        Ok(handle) => handle,
        Err(ServiceError::TransportClosed) => return RequestEnd::Gone,
        Err(error) => return RequestEnd::Failed(error),
    };
    let mut abandoned = CancelOnDrop { peer, id: Some(id.clone()) };
    let pauses = watch::Sender::new(0);
    let _entry = connection.calls.enter(id, progress_token, context.clone(), pauses.clone());
    let limit = out_of_time(ask.server.config.call_timeout, pauses.subscribe());
    let answer = with_wait_notice(&mut rx, || {
        if *pauses.borrow() == 0 {
            (context.waits)(ask.wait());
        }
    });
    tokio::select! {
        biased;
        answer = answer => {
            abandoned.id = None;
            match answer {
                Ok(Err(ServiceError::TransportClosed)) | Err(_) => RequestEnd::Gone,
                Ok(Err(error)) => RequestEnd::Failed(error),
                Ok(Ok(answer)) => RequestEnd::Answered(Box::new(answer)),
            }
        }
        () = context.cancel.cancelled() => RequestEnd::Stopped,
        () = connection.gone.cancelled() => {
            abandoned.id = None;
            RequestEnd::Gone
        }
        () = limit => RequestEnd::TimedOut,
    }
}

/// Resolves after `limit`, not counting the time spent waiting for a person.
async fn out_of_time(limit: Duration, mut pauses: watch::Receiver<usize>) {
    let mut left = limit;
    loop {
        // The sender lives as long as the call.
        let _ = pauses.wait_for(|waiting| *waiting == 0).await.is_ok();
        let began = Instant::now();
        tokio::select! {
            () = sleep_until(began + left) => return,
            _ = async { pauses.wait_for(|waiting| *waiting > 0).await.is_ok() } => {}
        }
        left = left.saturating_sub(began.elapsed());
    }
}

/// On drop, notifies the server that the call is cancelled, unless the answer has arrived.
struct CancelOnDrop {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) {
            let peer = self.peer.clone();
            runtime.spawn(async move {
                let params = CancelledNotificationParam::new(Some(id), Some("nobody waits for it any more".into()));
                let _ = peer.notify_cancelled(params).await;
            });
        }
    }
}

fn failed(ask: &ToolCallRequest, error: ServiceError) -> Outcome {
    let server = &ask.server;
    match error {
        ServiceError::McpError(error) if error.code == UNREADABLE => {
            Outcome::new(OutcomeKind::InfrastructureError, cut_short(&error.message, ask.tool.effect))
        }
        ServiceError::McpError(error) => pause::of_error(&server.name, &error).unwrap_or_else(|| {
            // Distinguish errors that the model can fix from failures (L11).
            let kind = match error.code {
                ErrorCode::INVALID_PARAMS => OutcomeKind::InvalidArguments,
                ErrorCode::RESOURCE_NOT_FOUND => OutcomeKind::NotFound,
                _ => OutcomeKind::ToolError,
            };
            Outcome::new(kind, server.options.secrets.scrub(&error.message).into_owned())
        }),
        error => {
            let text = format!("MCP server `{}` could not be asked: {error}.", server.name);
            Outcome::new(OutcomeKind::InfrastructureError, cut_short(&text, ask.tool.effect))
        }
    }
}

fn stopped(ask: &ToolCallRequest) -> Outcome {
    let text = cut_short("Stopped before it was done; the server was told.", ask.tool.effect);
    Outcome::new(OutcomeKind::Cancelled, text)
}

fn timed_out(ask: &ToolCallRequest) -> Outcome {
    let seconds = ask.server.config.call_timeout.as_secs_f32();
    let text = format!("Not done within {seconds} s, and given up; the server was told.");
    Outcome::new(OutcomeKind::TimedOut, cut_short(&text, ask.tool.effect))
}

fn connection_gone(ask: &ToolCallRequest, connection: &ServerConnection) -> Outcome {
    let why = ask.server.options.secrets.scrub(&connection.why_gone()).into_owned();
    let text = format!("MCP server `{}` {why}, in the middle of the call.", ask.server.name);
    Outcome::new(OutcomeKind::InfrastructureError, cut_short(&text, ask.tool.effect))
}

fn cut_short(text: &str, effect: EffectClass) -> String {
    match effect {
        EffectClass::ReadOnly => text.to_owned(),
        EffectClass::Idempotent | EffectClass::Verifiable | EffectClass::Once => {
            format!("{text} It may have taken effect in part or whole: look before you repeat it.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves P4
    #[tokio::test(start_paused = true)]
    async fn time_does_not_run_while_a_person_is_asked() {
        let pauses = watch::Sender::new(0);
        let limit = tokio::spawn(out_of_time(Duration::from_secs(10), pauses.subscribe()));
        let began = Instant::now();
        tokio::time::sleep(Duration::from_secs(4)).await;
        pauses.send_replace(1);
        tokio::time::sleep(Duration::from_secs(100)).await;
        assert!(!limit.is_finished());
        pauses.send_replace(0);
        limit.await.unwrap();
        assert_eq!(began.elapsed().as_secs(), 110);
    }
}
