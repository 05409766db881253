//! Which parameters of a request are refused. A parameter that would change what the answer is or means is refused unless it
//! has the value that changes nothing; the rest steers a bare model (temperature, length) or is for the provider (user,
//! metadata), and is ignored. `docs/openai.md` has the table.

use serde_json::{Map, Value};

use super::error::OpenAiError;

/// Which values of a parameter change nothing; others are refused.
#[derive(Clone, Copy, Debug)]
enum Neutral {
    /// Only none.
    Absent,
    /// An empty list or text.
    Empty,
    /// `false`, or 0.
    Off,
    /// The number 1.
    One,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list of nothing but this word.
    Only(&'static str),
    /// An object whose `type` is this word.
    Type(&'static str),
    /// An object whose `format` has this type.
    Format(&'static str),
}

impl Neutral {
    fn allows(self, value: &Value) -> bool {
        if value.is_null() {
            return true;
        }
        let has_type = |value: &Value, word: &str| value.is_null() || value["type"] == word;
        match self {
            Self::Absent => false,
            Self::Empty => value.as_array().is_some_and(Vec::is_empty) || value.as_str().is_some_and(str::is_empty),
            Self::Off => *value == Value::Bool(false) || value.as_u64() == Some(0),
            Self::One => value.as_u64() == Some(1),
            Self::Words(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Only(word) => value.as_array().is_some_and(|values| values.iter().all(|value| value == word)),
            Self::Type(word) => has_type(value, word),
            Self::Format(word) => has_type(&value["format"], word),
        }
    }
}

const OWN_TOOLS: &str =
    "this agent works with tools of its own; tools of the client are not supported yet: leave this out";
const FORMAT: &str = "the answer is text; a format can't be asked for yet: leave this out";
const LOGPROBS: &str = "an agent's answer has no log probabilities: leave this out";
const TEXT_ONLY: &str = "the answer is text only: leave this out";
const STOP: &str = "the answer is not cut at stop sequences: leave this out";

/// The refused parameters of both kinds of requests.
const REFUSED: &[(&str, Neutral, &str)] = &[
    ("tools", Neutral::Empty, OWN_TOOLS),
    ("functions", Neutral::Empty, OWN_TOOLS),
    ("tool_choice", Neutral::Words(&["auto", "none"]), OWN_TOOLS),
    ("function_call", Neutral::Words(&["auto", "none"]), OWN_TOOLS),
    ("web_search_options", Neutral::Absent, OWN_TOOLS),
    ("n", Neutral::One, "there is one answer: leave `n` out, or send 1"),
    ("stop", Neutral::Empty, STOP),
    ("logprobs", Neutral::Off, LOGPROBS),
    ("top_logprobs", Neutral::Off, LOGPROBS),
    ("modalities", Neutral::Only("text"), TEXT_ONLY),
    ("audio", Neutral::Absent, TEXT_ONLY),
    ("response_format", Neutral::Type("text"), FORMAT),
    ("text", Neutral::Format("text"), FORMAT),
    ("background", Neutral::Off, "the answer belongs to this request: leave `background` out"),
    ("prompt", Neutral::Absent, "there are no stored prompts here: send `instructions` and `input`"),
    (
        "conversation",
        Neutral::Absent,
        "there are no stored conversations here: send `previous_response_id`, or name a session in the header \
         `X-Windlass-Session`",
    ),
];

/// Refuses what would change the answer and is not supported.
pub(super) fn check(parameters: &Map<String, Value>) -> Result<(), OpenAiError> {
    for (name, neutral, why) in REFUSED {
        if parameters.get(*name).is_some_and(|value| !neutral.allows(value)) {
            return Err(OpenAiError::unsupported(*name, *why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    fn refused(parameters: Value) -> Option<String> {
        let Value::Object(parameters) = parameters else { panic!("an object") };
        check(&parameters).err().map(|error| error.body()["error"]["param"].as_str().unwrap().to_owned())
    }

    // proves W3: what would change the answer is refused by name, what means nothing to an agent is ignored
    #[test]
    fn parameters_that_would_change_the_answer_are_refused() {
        for (parameters, param) in [
            (json!({"tools": [{"type": "function"}]}), "tools"),
            (json!({"functions": [{"name": "f"}]}), "functions"),
            (json!({"tool_choice": "required"}), "tool_choice"),
            (json!({"tool_choice": {"type": "function"}}), "tool_choice"),
            (json!({"web_search_options": {}}), "web_search_options"),
            (json!({"n": 2}), "n"),
            (json!({"stop": ["\n"]}), "stop"),
            (json!({"stop": "\n"}), "stop"),
            (json!({"logprobs": true}), "logprobs"),
            (json!({"top_logprobs": 3}), "top_logprobs"),
            (json!({"modalities": ["text", "audio"]}), "modalities"),
            (json!({"audio": {"voice": "x"}}), "audio"),
            (json!({"response_format": {"type": "json_schema"}}), "response_format"),
            (json!({"response_format": {"type": "json_object"}}), "response_format"),
            (json!({"text": {"format": {"type": "json_schema"}}}), "text"),
            (json!({"background": true}), "background"),
            (json!({"prompt": {"id": "x"}}), "prompt"),
            (json!({"conversation": "conv_1"}), "conversation"),
        ] {
            assert_eq!(refused(parameters.clone()).as_deref(), Some(param), "{parameters}");
        }
        for parameters in [
            json!({"temperature": 2, "top_p": 0.1, "max_tokens": 1, "max_completion_tokens": 1, "seed": 7, "user": "u"}),
            json!({"metadata": {"a": "b"}, "store": true, "frequency_penalty": 1, "logit_bias": {"5": 1}}),
            json!({"tools": [], "functions": null, "tool_choice": "auto", "n": 1, "stop": [], "logprobs": false}),
            json!({"modalities": ["text"], "response_format": {"type": "text"}, "text": {"format": {"type": "text"}}}),
            json!({"text": {"verbosity": "low"}, "reasoning": {"effort": "low"}, "background": false, "unheard_of": 1}),
        ] {
            assert_eq!(refused(parameters.clone()), None, "{parameters}");
        }
    }
}
