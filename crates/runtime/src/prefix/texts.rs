//! The texts of a prefix, by how much a model is told: a small model keeps little in mind, and follows a short prefix
//! better than a complete one.

use windlass_tools::dialect::{PromptStyle, ScriptLanguages, prompt_style};
use windlass_vocab::{Dialect, ToolSpec};

/// The texts of Windlass's own in a prefix; one that is absent is left out.
pub(super) struct PrefixTexts {
    /// Who the agent is.
    pub(super) identity: &'static str,
    /// How to work with tools.
    pub(super) rules: &'static str,
    /// The same where no tool works with files.
    pub(super) rules_without_files: &'static str,
    /// Where the tools work.
    pub(super) workspace: Option<&'static str>,
    /// Which servers there are.
    pub(super) servers: Option<&'static str>,
    /// Guidance for little thought.
    pub(super) reasoning_low: Option<&'static str>,
    /// Guidance for much thought.
    pub(super) reasoning_high: Option<&'static str>,
}

const FULL: PrefixTexts = PrefixTexts {
    identity: include_str!("../prompts/identity.md"),
    rules: include_str!("../prompts/rules.md"),
    rules_without_files: include_str!("../prompts/rules_without_files.md"),
    workspace: Some(include_str!("../prompts/workspace.md")),
    servers: Some("You have tools of these servers: {servers}."),
    reasoning_low: Some(include_str!("../prompts/reasoning_low.md")),
    reasoning_high: Some(include_str!("../prompts/reasoning_high.md")),
};

/// It is the same in every folder, so that a server finds it in its cache.
const SHORT: PrefixTexts = PrefixTexts {
    identity: include_str!("../prompts/identity_short.md"),
    rules: include_str!("../prompts/rules_short.md"),
    rules_without_files: include_str!("../prompts/rules_short_without_files.md"),
    workspace: None,
    servers: None,
    reasoning_low: None,
    reasoning_high: None,
};

/// The same where there is nothing to call.
const TALK: PrefixTexts = PrefixTexts { identity: include_str!("../prompts/identity_talk.md"), ..SHORT };

/// The same for models that write scripts.
const SCRIPT: PrefixTexts = PrefixTexts {
    identity: include_str!("../prompts/identity_script.md"),
    rules: include_str!("../prompts/rules_script.md"),
    rules_without_files: include_str!("../prompts/rules_script.md"),
    ..SHORT
};

/// The same where there is no Python.
const SHELL_SCRIPT: PrefixTexts = PrefixTexts {
    rules: include_str!("../prompts/rules_script_shell.md"),
    rules_without_files: include_str!("../prompts/rules_script_shell.md"),
    ..SCRIPT
};

impl PrefixTexts {
    /// Returns the texts for models that write calls in this dialect; `None` is the wire's own format. Of scripts a model is
    /// told only where they can be run.
    pub(super) fn of(dialect: Option<Dialect>, offer: &[ToolSpec], languages: ScriptLanguages) -> &'static Self {
        match (dialect, dialect.map_or(PromptStyle::Full, prompt_style)) {
            (Some(Dialect::Script), _) if !offer.is_empty() => match languages {
                ScriptLanguages::PythonAndShell => &SCRIPT,
                ScriptLanguages::Shell => &SHELL_SCRIPT,
            },
            (_, PromptStyle::Full) => &FULL,
            (_, PromptStyle::Short) if offer.is_empty() => &TALK,
            (_, PromptStyle::Short) => &SHORT,
        }
    }
}
