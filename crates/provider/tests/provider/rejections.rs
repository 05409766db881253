//! Rejections: their classification and their messages.

use windlass_provider::{Endpoint, Rejection, RetryHeaders, Secret, classify};
use windlass_vocab::{Failure, FailureCause, FailureClass};

use super::endpoint;

fn rejected(status: u16, body: &str) -> Failure {
    let rejection = Rejection { status, retry: RetryHeaders::default(), location: None, body: body.as_bytes() };
    let failure = classify(&endpoint(), &rejection);
    assert_eq!(failure.status, Some(status));
    failure
}

fn check(class: FailureClass, cases: &[(u16, &str)]) {
    for (status, body) in cases {
        assert_eq!(rejected(*status, body).class, class, "{status} {body}");
    }
}

// proves M3
#[test]
fn passing_failures_are_known_by_status_or_by_words() {
    let by_status = [408, 425, 429, 500, 502, 503, 504, 529].map(|status| (status, ""));
    check(FailureClass::Transient, &by_status);
    check(
        FailureClass::Transient,
        &[
            (
                429,
                r#"{"error":{"message":"Rate limit reached for gpt-5 on requests per min","code":"rate_limit_exceeded"}}"#,
            ),
            (400, r#"{"error":{"message":"Rate-limited, slow down"}}"#),
            (400, r#"{"error":{"type":"overloaded_error","message":"busy"}}"#),
            (500, r#"{"detail":"Internal Server Error"}"#),
            (502, "<html><h1>Bad Gateway</h1></html>"),
        ],
    );
}

// proves T4
#[test]
fn a_server_that_takes_no_tools_is_understood_whatever_its_status() {
    for (status, body) in [
        (400, r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools"}}"#),
        (500, r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#),
        (
            400,
            r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}"#,
        ),
        (404, r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#),
    ] {
        let failure = rejected(status, body);
        assert_eq!((failure.class, failure.no_tools), (FailureClass::BadRequest, true), "{body}");
        assert!(failure.message.contains("takes no tools for `m`"), "{}", failure.message);
    }
    assert!(!rejected(400, r#"{"error":{"message":"the tools are wrong"}}"#).no_tools);
}

// proves C9, J10
#[test]
fn a_refused_image_is_known_as_the_cause() {
    for (status, body) in [
        (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"Could not process image"}}"#),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"You uploaded an unsupported image. Please make sure your image is valid.","code":"invalid_image"}}"#,
        ),
        (400, r#"{"error":{"message":"Invalid 'messages[0].content[1].image_url.url'","code":"invalid_value"}}"#),
        (
            500,
            r#"{"error":{"message":"image input is not supported - hint: provide the mmproj","type":"server_error"}}"#,
        ),
        (404, r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#),
    ] {
        let failure = rejected(status, body);
        let found = (failure.class, failure.cause);
        assert_eq!(found, (FailureClass::BadRequest, Some(FailureCause::ImageRefused)), "{body}");
    }
    for about_else in [
        r#"{"error":{"message":"content: Input should be 'text', 'image' or 'tool_use'"}}"#,
        r#"{"error":{"message":"The model gemini-image is not found"}}"#,
    ] {
        assert_ne!(rejected(400, about_else).cause, Some(FailureCause::ImageRefused), "{about_else}");
    }
    let imagined = rejected(400, r#"{"error":{"message":"imagine a field"}}"#);
    assert_eq!(imagined.cause, None);
}

// proves M3
#[test]
fn words_count_not_substrings() {
    check(
        FailureClass::BadRequest,
        &[
            (400, r#"{"error":{"message":"failed to generate limits"}}"#),
            (400, r#"{"error":{"message":"the corporate limit is set"}}"#),
            (400, r#"{"error":{"message":"unloaded"}}"#),
            (400, ""),
            (422, r#"{"detail":[{"msg":"Field required","loc":["body","messages"]}]}"#),
            // llama.cpp reports it with the status of a transient failure.
            (
                500,
                r#"{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}"#,
            ),
        ],
    );
}

// proves M3
#[test]
fn what_will_not_pass_fails_at_once() {
    check(
        FailureClass::Quota,
        &[
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota, please check your plan","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            ),
            (
                402,
                r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
            ),
        ],
    );
    check(
        FailureClass::Auth,
        &[(401, ""), (403, r#"{"error":"forbidden"}"#), (400, r#"{"error":{"message":"Invalid API key provided"}}"#)],
    );
    check(
        FailureClass::BadRequest,
        &[
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist or you do not have access to it.","code":"model_not_found"}}"#,
            ),
            (403, r#"{"error":{"message":"Project does not have access to model","code":"model_not_found"}}"#),
            (
                400,
                r#"{"error":{"message":"'max_tokens' is too large: 99999. This model's maximum context length is 8192 tokens."}}"#,
            ),
        ],
    );
    check(
        FailureClass::Filtered,
        &[
            (400, r#"{"error":{"message":"The response was filtered","code":"content_filter"}}"#),
            (403, r#"{"error":{"code":403,"message":"openai/m requires moderation on x. Your input was flagged"}}"#),
            (400, r#"{"error":{"message":"Content Exists Risk"}}"#),
        ],
    );
}

// proves C6
#[test]
fn a_request_too_long_is_known_by_each_servers_words() {
    let words = [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        "the input length exceeds the context length",
        "prompt too long; exceeded max context length by 42 tokens",
        "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
        "Reached context length of 4096 tokens with this model",
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        "Request too large for gpt-4 on tokens per min (TPM): Limit 10000, Requested 20000.",
        "Please reduce the length of the messages or completion.",
    ];
    for message in words {
        for status in [400, 413, 500] {
            let body = serde_json::json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string();
            assert_eq!(rejected(status, &body).class, FailureClass::Overflow, "{status} {message}");
        }
    }
    check(
        FailureClass::Overflow,
        &[(400, r#"{"error":{"message":"","type":"exceed_context_size_error","code":400}}"#)],
    );
}

#[test]
fn messages_say_what_happened_and_give_no_advice() {
    let model_missing = rejected(404, r#"{"error":"model 'm' not found, try pulling it first"}"#);
    assert_eq!(
        model_missing.message,
        "The server at http://models.test/v1 has no model `m` (404): model 'm' not found, try pulling it first."
    );
    let page = rejected(404, "<!doctype html>\n<html>Not found</html>");
    assert_eq!(page.class, FailureClass::Protocol);
    assert_eq!(page.message, "The server at http://models.test/v1 answered with a web page, not with the API (404).");
    assert!(rejected(401, "").message.ends_with("wants a key and none was given (401)."));
    assert_eq!(rejected(404, "404 page not found").cause, Some(FailureCause::WrongAddress));
    let moved = Rejection { status: 308, retry: RetryHeaders::default(), location: Some("https://b.test/"), body: b"" };
    let moved = classify(&endpoint(), &moved);
    assert_eq!(moved.class, FailureClass::Protocol);
    assert!(moved.message.contains("sends us on to https://b.test/ (308); that is not followed"), "{moved}");
    let others = [(401, ""), (402, ""), (403, ""), (404, "404 page not found"), (413, ""), (429, ""), (500, "")];
    let others = others.map(|(status, body)| rejected(status, body));
    for failure in others.iter().chain([&model_missing, &page, &moved]) {
        for advice in ["Check", "Set", "Add"] {
            assert!(!failure.message.contains(advice), "{failure}");
        }
    }
}

// proves X1
#[test]
fn quotes_are_one_short_line_without_the_key() {
    let endpoint = Endpoint { key: Some(Secret::new("sk-secret")), ..endpoint() };
    let body =
        serde_json::json!({"error": {"message": format!("no\u{7}\n\tsk-secret {}", "x ".repeat(500))}}).to_string();
    let rejection = Rejection { status: 401, retry: RetryHeaders::default(), location: None, body: body.as_bytes() };
    let message = classify(&endpoint, &rejection).message;
    assert!(message.contains("refused the key (401): no [key] x x"), "{message}");
    assert!(message.chars().count() < 500 && !message.contains("sk-secret") && !message.contains(char::is_control));
}
