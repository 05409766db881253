//! The actions of a fake server's tools.

use serde_json::{Value, json};

use super::act::{FakeAction, Id};
use super::conversation::{INVALID, McpConversation, OpenAsk, RequestEra};
use super::diary::McpCall;
use super::script::{AskBack, PersonRequest, ToolAction};

/// The key of the only request in `input_required`.
const ASK: &str = "ask";

impl McpConversation {
    pub(super) fn call(&mut self, era: RequestEra, id: &Id, params: &Value) -> Vec<FakeAction> {
        let name = params["name"].as_str().unwrap_or_default();
        let call = McpCall {
            tool: name.to_owned(),
            arguments: params["arguments"].clone(),
            meta: params["_meta"].clone(),
            request_state: params["requestState"].as_str().map(str::to_owned),
            input_responses: params.get("inputResponses").cloned(),
        };
        let does = self.script.tools.iter().find(|tool| tool.name == name).map(|tool| tool.does.clone());
        let does = match does {
            Some(does) => does,
            None if name.starts_with("tool_") => ToolAction::Echo,
            None => return vec![FakeAction::refuse(id, INVALID, &format!("Unknown tool: {name}"))],
        };
        let times = self.called.entry(name.to_owned()).or_default();
        *times += 1;
        let first = *times == 1;
        let mut acts = vec![FakeAction::NoteCall(Box::new(call.clone()))];
        match does {
            ToolAction::NeverAtFirst if first => {}
            does => acts.extend(self.perform(&does, &CallScene { era, id, params, call: &call })),
        }
        // Delayed answers are sent after another call was answered.
        if acts.iter().any(|act| matches!(act, FakeAction::Say { about: Some(about), .. } if about == id)) {
            acts.append(&mut self.held);
        }
        acts
    }

    fn perform(&mut self, does: &ToolAction, scene: &CallScene<'_>) -> Vec<FakeAction> {
        let id = scene.id;
        match does {
            ToolAction::Echo | ToolAction::NeverAtFirst => vec![scene.echo()],
            ToolAction::Counts => {
                let times = self.called.get(&scene.call.tool).copied().unwrap_or_default();
                vec![scene.text(&format!("step {times}"), &json!({}))]
            }
            ToolAction::Result(result) => vec![FakeAction::answer(id, result.clone())],
            ToolAction::Fails(text) => vec![scene.text(text, &json!({"isError": true}))],
            ToolAction::Refuses(code) => vec![FakeAction::refuse(id, *code, "The server says no")],
            ToolAction::Dies => vec![FakeAction::Exit],
            ToolAction::DiesAnswering => vec![scene.half(), FakeAction::Exit],
            ToolAction::StopsAnswering => vec![scene.half()],
            ToolAction::Never => Vec::new(),
            ToolAction::StopsReading => vec![FakeAction::StopReading],
            ToolAction::Waits(ms) => vec![FakeAction::After { ms: *ms, acts: vec![scene.echo()] }],
            ToolAction::Twice => vec![scene.echo(), scene.echo()],
            ToolAction::StrayId => vec![scene.stray(), scene.echo()],
            ToolAction::WrongId => vec![scene.stray()],
            ToolAction::IdAsString => vec![scene.with_id(json!(id.to_string()))],
            ToolAction::HoldsBack => {
                self.held.push(scene.echo());
                Vec::new()
            }
            ToolAction::Big(bytes) => vec![FakeAction::Line { about: id.clone(), bytes: big(id, *bytes) }],
            ToolAction::Deep(levels) => vec![FakeAction::Line { about: id.clone(), bytes: deep(id, *levels) }],
            ToolAction::BrokenUtf8 => vec![FakeAction::Line { about: id.clone(), bytes: broken(id) }],
            ToolAction::AsksBack(what) => vec![self.ask_back(*what, scene)],
            ToolAction::Elicits(wish) => vec![self.elicit(wish, None, scene)],
            ToolAction::ElicitsForEver(wish) => vec![self.elicit(wish, Some(wish.clone()), scene)],
            // Delayed, like a tool that has work to do.
            ToolAction::Progresses(times) => vec![FakeAction::After { ms: 100, acts: scene.progress(*times) }],
            ToolAction::GrowsTools => {
                self.grown += 1;
                self.list_changed(scene.era).into_iter().chain([scene.echo()]).collect()
            }
            ToolAction::Complains(bytes) => vec![FakeAction::Complain(*bytes), scene.echo()],
        }
    }

    fn ask_back(&mut self, what: AskBack, scene: &CallScene<'_>) -> FakeAction {
        let (method, params) = match what {
            AskBack::Ping => ("ping", json!({})),
            AskBack::Roots => ("roots/list", json!({})),
            AskBack::Sampling => {
                let messages = json!([{"role": "user", "content": {"type": "text", "text": "Well?"}}]);
                ("sampling/createMessage", json!({"messages": messages, "maxTokens": 10}))
            }
            AskBack::Unknown => ("fake/unheard_of", json!({})),
        };
        self.ask(method, &params, OpenAsk { call: scene.id.clone(), insists: None })
    }

