//! Calls that a server returns early because it needs input first (P4), which is how the newest revision asks. The
//! state the server wants back is kept in the pause, so that another process can make the call again.

use std::collections::BTreeSet;

use rmcp::model::{ElicitRequestParams, ErrorCode, ErrorData, InputRequest, InputRequiredResult, InputResponses};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_vocab::{Elicitation, Json, Outcome, Pause, QuestionOption, Resumption};

use crate::asked_back;
use crate::elicit;
use crate::name::ServerName;

/// The error code by which an older revision requires a page to be visited first.
const VISIT_FIRST: ErrorCode = ErrorCode(-32_042);

/// The extra input of one attempt of a call; empty at first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AttemptInput {
    /// How many attempts there were before.
    pub(crate) count: u32,
    /// The state to return to the server.
    pub(crate) state: Option<String>,
    /// The answers to the server's questions.
    pub(crate) responses: Option<InputResponses>,
}

/// The stored state of a paused call.
#[derive(Debug, Serialize, Deserialize)]
struct KeptCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_state: Option<String>,
    /// The keys of requests for the workspace roots.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    roots: BTreeSet<String>,
    /// Whether the answers are sent to the server, or it only required waiting for the person.
    #[serde(default)]
    answers: GivenAnswers,
    #[serde(default)]
    count: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum GivenAnswers {
    #[default]
    Returned,
    OnlyAwaited,
}

/// What to do when a server requires input.
pub(crate) enum AfterInputRequired {
    /// Make the call again with this input.
    Again(AttemptInput),
    /// The call is over or paused.
    Settled(Box<Outcome>),
}

/// Decides what to do about the server's requests.
pub(crate) fn next(
    server: &ServerName,
    wanted: InputRequiredResult,
    count: u32,
    root: Option<&str>,
) -> AfterInputRequired {
    let (mut asks, mut roots) = (Vec::new(), BTreeSet::new());
    for (key, request) in wanted.input_requests.unwrap_or_default() {
        match request {
            InputRequest::Elicitation(request) => match elicit::question(server, key, &request.params) {
                Some(question) => asks.push(question),
                None => return refused("something of the person that can't be asked here"),
            },
            InputRequest::ListRoots(_) => {
                roots.insert(key);
            }
            _ => return refused("a model's answer, and Windlass does not lend its model to servers"),
        }
    }
    let kept =
        KeptCall { request_state: wanted.request_state, roots, answers: GivenAnswers::Returned, count: count + 1 };
    if asks.is_empty() {
        return AfterInputRequired::Again(kept.into_attempt_input(InputResponses::new(), root));
    }
    AfterInputRequired::Settled(Box::new(kept.pause(asks)))
}

fn refused(what: &str) -> AfterInputRequired {
    AfterInputRequired::Settled(Box::new(Outcome::error(format!("The server wants {what}: the call can't go on."))))
}

/// Returns the pause for an error that requires a page to be visited first; `None` for any other error.
pub(crate) fn of_error(server: &ServerName, error: &ErrorData) -> Option<Outcome> {
    if error.code != VISIT_FIRST {
        return None;
    }
    let wanted: Vec<Value> = serde_json::from_value(error.data.as_ref()?.get("elicitations")?.clone()).ok()?;
    let asks: Option<Vec<Elicitation>> = wanted
        .into_iter()
        .enumerate()
        .map(|(index, value)| {
            let params: ElicitRequestParams = serde_json::from_value(value).ok()?;
            elicit::question(server, index.to_string(), &params)
        })
        .collect();
    let asks = asks.filter(|asks| !asks.is_empty())?;
    let kept = KeptCall { request_state: None, roots: BTreeSet::new(), answers: GivenAnswers::OnlyAwaited, count: 1 };
    Some(kept.pause(asks))
}

impl KeptCall {
    fn pause(&self, asks: Vec<Elicitation>) -> Outcome {
        let state = serde_json::to_value(self).unwrap_or_default();
        Outcome::paused(Pause { state: Json::from(&state), asks })
    }

    fn into_attempt_input(self, mut responses: InputResponses, root: Option<&str>) -> AttemptInput {
        for key in self.roots {
            responses.insert(key, serde_json::to_value(asked_back::roots(root)).unwrap_or_default());
        }
        let responses = (!responses.is_empty()).then_some(responses);
        AttemptInput { count: self.count, state: self.request_state, responses }
    }
}

