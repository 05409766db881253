//! A fake server's side of the conversation: takes a message, returns actions. Pure; the transports perform them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::act::{FakeAction, Id};
use super::script::{Flood, Greeting, MODERN, MODERN_MINUS_ONE, McpScript, Probe};

pub(super) const INVALID: i64 = -32602;
pub(super) const NOT_FOUND: i64 = -32601;
pub(super) const BROKEN: i64 = -32603;
const UNSUPPORTED: i64 = -32022;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";
pub(super) const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// Which generation of the protocol a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestEra {
    /// With a handshake.
    Legacy,
    /// Without one: each request carries its own revision.
    Modern,
}

/// A request of the server that the client has not answered yet.
#[derive(Clone, Debug)]
pub(super) struct OpenAsk {
    /// The call during which it was sent.
    pub(super) call: Id,
    /// If set, asked again whatever the answer is.
    pub(super) insists: Option<super::PersonRequest>,
}

/// The state of one server.
#[derive(Debug)]
pub(super) struct McpConversation {
    pub(super) script: McpScript,
    /// Number of calls by tool, including those of earlier processes.
    pub(super) called: BTreeMap<String, usize>,
    pub(super) listings: usize,
    pub(super) grown: usize,
    pub(super) held: Vec<FakeAction>,
    pub(super) asked: BTreeMap<String, OpenAsk>,
    asks: u32,
    greeted: bool,
    flooded: bool,
    subscriptions: Vec<Id>,
}

impl McpConversation {
    /// A server whose tools were called this often in earlier processes.
    pub(super) fn new(script: McpScript, called: BTreeMap<String, usize>) -> Self {
        Self {
            script,
            called,
            listings: 0,
            grown: 0,
            held: Vec::new(),
            asked: BTreeMap::new(),
            asks: 0,
            greeted: false,
            flooded: false,
            subscriptions: Vec::new(),
        }
    }

