use std::path::{Path, PathBuf};

use windlass_vocab::TurnCapAction;

use super::Settings;
use super::durability::DurabilitySetting;
use super::error::SettingsError;
use super::file::{SettingsFile, SettingsScope};
use super::flags::Flags;
use super::mode::ModeSetting;
use super::notice::SettingsNotice;
use super::origin::SettingOrigin;
use super::place::PlaceSettings;
use super::sources::{ServerFile, Sources};
use super::untrusted_folder::{FormerTrust, UntrustedFolder};

/// Sources of a project in `/p`, with the home `/home/me`.
pub(super) struct SettingsFixture {
    sources: Sources,
    user: String,
}

impl SettingsFixture {
    pub(super) fn nothing() -> Self {
        let env = [("HOME", "/home/me")].into_iter().collect();
        let flags = Flags::default();
        let sources = Sources { cwd: "/cwd".into(), ..Sources::of(flags, env, "/p") };
        Self { sources, user: String::new() }
    }

    /// With a server and a model, so that other settings can be tested.
    pub(super) fn usable() -> Self {
        Self::nothing().env(&[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), ("OPENAI_MODEL", "m")])
    }

    pub(super) fn env(mut self, vars: &[(&str, &str)]) -> Self {
        let old: Vec<_> = self.sources.env.texts().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let new = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.sources.env = old.into_iter().chain(new).collect();
        self
    }

    pub(super) fn flags(mut self, set: impl FnOnce(&mut Flags)) -> Self {
        set(&mut self.sources.flags);
        self
    }

    pub(super) fn project(mut self, text: &str) -> Self {
        let file = SettingsFile::parse(Path::new("/p/windlass.toml"), SettingsScope::Project, text);
        self.sources.project = Some(file.expect("the project's file parses"));
        self
    }

    pub(super) fn user(mut self, text: &str) -> Self {
        let file = SettingsFile::parse(Path::new("/home/me/.config/windlass/windlass.toml"), SettingsScope::User, text);
        self.sources.user = Some(file.expect("the user's file parses"));
        text.clone_into(&mut self.user);
        self
    }

    /// The user's file trusts the project.
    pub(super) fn trusted(self) -> Self {
        let text = format!("trusted = ['/p']\n{}", self.user);
        self.user(&text)
    }

    pub(super) fn named_servers(mut self, file: ServerFile) -> Self {
        self.sources.named_servers.push(file);
        self
    }

    pub(super) fn project_servers(mut self, file: ServerFile) -> Self {
        self.sources.project_servers = Some(file);
        self
    }

    pub(super) fn sources(&self) -> &Sources {
        &self.sources
    }

    pub(super) fn settings(&self) -> Settings {
        self.sources.resolve().expect("it resolves")
    }

    pub(super) fn place(&self) -> PlaceSettings {
        self.sources.place().expect("it resolves")
    }

    pub(super) fn needing_trust(&self) -> Vec<String> {
        self.sources.needing_trust().expect("it resolves").iter().map(ToString::to_string).collect()
    }

    pub(super) fn error(&self) -> String {
        self.sources.resolve().expect_err("it is refused").to_string()
    }
}

fn strings<T: ToString>(values: &[super::Sourced<T>]) -> Vec<String> {
    values.iter().map(|sourced| format!("{} from {}", sourced.value.to_string(), sourced.origin)).collect()
}

#[test]
fn a_flag_wins_over_a_variable_over_the_project_over_the_user_over_the_default() {
    let model = |given: &SettingsFixture| {
        given.settings().model.map(|model| format!("{} from {}", model.value, model.origin)).unwrap_or_default()
    };
    let base = || SettingsFixture::nothing().env(&[("OPENAI_BASE_URL", "http://h/v1")]);
    let mut given = base();
    assert_eq!(model(&given), "");
    given = given.user("model = 'user'");
    assert_eq!(model(&given), "user from /home/me/.config/windlass/windlass.toml:1:9");
    given = given.project("\n model = 'project'");
    assert_eq!(model(&given), "project from /p/windlass.toml:2:10");
    given = given.env(&[("OPENAI_MODEL", "variable")]);
    assert_eq!(model(&given), "variable from OPENAI_MODEL");
    given = given.env(&[("WINDLASS_MODEL", "ours")]);
    assert_eq!(model(&given), "ours from WINDLASS_MODEL");
    given = given.flags(|flags| flags.model = Some("flag".into()));
    assert_eq!(model(&given), "flag from model");
}

