//! Remedies for problems that the libraries report. The libraries return kinds and data; this module names the flags,
//! files and commands of this command line that help.

use std::borrow::Cow;

use windlass::door::{KEY_VARIABLE, ModelProvider, PROVIDERS};
use windlass_mcp::{Notice, NoticeKind};
use windlass_narrate::{NarratedLine, RunEndWords, Tone, harmless_line};
use windlass_runtime::UndoError;
use windlass_setup::settings::PlaceSettings;
use windlass_tools::{SandboxUntried, WorkspaceError};
use windlass_vocab::{EndReason, Failure, FailureCause, FailureClass, ModelSoftware, Remedy, RunEnded, SpendingLimit};

use super::wording::model_command_for;

/// Returns the lines, each followed by the change that would let its call run.
pub(crate) fn with_remedies(lines: Vec<NarratedLine>) -> Vec<NarratedLine> {
    let mut advised = Vec::with_capacity(lines.len());
    for line in lines {
        let remedies =
            line.remedy.iter().flat_map(for_call).map(|text| NarratedLine::new(Tone::Note, harmless_line(&text)));
        let below: Vec<NarratedLine> = remedies.collect();
        advised.push(line);
        advised.extend(below);
    }
    advised
}

/// Returns why a run has no answer, or only a partial one, and a remedy.
pub(crate) fn end_words(words: &RunEndWords<'_>, ended: &RunEnded) -> String {
    with_failure_remedy(words.advised(end_advice(ended.reason)), ended)
}

/// Returns the text, and what mends the failure the run ended with.
pub(crate) fn with_failure_remedy(text: String, ended: &RunEnded) -> String {
    match ended.failure.as_ref().and_then(for_failure) {
        Some(advice) => format!("{text} {advice}"),
        None => text,
    }
}

/// Returns the remedy for an end reason, with a leading blank; empty if there is none.
pub(crate) const fn end_advice(reason: EndReason) -> &'static str {
    match reason {
        EndReason::TurnCap => " (--max-turns raises it)",
        EndReason::BudgetSpent => " (--max-cost, --max-run-tokens or the row under [policy] raises it)",
        EndReason::Completed
        | EndReason::Asked
        | EndReason::Conversed
        | EndReason::Unfinished
        | EndReason::Cancelled
        | EndReason::Failed => "",
    }
}

/// What a person in the chat can do after a run that failed or reached a limit.
pub(crate) const RETRY_IN_CHAT: &str = "/retry tries it again";

/// Returns the command that goes on with a run without a whole answer, in the session with this key; none for a run that
/// ended well.
pub(crate) fn next_command(ended: &RunEnded, key: &str, place: &PlaceSettings) -> Option<String> {
    let retry = |flags: &str| format!("`{}`", model_command_for("retry", key, flags, place));
    Some(match ended.reason {
        EndReason::Failed => format!("{} tries it again", retry("")),
        EndReason::Unfinished | EndReason::Cancelled => format!("{} goes on with it", retry("")),
        EndReason::TurnCap => format!("{} goes on with it", retry(" --max-turns N")),
        EndReason::BudgetSpent => {
            // The record names the limit in its text only.
            let reached = SpendingLimit::ALL.into_iter().find(|limit| ended.answer.contains(limit.row()));
            match reached {
                Some(SpendingLimit::RunCost) => format!("{} goes on with it", retry(" --max-cost AMOUNT")),
                Some(SpendingLimit::RunTokens) => format!("{} goes on with it", retry(" --max-run-tokens N")),
                Some(limit) => {
                    format!("raise {} under [policy] in windlass.toml, then {} goes on with it", limit.row(), retry(""))
                }
                None => format!("{} goes on with it", retry("")),
            }
        }
        EndReason::Completed | EndReason::Asked | EndReason::Conversed => return None,
    })
}

