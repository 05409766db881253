use std::path::Path;

use windlass_setup::settings::{Flags, Settings, SettingsFile, SettingsScope, Sources};

use super::{DraftTrust, InitDialog, SettingsDraft, ask};

fn draft(scope: SettingsScope) -> SettingsDraft {
    let server = Some("http://127.0.0.1:11434/v1".to_owned());
    SettingsDraft { scope, server, model: Some("qwen3:8b".into()), preset: "default".into(), commands: Vec::new() }
}

/// Returns the settings that the written file results in, in a folder nobody trusts.
fn read_back(draft: &SettingsDraft) -> Settings {
    let text = draft.render(DraftTrust::NotGiven);
    let file = SettingsFile::parse(Path::new("/p/windlass.toml"), draft.scope, &text);
    let file = Some(file.unwrap_or_else(|error| panic!("{error}:\n{text}")));
    let (project, user) = match draft.scope {
        SettingsScope::Project => (file, None),
        SettingsScope::User => (None, file),
    };
    let flags = Flags { data_dir: Some("/d".into()), ..Flags::default() };
    let env = [("HOME", "/home/me")].into_iter().collect();
    let mut sources = Sources::of(flags, env, "/p");
    (sources.project, sources.user) = (project, user);
    sources.resolve().unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

// proves X2: the file written for a project works without trust
#[test]
fn what_is_written_is_read_back_by_our_own_reader() {
    for scope in [SettingsScope::Project, SettingsScope::User] {
        let own = scope == SettingsScope::User;
        let settings = read_back(&draft(scope));
        let model = |settings: &Settings| settings.model.as_ref().map(|model| model.value.0.clone());
        assert_eq!(model(&settings).as_deref(), own.then_some("qwen3:8b"), "never without its server");
        let address = settings.endpoint.map(|endpoint| endpoint.base_url.value);
        assert_eq!(address.as_deref(), own.then_some("http://127.0.0.1:11434/v1"));
        let odd =
            SettingsDraft { model: Some("a\"b\\cü".into()), server: None, preset: "task".into(), ..draft(scope) };
        let odd = read_back(&odd);
        assert_eq!(model(&odd).as_deref(), Some("a\"b\\cü"));
        let (preset, told) = match scope {
            SettingsScope::User => ("task", 0),
            SettingsScope::Project => ("default", 1),
        };
        assert_eq!((odd.policy.preset.as_str(), odd.notices.len()), (preset, told));
        let bare = SettingsDraft { server: None, model: None, ..draft(scope) };
        assert_eq!((read_back(&bare).endpoint, read_back(&bare).model), (None, None));
    }
}

// proves X2: what a project may say once it is trusted is said as docs/permissions.md says it
#[test]
fn a_trusted_folder_gets_the_server_with_the_model() {
    let text = draft(SettingsScope::Project).render(DraftTrust::Given);
    assert!(text.contains("\nbase_url = \"http://127.0.0.1:11434/v1\"\n"), "{text}");
    assert!(text.contains("\nmodel = \"qwen3:8b\"\n"), "{text}");
    assert!(text.contains("`allow` counts here only once you trust this folder (`windlass trust`)"), "{text}");
    let text = draft(SettingsScope::Project).render(DraftTrust::NotGiven);
    assert!(
        text.contains("\n# base_url = ") && text.contains("\n# model = ") && text.contains("`windlass trust`"),
        "{text}"
    );
}

// proves W2, X2: a model with its server is written as it was named
#[test]
fn a_model_with_its_server_is_written_whole() {
    let named = |scope| SettingsDraft { server: None, model: Some("groq:a,ollama:b".into()), ..draft(scope) };
    let own = named(SettingsScope::User).render(DraftTrust::NotGiven);
    assert!(own.contains("\nmodel = \"groq:a,ollama:b\"\n"), "{own}");
    let settings = read_back(&named(SettingsScope::User));
    assert_eq!((settings.model.map(|model| model.value.0).as_deref(), settings.fallbacks.len()), (Some("a"), 1));
    let project = named(SettingsScope::Project).render(DraftTrust::NotGiven);
    assert!(project.contains("`windlass trust`.\n# model = \"groq:a,ollama:b\"\n"), "{project}");
    assert_eq!(read_back(&named(SettingsScope::Project)).model, None);
}

#[test]
fn a_server_and_commands_stand_only_in_ones_own_file() {
    let full = |scope| SettingsDraft {
        server: Some("https://far.example/v1".into()),
        commands: vec!["cargo *".into()],
        ..draft(scope)
    };
    let own = read_back(&full(SettingsScope::User));
    assert_eq!(own.endpoint.map(|endpoint| endpoint.base_url.value).as_deref(), Some("https://far.example/v1"));
    assert_eq!(
        own.permissions.allow.iter().map(|rule| rule.value.to_string()).collect::<Vec<_>>(),
        ["run_command(cargo *)"]
    );
    let project = read_back(&full(SettingsScope::Project));
    assert!(project.endpoint.is_none() && project.permissions.allow.is_empty());
    assert!(
        full(SettingsScope::Project).render(DraftTrust::NotGiven).contains("# base_url = \"https://far.example/v1\"")
    );
}

fn answered(lines: &str) -> (SettingsDraft, String) {
    let mut person = InitDialog { keyboard: lines.as_bytes(), screen: Vec::new() };
    let draft = ask(&draft(SettingsScope::Project), Some("/u/windlass.toml"), &mut person).expect("asked");
    (draft, String::from_utf8(person.screen).expect("text"))
}

#[test]
fn an_empty_line_takes_what_was_found() {
    assert_eq!(answered("\n\n\n\n").0, draft(SettingsScope::Project));
}

#[test]
fn whoever_ends_the_input_gets_nothing_written() {
    for lines in ["", "1\n", "3", "\n\n\n"] {
        let mut person = InitDialog { keyboard: lines.as_bytes(), screen: Vec::new() };
        let left = ask(&draft(SettingsScope::Project), Some("/u/windlass.toml"), &mut person).expect_err("left");
        assert_eq!(left.kind(), std::io::ErrorKind::UnexpectedEof, "{lines:?}");
    }
}

#[test]
fn every_answer_counts_and_one_that_can_not_be_used_is_asked_for_again() {
    let (given, screen) = answered("3\n2\nlocalhost\nhttps://far/v1\nm\nchaos\ntask\ncargo *, run_command(git diff)\n");
    let expected = SettingsDraft {
        scope: SettingsScope::User,
        server: Some("https://far/v1".into()),
        model: Some("m".into()),
        preset: "task".into(),
        commands: vec!["cargo *".into(), "run_command(git diff)".into()],
    };
    assert_eq!(given, expected, "{screen}");
    for part in ["type 1 or 2", "write it like http://", "there is no preset \"chaos\"", "[qwen3:8b]"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert_eq!(
        answered("1\nopenai\nnone\n\n").0,
        SettingsDraft { server: None, model: None, ..draft(SettingsScope::Project) }
    );
}