#[test]
fn a_variable_set_to_nothing_is_not_set() {
    let given =
        SettingsFixture::usable().env(&[("WINDLASS_MODEL", ""), ("WINDLASS_MODE", ""), ("WINDLASS_PRESET", "")]);
    assert_eq!(given.settings().model.map(|model| model.value.0).as_deref(), Some("m"));
}

#[test]
fn a_missing_model_is_not_guessed() {
    assert_eq!(SettingsFixture::nothing().env(&[("OPENAI_API_KEY", "sk-12345678")]).settings().model, None);
}

#[test]
fn the_policy_is_preset_then_user_then_project_then_variable_then_flag() {
    let policy = |given: SettingsFixture| given.settings().policy;
    assert_eq!(
        (policy(SettingsFixture::usable()).preset.as_str(), policy(SettingsFixture::usable()).turn_cap),
        ("default", 50)
    );
    let user = "preset = 'task'\n[policy]\nturn_cap = 7\nat_cap = 'wrap_up'";
    let given = || SettingsFixture::usable().user(user);
    assert_eq!((policy(given()).preset, policy(given()).turn_cap), ("task".to_owned(), 7));
    let given = || given().project("[policy]\nturn_cap = 8").trusted();
    assert_eq!((policy(given()).turn_cap, policy(given()).at_cap), (8, TurnCapAction::WrapUp));
    let given = || given().env(&[("WINDLASS_MAX_TURNS", "9"), ("WINDLASS_PRESET", "operator")]);
    assert_eq!((policy(given()).turn_cap, policy(given()).preset.as_str()), (9, "operator"));
    assert_eq!(policy(given().flags(|flags| flags.max_turns = Some(10))).turn_cap, 10);
    let blocks = vec![windlass_vocab::Dialect::ToolBlock];
    assert_eq!(policy(given().flags(|flags| flags.dialects.clone_from(&blocks))).dialects, blocks);
}

#[test]
fn a_wrong_value_is_refused_with_its_origin_and_what_is_right() {
    for (name, value, expected) in [
        ("WINDLASS_PRESET", "tsak", "WINDLASS_PRESET: there is no preset \"tsak\"; did you mean \"task\"?"),
        ("WINDLASS_MAX_TURNS", "0", "WINDLASS_MAX_TURNS: \"0\" is not a number of turns; write it like 20"),
        ("WINDLASS_MODE", "yolo", "WINDLASS_MODE: \"yolo\" is not one of bypass, default, strict"),
        ("WINDLASS_DURABILITY", "x", "WINDLASS_DURABILITY: \"x\" is not one of full, normal"),
        ("WINDLASS_MODEL", "a\nb", "WINDLASS_MODEL: this is not the name of a model"),
    ] {
        assert_eq!(SettingsFixture::usable().env(&[(name, value)]).error(), expected);
    }
    let text = SettingsFixture::usable().project("preset = 'zebra'").error();
    assert_eq!(
        text,
        "/p/windlass.toml:1:10: there is no preset \"zebra\"; what may stand here: \
         durable-chat, local-model, assistant, task, operator, default"
    );
}

#[test]
fn the_data_dir_follows_the_order_and_is_a_whole_path() {
    let dir = |given: SettingsFixture| given.place().data_dir.value;
    assert_eq!(dir(SettingsFixture::nothing()), PathBuf::from("/home/me/.local/share/windlass"));
    assert_eq!(dir(SettingsFixture::nothing().env(&[("XDG_DATA_HOME", "/xdg")])), PathBuf::from("/xdg/windlass"));
    assert_eq!(
        dir(SettingsFixture::nothing().env(&[("XDG_DATA_HOME", "relative")])),
        PathBuf::from("/home/me/.local/share/windlass")
    );
    assert_eq!(dir(SettingsFixture::nothing().user("data_dir = '~/w'")), PathBuf::from("/home/me/w"));
    let given = SettingsFixture::nothing().user("data_dir = '/u'").env(&[("WINDLASS_DATA_DIR", "rel")]);
    assert_eq!(dir(given), PathBuf::from("/cwd/rel"));
    assert_eq!(
        dir(SettingsFixture::nothing().flags(|flags| flags.data_dir = Some("d".into()))),
        PathBuf::from("/cwd/d")
    );
    let homeless = SettingsFixture::nothing().env(&[("HOME", "")]);
    assert!(matches!(homeless.sources.place(), Err(SettingsError::NoDataDir)));
}

