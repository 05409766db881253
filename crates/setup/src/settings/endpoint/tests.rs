use super::super::tests::SettingsFixture;

const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-environment");

/// `address, key` as resolved.
fn endpoint(given: &SettingsFixture) -> (String, String) {
    let endpoint = given.settings().endpoint.expect("a server");
    (endpoint.base_url.value, endpoint.api_key.map_or_else(String::new, |key| key.value.expose().to_owned()))
}

fn is(given: &SettingsFixture, address: &str, key: &str) {
    assert_eq!(endpoint(given), (address.to_owned(), key.to_owned()));
}

#[test]
fn with_nothing_configured_there_is_no_server() {
    assert_eq!(SettingsFixture::nothing().settings().endpoint, None);
}

#[test]
fn the_address_follows_the_order_of_the_sources() {
    let mut given = SettingsFixture::nothing().env(&[KEY]);
    is(&given, "https://api.openai.com/v1", "sk-environment");
    given = given.user("base_url = 'https://user/v1/'");
    is(&given, "https://user/v1", "sk-environment");
    given = given.env(&[("OPENAI_BASE_URL", "https://variable/v1//")]);
    is(&given, "https://variable/v1", "sk-environment");
    given = given.env(&[("WINDLASS_BASE_URL", "https://ours/v1")]);
    is(&given, "https://ours/v1", "sk-environment");
    given = given.flags(|flags| flags.base_url = Some("https://flag/v1".into()));
    is(&given, "https://flag/v1", "sk-environment");
}

// proves M2, X1: the key of any provider is enough, and it goes to that provider
#[test]
fn the_first_provider_whose_key_is_set_is_called() {
    for (variables, address, key) in [
        (&[("ANTHROPIC_API_KEY", "sk-ant-1")][..], "https://api.anthropic.com/v1", "sk-ant-1"),
        (&[("GROQ_API_KEY", "gsk_1"), ("OPENROUTER_API_KEY", "sk-or-1")], "https://openrouter.ai/api/v1", "sk-or-1"),
        (&[KEY, ("ANTHROPIC_API_KEY", "sk-ant-1")], "https://api.openai.com/v1", "sk-environment"),
        (&[("WINDLASS_API_KEY", "own"), ("ANTHROPIC_API_KEY", "sk-ant-1")], "https://api.openai.com/v1", "own"),
        (&[("OLLAMA_HOST", "gpu:1"), ("DEEPSEEK_API_KEY", "sk-d")], "https://api.deepseek.com/v1", "sk-d"),
        (
            &[("ANTHROPIC_BASE_URL", "https://proxy.example/"), ("ANTHROPIC_API_KEY", "sk-ant-1"), KEY],
            "https://api.openai.com/v1",
            "sk-environment",
        ),
        (
            &[("ANTHROPIC_BASE_URL", "https://proxy.example/"), ("ANTHROPIC_API_KEY", "sk-ant-1")],
            "https://proxy.example/v1",
            "sk-ant-1",
        ),
    ] {
        is(&SettingsFixture::nothing().env(variables), address, key);
    }
    // What is for downloads or for maps does not send a conversation anywhere.
    for token in ["HF_TOKEN", "GOOGLE_API_KEY"] {
        assert_eq!(SettingsFixture::nothing().env(&[(token, "t0ken")]).settings().endpoint, None, "{token}");
    }
    // A key in the person's file is configured; one in the environment may be there for another program.
    let configured = SettingsFixture::nothing().env(&[("ANTHROPIC_API_KEY", "sk-ant-1")]).user("api_key = 'sk-file'");
    is(&configured, "https://api.openai.com/v1", "sk-file");
}

