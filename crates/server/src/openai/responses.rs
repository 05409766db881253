//! `POST /v1/responses`: an agent's answer as a response with one message.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::answer_stream::{EventWriter, OutgoingEvent, streamed};
use super::client_run::ClientRun;
use super::error::OpenAiError;
use super::models::agent_of;
use super::response_id::ResponseId;
use super::responses_request::ResponsesBody;
use super::run_result::{AnswerEnd, RunAnswer, responses_usage};
use super::session_choice::{WireRequest, begin};
use super::session_headers::{SessionInHeader, session_named, with_session};
use crate::access::SignedIn;
use crate::api::Body;
use crate::document::OPENAI_TAG;
use crate::document::answers::RunErrors;
use crate::document::openai_shapes::{AnswerStreamEvent, ResponseRequest};
use crate::state::HttpServer;

/// An agent's answer as a response
#[utoipa::path(
    post,
    path = "/v1/responses",
    tag = OPENAI_TAG,
    operation_id = "openai_response",
    params(SessionInHeader),
    request_body(content = ResponseRequest, description = "As OpenAI describes it; docs/openai.md says what is used, ignored and refused"),
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
    Body(body): Body<ResponsesBody>,
) -> Result<Response, OpenAiError> {
    let previous = body.previous()?;
    let request = WireRequest {
        agent: agent_of(&state, &body.model)?,
        conversation: body.conversation()?,
        session: session_named(&headers)?,
        previous,
    };
    let run = begin(&state, &caller, request).await?;
    let (session, number) = (run.id, run.run);
    let head = ResponseFrame::of(&run, previous);
    let response = match body.stream {
        Some(true) => streamed(run, ResponseWriter::new(head)),
        Some(false) | None => {
            let answer = RunAnswer::of(&run.end().await?)?;
            Json(head.finished(&answer.text, &answer)).into_response()
        }
    };
    Ok(with_session(response, session, number))
}

/// What a response says from its beginning.
#[derive(Clone, Debug)]
struct ResponseFrame {
    id: ResponseId,
    created: i64,
    model: String,
    previous: Option<ResponseId>,
}

impl ResponseFrame {
    fn of(run: &ClientRun, previous: Option<ResponseId>) -> Self {
        Self { id: run.answer_id(), created: run.created, model: run.model.clone(), previous }
    }

    fn item_id(&self) -> String {
        format!("msg_{}", self.id.stem())
    }

    /// Returns the message of the response.
    fn item(&self, status: &str, content: &Value) -> Value {
        json!({"id": self.item_id(), "type": "message", "role": "assistant", "status": status, "content": content})
    }

    fn response(&self, status: &str, output: &Value) -> Value {
        json!({
            "id": self.id.to_string(), "object": "response", "created_at": self.created, "status": status,
            "model": self.model, "previous_response_id": self.previous.map(|id| id.to_string()), "output": output,
            "error": null, "incomplete_details": null, "instructions": null, "metadata": {}, "usage": null,
            "parallel_tool_calls": false, "tool_choice": "auto", "tools": [], "temperature": null, "top_p": null,
            "max_output_tokens": null, "text": {"format": {"type": "text"}}, "store": true,
        })
    }