/// Returns the changes that would let a refused call run, one per line.
pub(crate) fn for_call(remedy: &Remedy) -> Vec<String> {
    match remedy {
        Remedy::Allow { rule } => {
            let (flag, line) = (rule.replace('\'', r"'\''"), in_toml(rule));
            let settings = format!("allow = [\"{line}\"] under [permissions] in your own windlass.toml");
            // Control characters don't survive being printed and pasted; in a settings file they are escaped.
            if rule.contains(char::is_control) {
                vec![format!("{settings} would let it run")]
            } else {
                vec![format!("--allow '{flag}' would let it run;"), format!("for good: {settings}")]
            }
        }
        Remedy::Unprotect { path } => {
            let line = in_toml(path);
            vec![format!(
                "unprotected = [\"{line}\"] under [permissions] in your own windlass.toml takes the protection away"
            )]
        }
        Remedy::FetchPrivate { host } => {
            let line = in_toml(host);
            vec![
                format!("--fetch-private {host} would let it be fetched;"),
                format!("for good: fetch_private = [\"{line}\"] under [tools] in your own windlass.toml"),
            ]
        }
        Remedy::MendSandbox => {
            vec!["`windlass doctor` says more; --sandbox off runs commands without a sandbox".to_owned()]
        }
        Remedy::LargerWindow { software, tokens } => larger_window(*software, *tokens),
    }
}

/// Returns how a model gets a larger window, one way per line.
fn larger_window(software: Option<ModelSoftware>, tokens: u64) -> Vec<String> {
    match software {
        Some(ModelSoftware::Ollama) => vec![
            format!("`OLLAMA_CONTEXT_LENGTH={tokens} ollama serve` would let it read all;"),
            format!("for one model: `PARAMETER num_ctx {tokens}` in a Modelfile, and `ollama create`"),
        ],
        Some(ModelSoftware::LlamaCpp) => {
            vec![format!("`-c {tokens}` where llama-server is started would let it read all")]
        }
        Some(ModelSoftware::LmStudio) => {
            vec![format!(
                "`lms load MODEL --context-length {tokens}`, or the context length in the model's load settings"
            )]
        }
        Some(ModelSoftware::Vllm) => {
            vec![format!("`--max-model-len {tokens}` where vLLM is started would let it read all")]
        }
        None => vec![
            "give the model a larger window where it is served; if it can't have one,".to_owned(),
            "`window = N` under [models.NAME] in your windlass.toml has requests shortened before they are sent"
                .to_owned(),
        ],
    }
}

/// Returns what went wrong with a model call, and what mends it.
pub(crate) fn with_failure(failure: &Failure) -> String {
    match for_failure(failure) {
        Some(advice) => format!("{} {advice}", failure.message),
        None => failure.message.clone(),
    }
}

/// Returns the remedy for a failure, if one is known. A record of an older version already contains it in its message.
pub(crate) fn for_failure(failure: &Failure) -> Option<Cow<'static, str>> {
    let (mark, advice) = if failure.no_tools {
        ("--dialect", "Have calls written as text with --dialect tool_block, or choose another model with --model.")
    } else if failure.no_model {
        ("--model", "Choose another with --model.")
    } else if failure.not_running {
        ("Start the server", "Start the server, or name another with --base-url.")
    } else if let Some(cause) = failure.cause {
        // No version has written advice into the message of a failure with a cause.
        return Some(for_cause(cause, failure.status).into());
    } else if failure.class == FailureClass::Auth {
        let variable = key_variable(&failure.message, |name| std::env::var(name).ok());
        let advice = || key_advice(variable).into();
        let has_advice = [variable, OPENAI_KEY].into_iter().any(|name| failure.message.contains(name));
        return (!has_advice).then(advice);
    } else {
        for_class(failure.class)?
    };
    (!failure.message.contains(mark)).then_some(advice.into())
}