// proves M2, X1: a well-known model is called where it is sold, with the key for that server
#[test]
fn an_id_alone_is_of_the_provider_whose_model_it_is() {
    let anthropic = ("ANTHROPIC_API_KEY", "sk-ant-1");
    let named = |env: &[(&str, &str)], model: &str| {
        SettingsFixture::nothing().env(env).flags(|flags| flags.model = Some(model.into()))
    };
    is(&named(&[KEY, anthropic], "claude-sonnet-4-5"), "https://api.anthropic.com/v1", "sk-ant-1");
    is(&named(&[KEY], "claude-sonnet-4-5"), "https://api.anthropic.com/v1", "");
    is(&named(&[KEY, anthropic], "gpt-5"), "https://api.openai.com/v1", "sk-environment");
    is(&named(&[anthropic], "of-nobody"), "https://api.anthropic.com/v1", "sk-ant-1");
    is(&named(&[KEY], "qwen3:8b"), "http://127.0.0.1:11434/v1", "");
    is(&named(&[KEY], "google:gemini-x"), "https://generativelanguage.googleapis.com/v1beta/openai", "");
    let elsewhere = ("ANTHROPIC_BASE_URL", "https://proxy.example");
    is(&named(&[KEY, anthropic, elsewhere], "claude-sonnet-4-5"), "https://proxy.example/v1", "sk-ant-1");
    let proxy = ("OPENAI_BASE_URL", "https://proxy.example/v1");
    is(&named(&[KEY, anthropic, proxy], "claude-sonnet-4-5"), "https://proxy.example/v1", "sk-environment");
    let chain = named(&[KEY, anthropic], "gpt-5,claude-sonnet-4-5").settings().fallbacks;
    let second = chain[0].endpoint.as_ref().map(|endpoint| endpoint.base_url.value.as_str());
    assert_eq!((chain[0].name.value.as_str(), second), ("claude-sonnet-4-5", Some("https://api.anthropic.com/v1")));
    // A project that nobody trusted does not choose among the person's providers.
    let project = SettingsFixture::nothing().env(&[KEY, anthropic]).project("model = 'claude-sonnet-4-5'");
    assert!(project.error().contains("a model with its server is not taken"), "{}", project.error());
    is(&project.trusted(), "https://api.anthropic.com/v1", "sk-ant-1");
}

// proves M2: a provider that does not exist is named, and nothing is sent elsewhere
#[test]
fn a_provider_that_does_not_exist_is_refused() {
    for (env, model, problem) in [
        (&[KEY][..], "azure:gpt-5", "model: there is no provider \"azure\""),
        (&[], "bedrock:claude", "model: there is no provider \"bedrock\""),
        (&[KEY], "gpt-5,vertex:gemini", "model: there is no provider \"vertex\""),
        (&[KEY], "gemni:x", "model: there is no provider \"gemni\"; did you mean \"gemini\"?"),
    ] {
        let given = SettingsFixture::nothing().env(env).flags(|flags| flags.model = Some(model.into()));
        assert_eq!(given.error(), problem);
    }
    let proxy = [KEY, ("OPENAI_BASE_URL", "https://proxy.example/v1")];
    let at_proxy = SettingsFixture::nothing().env(&proxy).flags(|flags| flags.model = Some("azure:gpt-5".into()));
    is(&at_proxy, "https://proxy.example/v1", "sk-environment");
}

// proves M1: the wire is that of the provider, wherever its server is
#[test]
fn it_is_known_whose_server_is_called() {
    let prefix = |given: SettingsFixture| given.settings().endpoint?.provider.map(|provider| provider.prefix);
    let env = |variables: &[(&str, &str)]| prefix(SettingsFixture::nothing().env(variables));
    assert_eq!(env(&[KEY]), Some("openai"));
    assert_eq!(env(&[("ANTHROPIC_API_KEY", "sk-ant-1")]), Some("anthropic"));
    assert_eq!(env(&[("ANTHROPIC_BASE_URL", "https://proxy.example")]), Some("anthropic"));
    assert_eq!(env(&[("OLLAMA_HOST", "gpu")]), Some("ollama"));
    assert_eq!(env(&[("WINDLASS_MODEL", "llamacpp:m")]), Some("llamacpp"));
    assert_eq!(env(&[KEY, ("OPENAI_BASE_URL", "https://api.deepseek.com/v1")]), Some("deepseek"));
    assert_eq!(env(&[KEY, ("OPENAI_BASE_URL", "https://proxy.example/v1")]), None);
    assert_eq!(prefix(SettingsFixture::nothing().user("base_url = 'https://api.groq.com/openai/v1'")), Some("groq"));
}

