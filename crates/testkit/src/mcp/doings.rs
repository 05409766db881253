//! What the tools of a fake server do.

use serde_json::{Value, json};

use super::act::{Act, Id};
use super::conversation::{Asked, Conversation, Era, INVALID};
use super::diary::McpCall;
use super::script::{AskBack, Does, Wish};

/// The key of the one thing asked by `input_required`.
const ASK: &str = "ask";

impl Conversation {
    pub(super) fn call(&mut self, era: Era, id: &Id, params: &Value) -> Vec<Act> {
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
            None if name.starts_with("tool_") => Does::Echo,
            None => return vec![Act::refuse(id, INVALID, &format!("Unknown tool: {name}"))],
        };
        let times = self.called.entry(name.to_owned()).or_default();
        *times += 1;
        let first = *times == 1;
        let mut acts = vec![Act::NoteCall(Box::new(call.clone()))];
        match does {
            Does::NeverAtFirst if first => {}
            does => acts.extend(self.perform(&does, &Scene { era, id, params, call: &call })),
        }
        // Whoever kept an answer back gives it once another was given.
        if acts.iter().any(|act| matches!(act, Act::Say { about: Some(about), .. } if about == id)) {
            acts.append(&mut self.held);
        }
        acts
    }

    fn perform(&mut self, does: &Does, scene: &Scene<'_>) -> Vec<Act> {
        let id = scene.id;
        match does {
            Does::Echo | Does::NeverAtFirst => vec![scene.echo()],
            Does::Counts => {
                let times = self.called.get(&scene.call.tool).copied().unwrap_or_default();
                vec![scene.text(&format!("step {times}"), &json!({}))]
            }
            Does::Result(result) => vec![Act::answer(id, result.clone())],
            Does::Fails(text) => vec![scene.text(text, &json!({"isError": true}))],
            Does::Refuses(code) => vec![Act::refuse(id, *code, "The server says no")],
            Does::Dies => vec![Act::Exit],
            Does::DiesAnswering => vec![scene.half(), Act::Exit],
            Does::StopsAnswering => vec![scene.half()],
            Does::Never => Vec::new(),
            Does::StopsReading => vec![Act::StopReading],
            Does::Waits(ms) => vec![Act::After { ms: *ms, acts: vec![scene.echo()] }],
            Does::Twice => vec![scene.echo(), scene.echo()],
            Does::StrayId => vec![scene.stray(), scene.echo()],
            Does::WrongId => vec![scene.stray()],
            Does::IdAsString => vec![scene.with_id(json!(id.to_string()))],
            Does::HoldsBack => {
                self.held.push(scene.echo());
                Vec::new()
            }
            Does::Big(bytes) => vec![Act::Line { about: id.clone(), bytes: big(id, *bytes) }],
            Does::Deep(levels) => vec![Act::Line { about: id.clone(), bytes: deep(id, *levels) }],
            Does::BrokenUtf8 => vec![Act::Line { about: id.clone(), bytes: broken(id) }],
            Does::AsksBack(what) => vec![self.ask_back(*what, scene)],
            Does::Elicits(wish) => vec![self.elicit(wish, None, scene)],
            Does::ElicitsForEver(wish) => vec![self.elicit(wish, Some(wish.clone()), scene)],
            // After a while, as one that has something to do.
            Does::Progresses(times) => vec![Act::After { ms: 100, acts: scene.progress(*times) }],
            Does::GrowsTools => {
                self.grown += 1;
                self.list_changed(scene.era).into_iter().chain([scene.echo()]).collect()
            }
            Does::Complains(bytes) => vec![Act::Complain(*bytes), scene.echo()],
        }
    }

    fn ask_back(&mut self, what: AskBack, scene: &Scene<'_>) -> Act {
        let (method, params) = match what {
            AskBack::Ping => ("ping", json!({})),
            AskBack::Roots => ("roots/list", json!({})),
            AskBack::Sampling => {
                let messages = json!([{"role": "user", "content": {"type": "text", "text": "Well?"}}]);
                ("sampling/createMessage", json!({"messages": messages, "maxTokens": 10}))
            }
            AskBack::Unknown => ("fake/unheard_of", json!({})),
        };
        self.ask(method, &params, Asked { call: scene.id.clone(), insists: None })
    }

    fn ask(&mut self, method: &str, params: &Value, asked: Asked) -> Act {
        let about = Some(asked.call.clone());
        let id = self.next_ask(asked);
        Act::Say { about, message: json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) }
    }

    fn elicit(&mut self, wish: &Wish, insists: Option<Wish>, scene: &Scene<'_>) -> Act {
        if scene.era == Era::Legacy {
            return self.ask("elicitation/create", &wish.params(), Asked { call: scene.id.clone(), insists });
        }
        // What is asked must be told from the state alone: the server may have been started anew.
        let state = format!("state of {}", scene.call.tool);
        match &scene.call.input_responses {
            Some(_) if scene.call.request_state.as_deref() != Some(state.as_str()) => {
                Act::refuse(scene.id, INVALID, "That is not the state I gave")
            }
            Some(answers) if insists.is_none() => scene.text(&format!("answered {}", answers[ASK]), &json!({})),
            Some(_) | None => {
                let request = json!({"method": "elicitation/create", "params": wish.params()});
                let wanted =
                    json!({"resultType": "input_required", "inputRequests": {ASK: request}, "requestState": state});
                Act::answer(scene.id, wanted)
            }
        }
    }

    /// The client answered something we asked.
    pub(super) fn answered(&mut self, id: &Id, message: &Value) -> Vec<Act> {
        let Some(asked) = id.as_str().and_then(|id| self.asked.remove(id)) else { return Vec::new() };
        if let Some(wish) = asked.insists.clone() {
            return vec![self.ask("elicitation/create", &wish.params(), asked)];
        }
        let answer = message.get("result").or(message.get("error")).cloned().unwrap_or_default();
        let content = json!([{"type": "text", "text": format!("answered {answer}")}]);
        vec![Act::answer(&asked.call, json!({"content": content}))]
    }
}