    /// Returns the actions for a message.
    pub(super) fn hear(&mut self, message: &Value) -> Vec<FakeAction> {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some(method) if message.get("id").is_some() => self.request(id, method, params),
            Some(method) => self.notification(method, params),
            None => self.answered(id, message),
        }
    }

    /// Registers a request to the client and returns its new id.
    pub(super) fn next_ask(&mut self, asked: OpenAsk) -> String {
        self.asks += 1;
        let id = format!("ask-{}", self.asks);
        self.asked.insert(id.clone(), asked);
        id
    }

    fn speaks(&self, revision: &str) -> bool {
        self.script.revisions.iter().any(|spoken| spoken == revision)
    }

    fn request(&mut self, id: &Id, method: &str, params: &Value) -> Vec<FakeAction> {
        match method {
            "initialize" => return self.initialize(id, params),
            "server/discover" => return self.discover(id, params),
            "ping" => return vec![FakeAction::answer(id, json!({}))],
            _ => {}
        }
        let era = match self.era(id, params) {
            Ok(era) => era,
            Err(refusal) => return vec![refusal],
        };
        match method {
            "tools/list" => self.list(era, id, params),
            "tools/call" => self.call(era, id, params),
            "subscriptions/listen" if era == RequestEra::Modern => self.listen(id, params),
            "logging/setLevel" if era == RequestEra::Legacy => vec![FakeAction::answer(id, json!({}))],
            _ => vec![FakeAction::refuse(id, NOT_FOUND, "Method not found")],
        }
    }

    /// The generation of a request, or the refusal if it fits none.
    fn era(&self, id: &Id, params: &Value) -> Result<RequestEra, FakeAction> {
        let meta = &params["_meta"];
        let Some(version) = meta[VERSION_KEY].as_str() else {
            let refusal = || FakeAction::refuse(id, INVALID, "Received a request before initialization was complete");
            return if self.greeted { Ok(RequestEra::Legacy) } else { Err(refusal()) };
        };
        if !self.speaks(version) {
            return Err(self.unsupported(id, version));
        }
        if !meta[CAPABILITIES_KEY].is_object() {
            return Err(FakeAction::refuse(id, INVALID, "The request does not say what the client is capable of"));
        }
        Ok(RequestEra::Modern)
    }

    fn unsupported(&self, id: &Id, requested: &str) -> FakeAction {
        let data = json!({"supported": self.script.revisions, "requested": requested});
        let error = json!({"code": UNSUPPORTED, "message": "Unsupported protocol version", "data": data});
        FakeAction::Say { about: Some(id.clone()), message: json!({"jsonrpc": "2.0", "id": id, "error": error}) }
    }

    fn initialize(&mut self, id: &Id, params: &Value) -> Vec<FakeAction> {
        let asked = params["protocolVersion"].as_str().unwrap_or_default();
        let spoken: Vec<&String> = self.script.revisions.iter().filter(|spoken| spoken.as_str() < MODERN).collect();
        let Some(newest) = spoken.last() else { return vec![self.unsupported(id, asked)] };
        let agreed = if spoken.iter().any(|spoken| *spoken == asked) { asked } else { newest.as_str() };
        let greeting = |version: &str| {
            json!({
                "protocolVersion": version,
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": self.script.name, "version": "1"},
            })
        };
        let answer = match &self.script.handshake {
            Greeting::Never => return Vec::new(),
            Greeting::Refuses => return vec![FakeAction::refuse(id, BROKEN, "Not today")],
            Greeting::Claims(version) => greeting(version),
            Greeting::Nonsense => json!({"tools": "all of them"}),
            Greeting::Proper | Greeting::ExitsBefore | Greeting::ExitsAfter => greeting(agreed),
        };
        self.greeted = true;
        self.after_greeting(FakeAction::answer(id, answer))
    }

    fn discover(&mut self, id: &Id, params: &Value) -> Vec<FakeAction> {
        if !self.script.revisions.iter().any(|spoken| spoken.as_str() > MODERN_MINUS_ONE) {
            return match self.script.probe {
                Probe::Refuses => vec![FakeAction::refuse(id, NOT_FOUND, "Method not found")],
                Probe::Ignores => Vec::new(),
                Probe::Dies => vec![FakeAction::Exit],
            };
        }
        let asked = params["_meta"][VERSION_KEY].as_str().unwrap_or_default();
        let supported = match &self.script.handshake {
            Greeting::Never => return Vec::new(),
            Greeting::Refuses => return vec![FakeAction::refuse(id, BROKEN, "Not today")],
            Greeting::Nonsense => return vec![FakeAction::answer(id, json!({"tools": "all of them"}))],
            Greeting::Claims(version) => json!([version]),
            _ if !self.speaks(asked) => return vec![self.unsupported(id, asked)],
            Greeting::Proper | Greeting::ExitsBefore | Greeting::ExitsAfter => json!(self.script.revisions),
        };
        let answer = json!({
            "resultType": "complete",
            "supportedVersions": supported,
            "capabilities": {"tools": {"listChanged": true}},
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": self.script.name, "version": "1"}},
        });
        self.after_greeting(FakeAction::answer(id, answer))
    }

    /// The actions after the first handshake or discovery answer.
    fn after_greeting(&mut self, answer: FakeAction) -> Vec<FakeAction> {
        let mut acts = vec![answer];
        if self.script.handshake == Greeting::ExitsAfter {
            acts.push(FakeAction::Exit);
        }
        if !std::mem::replace(&mut self.flooded, true) {
            match self.script.flood {
                Flood::None => {}
                Flood::Count(times) => {
                    acts.extend((0..times).map(|_| FakeAction::notify(None, LIST_CHANGED, &json!({}))));
                }
                Flood::Endless => acts.push(FakeAction::FloodForEver),
            }
        }
        acts
    }

    fn listen(&mut self, id: &Id, params: &Value) -> Vec<FakeAction> {
        self.subscriptions.push(id.clone());
        let accepted = json!({"_meta": {SUBSCRIPTION_KEY: id}, "notifications": params["notifications"]});
        vec![FakeAction::notify(Some(id), "notifications/subscriptions/acknowledged", &accepted)]
    }

    /// Notifies all subscribers that the list changed.
    pub(super) fn list_changed(&self, era: RequestEra) -> Vec<FakeAction> {
        match era {
            RequestEra::Legacy => vec![FakeAction::notify(None, LIST_CHANGED, &json!({}))],
            RequestEra::Modern => {
                let told = self.subscriptions.iter();
                told.map(|id| FakeAction::notify(Some(id), LIST_CHANGED, &json!({"_meta": {SUBSCRIPTION_KEY: id}})))
                    .collect()
            }
        }
    }

    fn notification(&mut self, method: &str, params: &Value) -> Vec<FakeAction> {
        if method != "notifications/cancelled" {
            return Vec::new();
        }
        let id = &params["requestId"];
        let listening = self.subscriptions.len();
        self.subscriptions.retain(|subscription| subscription != id);
        if self.subscriptions.len() < listening { Vec::new() } else { vec![FakeAction::NoteCancelled(id.clone())] }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FakeAction, McpConversation};
    use crate::mcp::{FakeTool, McpScript, PersonRequest, ToolAction};

    fn meta() -> Value {
        json!({super::VERSION_KEY: "2026-07-28", super::CAPABILITIES_KEY: {}})
    }

    fn messages(acts: &[FakeAction]) -> Vec<&Value> {
        acts.iter()
            .filter_map(|act| if let FakeAction::Say { message, .. } = act { Some(message) } else { None })
            .collect()
    }

    fn server(script: McpScript) -> McpConversation {
        McpConversation::new(script, std::collections::BTreeMap::new())
    }

    #[test]
    fn a_legacy_server_refuses_the_probe_and_takes_the_handshake() {
        let mut server = server(McpScript::echo().legacy());
        let probe = json!({"id": 0, "method": "server/discover", "params": {"_meta": meta()}});
        assert_eq!(messages(&server.hear(&probe))[0]["error"]["code"], super::NOT_FOUND);
        let early = json!({"id": 1, "method": "tools/list"});
        assert_eq!(messages(&server.hear(&early))[0]["error"]["code"], super::INVALID);
        let greeting = json!({"id": 2, "method": "initialize", "params": {"protocolVersion": "2099-01-01"}});
        assert_eq!(messages(&server.hear(&greeting))[0]["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(messages(&server.hear(&early))[0]["result"]["tools"][0]["name"], "echo");
    }

    #[test]
    fn a_modern_server_refuses_the_handshake_and_every_request_without_its_revision() {
        let mut server = server(McpScript::echo().modern());
        let greeting = json!({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}});
        assert_eq!(messages(&server.hear(&greeting))[0]["error"]["code"], super::UNSUPPORTED);
        let bare = json!({"id": 1, "method": "tools/list"});
        assert_eq!(messages(&server.hear(&bare))[0]["error"]["code"], super::INVALID);
        let listed = server.hear(&json!({"id": 2, "method": "tools/list", "params": {"_meta": meta()}}));
        assert_eq!(messages(&listed)[0]["result"]["resultType"], "complete");
    }

    #[test]
    fn a_wish_is_a_request_in_one_world_and_a_result_in_the_other() {
        let wish =
            PersonRequest::Form { message: "Who?".to_owned(), schema: json!({"type": "object", "properties": {}}) };
        let script = McpScript::with([FakeTool::new("ask", ToolAction::Elicits(wish))]);
        let mut server = server(script);
        server.hear(&json!({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}));
        let asked = server.hear(&json!({"id": 1, "method": "tools/call", "params": {"name": "ask"}}));
        assert_eq!(messages(&asked)[0]["method"], "elicitation/create");
        let answer = json!({"id": messages(&asked)[0]["id"], "result": {"action": "decline"}});
        assert_eq!(messages(&server.hear(&answer))[0]["id"], 1);

        let call = |more: &Value| {
            let mut params = json!({"name": "ask", "_meta": meta()});
            for (key, value) in more.as_object().into_iter().flatten() {
                params[key] = value.clone();
            }
            json!({"id": 2, "method": "tools/call", "params": params})
        };
        let asked = server.hear(&call(&json!({})));
        let result = messages(&asked)[0]["result"].clone();
        assert_eq!(result["resultType"], "input_required");
        let answers = json!({"ask": {"action": "accept", "content": {}}});
        let forged = server.hear(&call(&json!({"inputResponses": answers, "requestState": "mine"})));
        assert_eq!(messages(&forged)[0]["error"]["code"], super::INVALID);
        let done = server.hear(&call(&json!({"inputResponses": answers, "requestState": result["requestState"]})));
        assert_eq!(messages(&done)[0]["result"]["resultType"], "complete");
    }
}
