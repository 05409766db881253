//! `POST /v1/chat/completions`: an agent's answer as a chat completion.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::answer_stream::{EventWriter, OutgoingEvent, streamed};
use super::chat_request::{ChatBody, ChatDelivery, UsageChunk};
use super::client_run::ClientRun;
use super::error::OpenAiError;
use super::models::agent_of;
use super::run_result::{RunAnswer, chat_usage};
use super::session_choice::{WireRequest, begin};
use super::session_headers::{SessionInHeader, session_named, with_session};
use crate::access::SignedIn;
use crate::api::Body;
use crate::document::OPENAI_TAG;
use crate::document::answers::RunErrors;
use crate::document::openai_shapes::{AnswerStreamEvent, ChatCompletionRequest};
use crate::state::HttpServer;

/// An agent's answer as a chat completion
#[utoipa::path(
    post,
    path = "/v1/chat/completions",
    tag = OPENAI_TAG,
    operation_id = "openai_chat_completion",
    params(SessionInHeader),
    request_body(content = ChatCompletionRequest, description = "As OpenAI describes it; docs/openai.md says what is used, ignored and refused"),
    responses(
        (status = 200, description = "The answer, as OpenAI describes it; with `stream` server-sent events", content(
            (Object = "application/json"),
            (AnswerStreamEvent = "text/event-stream")
        )),
        RunErrors,
    )
)]
pub(super) async fn create(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    headers: HeaderMap,
    Body(body): Body<ChatBody>,
) -> Result<Response, OpenAiError> {
    let request = WireRequest {
        agent: agent_of(&state, &body.model)?,
        conversation: body.conversation()?,
        session: session_named(&headers)?,
        previous: None,
    };
    let run = begin(&state, &caller, request).await?;
    let (session, number) = (run.id, run.run);
    let head = ChatHead::of(&run);
    let response = match body.delivery() {
        ChatDelivery::Whole => {
            let answer = RunAnswer::of(&run.end().await?)?;
            Json(head.completion(&answer)).into_response()
        }
        ChatDelivery::Chunks(usage) => streamed(run, ChunkWriter { head, usage }),
    };
    Ok(with_session(response, session, number))
}

/// What all parts of a completion say.
#[derive(Clone, Debug)]
struct ChatHead {
    id: String,
    created: i64,
    model: String,
}

impl ChatHead {
    fn of(run: &ClientRun) -> Self {
        let id = format!("chatcmpl-{}", run.answer_id().stem());
        Self { id, created: run.created, model: run.model.clone() }
    }

    fn completion(&self, answer: &RunAnswer) -> Value {
        let Self { id, created, model } = self;
        let message = json!({"role": "assistant", "content": answer.text, "refusal": null});
        json!({
            "id": id, "object": "chat.completion", "created": created, "model": model,
            "choices": [{
                "index": 0, "message": message, "logprobs": null, "finish_reason": answer.finish.as_str(),
            }],
            "usage": chat_usage(&answer.usage),
        })
    }

    fn chunk(&self, choices: &Value) -> Value {
        let Self { id, created, model } = self;
        json!({
            "id": id, "object": "chat.completion.chunk", "created": created, "model": model, "choices": choices,
        })
    }
}

/// Writes an answer as chunks.
#[derive(Debug)]
struct ChunkWriter {
    head: ChatHead,
    usage: UsageChunk,
}

impl ChunkWriter {
    fn delta(&self, delta: &Value, finish: Option<&str>) -> Vec<OutgoingEvent> {
        let choices = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        let mut chunk = self.head.chunk(&choices);
        // Where usage is asked for, every chunk has the field.
        if self.usage == UsageChunk::Sent {
            chunk["usage"] = Value::Null;
        }
        vec![OutgoingEvent::unnamed(&chunk)]
    }
}

impl EventWriter for ChunkWriter {
    fn begin(&mut self) -> Vec<OutgoingEvent> {
        self.delta(&json!({"role": "assistant", "content": ""}), None)
    }

