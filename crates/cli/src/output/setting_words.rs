//! Words for settings: where a value came from, errors and notices, each with the flag, variable, file or command of this
//! command line that helps.

use std::path::Path;

use windlass::door::{KEY_VARIABLE, OLLAMA};
use windlass_provider::known_models::suggested::FIRST_MODEL;
use windlass_setup::models::{KnownModels, ModelNotice, Software};
use windlass_setup::settings::{
    FormerTrust, OwnershipProblem, SettingOrigin, SettingsError, SettingsNotice, UntrustedFolder,
};

use super::advice::with_failure;

/// Returns the flag that a value came from.
pub(crate) fn flag_of(origin: &SettingOrigin) -> Option<String> {
    match origin {
        SettingOrigin::Flag(setting) => Some(format!("--{}", setting.replace('_', "-"))),
        SettingOrigin::Variable(_)
        | SettingOrigin::Project(_)
        | SettingOrigin::ProjectServers(_)
        | SettingOrigin::User(_)
        | SettingOrigin::Default
        | SettingOrigin::Found
        | SettingOrigin::Session => None,
    }
}

/// Returns where a value came from; a setting of the command line is named by its flag.
pub(crate) fn origin_text(origin: &SettingOrigin) -> String {
    flag_of(origin).unwrap_or_else(|| origin.to_string())
}

/// Returns the file or flag that a value came from, without a line.
pub(crate) fn place_text(origin: &SettingOrigin) -> String {
    flag_of(origin).unwrap_or_else(|| origin.place())
}

/// Returns what is wrong with the settings, and what to do.
pub(crate) fn settings_error(error: &SettingsError) -> String {
    match error {
        SettingsError::Wrong { origin, problem } => format!("{}: {problem}", origin_text(origin)),
        SettingsError::Untrusted { folder, .. } => {
            format!("{error}. Read the file; then take the line out, or {}", how_to_trust(folder))
        }
        SettingsError::KeyOfOther { key_of, server_of, .. } => format!(
            "{error}. For {of} give it as {variable} and name the model as {prefix}:…; for {at} set a key from {at}",
            of = key_of.name,
            at = server_of.name,
            variable = key_of.key_variable.or(key_of.shared_key_variable).unwrap_or(KEY_VARIABLE),
            prefix = key_of.prefix
        ),
        SettingsError::PasswordInAddress { origin } => format!(
            "{}: the address holds a name or password; take it out and give the key as OPENAI_API_KEY",
            origin_text(origin)
        ),
        SettingsError::KeyReadable { path, .. } => format!("{error}: run `chmod 600 {}`", path.display()),
        SettingsError::Workspace { origin, path, source } => {
            format!("{}: the workspace {} can't be used: {source}", origin_text(origin), path.display())
        }
        SettingsError::NoServer => format!(
            "{error}: set OPENAI_API_KEY, ANTHROPIC_API_KEY or the key of another provider, or start Ollama or a \
             llama.cpp server, or name a server with --base-url or OPENAI_BASE_URL (e.g. http://127.0.0.1:11434/v1). \
             `windlass init` writes it down; `windlass demo` shows a job without a model"
        ),
        SettingsError::NoProvider { origin, prefix, near } => no_provider(origin, prefix, *near),
        SettingsError::NoKey { variable, .. } => format!("{error}: set {variable}, or choose another with --model"),
        SettingsError::OtherServer { .. } => format!("{error}: say which with --base-url or OPENAI_BASE_URL"),
        SettingsError::NotUsedUnasked { base_url, .. } => format!("{error}. {}", how_to_name(base_url)),
        SettingsError::NoModelHere { software } => format!(
            "{error}: {}; or set OPENAI_API_KEY. `windlass demo` shows a job without a model",
            how_to_serve(*software)
        ),
        SettingsError::NoServerFor { origin, model, here } => {
            let here: String = here.iter().map(|sentence| format!("{sentence}. ")).collect();
            format!(
                "{}: no server is configured for the model {model:?}: {here}Name it with its server, as ollama:{model} \
                 or openai:{model}; or set OPENAI_API_KEY for a model of OpenAI, or name its server with --base-url or \
                 OPENAI_BASE_URL",
                origin_text(origin)
            )
        }
        SettingsError::NoModel { base_url, provider, known } => format!(
            "no model is named for {base_url}: give --model, or set OPENAI_MODEL, or write `model = \"…\"` in \
             windlass.toml. {known}{}",
            match (known, provider) {
                (KnownModels::None, Some(provider)) if **provider == OLLAMA => {
                    format!("; `windlass models pull {FIRST_MODEL} --base-url {base_url}` gets one")
                }
                (KnownModels::None | KnownModels::Several(_) | KnownModels::NotListed(_), _) => String::new(),
            }
        ),
        SettingsError::KeyRefused(failure) => with_failure(failure),
        SettingsError::NoDataDir => "it is not known where to keep sessions: set HOME, or give --data-dir".to_owned(),
        SettingsError::Unreadable { .. } | SettingsError::Servers { .. } | SettingsError::NotListed { .. } => {
            error.to_string()
        }
    }
}

