//! Lists a server's tools: page by page within limits, parsing each tool on its own, so that a broken or hostile tool
//! affects no other (P4).

use std::collections::BTreeSet;

use rmcp::Peer;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, CustomResult, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::service::ServiceError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_tools::OutputSchema;
use windlass_vocab::{EffectClass, Json};

use crate::notice::{NoticeKind, is_hostile};

/// Limits on pages, tools, and the characters of a name and a description.
const PAGES: usize = 100;
const TOOLS: usize = 2_000;
const NAME: usize = 128;
const DESCRIPTION: usize = 100_000;

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListedTool {
    /// The tool's name on its server.
    pub(crate) name: String,
    /// What the tool does.
    #[serde(default)]
    pub(crate) description: String,
    /// The schema of its arguments, as the server wrote it.
    pub(crate) input: Json,
    /// The schema of its structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Json>,
    /// What a second run of the tool would mean, according to the server.
    pub(crate) effect: EffectClass,
}

/// The tools of a server, and notices about those that can't be offered.
#[derive(Debug, Default)]
pub(crate) struct ToolListing {
    pub(crate) tools: Vec<ListedTool>,
    pub(crate) notices: Vec<NoticeKind>,
}

/// Requests all tools.
pub(crate) async fn list(peer: &Peer<RoleClient>) -> Result<ToolListing, ServiceError> {
    let (mut reader, mut cursor, mut cursors) = (ListingReader::default(), None, BTreeSet::new());
    for _ in 0..PAGES {
        let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = ListToolsRequest { method: Default::default(), params, extensions: Default::default() };
        let answer = peer.send_request(ClientRequest::ListToolsRequest(request)).await?;
        cursor = reader.page(answer)?.filter(|cursor| !cursor.is_empty());
        match &cursor {
            None => return Ok(reader.finish().await),
            Some(next) if !cursors.insert(next.clone()) => {
                reader.cut("its pages go round in a circle".into());
                return Ok(reader.finish().await);
            }
            Some(_) if reader.raw.len() >= TOOLS => break,
            Some(_) => {}
        }
    }
    let reason = format!("it has more than {PAGES} pages or {TOOLS} tools; the first {} are used", reader.raw.len());
    reader.cut(reason);
    Ok(reader.finish().await)
}

/// A page of the listing with unparsed tools.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListingPage {
    tools: Vec<Json>,
    #[serde(default)]
    next_cursor: Option<String>,
}

#[derive(Debug, Default)]
struct ListingReader {
    raw: Vec<Json>,
    notices: Vec<NoticeKind>,
}

impl ListingReader {
    /// Adds a page and returns the cursor of the next.
    fn page(&mut self, answer: ServerResult) -> Result<Option<String>, ServiceError> {
        let page: ListingPage = match answer {
            ServerResult::CustomResult(CustomResult(Value::String(text))) => serde_json::from_str(&text),
            ServerResult::CustomResult(CustomResult(value)) => serde_json::from_value(value),
            ServerResult::ListToolsResult(result) => {
                serde_json::to_string(&result).and_then(|text| serde_json::from_str(&text))
            }
            _ => return Err(ServiceError::UnexpectedResponse),
        }
        .map_err(|_| ServiceError::UnexpectedResponse)?;
        self.raw.extend(page.tools);
        Ok(page.next_cursor)
    }

    fn cut(&mut self, reason: String) {
        self.raw.truncate(TOOLS);
        self.notices.push(NoticeKind::ListingCut { reason });
    }

    /// Compiles the schemas on a blocking thread, because that takes time.
    async fn finish(self) -> ToolListing {
        tokio::task::spawn_blocking(|| sift(self)).await.unwrap_or_default()
    }
}

fn sift(reader: ListingReader) -> ToolListing {
    let mut listing = ToolListing { tools: Vec::new(), notices: reader.notices };
    let mut names = BTreeSet::new();
    for raw in reader.raw {
        match read(&raw) {
            Ok(tool) if names.contains(&tool.name) => {
                listing.notices.push(skipped(&tool.name, "another tool of this server has the same name"));
            }
            Ok(tool) => {
                names.insert(tool.name.clone());
                listing.tools.push(tool);
            }
            Err((name, reason)) => listing.notices.push(skipped(&name, &reason)),
        }
    }
    listing
}

fn skipped(tool: &str, reason: &str) -> NoticeKind {
    NoticeKind::ToolSkipped { tool: tool.to_owned(), reason: reason.to_owned() }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawTool {
    #[serde(default)]
    name: Option<Value>,
    #[serde(default)]
    title: Option<Value>,
    #[serde(default)]
    description: Option<Value>,
    #[serde(default)]
    input_schema: Option<Json>,
    #[serde(default)]
    output_schema: Option<Json>,
    #[serde(default)]
    annotations: Option<Value>,
    #[serde(default)]
    execution: Option<Value>,
}

/// Parses one tool; the error holds the name to report it under and the problem.
fn read(json: &Json) -> Result<ListedTool, (String, String)> {
    let raw: RawTool = serde_json::from_str(json.as_str())
        .map_err(|error| (String::new(), format!("its entry can't be read: {error}")))?;
    let Some(Value::String(name)) = raw.name else {
        return Err((String::new(), "it has no name".into()));
    };
    let refuse = |reason: String| (name.clone(), reason);
    check_name(&name).map_err(refuse)?;
    if raw.execution.is_some_and(|execution| execution["taskSupport"] == "required") {
        return Err(refuse("it runs as a task only, and tasks are not supported".into()));
    }
    let input = raw.input_schema.unwrap_or_default();
    check_input(&input).map_err(|problem| refuse(format!("its argument schema can't be used: {problem}")))?;
    if let Some(output) = &raw.output_schema {
        OutputSchema::new(output).map_err(|problem| refuse(format!("its result schema can't be used: {problem}")))?;
    }
    let description = match (raw.description, raw.title) {
        (Some(Value::String(text)), _) if !text.trim().is_empty() => text,
        (_, Some(Value::String(title))) => title,
        (Some(_) | None, Some(_) | None) => String::new(),
    };
    let description = description.chars().filter(|c| !is_hostile(*c) || *c == '\n' || *c == '\t').take(DESCRIPTION);
    Ok(ListedTool {
        description: description.collect(),
        effect: effect(raw.annotations.as_ref()),
        name,
        input,
        output: raw.output_schema,
    })
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("its name is empty".into());
    }
    if name.chars().count() > NAME {
        return Err(format!("its name has more than {NAME} characters"));
    }
    if name.chars().any(|c| c.is_whitespace() || is_hostile(c) || "()*".contains(c)) {
        return Err("its name has spaces, parentheses, `*` or invisible characters in it".into());
    }
    Ok(())
}

