//! What a person could change about a refused call, as data: each user interface words it for its own users.

use serde::{Deserialize, Serialize};

use crate::ModelSoftware;

/// What a person could change so that such a call would run, or such a request would be read whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Remedy {
    /// Allow calls like it.
    Allow {
        /// The rule to allow, e.g. `run_command(cargo *)`.
        rule: String,
    },
    /// Remove the protection of a path.
    Unprotect {
        /// The path, as a pattern that matches nothing else.
        path: String,
    },
    /// Allow fetching pages from a host with a private address.
    FetchPrivate {
        /// The host, with its port where one was named.
        host: String,
    },
    /// Repair the sandbox, which could not be tested on this machine.
    MendSandbox,
    /// Give the model a larger window where it is served (M8).
    LargerWindow {
        /// The server's software, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        software: Option<ModelSoftware>,
        /// The tokens that would do for some time.
        tokens: u64,
    },
}

impl Remedy {
    /// Returns the text that came from elsewhere, so that secrets in it can be replaced.
    pub fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Allow { rule: text } | Self::Unprotect { path: text } | Self::FetchPrivate { host: text } => {
                Some(text)
            }
            Self::MendSandbox | Self::LargerWindow { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Remedy;
    use crate::{CallFinished, Verdict};

    // proves J7
    #[test]
    fn a_remedy_is_written_as_data_and_a_record_from_before_has_none() {
        const BEFORE: &str = r#"{"call":"0.0.0","outcome":"denied","text":"no","took_ms":0}"#;
        let before: CallFinished = serde_json::from_str(BEFORE).unwrap();
        assert_eq!(before.remedy, None);
        assert_eq!(serde_json::to_string(&before).unwrap(), BEFORE);
        for (remedy, written) in [
            (Remedy::Allow { rule: "a(b)".into() }, r#"{"kind":"allow","rule":"a(b)"}"#),
            (Remedy::Unprotect { path: "a".into() }, r#"{"kind":"unprotect","path":"a"}"#),
            (Remedy::FetchPrivate { host: "a:1".into() }, r#"{"kind":"fetch_private","host":"a:1"}"#),
            (Remedy::MendSandbox, r#"{"kind":"mend_sandbox"}"#),
            (Remedy::LargerWindow { software: None, tokens: 9 }, r#"{"kind":"larger_window","tokens":9}"#),
        ] {
            let finished = CallFinished { remedy: Some(remedy), ..before.clone() };
            let line = serde_json::to_string(&finished).unwrap();
            assert_eq!(line, BEFORE.replace('}', &format!(r#","remedy":{written}}}"#)));
            assert_eq!(serde_json::from_str::<CallFinished>(&line).unwrap(), finished);
        }
    }

    // proves J7
    #[test]
    fn a_verdict_from_before_names_no_remedy() {
        for before in [r#"{"verdict":"deny","reason":"no"}"#, r#"{"verdict":"invalid","reason":"no"}"#] {
            let (Verdict::Deny { remedy, .. } | Verdict::Invalid { remedy, .. }) =
                serde_json::from_str(before).unwrap()
            else {
                panic!("another verdict")
            };
            assert_eq!(remedy, None);
        }
    }
}