/// Returns how a model is named whose provider is unknown.
fn no_provider(origin: &SettingOrigin, prefix: &str, near: Option<&str>) -> String {
    let example = match prefix {
        _ if prefix.starts_with("azure") => "https://RESOURCE.openai.azure.com/openai/v1#DEPLOYMENT",
        "bedrock" | "aws" => "https://bedrock-runtime.REGION.amazonaws.com/openai/v1#ID",
        _ if prefix.contains("vertex") => "gemini:ID (with GEMINI_API_KEY)",
        _ => "https://llm.example/v1#ID",
    };
    let what = format!("{}: there is no provider {prefix:?}", origin_text(origin));
    match near {
        Some(near) => format!("{what}; did you mean {near:?}?"),
        None => format!(
            "{what}: write {example}, or another server's address with the model's id, and give its key as {KEY_VARIABLE}; \
             `windlass models` lists the providers"
        ),
    }
}

/// Returns a notice about the settings, and what can be done.
pub(crate) fn settings_notice(notice: &SettingsNotice) -> String {
    /// For a person who refused: how to see what they refused and how to change the answer.
    const MORE: &str = "`windlass doctor` tells more, `windlass trust` asks again";
    match notice {
        SettingsNotice::Sentence(text) => text.clone(),
        SettingsNotice::At { origin, problem } => format!("{}: {problem}", origin_text(origin)),
        SettingsNotice::LeftOut { folder, .. } => {
            format!("{notice}. Read the file; to take what it says, {}", how_to_trust(folder))
        }
        SettingsNotice::Declined { .. } | SettingsNotice::ChangeDeclined => format!("{notice}; {MORE}"),
        SettingsNotice::Changed { .. } => {
            format!("{notice} until `windlass trust` has shown you how, and you agree")
        }
        SettingsNotice::NotUsed { path, problem, folder, .. } => {
            let mend = match problem {
                OwnershipProblem::Owns => "take it over".to_owned(),
                OwnershipProblem::Writes => format!("`chmod go-w {}`", path.display()),
            };
            format!("{notice}. Read it; then {mend}, or {}", how_to_list(&folder.folder, &folder.user_file))
        }
        SettingsNotice::WideWorkspace { .. } => {
            format!("{notice}. Start in the folder of a project, or name one with --workspace")
        }
    }
}

/// Returns a notice about the chosen model, and what can be done.
pub(crate) fn model_notice(notice: &ModelNotice) -> String {
    match notice {
        ModelNotice::Picked(_) => format!("{notice} (choose with --model)"),
        ModelNotice::Found(text) => text.clone(),
        ModelNotice::NotUsed { base_url, .. } => format!("{notice}. {}", how_to_name(base_url)),
        ModelNotice::NoModelHere { software } => format!("{notice}: {}", how_to_serve(*software)),
        ModelNotice::BetterPreset { better, .. } => format!("try --preset {}: {notice}", better.better.preset),
        ModelNotice::UnreadableMemory(_) => format!("{notice}; `windlass models probe` writes it anew"),
    }
}

fn how_to_name(base_url: &str) -> String {
    format!(
        "To use it, name it: --base-url {base_url}, or OPENAI_BASE_URL={base_url}, or `base_url = {base_url:?}` in \
         windlass.toml"
    )
}

fn how_to_serve(software: Software) -> String {
    match software {
        Software::Ollama => format!("`windlass models pull {FIRST_MODEL}` gets one"),
        Software::LlamaCpp | Software::Unknown => "start it with `-m MODEL.gguf`".to_owned(),
    }
}

fn how_to_trust(folder: &UntrustedFolder) -> String {
    match folder.former {
        FormerTrust::Never => {
            format!("run `windlass trust`, or {}", how_to_list(&folder.folder, &folder.user_file))
        }
        FormerTrust::Changed => {
            "run `windlass trust`: it shows how the project has changed since you trusted it, and asks".to_owned()
        }
    }
}

fn how_to_list(folder: &Path, user_file: &Path) -> String {
    format!("trust the folder with `trusted = [{folder:?}]` in {}", user_file.display())
}

#[cfg(test)]
mod tests {
    use windlass::door::PROVIDERS;
    use windlass_setup::settings::Position;

    use super::*;

    fn project() -> SettingOrigin {
        SettingOrigin::Project(Position { path: "/p/windlass.toml".into(), line: 1, column: 9 })
    }

    fn folder(former: FormerTrust) -> UntrustedFolder {
        UntrustedFolder { folder: "/p".into(), former, user_file: "/u/windlass.toml".into() }
    }