/// The variable that older versions named for every server.
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// Returns how a server gets a valid key. The variable for whichever server is called is for the first model's.
fn key_advice(variable: &str) -> String {
    let of_table = if variable == KEY_VARIABLE {
        "; a later model of a chain needs `api_key_env` under [models.NAME]"
    } else {
        ""
    };
    format!("Set {variable} to a key that is valid there{of_table}.")
}

/// Returns the variable for the key of the server that the message names: that of the provider whose address it is, or for
/// which the environment gives this address; any other server gets the key for whichever server is called.
fn key_variable(message: &str, environment: impl Fn(&str) -> Option<String>) -> &'static str {
    let has = |provider: &&'static ModelProvider| {
        let elsewhere = || {
            let variable = provider.address_variable?;
            variable.form.base_url(&environment(variable.name)?).ok()
        };
        let is_named = |address: &str| !address.is_empty() && message.contains(address.trim_end_matches('/'));
        is_named(provider.base_url) || elsewhere().is_some_and(|address| is_named(&address))
    };
    let named = PROVIDERS.into_iter().find(has);
    named.and_then(|provider| provider.key_variable.or(provider.shared_key_variable)).unwrap_or(KEY_VARIABLE)
}

/// Returns the remedy for a cause.
fn for_cause(cause: FailureCause, status: Option<u16>) -> &'static str {
    match cause {
        FailureCause::WrongAddress if status == Some(404) => {
            "Check the base URL (often it ends in /v1) and the model's name."
        }
        FailureCause::WrongAddress => "Check the base URL (often it ends in /v1; is the port right?).",
        FailureCause::Unreachable => "Check the base URL and the network.",
        FailureCause::UntrustedCertificate => "Add its authority to the system's store, or check the base URL.",
        FailureCause::ImageRefused => "Leave the image out, or choose another model with --model.",
        FailureCause::NotCalled => "Try again in a minute, or choose another with --model.",
    }
}

/// Returns the remedy for a class of failure other than a refused key, with the part of it that tells whether a message contains it.
fn for_class(class: FailureClass) -> Option<(&'static str, &'static str)> {
    match class {
        FailureClass::Quota => Some(("Add credit", "Add credit or use another key.")),
        FailureClass::Overflow => Some(("Shorten it", "Shorten it or use a model with a larger window.")),
        FailureClass::Filtered => Some(("another way", "Put the request another way.")),
        FailureClass::Transient
        | FailureClass::Auth
        | FailureClass::BadRequest
        | FailureClass::Protocol
        | FailureClass::Store
        | FailureClass::Internal => None,
    }
}

/// Returns what happened to a server, and a remedy.
pub(crate) fn with_notice(notice: &Notice) -> String {
    let server = &notice.server;
    let command = match &notice.what {
        NoticeKind::NeedsAuth => format!(": run `windlass mcp login {server}`"),
        NoticeKind::ToolChanged { .. } => format!(" (`windlass mcp accept {server}`)"),
        NoticeKind::Garbage { .. }
        | NoticeKind::ToolSkipped { .. }
        | NoticeKind::ListingCut { .. }
        | NoticeKind::Unavailable { .. }
        | NoticeKind::Restarting { .. }
        | NoticeKind::NotRemembered { .. } => String::new(),
    };
    format!("{notice}{command}")
}

/// Returns why nothing runs in the sandbox, and a remedy.
pub(crate) fn with_untried(untried: &SandboxUntried) -> String {
    format!("not run: {untried}. {}", for_call(&Remedy::MendSandbox).join(" "))
}

/// Returns why the workspace can't be used, and how to name another.
pub(crate) fn with_workspace(error: &WorkspaceError) -> String {
    format!("{error}. Name an existing folder with --workspace")
}

