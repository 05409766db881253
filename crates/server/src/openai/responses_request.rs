//! The body of a request to the Responses API.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::content::MessageContent;
use super::conversation::{SaidBefore, SentConversation, Speaker};
use super::error::OpenAiError;
use super::parameters;
use super::response_id::ResponseId;

/// The body of a request to the Responses API.
#[derive(Debug, Deserialize)]
pub(super) struct ResponsesBody {
    pub(super) model: String,
    #[serde(default)]
    input: Value,
    instructions: Option<String>,
    previous_response_id: Option<String>,
    pub(super) stream: Option<bool>,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

/// An item of the input. Messages may leave out their type.
#[derive(Deserialize)]
struct InputItem {
    #[serde(default)]
    r#type: InputItemType,
    role: Option<ItemRole>,
    #[serde(default)]
    content: Value,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InputItemType {
    #[default]
    Message,
    /// What a model thought. It is for that model only.
    Reasoning,
    #[serde(other)]
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ItemRole {
    System,
    Developer,
    User,
    Assistant,
}

impl ResponsesBody {
    /// Returns the answer that the conversation goes on from.
    pub(super) fn previous(&self) -> Result<Option<ResponseId>, OpenAiError> {
        let Some(id) = &self.previous_response_id else { return Ok(None) };
        id.parse().map(Some).map_err(|_| no_such_response(id))
    }

    /// Returns its conversation, if nothing in the request is refused.
    pub(super) fn conversation(&self) -> Result<SentConversation, OpenAiError> {
        parameters::check(&self.parameters)?;
        let mut system: Vec<String> = self.instructions.iter().cloned().collect();
        let mut said = Vec::new();
        match &self.input {
            Value::String(text) => {
                let content = MessageContent { text: text.clone(), files: Vec::new() };
                said.push(SaidBefore { by: Speaker::User, content });
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    add_item(item, &format!("input[{index}]"), &mut system, &mut said)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                return Err(OpenAiError::invalid("input", "the input is a text or a list of items"));
            }
        }
        SentConversation::of(&system, said, "input")
    }
}

/// Returns the error for an id that names no answer of the caller's.
pub(super) fn no_such_response(id: &str) -> OpenAiError {
    let message = format!("there is no finished response `{id}` to go on from");
    OpenAiError::invalid("previous_response_id", message).code("previous_response_not_found")
}

fn add_item(
    item: &Value,
    place: &str,
    system: &mut Vec<String>,
    said: &mut Vec<SaidBefore>,
) -> Result<(), OpenAiError> {
    let read = InputItem::deserialize(item)
        .map_err(|error| OpenAiError::invalid(place.to_owned(), format!("this item can't be read: {error}")))?;
    match read.r#type {
        InputItemType::Message => {}
        InputItemType::Reasoning => return Ok(()),
        InputItemType::Other => {
            let message = "only messages can be sent; calls and results of other agents can't";
            return Err(OpenAiError::unsupported(place.to_owned(), message));
        }
    }
    let content = MessageContent::read(&read.content, &format!("{place}.content"))?;
    match read.role {
        Some(ItemRole::System | ItemRole::Developer) => system.push(content.text),
        Some(ItemRole::User) => said.push(SaidBefore { by: Speaker::User, content }),
        Some(ItemRole::Assistant) => said.push(SaidBefore { by: Speaker::Assistant, content }),
        None => return Err(OpenAiError::invalid(place.to_owned(), "a message needs a role")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ResponsesBody;
    use crate::openai::conversation::{SentConversation, Speaker};
    use crate::openai::error::OpenAiError;

    fn read(more: &Value) -> Result<SentConversation, OpenAiError> {
        let mut body = json!({"model": "windlass"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value::<ResponsesBody>(body).unwrap().conversation()
    }

    // proves W3
    #[test]
    fn input_is_a_text_or_items() {
        let text = read(&json!({"input": "Hello", "instructions": "Be brief."})).unwrap();
        assert_eq!((text.system.as_deref(), text.message.text.as_str()), (Some("Be brief."), "Hello"));
        let items = read(&json!({"input": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "One?"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
                "content": [{"type": "output_text", "text": "1", "annotations": []}]},
            {"role": "user", "content": [{"type": "input_text", "text": "Two?"}]}]}))
        .unwrap();
        assert_eq!(items.system.as_deref(), Some("Be brief."));
        let before: Vec<(Speaker, &str)> =
            items.before.iter().map(|said| (said.by, said.content.text.as_str())).collect();
        assert_eq!(before, [(Speaker::User, "One?"), (Speaker::Assistant, "1")]);
        assert_eq!(items.message.text, "Two?");
    }

    // proves W3
    #[test]
    fn other_input_is_refused_with_its_place() {
        for (more, param) in [
            (json!({}), "input"),
            (json!({"input": 3}), "input"),
            (json!({"input": []}), "input"),
            (json!({"input": [{"role": "user", "content": "x"}, {"type": "function_call_output"}]}), "input[1]"),
            (json!({"input": [{"content": "x"}]}), "input[0]"),
            (json!({"input": [{"role": "king", "content": "x"}]}), "input[0]"),
            (json!({"input": "x", "tools": [{"type": "web_search"}]}), "tools"),
        ] {
            let error = read(&more).unwrap_err().body();
            assert_eq!(error["error"]["param"], param, "{more}: {error}");
        }
    }
}
