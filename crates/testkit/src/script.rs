//! A script: the replies of a model, as data.
//!
//! A script is a list of [`Scene`]s. The first scene whose [`SceneCondition`] matches a request answers it, with
//! the step that the conversation has reached: the number of earlier replies is counted in the
//! request's own messages, never in the order in which requests arrive. So a client that is killed
//! and asks again gets the same reply again.
//!
//! ```
//! use windlass_testkit::{Script, ScriptStep};
//!
//! let script = Script::of([
//!     ScriptStep::call("read_file", serde_json::json!({"path": "notes.txt"})),
//!     ScriptStep::say("The notes say hello."),
//! ]);
//! assert_eq!(script.scenes.len(), 1);
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::ScriptedFault;

/// All replies of a scripted model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Tried in order; the first that matches answers.
    pub scenes: Vec<Scene>,
    /// How fast replies are sent, unless a step sets its own pace.
    pub pace: ReplyPace,
    /// How thoroughly the server checks requests.
    pub inspection: Inspection,
    /// Where the counts of tokens come from.
    pub counting: TokenCounting,
    /// Answers to requests that are no model calls, by path: `/props`, `/v1/models`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, Value>,
}

/// Where the counts of tokens come from that a server reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenCounting {
    /// From the step.
    #[default]
    Scripted,
    /// From the request: the server counts its bytes, and has a cache of what earlier requests began with. Only the
    /// tokens of the reply are the step's.
    Measured,
}

/// How thoroughly the server checks requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inspection {
    /// Each is parsed, checked for legality and recorded.
    #[default]
    Full,
    /// Replies are only counted and no request is kept: for benches. The first scene answers every
    /// request, counted over the whole conversation; its `when` and its faults are ignored.
    Quick,
}

/// Steps for the requests that match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scene {
    /// Which requests it answers.
    pub when: SceneCondition,
    /// The replies, in order.
    pub steps: Vec<ScriptStep>,
    /// Where counting starts.
    pub counting: CountFrom,
    /// What happens after the last step.
    pub then: AfterSteps,
}

/// Which requests a scene answers: those that match every condition given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneCondition {
    /// The last user message contains this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_contains: Option<String>,
    /// This many user messages have been sent, the last one included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_number: Option<usize>,
    /// Whether the model may call tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolCalling>,
}

/// Whether the model may call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCalling {
    /// Tools are offered.
    Offered,
    /// No tools are offered, or `tool_choice` is `none`.
    Withheld,
}

/// Where counting starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountFrom {
    /// At the last user message. A nudge is one too, and starts the scene it matches from its first step.
    #[default]
    SinceUser,
    /// At the start of the conversation.
    Whole,
}

/// What happens after the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterSteps {
    /// The request is refused as one for which the script has no reply.
    #[default]
    Refuse,
    /// The last step is repeated.
    RepeatLast,
    /// The steps start again from the first.
    Cycle,
}

/// One reply. In `text` and in arguments, `$STEP` is replaced by the number of the reply, from 1, so that
/// repeated steps can differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptStep {
    /// Text of the answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Text of the reasoning.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// The requested calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptedCall>,
    /// `finish_reason`; by default `tool_calls` or `stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// The token usage that the server reports; by default 10 and 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenCounts>,
    /// The faults before the step is answered as written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<ScriptedFault>,
    /// How fast it is sent; by default at the script's pace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<ReplyPace>,
}

/// A call that the model requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The tool's name on the wire.
    pub name: String,
    /// The arguments. A string is sent literally, so that a script can send broken JSON.
    #[serde(default)]
    pub arguments: Value,
    /// The provider's id; by default one that names the step. An empty id is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// The token usage that the server reports for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenCounts {
    /// Tokens of the request.
    pub prompt: u64,
    /// Tokens of the reply.
    pub completion: u64,
    /// How many of the request's tokens were read from the cache.
    #[serde(default)]
    pub cached: u64,
    /// How many of the request's tokens were written to the cache. Chat Completions does not report them.
    #[serde(default)]
    pub cache_written: u64,
}

impl Default for TokenCounts {
    fn default() -> Self {
        Self { prompt: 10, completion: 10, cached: 0, cache_written: 0 }
    }
}