    // proves X2: with the command and the line that give trust
    #[test]
    fn what_needs_trust_is_told_with_how_to_give_it() {
        let error =
            |former| SettingsError::Untrusted { origin: project(), setting: "a base_url", folder: folder(former) };
        let text = settings_error(&error(FormerTrust::Never));
        assert!(text.starts_with("/p/windlass.toml:1:9: a base_url is not taken"), "{text}");
        assert!(
            text.contains("`windlass trust`") && text.contains("trusted = [\"/p\"]` in /u/windlass.toml"),
            "{text}"
        );
        let text = settings_error(&error(FormerTrust::Changed));
        assert!(text.contains("shows how the project has changed") && !text.contains("trusted = ["), "{text}");
        let notice = SettingsNotice::NotUsed {
            file: "/p/windlass.toml".into(),
            path: "/p".into(),
            problem: OwnershipProblem::Writes,
            folder: folder(FormerTrust::Never),
        };
        let text = settings_notice(&notice);
        assert!(text.contains("others can write to /p, so it may be from anybody"), "{text}");
        assert!(text.contains("`chmod go-w /p`") && text.contains("trusted = ["), "{text}");
        assert!(settings_notice(&SettingsNotice::Declined { settings: 3 }).contains("`windlass trust` asks again"));
    }

    // proves S5: without a model a sentence says what to set
    #[test]
    fn a_missing_model_is_told_with_every_way_to_get_one() {
        let text = settings_error(&SettingsError::NoServer);
        for hint in
            ["no model is configured", "OPENAI_API_KEY", "OPENAI_BASE_URL", "Ollama", "llama.cpp", "windlass demo"]
        {
            assert!(text.contains(hint), "{hint}: {text}");
        }
        let text = settings_error(&SettingsError::NoModelHere { software: Software::Ollama });
        assert!(text.contains("`windlass models pull qwen3:4b` gets one"), "{text}");
        let text = settings_error(&SettingsError::NoModel {
            base_url: "http://gpu:11434/v1".into(),
            provider: Some(&OLLAMA),
            known: KnownModels::None,
        });
        let expected =
            "It lists none for conversation; `windlass models pull qwen3:4b --base-url http://gpu:11434/v1` gets one";
        assert!(text.starts_with("no model is named for http://gpu:11434/v1: ") && text.ends_with(expected), "{text}");
        let text = settings_error(&SettingsError::NoServerFor {
            origin: SettingOrigin::Flag("model"),
            model: "m".into(),
            here: vec!["Ollama on this machine has a, b".into()],
        });
        assert!(text.starts_with("--model: ") && text.contains("Ollama on this machine has a, b. "), "{text}");
        assert!(text.contains("ollama:m"), "{text}");
        let no_key = SettingsError::NoKey { model: "m".into(), provider: "Groq", variable: "GROQ_API_KEY" };
        let text = settings_error(&no_key);
        assert_eq!(
            text,
            "there is no key for Groq, whose model m is named: set GROQ_API_KEY, or choose another with --model"
        );
        let not_used = SettingsError::NotUsedUnasked { doubt: "a server".into(), base_url: "http://l/v1".into() };
        let text = settings_error(&not_used);
        for way in ["--base-url http://l/v1", "OPENAI_BASE_URL=http://l/v1", r#"base_url = "http://l/v1""#] {
            assert!(text.contains(way), "{text}");
        }
    }

    // proves X1: a key for another provider is refused with the variable it belongs in
    #[test]
    fn a_key_of_another_provider_is_told_with_its_variable() {
        let of = |name| PROVIDERS.into_iter().find(|provider| provider.name == name).expect("a provider");
        let error = SettingsError::KeyOfOther {
            origin: SettingOrigin::Variable("OPENAI_API_KEY".into()),
            key_of: of("Groq"),
            base_url: "https://api.openai.com/v1".into(),
            server_of: of("OpenAI"),
        };
        let text = settings_error(&error);
        assert!(text.starts_with("OPENAI_API_KEY: this is a key for Groq, and "), "{text}");
        assert!(text.contains("give it as GROQ_API_KEY and name the model as groq:"), "{text}");
        let readable = SettingsError::KeyReadable { origin: project(), path: "/u/w.toml".into() };
        assert!(settings_error(&readable).ends_with("run `chmod 600 /u/w.toml`"));
    }

    #[test]
    fn a_setting_of_the_command_line_is_named_by_its_flag() {
        assert_eq!(origin_text(&SettingOrigin::Flag("data_dir")), "--data-dir");
        assert_eq!(place_text(&SettingOrigin::Flag("mcp_config")), "--mcp-config");
        assert_eq!(place_text(&project()), "/p/windlass.toml");
        let wrong = SettingsError::Wrong { origin: SettingOrigin::Flag("allow"), problem: "no rule".into() };
        assert_eq!(settings_error(&wrong), "--allow: no rule");
    }
}