/// Returns why nothing was undone, and where to find more.
pub(crate) fn with_undo(error: &UndoError) -> String {
    match error {
        UndoError::NoSuch(_) => format!("{error}; `windlass sessions show` lists what there is"),
        UndoError::Closed(_)
        | UndoError::Store(_)
        | UndoError::RunOpen
        | UndoError::NoWorkspace
        | UndoError::Newer
        | UndoError::Nothing
        | UndoError::Unchanged(_)
        | UndoError::TakenBack { .. }
        | UndoError::Forbidden { .. }
        | UndoError::Conflicts(_) => error.to_string(),
    }
}

/// Escapes a text for a quoted string in a settings file.
fn in_toml(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{Failure, FailureCause, FailureClass, ModelSoftware, Remedy};

    use super::{for_call, for_failure, key_variable};

    // proves T8: denied at once, with the rule that would allow the call
    #[test]
    fn the_flag_and_the_line_that_would_allow_it_can_be_copied() {
        let said = for_call(&Remedy::Allow { rule: "run_command(cargo *)".into() }).join(" ");
        assert!(said.contains("--allow 'run_command(cargo *)'"), "{said}");
        assert!(
            said.contains("allow = [\"run_command(cargo *)\"] under [permissions] in your own windlass.toml"),
            "{said}"
        );
        let said = for_call(&Remedy::Allow { rule: "run_command(echo 'a' \"b\" \\*)".into() }).join(" ");
        assert!(said.contains(r#"--allow 'run_command(echo '\''a'\'' "b" \*"#), "{said}");
        let said = for_call(&Remedy::Allow { rule: "run_command(echo 'a' \"b\" \\*\n)".into() }).join(" ");
        assert!(said.contains(r#"["run_command(echo 'a' \"b\" \\*\u000A)"]"#), "{said}");
        assert!(!said.contains("--allow"), "a line break can't be pasted: {said}");
    }

    // proves E2: every remedy has its words, with what to type or to write here
    #[test]
    fn every_remedy_says_what_to_do() {
        let text = "a".to_owned();
        let window = |software| Remedy::LargerWindow { software, tokens: 16_384 };
        let remedies = [
            (Remedy::Allow { rule: text.clone() }, "--allow 'a' would let it run; for good: allow = [\"a\"]"),
            (Remedy::Unprotect { path: text.clone() }, "unprotected = [\"a\"] under [permissions]"),
            (
                Remedy::FetchPrivate { host: text },
                "--fetch-private a would let it be fetched; for good: fetch_private = [\"a\"]",
            ),
            (Remedy::MendSandbox, "`windlass doctor` says more; --sandbox off"),
            (window(None), "give the model a larger window where it is served; if it can't have one, `window = N`"),
            (
                window(Some(ModelSoftware::Ollama)),
                "`OLLAMA_CONTEXT_LENGTH=16384 ollama serve` would let it read all; for one model: `PARAMETER num_ctx 16384`",
            ),
            (window(Some(ModelSoftware::LlamaCpp)), "`-c 16384` where llama-server is started"),
            (window(Some(ModelSoftware::LmStudio)), "`lms load MODEL --context-length 16384`"),
            (window(Some(ModelSoftware::Vllm)), "`--max-model-len 16384` where vLLM is started"),
        ];
        for (remedy, words) in remedies {
            let said = for_call(&remedy).join(" ");
            assert!(said.starts_with(words), "{said}");
            // A new kind of remedy fails to compile here until it has a row above.
            match remedy {
                Remedy::Allow { .. }
                | Remedy::Unprotect { .. }
                | Remedy::FetchPrivate { .. }
                | Remedy::MendSandbox
                | Remedy::LargerWindow { .. } => {}
            }
        }
    }

    // proves X5: with the line that would remove the protection
    #[test]
    fn a_protected_path_is_told_with_what_would_take_the_protection_away() {
        let said = for_call(&Remedy::Unprotect { path: ".git/hooks/x\"y".into() }).concat();
        assert!(said.contains(r#"unprotected = [".git/hooks/x\"y"] under [permissions]"#), "{said}");
    }

    // proves M3: with the remedy, once
    #[test]
    fn a_failure_of_an_older_version_says_itself_what_mends_it() {
        let failure = |message: &str| Failure::new(FailureClass::Auth, message);
        assert!(for_failure(&failure("It refused the key.")).is_some_and(|said| said.contains("WINDLASS_API_KEY")));
        assert_eq!(for_failure(&failure("It refused the key. Set OPENAI_API_KEY.")), None);
        let no_tools = Failure { no_tools: true, ..Failure::new(FailureClass::BadRequest, "It takes no tools.") };
        assert!(for_failure(&no_tools).is_some_and(|said| said.contains("--dialect tool_block")));
        let no_model = Failure { no_model: true, ..Failure::new(FailureClass::BadRequest, "It has no such model.") };
        assert!(for_failure(&no_model).is_some_and(|said| said.contains("--model")));
        assert_eq!(for_failure(&Failure::new(FailureClass::Transient, "Not now.")), None);
        let empty = |message: &str| for_failure(&Failure::new(FailureClass::Quota, message));
        assert_eq!(empty("Nothing is left.").as_deref(), Some("Add credit or use another key."));
        assert_eq!(empty("Nothing is left. Add credit or use another key."), None);
    }

    // proves M3: a refused key is mended in the variable of the provider that refused it
    #[test]
    fn a_refused_key_is_told_with_the_variable_of_its_provider() {
        for (server, variable) in [
            ("https://api.openai.com/v1", "OPENAI_API_KEY"),
            ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
            ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
            ("https://router.huggingface.co/v1", "HF_TOKEN"),
            ("https://llm.example/v1", "WINDLASS_API_KEY"),
        ] {
            let failure = Failure::new(FailureClass::Auth, format!("The server at {server} refused the key (401)."));
            let advice = format!("Set {variable} to a key that is valid there");
            let given = for_failure(&failure).expect("advice");
            assert!(given.starts_with(&advice), "{server}: {given}");
            assert_eq!(given.contains("`api_key_env` under [models.NAME]"), variable == "WINDLASS_API_KEY", "{given}");
        }
        // Behind another address, the variable is that of the provider for which the address is given.
        let proxies = |name: &str| match name {
            "ANTHROPIC_BASE_URL" => Some("https://proxy.example/".to_owned()),
            "OPENAI_BASE_URL" => Some("https://llm.example/v1".to_owned()),
            _ => None,
        };
        for (server, variable) in [
            ("https://proxy.example/v1", "ANTHROPIC_API_KEY"),
            ("https://llm.example/v1", "OPENAI_API_KEY"),
            ("https://other.example/v1", "WINDLASS_API_KEY"),
        ] {
            assert_eq!(key_variable(&format!("The server at {server} refused the key (401)."), proxies), variable);
        }
    }

    // proves M3: what to do follows from the class and the cause
    #[test]
    fn every_known_cause_of_a_failure_has_its_remedy() {
        let failed = |cause| Failure { cause: Some(cause), ..Failure::new(FailureClass::Protocol, "It failed.") };
        let said = |failure: &Failure| for_failure(failure).unwrap_or_default();
        assert!(said(&failed(FailureCause::WrongAddress)).contains("often it ends in /v1"));
        let missing = Failure { status: Some(404), ..failed(FailureCause::WrongAddress) };
        assert!(said(&missing).ends_with("and the model's name."));
        assert!(said(&failed(FailureCause::Unreachable)).contains("the network"));
        let untrusted = Failure {
            message: "The certificate is of an unknown authority.".into(),
            ..failed(FailureCause::UntrustedCertificate)
        };
        assert!(said(&untrusted).contains("its authority"), "whatever words the message has");
        let not_running = Failure { not_running: true, ..Failure::new(FailureClass::Transient, "Nothing listens.") };
        assert!(said(&not_running).contains("--base-url"));
    }
}
