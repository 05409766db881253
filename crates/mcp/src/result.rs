//! Converts a server's answer to a call into an outcome (T5, T6): text for the model; other content and structured
//! data are kept next to it.

use std::sync::OnceLock;

use rmcp::model::{CallToolResult, ContentBlock, CustomResult, ResourceContents, ServerResult};
use serde_json::{Map, Value};
use windlass_tools::{OutputSchema, image_in_base64};
use windlass_vocab::{Hash, ImageContent, Json, Outcome, OutcomeKind};

use crate::listing::ListedTool;

/// Converts an answer into an outcome.
pub(crate) fn outcome(
    tool: &ListedTool,
    schema: &OnceLock<Result<OutputSchema, String>>,
    answer: ServerResult,
) -> Outcome {
    match answer {
        ServerResult::CallToolResult(result) => match misfit(tool, schema, &result) {
            Some(problem) => Outcome::error(problem),
            None => call_outcome(result),
        },
        // An answer that the protocol does not define is still better than none.
        ServerResult::CustomResult(CustomResult(value)) => unusual(&value),
        ServerResult::CreateTaskResult(_) => {
            Outcome::error("The server made a task of the call, and tasks are not supported: nothing waits for it.")
        }
        ServerResult::EmptyResult(_) => Outcome::ok(""),
        _ => Outcome::error("The server answered with something that is no result of a tool."),
    }
}

/// Returns how a result violates the tool's own output schema.
fn misfit(
    tool: &ListedTool,
    schema: &OnceLock<Result<OutputSchema, String>>,
    result: &CallToolResult,
) -> Option<String> {
    let declared = tool.output.as_ref().filter(|_| result.is_error != Some(true))?;
    let Some(structured) = &result.structured_content else {
        return Some(
            "The server broke its word: its tool has a schema for results, and gave no structured one.".into(),
        );
    };
    match schema.get_or_init(|| OutputSchema::new(declared)) {
        Ok(schema) => schema.check(&Json::from(structured)).err().map(|problem| {
            format!("The server broke its word: the result does not fit the tool's own schema. {problem}")
        }),
        Err(problem) => Some(format!("The schema of the tool's results can't be used: {problem}")),
    }
}

fn call_outcome(result: CallToolResult) -> Outcome {
    let CallToolResult { content, structured_content, is_error, .. } = result;
    let mut beside = OtherContent::default();
    let mut words: Vec<String> = content.iter().map(|block| part(block, &mut beside)).collect();
    let OtherContent { blocks: beside, images } = beside;
    // Use the structured content if all text blocks are empty.
    if let (true, Some(structured)) = (words.iter().all(|words| words.trim().is_empty()), &structured_content) {
        words = vec![structured.to_string()];
    }
    let mut structured = Map::new();
    if let Some(content) = structured_content {
        structured.insert("structuredContent".into(), content);
    }
    if !beside.is_empty() {
        structured.insert("content".into(), Value::Array(beside));
    }
    let text = words.join("\n");
    let (kind, text) = match is_error {
        Some(true) if text.is_empty() => (OutcomeKind::ToolError, "The tool failed and does not say why.".into()),
        Some(true) => (OutcomeKind::ToolError, text),
        Some(false) | None => (OutcomeKind::Ok, text),
    };
    Outcome {
        structured: (!structured.is_empty()).then(|| Json::from(&Value::Object(structured))),
        images: images.into(),
        ..Outcome::new(kind, text)
    }
}

/// The content of a result that is no text.
#[derive(Default)]
struct OtherContent {
    blocks: Vec<Value>,
    images: Vec<ImageContent>,
}

impl OtherContent {
    /// Adds an image, without its data to the blocks; returns its description.
    fn add_image(&mut self, image: ImageContent, mut block: Value) -> String {
        remove_data(&mut block);
        self.blocks.push(block);
        // A server's image has no hash before it is stored, and its description needs none.
        let words = format!("[{}]", image.reference(Hash::default()).description());
        self.images.push(image);
        words
    }
}

/// Removes the data of an image from its block: it is kept as a blob.
fn remove_data(block: &mut Value) {
    let resource = block.get_mut("resource").and_then(Value::as_object_mut).map(|resource| resource.remove("blob"));
    if resource.is_none()
        && let Some(image) = block.as_object_mut()
    {
        image.remove("data");
    }
}