    /// Returns the response with this text, which an answer ends.
    fn finished(&self, text: &str, answer: &RunAnswer) -> Value {
        let (status, reason) = match answer.finish {
            AnswerEnd::Stop => ("completed", None),
            AnswerEnd::Length => ("incomplete", Some("max_output_tokens")),
            AnswerEnd::ContentFilter => ("incomplete", Some("content_filter")),
        };
        let mut response = self.response(status, &json!([self.item(status, &json!([text_part(text)]))]));
        response["usage"] = responses_usage(&answer.usage);
        if let Some(reason) = reason {
            response["incomplete_details"] = json!({"reason": reason});
        }
        response
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

/// Writes an answer as the events of a response.
#[derive(Debug)]
struct ResponseWriter {
    head: ResponseFrame,
    /// Numbers the events.
    sequence: u64,
    text: String,
}

impl ResponseWriter {
    fn new(head: ResponseFrame) -> Self {
        Self { head, sequence: 0, text: String::new() }
    }

    fn event(&mut self, name: &'static str, mut data: Value) -> OutgoingEvent {
        data["type"] = name.into();
        data["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        OutgoingEvent { name: Some(name), data: data.to_string() }
    }

    /// Returns an event about the text of the message.
    fn text_event(&mut self, name: &'static str, mut data: Value) -> OutgoingEvent {
        data["item_id"] = self.head.item_id().into();
        data["output_index"] = 0.into();
        data["content_index"] = 0.into();
        self.event(name, data)
    }
}

impl EventWriter for ResponseWriter {
    fn begin(&mut self) -> Vec<OutgoingEvent> {
        let begun = self.head.response("in_progress", &json!([]));
        let item = self.head.item("in_progress", &json!([]));
        vec![
            self.event("response.created", json!({"response": begun})),
            self.event("response.in_progress", json!({"response": begun})),
            self.event("response.output_item.added", json!({"output_index": 0, "item": item})),
            self.text_event("response.content_part.added", json!({"part": text_part("")})),
        ]
    }

    fn text(&mut self, text: &str) -> Vec<OutgoingEvent> {
        self.text.push_str(text);
        vec![self.text_event("response.output_text.delta", json!({"delta": text, "logprobs": []}))]
    }

    /// The events of this wire have no place for what a client may show or leave out.
    fn progress(&mut self, _text: &str) -> Vec<OutgoingEvent> {
        Vec::new()
    }

    fn end(&mut self, answer: &RunAnswer) -> Vec<OutgoingEvent> {
        let text = std::mem::take(&mut self.text);
        let (name, status) = match answer.finish {
            AnswerEnd::Stop => ("response.completed", "completed"),
            AnswerEnd::Length | AnswerEnd::ContentFilter => ("response.incomplete", "incomplete"),
        };
        let (part, response) = (text_part(&text), self.head.finished(&text, answer));
        let item = self.head.item(status, &json!([part]));
        vec![
            self.text_event("response.output_text.done", json!({"text": text, "logprobs": []})),
            self.text_event("response.content_part.done", json!({"part": part})),
            self.event("response.output_item.done", json!({"output_index": 0, "item": item})),
            self.event(name, json!({"response": response})),
        ]
    }

    fn fail(&mut self, error: &OpenAiError) -> Vec<OutgoingEvent> {
        let text = std::mem::take(&mut self.text);
        let output =
            if text.is_empty() { json!([]) } else { json!([self.head.item("incomplete", &json!([text_part(&text)]))]) };
        let mut response = self.head.response("failed", &output);
        response["error"] = json!({"code": error.response_code(), "message": error.message});
        vec![self.event("response.failed", json!({"response": response}))]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use uuid::Uuid;
    use windlass_vocab::{RunId, SessionId, Usage};

    use super::{ResponseFrame, ResponseWriter};
    use crate::openai::answer_stream::{EventWriter, OutgoingEvent};
    use crate::openai::error::OpenAiError;
    use crate::openai::response_id::ResponseId;
    use crate::openai::run_result::{AnswerEnd, RunAnswer};

    fn writer() -> ResponseWriter {
        let id = ResponseId { session: SessionId(Uuid::from_u128(1)), run: RunId(1) };
        ResponseWriter::new(ResponseFrame { id, created: 7, model: "windlass".into(), previous: None })
    }

    fn data(events: &[OutgoingEvent]) -> Vec<Value> {
        events
            .iter()
            .map(|event| {
                let data: Value = serde_json::from_str(&event.data).unwrap();
                assert_eq!(Some(data["type"].as_str().unwrap()), event.name);
                data
            })
            .collect()
    }

    fn answer(text: &str, finish: AnswerEnd) -> RunAnswer {
        RunAnswer { text: text.into(), finish, usage: Usage { input: 5, output: 3, ..Usage::default() } }
    }

    // proves W3
    #[test]
    fn a_text_response_has_its_events_in_order() {
        let mut writer = writer();
        let mut events = writer.begin();
        events.extend(writer.progress("thinking"));
        events.extend(["All ", "done."].iter().flat_map(|text| writer.text(text)));
        events.extend(writer.end(&answer("All done.", AnswerEnd::Stop)));
        let events = data(&events);
        let names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        let expected = [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ];
        assert_eq!(names, expected);
        let numbers: Vec<u64> = events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..10).collect::<Vec<_>>());
        assert_eq!(events[6]["text"], "All done.");
        let response = &events[9]["response"];
        assert_eq!(response["output"][0]["content"][0]["text"], "All done.");
        assert_eq!((&response["usage"]["total_tokens"], &response["status"]), (&8.into(), &"completed".into()));
    }

    // proves W3
    #[test]
    fn a_response_says_why_it_is_incomplete_or_failed() {
        let mut cut = writer();
        let events = data(&cut.end(&answer("So", AnswerEnd::Length)));
        let last = events.last().unwrap();
        assert_eq!(last["type"], "response.incomplete");
        assert_eq!(last["response"]["incomplete_details"]["reason"], "max_output_tokens");
        let failed = data(&writer().fail(&OpenAiError::stopped()));
        assert_eq!(failed[0]["type"], "response.failed");
        assert_eq!(failed[0]["response"]["error"]["code"], "server_error");
    }
}