// proves X1
#[test]
fn the_address_of_a_provider_gets_the_providers_own_key() {
    let env = [KEY, ("DEEPSEEK_API_KEY", "sk-deep")];
    let user = "base_url = 'https://api.deepseek.com/v1'";
    is(&SettingsFixture::nothing().env(&env).user(user), "https://api.deepseek.com/v1", "sk-deep");
    is(&SettingsFixture::nothing().env(&[KEY]).user(user), "https://api.deepseek.com/v1", "sk-environment");
    let flag = |url: &str| SettingsFixture::nothing().env(&env).flags(|flags| flags.base_url = Some(url.into()));
    is(&flag("https://api.deepseek.com/v1"), "https://api.deepseek.com/v1", "sk-deep");
    is(&flag("https://api.deepseek.com.evil.example/v1"), "https://api.deepseek.com.evil.example/v1", "sk-environment");
}

// proves X1: a key beside a model with its server is for that server
#[test]
fn the_key_of_a_file_is_for_the_provider_that_its_model_names() {
    let user = "model = 'anthropic:claude-x'\napi_key = 'sk-ant-file'";
    is(&SettingsFixture::nothing().user(user), "https://api.anthropic.com/v1", "sk-ant-file");
    let other = |name: &str| SettingsFixture::nothing().user(user).env(&[("WINDLASS_MODEL", name)]);
    is(&other("openai:m"), "https://api.openai.com/v1", "");
    is(&other("deepseek:m"), "https://api.deepseek.com/v1", "");
    let unbound = SettingsFixture::nothing().user("api_key = 'sk-file'").env(&[("WINDLASS_MODEL", "deepseek:m")]);
    is(&unbound, "https://api.deepseek.com/v1", "");
}

#[test]
fn a_local_server_needs_no_key() {
    is(
        &SettingsFixture::nothing().env(&[("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")]),
        "http://127.0.0.1:8080/v1",
        "",
    );
    is(&SettingsFixture::nothing().env(&[("OLLAMA_HOST", "0.0.0.0")]), "http://127.0.0.1:11434/v1", "");
}

#[test]
fn ollama_is_called_only_when_there_is_no_key_for_openai_and_gets_no_key_of_a_file() {
    is(
        &SettingsFixture::nothing().env(&[KEY, ("OLLAMA_HOST", "gpu:1")]),
        "https://api.openai.com/v1",
        "sk-environment",
    );
    let user = "api_key = 'sk-for-openai'";
    is(&SettingsFixture::nothing().env(&[("OLLAMA_HOST", "gpu:1")]).user(user), "http://gpu:1/v1", "");
    let own = ("WINDLASS_API_KEY", "sk-ours");
    is(&SettingsFixture::nothing().env(&[("OLLAMA_HOST", "gpu:1"), own]), "http://gpu:1/v1", "sk-ours");
}