/// How fast a reply is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReplyPace {
    /// Pause before the first byte.
    pub latency_ms: u64,
    /// Pause between two writes of a stream.
    pub pause_ms: u64,
    /// How a stream is divided into writes.
    pub writes: WriteSplit,
    /// How many characters of text one event carries.
    pub delta_chars: usize,
}

impl Default for ReplyPace {
    fn default() -> Self {
        Self { latency_ms: 0, pause_ms: 0, writes: WriteSplit::Whole, delta_chars: 24 }
    }
}

/// How a stream is divided into writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteSplit {
    /// All in one write.
    #[default]
    Whole,
    /// One write per event.
    Events,
    /// Writes of this many bytes, wherever they end.
    Bytes(usize),
}

impl Script {
    /// One scene that answers every request, its steps counted over the whole conversation.
    #[must_use]
    pub fn of(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        Self::default().scene(Scene {
            steps: steps.into_iter().collect(),
            counting: CountFrom::Whole,
            ..Scene::default()
        })
    }

    /// A script in which user messages that contain `words` are answered by `steps`, counted from
    /// that message on. Add more with [`Script::scene`].
    #[must_use]
    pub fn when(words: &str, steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        Self::default().scene(Scene::when(words, steps))
    }

    /// `turns` replies, each with `text_bytes` of text and one call, then a last one without a call.
    /// The arguments differ from turn to turn if they contain `$STEP`.
    #[must_use]
    pub fn turns(turns: usize, text_bytes: usize, call: &ScriptedCall) -> Self {
        let text: String = "haul away ".chars().cycle().take(text_bytes).collect();
        let step = ScriptStep { text: text.clone(), calls: vec![call.clone()], ..ScriptStep::default() };
        let last = ScriptStep::say(if text.is_empty() { "done".to_owned() } else { text });
        Self::of(std::iter::repeat_n(step, turns.saturating_sub(1)).chain([last]))
    }

    /// This script with one more scene, tried after the existing ones.
    #[must_use]
    pub fn scene(mut self, scene: Scene) -> Self {
        self.scenes.push(scene);
        self
    }

    /// This script at another pace.
    #[must_use]
    pub fn pace(mut self, pace: ReplyPace) -> Self {
        self.pace = pace;
        self
    }

    /// This script with requests only counted.
    #[must_use]
    pub fn quick(mut self) -> Self {
        self.inspection = Inspection::Quick;
        self
    }

    /// This script with the tokens of requests counted, and their beginnings cached.
    #[must_use]
    pub fn measured(mut self) -> Self {
        self.counting = TokenCounting::Measured;
        self
    }

    /// This script with an answer to a request that is no model call.
    #[must_use]
    pub fn answering(mut self, path: &str, answer: Value) -> Self {
        self.answers.insert(path.to_owned(), answer);
        self
    }

    /// Parses a script from JSON.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }
}

impl Scene {
    /// Answers user messages that contain `words`.
    #[must_use]
    pub fn when(words: &str, steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        let when = SceneCondition { user_contains: Some(words.to_owned()), ..SceneCondition::default() };
        Self { when, steps: steps.into_iter().collect(), ..Self::default() }
    }

    /// Answers the `number`-th user message, from 1.
    #[must_use]
    pub fn user(number: usize, steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        let when = SceneCondition { user_number: Some(number), ..SceneCondition::default() };
        Self { when, steps: steps.into_iter().collect(), ..Self::default() }
    }

    /// Answers requests in which the model may not call tools: a wrap-up, or plain talk.
    #[must_use]
    pub fn without_tools(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        let when = SceneCondition { tools: Some(ToolCalling::Withheld), ..SceneCondition::default() };
        Self { when, steps: steps.into_iter().collect(), then: AfterSteps::RepeatLast, ..Self::default() }
    }

    /// This scene with another behaviour after its last step.
    #[must_use]
    pub fn then(mut self, then: AfterSteps) -> Self {
        self.then = then;
        self
    }

    /// This scene with its steps counted from another start.
    #[must_use]
    pub fn counting(mut self, counting: CountFrom) -> Self {
        self.counting = counting;
        self
    }
}

