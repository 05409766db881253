//! Classifies the failures a server reports by their meaning for the run (M3), with messages that say what is wrong.
//! The door that displays them adds what to do, by class and cause.
//!
//! The protocol: an answer that is not a success becomes a [`Rejection`], plain data, and [`classify`] makes a
//! failure of it. An error object inside a successful answer is handled likewise, but an unknown wording counts as
//! transient there: the request had been accepted.

use windlass_vocab::{Failure, FailureCause, FailureClass};

use super::endpoint::Endpoint;
use super::report::ErrorReport;
use super::retry_after::{RetryHeaders, retry_after_ms};
use super::wording::NormalizedWords;

/// An answer that is not a success.
#[derive(Clone, Copy, Debug)]
pub struct Rejection<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The headers that say when to retry.
    pub retry: RetryHeaders<'a>,
    /// The `location` header: where a redirect points.
    pub location: Option<&'a str>,
    /// The start of the body.
    pub body: &'a [u8],
}

/// Classifies a rejection.
#[must_use]
pub fn classify(endpoint: &Endpoint, rejection: &Rejection<'_>) -> Failure {
    let status = rejection.status;
    let report = ErrorReport::read(rejection.body);
    let web_page = report.is_none() && looks_like_a_web_page(rejection.body);
    let said = match &report {
        Some(report) => endpoint.quote(&report.message),
        None if web_page => WEB_PAGE.to_owned(),
        None => endpoint.quote(&String::from_utf8_lossy(rejection.body)),
    };
    let words =
        NormalizedWords::of(&report.unwrap_or_else(|| ErrorReport { message: said.clone(), ..ErrorReport::default() }));
    let class = if web_page { class_of_a_web_page(status) } else { class_of(status, &words) };
    let sentence = if (300..400).contains(&status) {
        redirected(endpoint, status, rejection.location)
    } else {
        sentence(endpoint, class, &RejectionCause { status: Some(status), words: &words, said: &said })
    };
    Failure {
        retry_after_ms: retry_after_ms(&rejection.retry),
        status: Some(status),
        no_tools: words.mentions_no_tools(),
        output_refused: class == FailureClass::BadRequest && words.mentions_output_refused(),
        no_model: has_no_model(class, &words),
        cause: cause(class, Some(status), &words),
        ..endpoint.failure(class, &sentence)
    }
}

/// Whether a server refuses a request because it asks for a summary of the reasoning.
pub(crate) fn refuses_reasoning_summary(rejection: &Rejection<'_>) -> bool {
    let report = ErrorReport::read(rejection.body);
    rejection.status == 400 && report.is_some_and(|report| NormalizedWords::of(&report).mentions_reasoning_summary())
}

/// Classifies an error object inside a successful answer.
pub(crate) fn classify_report(endpoint: &Endpoint, report: &ErrorReport) -> Failure {
    let words = NormalizedWords::of(report);
    let class = match report.status {
        Some(status) => class_of(status, &words),
        None => class_by_words(&words).unwrap_or(FailureClass::Transient),
    };
    let said = endpoint.quote(&report.message);
    let sentence = sentence(endpoint, class, &RejectionCause { status: report.status, words: &words, said: &said });
    Failure {
        status: report.status,
        no_tools: words.mentions_no_tools(),
        no_model: has_no_model(class, &words),
        cause: cause(class, report.status, &words),
        ..endpoint.failure(class, &sentence)
    }
}

/// Returns what is known of the cause: an image in the request, or that another address is meant, because this is no answer
/// of the API, a redirect, or nothing is there.
fn cause(class: FailureClass, status: Option<u16>, words: &NormalizedWords) -> Option<FailureCause> {
    let is_named = words.mentions_no_tools() || words.mentions_unknown_model();
    if class == FailureClass::BadRequest && !is_named && words.mentions_refused_image() {
        return Some(FailureCause::ImageRefused);
    }
    let is_elsewhere = match class {
        FailureClass::Protocol => true,
        FailureClass::BadRequest => status == Some(404) && !is_named,
        FailureClass::Transient
        | FailureClass::Quota
        | FailureClass::Auth
        | FailureClass::Overflow
        | FailureClass::Filtered
        | FailureClass::Store
        | FailureClass::Internal => false,
    };
    is_elsewhere.then_some(FailureCause::WrongAddress)
}

fn has_no_model(class: FailureClass, words: &NormalizedWords) -> bool {
    class == FailureClass::BadRequest && !words.mentions_no_tools() && words.mentions_unknown_model()
}