fn check_input(schema: &Json) -> Result<(), String> {
    let value: Value = serde_json::from_str(schema.as_str()).map_err(|error| error.to_string())?;
    let Value::Object(members) = &value else {
        return Err("it is no object".into());
    };
    if members.get("type").is_some_and(|kind| kind != "object") {
        return Err("its `type` is not `object`".into());
    }
    OutputSchema::new(schema).map(drop)
}

/// Derives the effect class from the annotations; without annotations a second run counts as unsafe (J4).
fn effect(annotations: Option<&Value>) -> EffectClass {
    let says = |hint: &str| annotations.and_then(|all| all.get(hint)).and_then(Value::as_bool) == Some(true);
    if says("readOnlyHint") {
        EffectClass::ReadOnly
    } else if says("idempotentHint") {
        EffectClass::Idempotent
    } else {
        EffectClass::Once
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sifted(tools: &[Value]) -> (Vec<String>, Vec<String>) {
        let reader = ListingReader { raw: tools.iter().map(Json::from).collect(), notices: Vec::new() };
        let listing = sift(reader);
        let told = |notice: &NoticeKind| match notice {
            NoticeKind::ToolSkipped { tool, reason } => format!("{tool}: {reason}"),
            other => format!("{other:?}"),
        };
        (listing.tools.into_iter().map(|tool| tool.name).collect(), listing.notices.iter().map(told).collect())
    }

    // proves P4
    #[test]
    fn a_tool_that_can_not_be_offered_is_skipped_and_told_of_and_the_others_stay() {
        let object = json!({"type": "object"});
        for (tool, part) in [
            (json!({"name": "t", "inputSchema": {"type": "nonsense"}}), "`type` is not `object`"),
            (json!({"name": "t", "inputSchema": {"type": "object", "properties": 5}}), "can't be used"),
            (json!({"name": "t", "inputSchema": "string"}), "no object"),
            (json!({"name": "t", "inputSchema": object, "outputSchema": {"type": 7}}), "result schema"),
            (json!({"name": "", "inputSchema": object}), "empty"),
            (json!({"inputSchema": object}), "no name"),
            (json!({"name": "a b", "inputSchema": object}), "spaces"),
            (json!({"name": "a\u{202e}b", "inputSchema": object}), "invisible"),
            (json!({"name": "x".repeat(129), "inputSchema": object}), "more than 128"),
            (json!({"name": "good", "inputSchema": object}), "same name"),
            (json!(17), "can't be read"),
        ] {
            let good = json!({"name": "good", "inputSchema": object});
            let (tools, told) = sifted(&[good, tool.clone()]);
            assert_eq!(tools, ["good"], "{tool}");
            assert!(told.len() == 1 && told[0].contains(part), "{tool}: {told:?}");
        }
    }

    // proves P4
    #[test]
    fn a_schema_nested_without_end_is_refused_without_falling_over() {
        let deep = format!(
            r#"{{"name":"t","inputSchema":{}{}}}"#,
            r#"{"a":"#.repeat(5000),
            "1".to_owned() + &"}".repeat(5000)
        );
        assert!(read(&Json::parse(&deep).unwrap()).unwrap_err().1.contains("can't be used"));
    }

    // proves P3, J4
    #[test]
    fn what_a_server_does_not_say_is_not_taken_for_granted() {
        for (annotations, want) in [
            (json!(null), EffectClass::Once),
            (json!({}), EffectClass::Once),
            (json!({"readOnlyHint": false, "destructiveHint": false}), EffectClass::Once),
            (json!({"readOnlyHint": "true"}), EffectClass::Once),
            (json!({"idempotentHint": true}), EffectClass::Idempotent),
            (json!({"readOnlyHint": true, "idempotentHint": false}), EffectClass::ReadOnly),
        ] {
            assert_eq!(effect(Some(&annotations)), want, "{annotations}");
        }
    }

    #[test]
    fn a_tool_that_runs_as_a_task_only_is_not_offered() {
        let tool = |name: &str, support: &str| json!({"name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": support}});
        let (tools, notices) = sifted(&[tool("must", "required"), tool("may", "optional")]);
        assert_eq!(tools, ["may"]);
        assert!(notices[0].contains("must") && notices[0].contains("task"), "{notices:?}");
    }

    // proves P4
    #[test]
    fn a_schema_is_kept_to_the_letter() {
        let schema = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"b":{"$anchor":"x"},"a":{}},"if":{},"then":{},"z":1.0}"#;
        let tool = read(&Json::parse(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#)).unwrap()).unwrap();
        assert_eq!(tool.input.as_str(), schema);
    }
}
