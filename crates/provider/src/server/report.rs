//! Parses a server's error report. There are several forms: an object under `error`, a string there, `detail`,
//! `message`, or a list around any of these.

use serde_json::Value;

/// A server's description of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorReport {
    /// The type and code, as written.
    pub codes: Vec<String>,
    /// The message.
    pub message: String,
    /// A status inside the body.
    pub status: Option<u16>,
}

impl ErrorReport {
    /// Parses a body; `None` if it is not JSON or contains no error.
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(body).ok()?;
        let body = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
        let error = ["error", "detail"].into_iter().find_map(|key| body.get(key).filter(|error| !error.is_null()));
        Self::of(error.unwrap_or(body))
    }

    /// Parses the value of an `error` field.
    pub(crate) fn of(error: &Value) -> Option<Self> {
        let error = error.as_array().and_then(|list| list.first()).unwrap_or(error);
        if let Some(message) = error.as_str() {
            return (!message.is_empty()).then(|| Self { message: message.to_owned(), ..Self::default() });
        }
        let field = |key: &str| error.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let message = ["message", "msg", "detail", "error"].into_iter().find_map(field);
        let codes: Vec<String> = ["code", "type"].into_iter().filter_map(field).map(str::to_owned).collect();
        let number = ["code", "status"].into_iter().find_map(|key| error.get(key)?.as_u64());
        let status = number.and_then(|number| u16::try_from(number).ok()).filter(|status| (400..600).contains(status));
        if message.is_none() && codes.is_empty() && status.is_none() {
            return None;
        }
        // The provider behind a gateway often says more than the gateway.
        let behind = error.pointer("/metadata/raw").and_then(Value::as_str);
        let message = match (message, behind) {
            (Some(message), Some(behind)) => format!("{message}: {behind}"),
            (message, behind) => message.or(behind).unwrap_or_default().to_owned(),
        };
        Some(Self { codes, message, status })
    }
}