#[test]
fn the_durability_is_full_unless_said_otherwise() {
    let durability = |given: SettingsFixture| given.place().durability.value;
    assert_eq!(durability(SettingsFixture::nothing()), DurabilitySetting::Full);
    assert_eq!(
        durability(SettingsFixture::nothing().project("durability = 'normal'").trusted()),
        DurabilitySetting::Normal
    );
    assert_eq!(
        durability(SettingsFixture::nothing().user("durability = 'normal'").project("durability = 'full'")),
        DurabilitySetting::Full
    );
    let given = SettingsFixture::nothing().user("durability = 'full'").env(&[("WINDLASS_DURABILITY", "normal")]);
    assert_eq!(durability(given), DurabilitySetting::Normal);
}

// proves T8: the rules of all sources count together
#[test]
fn rules_add_up_with_their_origins() {
    let given = SettingsFixture::usable()
        .flags(|flags| {
            flags.allow = vec!["a".into()];
            flags.deny = vec!["todo".into()];
        })
        .project("[permissions]\ndeny = ['pd']\nask = ['pa']")
        .user("[permissions]\nallow = ['ua', 'ub']\ndeny = ['ud']\nmode = 'strict'");
    let permissions = given.settings().permissions;
    let user = "/home/me/.config/windlass/windlass.toml";
    assert_eq!(
        strings(&permissions.allow),
        ["a from allow".to_owned(), format!("ua from {user}:2:10"), format!("ub from {user}:2:16")]
    );
    assert_eq!(strings(&permissions.ask), ["pa from /p/windlass.toml:3:8"]);
    assert_eq!(
        strings(&permissions.deny),
        ["todo from deny".to_owned(), "pd from /p/windlass.toml:2:9".into(), format!("ud from {user}:3:9")]
    );
    assert_eq!(permissions.mode.value, ModeSetting::Strict);
}

// proves T8: an invalid rule is found before a run, by doctor too
#[test]
fn what_is_no_rule_is_refused_where_it_stands() {
    let text = SettingsFixture::usable().project("[permissions]\ndeny = ['run_command(']").error();
    assert!(text.starts_with("/p/windlass.toml:2:9: `run_command(` is no rule"), "{text}");
    let text = SettingsFixture::usable().flags(|flags| flags.allow = vec!["foo(".into()]).error();
    assert!(text.starts_with("allow: `foo(` is no rule"), "{text}");
}

// proves X2: a project's settings can't loosen anything before its folder is trusted
#[test]
fn a_project_that_is_not_trusted_can_only_tighten() {
    let mode = |given: SettingsFixture| given.settings().permissions.mode.value;
    assert_eq!(mode(SettingsFixture::usable().project("[permissions]\nmode = 'strict'")), ModeSetting::Strict);
    assert_eq!(mode(SettingsFixture::usable().project("[permissions]\nmode = 'default'")), ModeSetting::Default);
    for (project, user) in [
        ("permissions.allow = ['run_command(*)']", ""),
        ("permissions.unprotected = ['AGENTS.md']", ""),
        ("permissions.mode = 'bypass'", ""),
        ("permissions.mode = 'default'", "permissions.mode = 'strict'"),
        ("data_dir = 'poisoned'", ""),
        ("durability = 'normal'", ""),
    ] {
        let given = SettingsFixture::usable().project(project).user(user);
        let (settings, own) = (given.settings(), SettingsFixture::usable().user(user).settings());
        let [SettingsNotice::LeftOut { settings: ignored, folder }] = &settings.notices[..] else {
            panic!("{project}: {:?}", settings.notices)
        };
        assert!(ignored[0].to_string().starts_with("/p/windlass.toml:1:"), "{ignored:?}");
        let user_file = PathBuf::from("/home/me/.config/windlass/windlass.toml");
        let expected = UntrustedFolder { folder: "/p".into(), former: FormerTrust::Never, user_file };
        assert_eq!(*folder, expected, "{project}");
        assert_eq!(Settings { notices: Vec::new(), ..settings }, own, "{project}: nothing of it is taken");
        SettingsFixture::usable().project(project).user(&format!("trusted = ['/p']\n{user}")).settings();
    }
}