/// One call being answered.
struct Scene<'a> {
    era: Era,
    id: &'a Id,
    params: &'a Value,
    call: &'a McpCall,
}

impl Scene<'_> {
    fn echo(&self) -> Act {
        self.text(&format!("{} heard {}", self.call.tool, self.call.arguments), &json!({}))
    }

    /// A text as result, with more fields.
    fn text(&self, text: &str, more: &Value) -> Act {
        let mut result = json!({"content": [{"type": "text", "text": text}]});
        for (key, value) in more.as_object().into_iter().flatten() {
            result[key] = value.clone();
        }
        if self.era == Era::Modern {
            result["resultType"] = "complete".into();
        }
        Act::answer(self.id, result)
    }

    fn with_id(&self, id: Value) -> Act {
        let Act::Say { about, mut message } = self.echo() else { return self.echo() };
        message["id"] = id;
        Act::Say { about, message }
    }

    fn stray(&self) -> Act {
        self.with_id(json!(4_000_000))
    }

    fn half(&self) -> Act {
        let Act::Say { message, .. } = self.text(&"x".repeat(4096), &json!({})) else { return self.echo() };
        Act::Half { about: self.id.clone(), message }
    }

    fn progress(&self, times: u32) -> Vec<Act> {
        let token = &self.params["_meta"]["progressToken"];
        let told = (1..=times).filter(|_| !token.is_null()).map(|n| {
            let params = json!({"progressToken": token, "progress": n, "total": times, "message": format!("step {n}")});
            Act::notify(Some(self.id), "notifications/progress", &params)
        });
        told.chain([self.echo()]).collect()
    }
}

impl Wish {
    fn params(&self) -> Value {
        match self {
            Self::Form { message, schema } => json!({"mode": "form", "message": message, "requestedSchema": schema}),
            Self::Visit { message, url } => {
                json!({"mode": "url", "message": message, "url": url, "elicitationId": "visit-1"})
            }
        }
    }
}

/// An answer of so many bytes of text.
fn big(id: &Id, bytes: usize) -> Vec<u8> {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#);
    [head.as_bytes(), &vec![b'x'; bytes], br#""}]}}"#].concat()
}

/// An answer that nests deeper than a parser would go by itself.
fn deep(id: &Id, levels: usize) -> Vec<u8> {
    let (open, close) = ("[".repeat(levels), "]".repeat(levels));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{open}{close}}}}}"#).into_bytes()
}

/// An answer whose text is no UTF-8.
fn broken(id: &Id) -> Vec<u8> {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"caf"#);
    [head.as_bytes(), b"\xe9 \xff\xfe", br#""}]}}"#].concat()
}