#[test]
fn every_form_of_ollama_host_is_understood() {
    for (text, url) in [
        ("gpu", "http://gpu:11434/v1"),
        ("gpu:80", "http://gpu/v1"),
        ("gpu:8080", "http://gpu:8080/v1"),
        ("127.0.0.1", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:9", "http://127.0.0.1:9/v1"),
        (":9", "http://127.0.0.1:9/v1"),
        ("::", "http://[::1]:11434/v1"),
        ("[::1]:9", "http://[::1]:9/v1"),
        ("http://gpu:11434/", "http://gpu:11434/v1"),
        ("https://gpu/ollama", "https://gpu/ollama/v1"),
        (" gpu ", "http://gpu:11434/v1"),
    ] {
        is(&SettingsFixture::nothing().env(&[("OLLAMA_HOST", text)]), url, "");
    }
    for text in ["http://", "a b", "gpu:99999", "http://:x"] {
        let error = SettingsFixture::nothing().env(&[("OLLAMA_HOST", text)]).error();
        assert!(error.starts_with("OLLAMA_HOST: this is not a host"), "{error}");
    }
}

/// `address, model, key` of a model that is named by a flag, a variable, and the person's file.
fn named(name: &str, env: &[(&str, &str)]) -> Vec<(String, Option<String>, String)> {
    let nothing = || SettingsFixture::nothing().env(env);
    let ways = [
        nothing().flags(|flags| flags.model = Some(name.to_owned())),
        nothing().env(&[("WINDLASS_MODEL", name)]),
        nothing().env(&[("OPENAI_MODEL", name)]),
        nothing().user(&format!("model = '{name}'")),
    ];
    let resolved = |given: &SettingsFixture| {
        let (address, key) = endpoint(given);
        (address, given.settings().model.map(|model| model.value.0), key)
    };
    ways.iter().map(resolved).collect()
}

// proves W1, W2: the library and the command line take the same names
#[test]
fn a_model_is_named_as_in_the_library_wherever_it_is_named() {
    for (name, env, address, model, key) in [
        ("ollama:qwen3:8b", &[][..], "http://127.0.0.1:11434/v1", Some("qwen3:8b"), ""),
        ("ollama:qwen3", &[("OLLAMA_HOST", "gpu"), KEY], "http://gpu:11434/v1", Some("qwen3"), ""),
        ("openai:gpt-x", &[KEY], "https://api.openai.com/v1", Some("gpt-x"), "sk-environment"),
        ("openai:gpt-x", &[KEY, ("OPENAI_BASE_URL", "https://p/v1")], "https://p/v1", Some("gpt-x"), "sk-environment"),
        (
            "anthropic:c",
            &[KEY, ("ANTHROPIC_API_KEY", "sk-ant-1")],
            "https://api.anthropic.com/v1",
            Some("c"),
            "sk-ant-1",
        ),
        ("huggingface:o/m", &[KEY, ("HF_TOKEN", "hf_1")], "https://router.huggingface.co/v1", Some("o/m"), "hf_1"),
        ("lmstudio:m", &[KEY], "http://127.0.0.1:1234/v1", Some("m"), ""),
        ("http://127.0.0.1:8080/v1", &[KEY], "http://127.0.0.1:8080/v1", None, ""),
        ("https://llm.example/v1#big", &[KEY], "https://llm.example/v1", Some("big"), ""),
        ("https://h/v1#m", &[("WINDLASS_API_KEY", "own"), KEY], "https://h/v1", Some("m"), "own"),
    ] {
        for resolved in named(name, env) {
            assert_eq!(resolved, (address.to_owned(), model.map(str::to_owned), key.to_owned()), "{name}");
        }
    }
}

#[test]
fn an_address_beside_a_name_makes_it_an_id_of_that_server() {
    let flags = SettingsFixture::nothing().env(&[("WINDLASS_MODEL", "ollama:m")]);
    let flags = flags.flags(|flags| flags.base_url = Some("http://h/v1".into()));
    let file = SettingsFixture::nothing().user("base_url = 'http://h/v1'\nmodel = 'ollama:m'");
    for given in [flags, file] {
        is(&given, "http://h/v1", "");
        assert_eq!(given.settings().model.map(|model| model.value.0).as_deref(), Some("ollama:m"));
    }
    let over = SettingsFixture::nothing().user("base_url = 'http://h/v1'").env(&[("WINDLASS_MODEL", "ollama:m")]);
    is(&over, "http://127.0.0.1:11434/v1", "");
}

// proves X1, X2: the server in a model's name is an address like any other
#[test]
fn a_project_that_is_not_trusted_can_not_name_a_server_with_its_model() {
    for name in ["https://evil.example/v1", "ollama:m", "openai:m"] {
        let given = || SettingsFixture::nothing().env(&[KEY]).project(&format!("model = '{name}'"));
        let text = given().error();
        assert!(text.starts_with("/p/windlass.toml:1:9: a model with its server is not taken"), "{text}");
        assert_eq!(given().needing_trust(), ["/p/windlass.toml:1:9: a model with its server"]);
        given().trusted().settings();
        given().flags(|flags| flags.model = Some("m".into())).settings();
    }
}

// proves X1: the key of one server is not sent to another
#[test]
fn a_key_beside_an_address_is_not_sent_to_another() {
    let user = "base_url = 'https://groq/v1'\napi_key = 'gsk-groq'";
    let flag = SettingsFixture::nothing().user(user).flags(|flags| flags.base_url = Some("https://far/v1".into()));
    is(&flag, "https://far/v1", "");
    is(&SettingsFixture::nothing().user(user).env(&[("WINDLASS_MODEL", "openai:m")]), "https://api.openai.com/v1", "");
    let beside = "model = 'https://groq/v1#m'\napi_key = 'gsk-groq'";
    is(&SettingsFixture::nothing().env(&[KEY]).user(beside), "https://groq/v1", "gsk-groq");
    let given = || SettingsFixture::nothing().user(beside);
    is(&given().flags(|flags| flags.base_url = Some("https://far/v1".into())), "https://far/v1", "");
    is(&given().flags(|flags| flags.model = Some("openai:x".into())), "https://api.openai.com/v1", "");
    let bare = || given().flags(|flags| flags.model = Some("x".into()));
    is(&bare().env(&[("OPENAI_BASE_URL", "https://far/v1")]), "https://far/v1", "");
    is(&bare().project("base_url = 'https://far/v1'").trusted(), "https://far/v1", "");
    assert_eq!(bare().settings().endpoint, None, "it is not sent to the default server either");
}

// proves X1
#[test]
fn a_key_beside_a_provider_is_for_that_provider() {
    let given = || SettingsFixture::nothing().user("model = 'openai:m'\napi_key = 'sk-mine'");
    is(&given(), "https://api.openai.com/v1", "sk-mine");
    is(&given().flags(|flags| flags.model = Some("openai:x".into())), "https://api.openai.com/v1", "sk-mine");
    is(&given().flags(|flags| flags.model = Some("ollama:x".into())), "http://127.0.0.1:11434/v1", "");
    let ollama = SettingsFixture::nothing().user("model = 'ollama:m'\napi_key = 'sk-mine'");
    is(&ollama.flags(|flags| flags.model = Some("openai:x".into())), "https://api.openai.com/v1", "");
}

// proves X1: the key of one server is not sent to another
#[test]
fn the_key_a_file_names_belongs_to_the_address_in_that_file() {
    let user = "base_url = 'https://groq/v1'\napi_key_env = 'GROQ_KEY'";
    let env = [KEY, ("GROQ_KEY", "gsk-groq")];
    is(&SettingsFixture::nothing().env(&env).user(user), "https://groq/v1", "gsk-groq");
    is(
        &SettingsFixture::nothing().env(&env).user("base_url = 'https://u/v1'\napi_key = 'sk-file'"),
        "https://u/v1",
        "sk-file",
    );
    is(
        &SettingsFixture::nothing().env(&env).user("api_key_env = 'GROQ_KEY'"),
        "https://api.openai.com/v1",
        "sk-environment",
    );
    is(&SettingsFixture::nothing().user("api_key = 'sk-file'"), "https://api.openai.com/v1", "sk-file");
    let ours = ("WINDLASS_API_KEY", "sk-ours");
    is(&SettingsFixture::nothing().env(&env).env(&[ours]).user(user), "https://groq/v1", "sk-ours");
    assert_eq!(
        SettingsFixture::nothing().env(&[KEY]).user(user).error(),
        "/home/me/.config/windlass/windlass.toml:2:15: the key should be in the variable GROQ_KEY, which is not set"
    );
}

// proves X1, X2: a cloned project can't send the person's key or messages elsewhere
#[test]
fn an_address_from_a_project_that_is_not_trusted_is_not_called_wherever_it_is() {
    let evil = "base_url = 'https://evil.example/v1'";
    let text = SettingsFixture::nothing().env(&[KEY]).project(evil).error();
    assert!(text.contains("not taken from a project") && !text.contains("sk-environment"), "{text}");
    SettingsFixture::nothing().project(evil).error();
    for address in ["http://127.0.0.1:11434/v1", "http://localhost:1/v1", "http://[::1]:1/v1", "http://0.0.0.0/v1"] {
        let text = SettingsFixture::nothing().project(&format!("base_url = '{address}'")).error();
        assert!(text.contains("a base_url is not taken from a project you have not trusted"), "{text}");
    }
    is(
        &SettingsFixture::nothing().env(&[KEY]).project(evil).user("trusted = ['/p']"),
        "https://evil.example/v1",
        "sk-environment",
    );
    let flag = SettingsFixture::nothing()
        .env(&[KEY])
        .project(evil)
        .flags(|flags| flags.base_url = Some("https://mine/v1".into()));
    is(&flag, "https://mine/v1", "sk-environment");
}

// proves X1, X2
#[test]
fn a_project_that_is_not_trusted_can_not_choose_which_variable_is_sent() {
    let project = "api_key_env = 'GITHUB_TOKEN'";
    let given =
        || SettingsFixture::nothing().env(&[("GITHUB_TOKEN", "ghp-secret"), ("OPENAI_BASE_URL", "https://h/v1")]);
    assert!(given().project(project).error().contains("api_key_env"));
    is(&given().project(project).user("trusted = ['/p']"), "https://h/v1", "ghp-secret");
    is(&given().env(&[KEY]).project(project), "https://h/v1", "sk-environment");
}

// proves X1: no error shows a password or key
#[test]
fn an_address_that_can_not_be_called_is_refused_without_showing_it() {
    for (url, hint) in [
        ("http://me:hunter2@host/v1", "name or password"),
        ("http://hunter2@host/v1", "name or password"),
        ("ftp://host/hunter2", "http://"),
        ("hunter2", "not an address"),
        ("http://", "not an address"),
        ("http://host:hunter2/", "not an address"),
        ("http://host/v1?key=hunter2", "without ?"),
    ] {
        let text = SettingsFixture::nothing().env(&[("OPENAI_BASE_URL", url)]).error();
        assert!(text.starts_with("OPENAI_BASE_URL: ") && text.contains(hint), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    for key in ["two words", "line\nbreak", "schlüssel"] {
        let text = SettingsFixture::nothing().env(&[("OPENAI_API_KEY", key)]).error();
        assert!(text.starts_with("OPENAI_API_KEY: this is not a key") && !text.contains(key), "{text}");
    }
    is(&SettingsFixture::nothing().env(&[("OPENAI_API_KEY", "sk-x\n")]), "https://api.openai.com/v1", "sk-x");
}

#[test]
fn a_key_that_travels_in_the_clear_is_worth_a_word() {
    let notices = |url: &str| SettingsFixture::nothing().env(&[KEY, ("OPENAI_BASE_URL", url)]).settings().notices;
    assert!(notices("http://gpu/v1")[0].to_string().contains("unencrypted"));
    assert!(notices("https://gpu/v1").is_empty() && notices("http://127.0.0.1/v1").is_empty());
}