/// Returns the image in a block, if it holds one that models take.
fn image_in(block: &ContentBlock) -> Option<ImageContent> {
    match block {
        ContentBlock::Image(image) => image_in_base64("", &image.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                image_in_base64(uri.rsplit('/').next().unwrap_or_default(), blob)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns the text of a block; for other content a description, and adds the content to `beside`.
fn part(block: &ContentBlock, beside: &mut OtherContent) -> String {
    if let Some(image) = image_in(block) {
        return beside.add_image(image, serde_json::to_value(block).unwrap_or_default());
    }
    let words = match block {
        ContentBlock::Text(text) => return text.text.clone(),
        ContentBlock::Image(image) => format!("[image, {}, {}]", image.mime_type, size(&image.data)),
        ContentBlock::Audio(audio) => format!("[audio, {}, {}]", audio.mime_type, size(&audio.data)),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource {uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                format!("[resource {uri}, {}, {}]", mime_type.as_deref().unwrap_or("binary"), size(blob))
            }
            _ => "[resource]".into(),
        },
        ContentBlock::ResourceLink(link) => {
            let description = link.description.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
            format!("[link to resource {} ({}){description}]", link.uri, link.name)
        }
        _ => "[content of an unknown kind]".into(),
    };
    beside.blocks.push(serde_json::to_value(block).unwrap_or_default());
    words
}

/// The size of base64 data, for the model.
fn size(data: &str) -> String {
    format!("{} bytes, kept beside the text", data.trim_end_matches('=').len() * 3 / 4)
}

fn unusual(value: &Value) -> Outcome {
    let texts = value.get("content").and_then(Value::as_array).into_iter().flatten();
    let words: Vec<&str> = texts.filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
    let text = if words.is_empty() { value.to_string() } else { words.join("\n") };
    let kind = match value.get("isError").and_then(Value::as_bool) {
        Some(true) => OutcomeKind::ToolError,
        Some(false) | None => OutcomeKind::Ok,
    };
    Outcome { structured: Some(Json::from(value)), ..Outcome::new(kind, text) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_vocab::EffectClass;

    use super::*;

    fn tool(output: Option<&Value>) -> ListedTool {
        ListedTool {
            name: "t".into(),
            description: String::new(),
            input: Json::default(),
            output: output.map(Json::from),
            effect: EffectClass::Once,
        }
    }

    fn of(output: Option<&Value>, answer: Value) -> Outcome {
        let result: CallToolResult = serde_json::from_value(answer).unwrap();
        outcome(&tool(output), &OnceLock::new(), ServerResult::CallToolResult(result))
    }

    // proves T6, P4
    #[test]
    fn words_go_to_the_model_and_what_are_none_is_kept() {
        let got = of(
            None,
            json!({"content": [
                {"type": "text", "text": "one"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}},
                {"type": "resource_link", "uri": "file:///b", "name": "b"},
            ]}),
        );
        assert_eq!(
            got.text,
            "one\n[image, image/png, 3 bytes, kept beside the text]\n[resource file:///a]\ntwo\n[link to resource file:///b (b)]"
        );
        let kept = got.structured.unwrap().to_value();
        assert_eq!(kept["content"].as_array().unwrap().len(), 3);
        assert_eq!(kept["content"][0]["data"], "AAAA");
    }

    // proves T6, P4
    #[test]
    fn an_image_is_taken_out_of_the_content_that_is_kept() {
        // A PNG of 2 × 1 pixels, up to its header.
        let data = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAA=";
        let got = of(
            None,
            json!({"content": [
                {"type": "text", "text": "The chart:"},
                {"type": "image", "data": data, "mimeType": "image/jpeg"},
                {"type": "resource", "resource": {"uri": "file:///a/b.png", "blob": data}},
            ]}),
        );
        assert_eq!(got.text, "The chart:\n[image, 2 × 1, 29 bytes]\n[image b.png, 2 × 1, 29 bytes]");
        let names: Vec<(&str, &str)> =
            got.images.iter().map(|image| (image.name.as_str(), image.media_type.as_str())).collect();
        assert_eq!(names, [("", "image/png"), ("b.png", "image/png")]);
        let kept = got.structured.unwrap();
        assert!(kept.as_str().contains("file:///a/b.png") && !kept.as_str().contains("iVBOR"), "{}", kept.as_str());
    }

    // proves P4
    #[test]
    fn a_result_that_breaks_its_own_schema_is_a_tool_error() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let good = of(Some(&schema), json!({"content": [], "structuredContent": {"n": 1}}));
        assert_eq!((good.kind, good.text.as_str()), (OutcomeKind::Ok, r#"{"n":1}"#));
        let blank = json!({"content": [{"type": "text", "text": " "}], "structuredContent": {"n": 1}});
        assert_eq!(of(Some(&schema), blank).text, r#"{"n":1}"#);
        for bad in [json!({"content": [], "structuredContent": {"n": "1"}}), json!({"content": []})] {
            let got = of(Some(&schema), bad);
            assert!(got.kind == OutcomeKind::ToolError && got.text.contains("broke its word"), "{got:?}");
        }
        let failed = of(Some(&schema), json!({"content": [{"type": "text", "text": "no"}], "isError": true}));
        assert_eq!((failed.kind, failed.text.as_str()), (OutcomeKind::ToolError, "no"));
    }

    // proves T5
    #[test]
    fn a_failure_without_words_is_still_a_failure() {
        let got = of(None, json!({"content": [], "isError": true}));
        assert!(got.kind == OutcomeKind::ToolError && !got.text.is_empty());
    }

    #[test]
    fn an_answer_with_unknown_content_keeps_what_can_be_read() {
        let value = json!({"content": [{"type": "hologram", "text": "x"}, {"type": "text", "text": "y"}]});
        let got = outcome(&tool(None), &OnceLock::new(), ServerResult::CustomResult(CustomResult(value.clone())));
        assert_eq!((got.text.as_str(), got.structured), ("x\ny", Some(Json::from(&value))));
    }
}