impl AttemptInput {
    /// Returns the input for making a paused call again, or the outcome if the answers end it.
    pub(crate) fn resumed(resumption: &Resumption, root: Option<&str>) -> Result<Self, Box<Outcome>> {
        let kept: KeptCall = serde_json::from_str(resumption.state.as_str())
            .map_err(|error| Box::new(Outcome::error(format!("The paused call can't be taken up: {error}."))))?;
        match kept.answers {
            GivenAnswers::Returned => {
                let answered = resumption.answers.iter().map(|(key, answer)| {
                    (key.clone(), serde_json::to_value(elicit::result(answer)).unwrap_or_default())
                });
                Ok(kept.into_attempt_input(answered.collect(), root))
            }
            GivenAnswers::OnlyAwaited => {
                let agreed = resumption.answers.iter().all(|(_, answer)| answer.option == QuestionOption::Submit);
                if agreed {
                    Ok(kept.into_attempt_input(InputResponses::new(), root))
                } else {
                    Err(Box::new(declined()))
                }
            }
        }
    }
}

fn declined() -> Outcome {
    Outcome::error("The person did not do what the server wanted first, so the call was not made again.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_vocab::{Answer, ElicitationKind};

    use super::*;

    fn server() -> ServerName {
        "s".parse().unwrap()
    }

    fn wanted(value: Value) -> InputRequiredResult {
        serde_json::from_value(value).unwrap()
    }

    fn form(key: &str) -> Value {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        json!({key: {"method": "elicitation/create", "params": {"mode": "form", "message": "Who?", "requestedSchema": schema}}})
    }

    // proves P4
    #[test]
    fn a_call_paused_by_one_process_is_taken_up_by_another() {
        let asked = wanted(json!({
            "resultType": "input_required", "requestState": "opaque/state+1", "inputRequests": form("who")
        }));
        let AfterInputRequired::Settled(outcome) = next(&server(), asked, 0, None) else { panic!("not paused") };
        let pause = outcome.pause.unwrap();
        assert_eq!((pause.asks[0].key.as_str(), pause.asks[0].message.as_str()), ("who", "Who?"));
        assert!(matches!(&pause.asks[0].wants, ElicitationKind::Form { schema } if schema.as_str().contains("name")));
        let state = Json::parse(pause.state.as_str()).unwrap();
        for (option, content, want) in [
            (
                QuestionOption::Submit,
                Some(json!({"name": "Ada"})),
                json!({"action": "accept", "content": {"name": "Ada"}}),
            ),
            (QuestionOption::No, None, json!({"action": "decline"})),
            (QuestionOption::Dismiss, None, json!({"action": "cancel"})),
        ] {
            let answer = Answer { option, arguments: content.as_ref().map(Json::from), reason: None };
            let resumption = Resumption { state: state.clone(), answers: vec![("who".into(), answer)] };
            let input = AttemptInput::resumed(&resumption, None).unwrap();
            assert_eq!(input.state.as_deref(), Some("opaque/state+1"));
            assert_eq!(input.responses.unwrap()["who"], want);
        }
    }

    // proves P4
    #[test]
    fn a_server_that_only_wants_its_state_back_or_the_workspace_asks_nobody() {
        let asked = wanted(json!({"resultType": "input_required", "requestState": "x"}));
        let AfterInputRequired::Again(input) = next(&server(), asked, 2, None) else { panic!("not again") };
        assert_eq!((input.count, input.state.as_deref(), input.responses), (3, Some("x"), None));
        let asked = wanted(json!({"resultType": "input_required", "inputRequests": {"r": {"method": "roots/list"}}}));
        let AfterInputRequired::Again(input) = next(&server(), asked, 0, Some("file:///w/")) else {
            panic!("not again")
        };
        assert_eq!(input.responses.unwrap()["r"]["roots"][0]["uri"], "file:///w/");
    }

    // proves P4
    #[test]
    fn a_page_to_be_visited_first_pauses_the_call() {
        let data = json!({"elicitations": [
            {"mode": "url", "message": "Log in", "url": "https://x/login", "elicitationId": "1"}
        ]});
        let error = ErrorData::new(VISIT_FIRST, "visit", Some(data));
        let pause = of_error(&server(), &error).unwrap().pause.unwrap();
        assert!(matches!(&pause.asks[0].wants, ElicitationKind::Visit { url } if url == "https://x/login"));
        let answered =
            |option| Resumption { state: pause.state.clone(), answers: vec![("0".into(), Answer::plain(option))] };
        assert!(AttemptInput::resumed(&answered(QuestionOption::Submit), None).unwrap().responses.is_none());
        assert!(AttemptInput::resumed(&answered(QuestionOption::No), None).is_err());
        assert!(of_error(&server(), &ErrorData::new(ErrorCode(-32_000), "no", None)).is_none());
    }

    #[test]
    fn an_address_that_is_no_web_page_is_not_shown() {
        let data = json!({"elicitations": [
            {"mode": "url", "message": "x", "url": "javascript:alert(1)", "elicitationId": "1"}
        ]});
        assert!(of_error(&server(), &ErrorData::new(VISIT_FIRST, "visit", Some(data))).is_none());
    }
}
