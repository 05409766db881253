//! The tools we serve: names, descriptions, schemas and annotations.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// A tool we serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServedTool {
    Ask,
    Resume,
    Stop,
    ListSessions,
    ReadSession,
}

impl ServedTool {
    pub(super) const ALL: [Self; 5] = [Self::Ask, Self::Resume, Self::Stop, Self::ListSessions, Self::ReadSession];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|offered| offered.name() == name)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Resume => "resume",
            Self::Stop => "stop",
            Self::ListSessions => "list_sessions",
            Self::ReadSession => "read_session",
        }
    }

    pub(super) fn tool(self) -> Tool {
        let mut tool = Tool::new(self.name(), self.description(), object(self.input()));
        tool.title = Some(self.title().to_owned());
        tool.output_schema = Some(object(self.output()).into());
        tool.annotations = Some(self.annotations());
        tool
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Ask => "Ask the agent",
            Self::Resume => "Go on with a run",
            Self::Stop => "Stop a run",
            Self::ListSessions => "List sessions",
            Self::ReadSession => "Read a session",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Ask => {
                "Give the Windlass agent something to do in its workspace and wait for its answer. It reads and \
                 changes files, runs commands it is allowed to run, and goes on until the job is done; that can take \
                 minutes. Without a session each request stands alone; with one the agent remembers what was said in \
                 it. With a message_id it is safe to repeat: the same id is never done twice, and a run that was cut \
                 short goes on."
            }
            Self::Resume => {
                "Go on with the run of a session that was cut short (its process died or its client went away) or \
                 that waits for an answer, and wait for its end. The agent keeps what it has done."
            }
            Self::Stop => {
                "Stop what the agent does in a session. What it has done stays done, and the session can be \
                 continued with ask."
            }
            Self::ListSessions => "List the agent's sessions, the last used first, and what each is doing.",
            Self::ReadSession => {
                "Read what was said and done in a session, in order: messages, replies, calls and their results."
            }
        }
    }

    /// Returns the hints: a run may do whatever the agent may; the other tools touch only Windlass's own data.
    fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::Ask | Self::Resume => hints.read_only(false).destructive(true).idempotent(false).open_world(true),
            Self::Stop => hints.read_only(false).destructive(true).idempotent(true).open_world(false),
            Self::ListSessions | Self::ReadSession => hints.read_only(true).open_world(false),
        }
    }

    fn input(self) -> Value {
        let session = json!({"type": "string", "minLength": 1, "maxLength": 200, "description": "The session's key"});
        match self {
            Self::Ask => closed(
                &json!({
                    "prompt": {"type": "string", "minLength": 1, "description": "What to do"},
                    "session": {
                        "type": "string", "minLength": 1, "maxLength": 200,
                        "description": "The session to continue or begin, by a key of your choice; a new one if left out",
                    },
                    "message_id": {
                        "type": "string", "minLength": 1, "maxLength": 200,
                        "description": "Makes it safe to repeat: the same id never adds the message twice",
                    },
                }),
                &["prompt"],
            ),
            Self::Resume | Self::Stop => closed(&json!({ "session": session }), &["session"]),
            Self::ListSessions => closed(
                &json!({"limit": {"type": "integer", "minimum": 1, "description": "How many at most; 50 if left out"}}),
                &[],
            ),
            Self::ReadSession => closed(
                &json!({
                    "session": session,
                    "after": {"type": "integer", "minimum": 0, "description": "Begin after the record with this seq"},
                    "limit": {"type": "integer", "minimum": 1, "description": "How many entries at most; 100 if left out"},
                }),
                &["session"],
            ),
        }
    }

    fn output(self) -> Value {
        let text = json!({"type": "string"});
        let count = json!({"type": "integer", "minimum": 0});
        match self {
            Self::Ask | Self::Resume => json!({
                "type": "object",
                "properties": {
                    "session": {"type": "string", "description": "The session's key, to go on with"},
                    "run": {"type": "integer", "minimum": 1},
                    "reason": {"enum": [
                        "completed", "asked", "conversed", "unfinished", "cancelled", "turn_cap", "budget_spent", "failed",
                    ]},
                    "answer": {"type": "string", "description": "Absent when the run ended without one"},
                    "error": {"type": "string", "description": "Why there is no answer"},
                    "denied": {"type": "array", "description": "The calls that were not allowed", "items": {
                        "type": "object",
                        "properties": {
                            "call": text, "what": text, "why": text, "remedy": {"type": "object"},
                            "advice": {"type": "array", "items": text},
                        },
                        "required": ["call", "what", "why"],
                    }},
                    "usage": {"type": "object", "properties": {
                        "input": count, "output": count, "cached": count, "reasoning": count, "calls": count,
                    }},
                    "output": {"description": "The value a typed run ends with"},
                    "cut_off": {"type": "boolean", "description": "Set when the length limit cut off the answer"},
                },
                "required": ["session", "run", "reason", "usage"],
            }),
            Self::Stop => json!({
                "type": "object",
                "properties": {"session": text, "stopped": count, "dropped": count},
                "required": ["session", "stopped", "dropped"],
            }),
            Self::ListSessions => json!({
                "type": "object",
                "properties": {"sessions": {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "session": text, "title": text, "status": text, "updated": text, "folder": text,
                        "last_prompt": text, "runs": count,
                    },
                    "required": ["session", "status", "updated", "runs"],
                }}},
                "required": ["sessions"],
            }),
            Self::ReadSession => json!({
                "type": "object",
                "properties": {
                    "session": text,
                    "status": text,
                    "entries": {"type": "array", "items": {
                        "type": "object",
                        "properties": {"seq": count, "at": text, "who": text, "text": text},
                        "required": ["seq", "at", "who", "text"],
                    }},
                    "next": {"type": "integer", "description": "Give it as `after` to read on; absent at the end"},
                },
                "required": ["session", "status", "entries"],
            }),
        }
    }
}

fn closed(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    }
}