impl ScriptStep {
    /// A reply with text only.
    #[must_use]
    pub fn say(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A reply with one call.
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// One call as written by a model without tool calling: a `<tool>` block in its text.
    #[must_use]
    pub fn block(server: &str, tool: &str, arguments: &Value) -> Self {
        Self::say(format!(
            "<tool>\n<server_name>{server}</server_name>\n<tool_name>{tool}</tool_name>\n\
             <arguments>\n{arguments}\n</arguments>\n</tool>"
        ))
    }

    /// This step as given by a model that writes its calls as text: one `<tool>` block per reply. Tools have their wire
    /// names; one without a server prefix is built in. The text and the faults go with the first block.
    #[must_use]
    pub fn in_blocks(self) -> Vec<Self> {
        let block = |call: &ScriptedCall| {
            let (server, tool) = call.name.split_once("__").unwrap_or(("local", &call.name));
            Self::block(server, tool, &call.arguments)
        };
        let mut blocks: Vec<Self> = self.calls.iter().map(block).collect();
        match blocks.first_mut() {
            None => return vec![self],
            Some(first) => {
                first.text = format!("{}{}", self.text, first.text);
                first.thinking = self.thinking;
                first.faults = self.faults;
            }
        }
        blocks
    }

    /// This step with one more call.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push(ScriptedCall { name: name.to_owned(), arguments, id: None });
        self
    }

    /// This step with reasoning before it.
    #[must_use]
    pub fn thinking(mut self, text: impl Into<String>) -> Self {
        self.thinking = text.into();
        self
    }

    /// This step with another `finish_reason`.
    #[must_use]
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// This step with its token usage.
    #[must_use]
    pub fn usage(mut self, prompt: u64, completion: u64) -> Self {
        self.usage = Some(TokenCounts { prompt, completion, ..TokenCounts::default() });
        self
    }

    /// This step with so many of its request's tokens read from the cache, and written to it.
    #[must_use]
    pub fn cache(mut self, cached: u64, cache_written: u64) -> Self {
        self.usage = Some(TokenCounts { cached, cache_written, ..self.usage.unwrap_or_default() });
        self
    }

    /// This step with one more fault.
    #[must_use]
    pub fn fault(mut self, fault: impl Into<ScriptedFault>) -> Self {
        self.faults.push(fault.into());
        self
    }

    /// This step with its own pace.
    #[must_use]
    pub fn pace(mut self, pace: ReplyPace) -> Self {
        self.pace = Some(pace);
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AfterSteps, SceneCondition, Script, ScriptStep};
    use crate::FaultKind;

    #[test]
    fn a_script_reads_back_as_it_was_written() {
        let script = Script::when(
            "hello",
            [ScriptStep::say("hi").fault(FaultKind::Html.times(2)), ScriptStep::call("a", json!({}))],
        );
        let text = serde_json::to_string(&script).unwrap();
        assert_eq!(Script::parse(&text).unwrap(), script);
    }

    #[test]
    fn a_script_written_by_hand_may_leave_out_what_it_does_not_need() {
        let script = Script::parse(
            r#"{"scenes": [{"when": {"user_number": 2}, "then": "cycle", "steps": [
                {"calls": [{"name": "todo", "arguments": {"n": "$STEP"}}],
                 "faults": [{"kind": "status", "code": 429, "retry_after": "1", "times": 2}, {"kind": "refuse"}]}]}]}"#,
        )
        .unwrap();
        assert_eq!(script.scenes[0].when, SceneCondition { user_number: Some(2), ..SceneCondition::default() });
        assert_eq!(script.scenes[0].then, AfterSteps::Cycle);
        let faults = &script.scenes[0].steps[0].faults;
        assert_eq!(faults.iter().map(|fault| fault.times).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn calls_written_as_blocks_come_one_in_a_reply() {
        let step = ScriptStep::say("So:").and_call("todo", json!({"n": 1})).and_call("web__get", json!({"n": 2}));
        let blocks = step.fault(FaultKind::Html).in_blocks();
        assert_eq!(
            blocks[0].text,
            "So:<tool>\n<server_name>local</server_name>\n<tool_name>todo</tool_name>\n<arguments>\n{\"n\":1}\n\
             </arguments>\n</tool>"
        );
        assert!(blocks[1].text.contains("<server_name>web</server_name>\n<tool_name>get</tool_name>"));
        assert!(blocks.iter().all(|block| block.calls.is_empty()));
        assert_eq!(blocks.iter().map(|block| block.faults.len()).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(ScriptStep::say("done").in_blocks(), [ScriptStep::say("done")]);
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        let error = Script::parse(r#"{"scenes": [{"step": []}]}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field `step`"), "{error}");
    }
}
