//! Interprets the wording of servers' errors. It is compared word by word, never as substrings: "generate" contains
//! "rate" and is no rate limit. The lists are data; each line was seen from a real server.

use super::report::ErrorReport;

/// Words in lower case, with one space between and at each end; all other characters become spaces.
pub(crate) struct NormalizedWords(String);

impl NormalizedWords {
    pub(crate) fn of(report: &ErrorReport) -> Self {
        let mut words = String::from(" ");
        for text in report.codes.iter().chain([&report.message]) {
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                words.push_str(&word.to_lowercase());
                words.push(' ');
            }
        }
        Self(words)
    }

    fn has(&self, phrase: &str) -> bool {
        self.0.contains(&format!(" {phrase} "))
    }

    fn any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }

    /// The request exceeds the model's context window.
    pub(crate) fn mentions_overflow(&self) -> bool {
        let limit_too_large = self.any(&["max tokens", "max completion tokens"]) && self.has("is too large");
        let over = self.any(&["context length", "context size", "context window", "model length"])
            && self.any(&["exceed", "exceeds", "exceeded", "longer than", "greater than", "reached", "not enough"]);
        !limit_too_large && (over || self.any(OVERFLOW))
    }

    /// The account's quota is used up.
    pub(crate) fn mentions_quota(&self) -> bool {
        self.any(QUOTA)
    }

    /// The provider withheld the answer.
    pub(crate) fn mentions_filter(&self) -> bool {
        self.any(FILTERED)
    }

    /// The server does not support tools for this model.
    pub(crate) fn mentions_no_tools(&self) -> bool {
        self.any(NO_TOOLS)
    }

    /// The model takes no images, or no sound.
    pub(crate) fn mentions_no_media(&self) -> bool {
        self.any(NO_MEDIA)
    }

    /// An image is what is wrong with the request. A message that only lists what may be sent mentions images, too.
    pub(crate) fn mentions_refused_image(&self) -> bool {
        self.any(&["image", "images"]) && (self.any(IMAGE_PROBLEMS) || self.mentions_no_media())
    }

    /// The server does not accept how an output was asked for: by a schema, or by a tool that must be called.
    pub(crate) fn mentions_output_refused(&self) -> bool {
        self.any(OUTPUT_FIELDS)
    }

    /// The server gives no summary of the reasoning.
    pub(crate) fn mentions_reasoning_summary(&self) -> bool {
        self.any(&["reasoning summary", "reasoning summaries"])
    }

    /// A rate limit or an overloaded server; transient.
    pub(crate) fn mentions_overload(&self) -> bool {
        self.any(TRANSIENT)
    }

    /// The key is missing or wrong.
    pub(crate) fn mentions_auth(&self) -> bool {
        self.any(AUTH)
    }

    /// The model does not exist.
    pub(crate) fn mentions_unknown_model(&self) -> bool {
        self.any(UNKNOWN_MODEL)
            || (self.has("model") && self.any(&["not found", "does not exist", "not exist", "not loaded"]))
    }

    /// The request itself is wrong.
    pub(crate) fn mentions_bad_request(&self) -> bool {
        self.any(&["invalid request error", "bad request", "badrequesterror", "invalid prompt", "invalid argument"])
    }
}

const OUTPUT_FIELDS: &[&str] = &[
    "response format",
    "json schema",
    "json object",
    "output config",
    "output format",
    "structured output",
    "structured outputs",
    "text format",
    "tool choice",
    "guided json",
    "grammar",
];

const OVERFLOW: &[&str] = &[
    "context length exceeded",
    "maximum context length",
    "max context length",
    "exceed context size",
    "maximum model length",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "request too large",
    "reduce the length of the messages",
    "context the overflows",
    "exceeds the maximum number of tokens",
    "inputs must have less than",
    "exceed context limit",
];

const QUOTA: &[&str] = &[
    "insufficient quota",
    "exceeded your current quota",
    "insufficient balance",
    "insufficient credits",
    "requires more credits",
    "credit balance is too low",
    "billing hard limit reached",
    "billing not active",
    "billing error",
    "specified api usage limits",
    "specified workspace api usage limits",
    "spend limit reached",
];

const FILTERED: &[&str] = &[
    "content filter",
    "content filtering policy",
    "content policy",
    "content policy violation",
    "content management policy",
    "responsibleaipolicyviolation",
    "content exists risk",
    "requires moderation",
    "usage policies",
    "usage policy",
];

const TRANSIENT: &[&str] = &[
    "rate limit",
    "rate limits",
    "rate limited",
    "ratelimit",
    "ratelimiterror",
    "ratelimited",
    "too many requests",
    "overloaded",
    "loading model",
];

const NO_TOOLS: &[&str] = &[
    "does not support tools",
    "does not support tool",
    "does not support tool use",
    "does not support tool calls",
    "does not support tool calling",
    "does not support function calling",
    "does not support function calls",
    "does not support functions",
    "do not support tools",
    "not support tools",
    "that support tool use",
    "tools param requires jinja flag",
    "tools param requires jinja",
    "tool choice requires enable auto tool choice",
    "tools are not supported",
    "tools is not supported",
    "tool use is not supported",
    "tool calls are not supported",
    "tool calling is not supported",
    "function calling is not supported",
    "function calling is not enabled",
];

const IMAGE_PROBLEMS: &[&str] = &[
    "could not process",
    "unable to process",
    "cannot process",
    "could not load",
    "failed to load",
    "cannot identify",
    "invalid image",
    "image is invalid",
    "not a valid image",
    "valid image",
    "unsupported image",
    "image url url",
    "support image input",
    "exceed",
    "exceeds",
    "too large",
    "corrupt",
    "corrupted",
];

const NO_MEDIA: &[&str] =
    &["image input is not supported", "audio input is not supported", "image inputs are not supported"];

const AUTH: &[&str] = &[
    "invalid api key",
    "incorrect api key",
    "authentication error",
    "authentication fails",
    "permission error",
    "organization has been disabled",
    "unauthorized",
    "no api key",
    "no auth credentials",
];

const UNKNOWN_MODEL: &[&str] =
    &["model not found", "model not exist", "supported api model names", "is not a valid model id", "invalid model"];