    fn ask(&mut self, method: &str, params: &Value, asked: OpenAsk) -> FakeAction {
        let about = Some(asked.call.clone());
        let id = self.next_ask(asked);
        FakeAction::Say { about, message: json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) }
    }

    fn elicit(&mut self, wish: &PersonRequest, insists: Option<PersonRequest>, scene: &CallScene<'_>) -> FakeAction {
        if scene.era == RequestEra::Legacy {
            return self.ask("elicitation/create", &wish.params(), OpenAsk { call: scene.id.clone(), insists });
        }
        // The state alone must identify the question: the server may have been restarted.
        let state = format!("state of {}", scene.call.tool);
        match &scene.call.input_responses {
            Some(_) if scene.call.request_state.as_deref() != Some(state.as_str()) => {
                FakeAction::refuse(scene.id, INVALID, "That is not the state I gave")
            }
            Some(answers) if insists.is_none() => scene.text(&format!("answered {}", answers[ASK]), &json!({})),
            Some(_) | None => {
                let request = json!({"method": "elicitation/create", "params": wish.params()});
                let wanted =
                    json!({"resultType": "input_required", "inputRequests": {ASK: request}, "requestState": state});
                FakeAction::answer(scene.id, wanted)
            }
        }
    }

    /// The client answered a request of this server.
    pub(super) fn answered(&mut self, id: &Id, message: &Value) -> Vec<FakeAction> {
        let Some(asked) = id.as_str().and_then(|id| self.asked.remove(id)) else { return Vec::new() };
        if let Some(wish) = asked.insists.clone() {
            return vec![self.ask("elicitation/create", &wish.params(), asked)];
        }
        let answer = message.get("result").or(message.get("error")).cloned().unwrap_or_default();
        let content = json!([{"type": "text", "text": format!("answered {answer}")}]);
        vec![FakeAction::answer(&asked.call, json!({"content": content}))]
    }
}

/// One call being answered.
struct CallScene<'a> {
    era: RequestEra,
    id: &'a Id,
    params: &'a Value,
    call: &'a McpCall,
}

impl CallScene<'_> {
    fn echo(&self) -> FakeAction {
        self.text(&format!("{} heard {}", self.call.tool, self.call.arguments), &json!({}))
    }

    /// A text result, with more fields.
    fn text(&self, text: &str, more: &Value) -> FakeAction {
        let mut result = json!({"content": [{"type": "text", "text": text}]});
        for (key, value) in more.as_object().into_iter().flatten() {
            result[key] = value.clone();
        }
        if self.era == RequestEra::Modern {
            result["resultType"] = "complete".into();
        }
        FakeAction::answer(self.id, result)
    }

    fn with_id(&self, id: Value) -> FakeAction {
        let FakeAction::Say { about, mut message } = self.echo() else { return self.echo() };
        message["id"] = id;
        FakeAction::Say { about, message }
    }

    fn stray(&self) -> FakeAction {
        self.with_id(json!(4_000_000))
    }

    fn half(&self) -> FakeAction {
        let FakeAction::Say { message, .. } = self.text(&"x".repeat(4096), &json!({})) else { return self.echo() };
        FakeAction::Half { about: self.id.clone(), message }
    }

    fn progress(&self, times: u32) -> Vec<FakeAction> {
        let token = &self.params["_meta"]["progressToken"];
        let told = (1..=times).filter(|_| !token.is_null()).map(|n| {
            let params = json!({"progressToken": token, "progress": n, "total": times, "message": format!("step {n}")});
            FakeAction::notify(Some(self.id), "notifications/progress", &params)
        });
        told.chain([self.echo()]).collect()
    }
}

impl PersonRequest {
    fn params(&self) -> Value {
        match self {
            Self::Form { message, schema } => json!({"mode": "form", "message": message, "requestedSchema": schema}),
            Self::Visit { message, url } => {
                json!({"mode": "url", "message": message, "url": url, "elicitationId": "visit-1"})
            }
        }
    }
}

/// An answer with this many bytes of text.
fn big(id: &Id, bytes: usize) -> Vec<u8> {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#);
    [head.as_bytes(), &vec![b'x'; bytes], br#""}]}}"#].concat()
}

/// An answer that nests deeper than parsers allow by default.
fn deep(id: &Id, levels: usize) -> Vec<u8> {
    let (open, close) = ("[".repeat(levels), "]".repeat(levels));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{open}{close}}}}}"#).into_bytes()
}

/// An answer whose text is invalid UTF-8.
fn broken(id: &Id) -> Vec<u8> {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"caf"#);
    [head.as_bytes(), b"\xe9 \xff\xfe", br#""}]}}"#].concat()
}
