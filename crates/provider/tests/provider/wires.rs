//! What each wire's server says in the tests that hold for all of them. A wire is a row.

use windlass_provider::{HttpClient, HttpConfig, HttpModel, ModelConfig, Secret};

/// How a server of one wire speaks.
pub(crate) struct WireSample {
    settings: fn(&str, &str) -> ModelConfig,
    /// The path of a model call.
    pub(crate) path: &'static str,
    /// The header with the key.
    pub(crate) key_line: &'static str,
    /// Where the reminder stands in the body.
    pub(crate) reminder: &'static str,
    /// The start of a stream, up to the text "Hi".
    pub(crate) text: &'static str,
    /// The start of a stream, up to a thought.
    pub(crate) thought: &'static str,
    /// What completes a stream, where something may still follow.
    pub(crate) finished: Option<&'static str>,
    /// The end of a stream.
    pub(crate) end: &'static str,
    /// A whole answer with the text "Hi".
    pub(crate) whole: &'static str,
    /// An event that reports an overload in the middle of a stream.
    pub(crate) overload: &'static str,
}

impl WireSample {
    pub(crate) fn config(&self, base_url: &str) -> ModelConfig {
        ModelConfig { api_key: Some(Secret::new("sk-secret\n")), ..(self.settings)(base_url, "m") }
    }

    pub(crate) fn model(&self, base_url: &str) -> HttpModel {
        HttpModel::new(self.config(base_url), &HttpClient::new(HttpConfig::default()).unwrap()).unwrap()
    }
}

pub(crate) const WIRES: [WireSample; 3] = [
    WireSample {
        settings: |url, model| ModelConfig::chat(url, model),
        path: "/v1/chat/completions",
        key_line: "authorization: Bearer sk-secret\r\n",
        reminder: "/messages/2/content",
        text: "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n",
        thought: "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"Hm\"}}]}\n\n",
        finished: Some("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"),
        end: "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        whole: r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#,
        overload: "data: {\"error\":{\"message\":\"Overloaded\",\"code\":503}}\n\n",
    },
    WireSample {
        settings: |url, model| ModelConfig::messages(url, model),
        path: "/v1/messages",
        key_line: "x-api-key: sk-secret\r\n",
        reminder: "/messages/0/content/1/text",
        text: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"content\":[]}}\n\n\
               event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
               \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
               event: ping\ndata: {\"type\":\"ping\"}\n\n\
               event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
               \"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
        thought: "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
                  \"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n\
                  event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
                  \"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm\"}}\n\n",
        finished: None,
        end: "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
              event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\
              \"usage\":{\"output_tokens\":1}}\n\n\
              event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        whole: r#"{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}"#,
        overload: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
                   \"message\":\"Overloaded\"}}\n\n",
    },
    WireSample {
        settings: |url, model| ModelConfig::responses(url, model),
        path: "/v1/responses",
        key_line: "authorization: Bearer sk-secret\r\n",
        reminder: "/input/1/content/0/text",
        text: "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}\n\n\
               event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\
               \"item\":{\"type\":\"message\",\"id\":\"msg_1\",\"content\":[]}}\n\n\
               event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\
               \"delta\":\"Hi\"}\n\n",
        thought: "event: response.reasoning_summary_text.delta\ndata: {\"type\":\"response.reasoning_summary_text.delta\",\
                  \"output_index\":0,\"summary_index\":0,\"delta\":\"Hm\"}\n\n",
        finished: None,
        end: "event: response.completed\ndata: {\"type\":\"response.completed\",\
              \"response\":{\"object\":\"response\",\"status\":\"completed\",\"output\":[]}}\n\n",
        whole: r#"{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}"#,
        overload: "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"Overloaded\"}\n\n",
    },
];