// proves X2: a person who clones a project can work in it, and is told once which settings are ignored
#[test]
fn all_that_a_project_would_loosen_is_told_in_one_notice_and_the_rest_is_taken() {
    let project = "data_dir = 'poisoned'\ndurability = 'normal'\n[permissions]\nmode = 'bypass'\nallow = ['a', 'b']\n\
                   deny = ['todo']\nunprotected = ['x']\n[sandbox]\nmode = 'off'\nwritable = ['/etc']\n\
                   readable = ['~/.ssh']\n[tools]\nfetch_private = ['10.0.0.1']\nkeep_env = ['X']\nhide_env = ['Y']\n\
                   [mcp]\nstartup_timeout = 9999\ncall_timeout = 99999\n[policy]\nturn_cap = 4000\n";
    let settings = SettingsFixture::usable().project(project).settings();
    let [told] = &settings.notices[..] else { panic!("{:?}", settings.notices) };
    assert_eq!(told.to_string().matches("/p/windlass.toml:").count(), 14, "{told}");
    assert_eq!(strings(&settings.permissions.deny), ["todo from /p/windlass.toml:6:9"]);
    assert!(settings.command_env.hide.contains("Y") && settings.command_env.keep.is_empty());
    let own = SettingsFixture::usable().settings();
    assert_eq!((&settings.sandbox, &settings.policy), (&own.sandbox, &own.policy));
    assert_eq!((&settings.place, settings.permissions.allow.len()), (&own.place, 0));
}

// proves X5, X2: a project may protect more paths, and only the person fewer
#[test]
fn protected_paths_add_up_and_exceptions_are_the_persons() {
    let user = "permissions.protected = ['deploy/']\npermissions.unprotected = ['**/AGENTS.md']";
    let given = SettingsFixture::usable().project("permissions.protected = ['keys/']").user(user);
    let protected = given.settings().permissions.protected;
    for (path, pattern) in
        [("deploy/x", Some("deploy/")), ("keys/x", Some("keys/")), ("AGENTS.md", None), (".git/x", Some("**/.git/"))]
    {
        assert_eq!(protected.protecting(path), pattern, "{path}");
    }
    let text = SettingsFixture::usable().user("permissions.protected = ['~/x']").error();
    assert!(text.starts_with("/home/me/.config/windlass/windlass.toml:1:26: `~` stands for nothing"), "{text}");
}

// proves X2: trust is for the folder named, and comes from the person's own file only
#[test]
fn trust_is_for_exactly_the_folder_named() {
    let project = "permissions.mode = 'bypass'";
    for trusted in ["['/']", "['/p/sub']", "['/pp']", "['~/p']", "[]"] {
        let settings = SettingsFixture::usable().project(project).user(&format!("trusted = {trusted}")).settings();
        assert_eq!((settings.permissions.mode.value, settings.notices.len()), (ModeSetting::Default, 1), "{trusted}");
    }
    for trusted in ["['/p']", "['/p/']", "['/x', '/p']"] {
        let settings = SettingsFixture::usable().project(project).user(&format!("trusted = {trusted}")).settings();
        assert!(matches!(settings.permissions.mode.origin, SettingOrigin::Project(_)));
    }
}

#[test]
fn a_flag_makes_what_the_project_asks_for_irrelevant() {
    let given =
        SettingsFixture::usable().project("data_dir = 'poisoned'\npermissions.mode = 'bypass'").flags(|flags| {
            flags.data_dir = Some("/d".into());
            flags.mode = Some(ModeSetting::Default);
        });
    let settings = given.settings();
    assert_eq!(
        (settings.place.data_dir.value, settings.permissions.mode.value),
        (PathBuf::from("/d"), ModeSetting::Default)
    );
}