    fn text(&mut self, text: &str) -> Vec<OutgoingEvent> {
        self.delta(&json!({"content": text}), None)
    }

    /// `reasoning_content` is what several providers send thinking in; a client that does not know it ignores it.
    fn progress(&mut self, text: &str) -> Vec<OutgoingEvent> {
        self.delta(&json!({"reasoning_content": text}), None)
    }

    fn end(&mut self, answer: &RunAnswer) -> Vec<OutgoingEvent> {
        let mut written = self.delta(&json!({}), Some(answer.finish.as_str()));
        if self.usage == UsageChunk::Sent {
            let mut chunk = self.head.chunk(&json!([]));
            chunk["usage"] = chat_usage(&answer.usage);
            written.push(OutgoingEvent::unnamed(&chunk));
        }
        written.push(OutgoingEvent { name: None, data: "[DONE]".to_owned() });
        written
    }

    fn fail(&mut self, error: &OpenAiError) -> Vec<OutgoingEvent> {
        vec![OutgoingEvent::unnamed(&error.body())]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use windlass_vocab::Usage;

    use super::{ChatHead, ChunkWriter};
    use crate::openai::answer_stream::{EventWriter, OutgoingEvent};
    use crate::openai::chat_request::UsageChunk;
    use crate::openai::error::OpenAiError;
    use crate::openai::run_result::{AnswerEnd, RunAnswer};

    fn written(usage: UsageChunk, text: &[&str]) -> Vec<OutgoingEvent> {
        let head = ChatHead { id: "chatcmpl-1".into(), created: 7, model: "windlass".into() };
        let mut writer = ChunkWriter { head, usage };
        let mut events = writer.begin();
        events.extend(writer.progress("list_directory . 1 ms\n"));
        events.extend(text.iter().flat_map(|text| writer.text(text)));
        let usage = Usage { input: 5, output: 3, cached: 2, reasoning: 1, ..Usage::default() };
        events.extend(writer.end(&RunAnswer { text: text.concat(), finish: AnswerEnd::Stop, usage }));
        events
    }

    fn data(event: &OutgoingEvent) -> Value {
        serde_json::from_str(&event.data).unwrap()
    }

    // proves W3: a plain client that joins the contents has the answer and nothing else
    #[test]
    fn chunks_carry_the_answer_its_end_and_on_request_the_usage() {
        let events = written(UsageChunk::LeftOut, &["All ", "done."]);
        assert_eq!(events.last().unwrap().data, "[DONE]");
        let chunks: Vec<Value> = events[..events.len() - 1].iter().map(data).collect();
        assert_eq!(chunks[0]["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
        assert_eq!(chunks[1]["choices"][0]["delta"], json!({"reasoning_content": "list_directory . 1 ms\n"}));
        let text: String = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
        assert_eq!(text, "All done.");
        let finish = &chunks.last().unwrap()["choices"][0];
        assert_eq!((&finish["delta"], &finish["finish_reason"]), (&json!({}), &json!("stop")));
        assert!(chunks.iter().all(|chunk| chunk["id"] == "chatcmpl-1" && chunk.get("usage").is_none()));

        let events = written(UsageChunk::Sent, &["x"]);
        let last = data(&events[events.len() - 2]);
        assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(8)));
        assert_eq!(data(&events[0])["usage"], Value::Null);
    }

    // proves W3
    #[test]
    fn a_stream_that_fails_ends_with_an_error_and_is_not_done() {
        let head = ChatHead { id: "chatcmpl-1".into(), created: 7, model: "windlass".into() };
        let mut writer = ChunkWriter { head, usage: UsageChunk::LeftOut };
        let events = writer.fail(&OpenAiError::stopped());
        assert_eq!(events.len(), 1);
        assert_eq!(data(&events[0])["error"]["code"], "run_cancelled");
    }
}
