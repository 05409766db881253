//! Determines the type of a response, and renders it for the model.

use http::header;

use super::LARGEST;
use super::charset::decode;
use super::exchange::{BodyExtent, ResponseBody, ResponseHead};
use super::fetch_failure::FetchFailure;
use super::html::{self, ReadablePage};
use crate::Secrets;
use crate::address::Address;
use crate::builtin::file_kind;
use crate::cut::thousands;
use crate::shorten::shorten;

/// How HTML is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HtmlForm {
    Readable,
    Raw,
}

/// How much of an error page is returned.
const EXPLANATION: usize = 1_000;

/// The content type of a response, by its head.
enum ContentKind {
    Html,
    Text,
    /// The head has no content type.
    Unsaid,
    Other,
}

/// Types that are text although their name does not begin with `text/`.
const TEXT: &[&str] = &[
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/jsonl",
    "application/ndjson",
    "application/rtf",
    "application/sql",
    "application/toml",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
    "message/rfc822",
];

fn kind(head: &ResponseHead) -> ContentKind {
    let named = head.text(header::CONTENT_TYPE).unwrap_or_default();
    let name = named.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match name.as_str() {
        "" => ContentKind::Unsaid,
        "text/html" | "application/xhtml+xml" => ContentKind::Html,
        name if name.starts_with("text/") || name.ends_with("+json") || name.ends_with("+xml") => ContentKind::Text,
        name if TEXT.contains(&name) => ContentKind::Text,
        _ => ContentKind::Other,
    }
}

/// Whether the body may be text, and is worth reading.
pub(super) fn is_text(head: &ResponseHead) -> bool {
    match kind(head) {
        ContentKind::Html | ContentKind::Text | ContentKind::Unsaid => true,
        ContentKind::Other => false,
    }
}

/// Returns the response as text for the model.
pub(super) fn render_response(
    address: &Address,
    head: &ResponseHead,
    body: &ResponseBody,
    form: HtmlForm,
    secrets: &Secrets,
) -> Result<String, FetchFailure> {
    let type_name = head.text(header::CONTENT_TYPE).map_or_else(|| "no type".to_owned(), |name| shorten(&name, 100));
    let what = format!("{} ({}, {type_name}", shorten(address.as_str(), 1_000), head.status.as_u16());
    let kind = match kind(head) {
        ContentKind::Unsaid => sniff_kind(&body.bytes),
        kind => kind,
    };
    if head.status.is_success() {
        if let ContentKind::Other = kind {
            let size = head.text(header::CONTENT_LENGTH).and_then(|length| length.trim().parse().ok());
            let size = size.map_or_else(|| "size unknown".to_owned(), |size| format!("{} bytes", thousands(size)));
            return Err(FetchFailure::Refused(format!("{what}, {size}): only text is fetched, and this is none.")));
        }
        let bytes = thousands(body.bytes.len());
        let text = PageText::of(&kind, address, head, body, form, secrets);
        return Ok(format!("{what}, {bytes} bytes)\n{}{}\n{}", text.title, text.notes(), text.text));
    }
    let said = match kind {
        ContentKind::Other => String::new(),
        ContentKind::Html | ContentKind::Text | ContentKind::Unsaid => {
            PageText::of(&kind, address, head, body, HtmlForm::Readable, secrets).text
        }
    };
    let said = if said.is_empty() { String::new() } else { format!("\n{}", shorten(&said, EXPLANATION)) };
    let reason = head.status.canonical_reason().unwrap_or("no reason given");
    let told = format!("{what}): the server answered {} {reason}.{said}", head.status.as_u16());
    Err(match head.status.as_u16() {
        404 | 410 => FetchFailure::NotFound(told),
        _ => FetchFailure::Refused(told),
    })
}

/// Determines the type of a body without a declared content type.
fn sniff_kind(bytes: &[u8]) -> ContentKind {
    let sample = &bytes[..bytes.len().min(file_kind::SAMPLE)];
    let beginning = String::from_utf8_lossy(sample).trim_start().to_ascii_lowercase();
    if file_kind::binary(sample).is_some() {
        ContentKind::Other
    } else if beginning.starts_with("<!doctype html") || beginning.starts_with("<html") {
        ContentKind::Html
    } else {
        ContentKind::Text
    }
}

/// A body as text.
struct PageText {
    title: String,
    text: String,
    doubts: Vec<String>,
}

impl PageText {
    /// Secrets are replaced first: the read part of a page and the converted text may be cut anywhere.
    fn of(
        kind: &ContentKind,
        address: &Address,
        head: &ResponseHead,
        body: &ResponseBody,
        form: HtmlForm,
        secrets: &Secrets,
    ) -> Self {
        let named = head.text(header::CONTENT_TYPE).and_then(|name| charset_of(&name));
        let decoded = decode(&body.bytes, named.as_deref());
        let mut doubts: Vec<String> = decoded.doubt.into_iter().collect();
        let seen = match body.extent {
            BodyExtent::Whole => secrets.scrub(&decoded.text).into_owned(),
            BodyExtent::Cut => secrets.scrub_beginning(&decoded.text),
        };
        let (title, text, extent) = match (kind, form) {
            (ContentKind::Html, HtmlForm::Readable) => {
                let ReadablePage { title, text, extent } = html::readable(&seen, address, LARGEST);
                let title = if title.is_empty() { title } else { format!("Title: {title}\n") };
                // The conversion may produce a secret that was not visible in the source (by entities, for example).
                (title, secrets.scrub(&text).into_owned(), extent)
            }
            (ContentKind::Html, HtmlForm::Raw) | (ContentKind::Text | ContentKind::Unsaid | ContentKind::Other, _) => {
                (String::new(), seen, BodyExtent::Whole)
            }
        };
        if body.extent == BodyExtent::Cut || extent == BodyExtent::Cut {
            doubts
                .push(format!("only its beginning: it is larger than the {} bytes that are read", thousands(LARGEST)));
        }
        Self { title, text, doubts }
    }

    fn notes(&self) -> String {
        self.doubts.iter().map(|doubt| format!("[{doubt}]\n")).collect()
    }
}

/// Returns `utf-8` for `text/html; charset="utf-8"`.
fn charset_of(type_name: &str) -> Option<String> {
    type_name.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    })
}