pub(crate) const WEB_PAGE: &str = "answered with a web page, not with the API";

/// Whether a body is HTML.
pub(crate) fn looks_like_a_web_page(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    let start = start.get(..start.len().min(64)).unwrap_or_default().to_ascii_lowercase();
    ["<!doctype", "<html", "<head", "<body", "<?xml"].iter().any(|tag| start.starts_with(tag.as_bytes()))
}

fn class_of_a_web_page(status: u16) -> FailureClass {
    if is_transient(status) { FailureClass::Transient } else { FailureClass::Protocol }
}

fn class_of(status: u16, words: &NormalizedWords) -> FailureClass {
    if words.mentions_overflow() {
        return FailureClass::Overflow;
    }
    // Some servers report this with the status of a transient failure.
    if words.mentions_no_tools() || words.mentions_no_media() {
        return FailureClass::BadRequest;
    }
    match status {
        402 => FailureClass::Quota,
        429 if words.mentions_quota() => FailureClass::Quota,
        413 => FailureClass::Overflow,
        401 => FailureClass::Auth,
        403 if words.mentions_filter() => FailureClass::Filtered,
        403 if words.mentions_unknown_model() => FailureClass::BadRequest,
        403 => FailureClass::Auth,
        _ if is_transient(status) => FailureClass::Transient,
        400..500 => class_by_words(words).unwrap_or(FailureClass::BadRequest),
        _ => FailureClass::Protocol,
    }
}

fn class_by_words(words: &NormalizedWords) -> Option<FailureClass> {
    let known = [
        (words.mentions_overflow(), FailureClass::Overflow),
        (words.mentions_no_tools() || words.mentions_no_media(), FailureClass::BadRequest),
        (words.mentions_quota(), FailureClass::Quota),
        (words.mentions_filter(), FailureClass::Filtered),
        (words.mentions_overload(), FailureClass::Transient),
        (words.mentions_auth(), FailureClass::Auth),
        (words.mentions_unknown_model() || words.mentions_bad_request(), FailureClass::BadRequest),
    ];
    known.into_iter().find_map(|(said, class)| said.then_some(class))
}

/// 520 to 524 are a proxy's codes for a dead or silent server behind it.
fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504 | 520..=524 | 529)
}

struct RejectionCause<'a> {
    status: Option<u16>,
    words: &'a NormalizedWords,
    said: &'a str,
}

fn sentence(endpoint: &Endpoint, class: FailureClass, cause: &RejectionCause<'_>) -> String {
    let status = cause.status.map(|status| format!(" ({status})")).unwrap_or_default();
    if cause.said == WEB_PAGE {
        return format!("{WEB_PAGE}{status}.");
    }
    let said = match cause.said {
        "" => String::from("."),
        said if said.ends_with(['.', '!', '?', '…']) => format!(": {said}"),
        said => format!(": {said}."),
    };
    let model = &endpoint.model;
    match class {
        FailureClass::Transient if cause.status == Some(429) => format!("says: not so fast{status}{said}"),
        FailureClass::Transient => format!("can't answer just now{status}{said}"),
        FailureClass::Quota => {
            format!("says the account has nothing left to spend{status}{said}")
        }
        FailureClass::Auth if endpoint.key.is_none() => format!("wants a key and none was given{status}{said}"),
        FailureClass::Auth => format!("refused the key{status}{said}"),
        FailureClass::BadRequest if cause.words.mentions_no_tools() => {
            format!("takes no tools for `{model}`{status}{said}")
        }
        FailureClass::BadRequest if cause.words.mentions_unknown_model() => {
            format!("has no model `{model}`{status}{said}")
        }
        FailureClass::BadRequest if cause.status == Some(404) => {
            format!("has nothing at that address, or no model `{model}`{status}{said}")
        }
        FailureClass::BadRequest => format!("did not accept the request{status}{said}"),
        FailureClass::Overflow => {
            format!("says the request is longer than the window of `{model}`{status}{said}")
        }
        FailureClass::Filtered => {
            format!("withheld the answer by its content policy{status}{said}")
        }
        FailureClass::Protocol | FailureClass::Store | FailureClass::Internal => {
            format!("gave an answer that is not of this API{status}{said}")
        }
    }
}

fn redirected(endpoint: &Endpoint, status: u16, location: Option<&str>) -> String {
    let to = location.map(|location| format!(" to {}", endpoint.quote(location))).unwrap_or_default();
    format!("sends us on{to} ({status}); that is not followed, so that the key goes nowhere else.")
}
