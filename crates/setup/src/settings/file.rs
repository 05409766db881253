//! Parses `windlass.toml` and reports mistakes in it with their position:
//! `windlass.toml:3:1: unknown key "modle"; did you mean "model"?`

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::Spanned;
use windlass_vocab::{PolicyPatch, VALUES_NOT_BUILT};

use super::error::SettingsError;
use super::file_settings::{FilePermissions, FileSandbox, FileSettings, FileTools};
use super::model_tables;
use super::nearest::nearest;
use super::origin::{Position, SettingOrigin, Sourced};
use super::role_names;

/// Whose file it is, which decides what it may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsScope {
    /// The project's file, which may have been written by anybody.
    Project,
    /// The person's own file.
    User,
}

/// A parsed settings file.
#[derive(Clone)]
pub struct SettingsFile {
    pub(super) path: PathBuf,
    pub(super) scope: SettingsScope,
    pub(super) text: String,
    pub(super) settings: FileSettings,
}

/// Leaves the contents out: they may hold a key (X1).
impl std::fmt::Debug for SettingsFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SettingsFile").field("path", &self.path).field("whose", &self.scope).finish_non_exhaustive()
    }
}

impl SettingsFile {
    /// Parses the contents of the file at `path`.
    pub fn parse(path: &Path, scope: SettingsScope, text: &str) -> Result<Self, SettingsError> {
        let settings = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            SettingsError::wrong(origin(path, scope, text, start), explain(error.message()))
        })?;
        let file = Self { path: path.to_owned(), scope, text: text.to_owned(), settings };
        file.check()?;
        Ok(file)
    }

    /// Refuses settings that are well-formed but not permitted in this file.
    fn check(&self) -> Result<(), SettingsError> {
        let FileSettings { api_key, trusted, policy, .. } = &self.settings;
        if let Err(refused) = policy.check() {
            return Err(SettingsError::wrong(self.origin_of_row(refused.row), refused.to_string()));
        }
        model_tables::check(self)?;
        if let Some((start, problem)) = role_names::problem(&self.settings.roles) {
            return Err(SettingsError::wrong(origin(&self.path, self.scope, &self.text, start), problem));
        }
        if self.scope == SettingsScope::Project {
            if let Some(key) = api_key {
                let problem = "a key does not belong in a project's file, where others can read it: \
                    there `api_key_env` names the variable that holds it";
                return Err(SettingsError::wrong(self.origin(key), problem));
            }
            if let Some(trusted) = trusted {
                let problem = "a project can't trust itself: `trusted` belongs in your own settings";
                return Err(SettingsError::wrong(self.origin(trusted), problem));
            }
        }
        if let Some(trusted) = trusted
            && let Some(folder) =
                trusted.get_ref().iter().find(|folder| !folder.is_absolute() && !folder.starts_with("~"))
        {
            let problem = format!("{folder:?} is not a whole path; write it from / or ~/");
            return Err(SettingsError::wrong(self.origin(trusted), problem));
        }
        Ok(())
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The contents of the file.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The folder that contains the file.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Returns the position of a value in this file.
    pub(super) fn origin<T>(&self, value: &Spanned<T>) -> SettingOrigin {
        origin(&self.path, self.scope, &self.text, value.span().start)
    }

    /// Returns the position of this row of `[policy]`.
    pub(super) fn origin_of_row(&self, row: &str) -> SettingOrigin {
        let document = toml_edit::Document::parse(self.text.as_str()).ok();
        let key = document.as_ref().and_then(|document| {
            let policy = document.get("policy")?.as_table_like()?;
            policy.get_key_value(row)?.0.span()
        });
        origin(&self.path, self.scope, &self.text, key.map_or(0, |span| span.start))
    }

    /// Returns a value of this file with its position.
    pub(super) fn sourced<T: Clone>(&self, value: &Option<Spanned<T>>) -> Option<Sourced<T>> {
        value.as_ref().map(|value| Sourced::new(value.get_ref().clone(), self.origin(value)))
    }
}

fn origin(path: &Path, scope: SettingsScope, text: &str, start: usize) -> SettingOrigin {
    let before = text.get(..start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let position = Position {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    };
    match scope {
        SettingsScope::Project => SettingOrigin::Project(position),
        SettingsScope::User => SettingOrigin::User(position),
    }
}

/// Rewords the parser's message, and suggests the nearest valid name where a name is wrong.
fn explain(message: &str) -> String {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let wrong = |what: &str, suggested: fn(&str) -> bool| match names.split_first() {
        Some((wrong, right)) => {
            let right: Vec<&str> = right.iter().copied().filter(|name| suggested(name)).collect();
            format!("unknown {what} {wrong:?}; {}", nearest(wrong, &right))
        }
        None => message.to_owned(),
    };
    if message.starts_with("unknown field ") {
        let elsewhere = names.first().and_then(|wrong| right_table(wrong));
        match (names.first(), elsewhere) {
            (Some(wrong), Some(table)) => format!("the key {wrong:?} does not stand here, but under [{table}]"),
            (Some(_) | None, _) => wrong("key", |_| true),
        }
    } else if message.starts_with("unknown variant ") {
        // A value that would be refused as soon as it is written is no suggestion.
        wrong("value", |name| !VALUES_NOT_BUILT.contains(&name))
    } else if let (true, [missing]) = (message.starts_with("missing field "), &names[..]) {
        format!("the key {missing:?} is missing in this table")
    } else if let Some((
        found,
        "PolicyPatch" | "FilePermissions" | "FileTools" | "FileSandbox" | "FileHidden" | "FileMcp" | "FileModel"
        | "FileAgent",
    )) = message.split_once(", expected struct ")
    {
        format!("{found}, expected a table")
    } else {
        message
            .replace("expected a nonzero u64", "expected a whole number of at least 1")
            .replace("expected u32", "expected a whole number of at least 0")
            .replace("expected u64", "expected a whole number of at least 0")
    }
}

/// Returns the table that has this key.
fn right_table(key: &str) -> Option<&'static str> {
    let tables = [
        (keys_of::<PolicyPatch>(), "policy"),
        (keys_of::<FilePermissions>(), "permissions"),
        (keys_of::<FileTools>(), "tools"),
        (keys_of::<FileSandbox>(), "sandbox"),
    ];
    let key = format!("`{key}`");
    tables.into_iter().find(|(keys, _)| keys.contains(&key)).map(|(_, table)| table)
}

/// Returns all keys of a table: the parser names them when it is given one that no table has.
fn keys_of<T: DeserializeOwned>() -> String {
    toml::from_str::<T>("\"?\" = 0").err().map(|error| error.message().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{SettingsFile, SettingsScope, explain};

    fn complaint(text: &str) -> String {
        SettingsFile::parse(Path::new("windlass.toml"), SettingsScope::User, text).expect_err("it is wrong").to_string()
    }

    #[test]
    fn a_wrong_key_is_named_with_line_column_and_the_nearest_right_name() {
        for (text, expected) in [
            ("modle = 'x'", "windlass.toml:1:1: unknown key \"modle\"; did you mean \"model\"?"),
            (
                "# ü\npreset = 'ü'\n  bse_url = 1",
                "windlass.toml:3:3: unknown key \"bse_url\"; did you mean \"base_url\"?",
            ),
            ("[polcy]\nx = 1", "windlass.toml:1:2: unknown key \"polcy\"; did you mean \"policy\"?"),
            ("[policy]\nturn_cpa = 3", "windlass.toml:2:1: unknown key \"turn_cpa\"; did you mean \"turn_cap\"?"),
            ("[policy.retry]\ntires = 3", "windlass.toml:2:1: unknown key \"tires\"; did you mean \"tries\"?"),
            (
                "[policy]\nday_limit = 3",
                "windlass.toml:2:1: unknown key \"day_limit\"; did you mean \"day_cost_limit\" or \"day_token_limit\"?",
            ),
            (
                "day_cost_limit = 3",
                "windlass.toml:1:1: the key \"day_cost_limit\" does not stand here, but under [policy]",
            ),
            (
                "[policy]\nallow = []",
                "windlass.toml:2:1: the key \"allow\" does not stand here, but under [permissions]",
            ),
            ("[permissions]\nallowed = []", "windlass.toml:2:1: unknown key \"allowed\"; did you mean \"allow\"?"),
            (
                "[permissions]\nzebra = 1",
                "windlass.toml:2:1: unknown key \"zebra\"; what may stand here: mode, allow, ask, deny, protected, unprotected",
            ),
        ] {
            assert_eq!(complaint(text), expected);
        }
    }

    #[test]
    fn a_wrong_value_is_named_with_its_place_and_what_is_expected() {
        for (text, expected) in [
            ("model = 3", "windlass.toml:1:9: invalid type: integer `3`, expected a string or a list of strings"),
            ("[policy]\nat_cap = 'wrapup'", "windlass.toml:2:10: unknown value \"wrapup\"; did you mean \"wrap_up\"?"),
            (
                "[policy]\nguards = ['cycle', 'error_turn']",
                "windlass.toml:2:20: unknown value \"error_turn\"; did you mean \"error_turns\"?",
            ),
            (
                "[policy]\ndialects = ['native', 'brackets']",
                "windlass.toml:2:23: unknown value \"brackets\"; did you mean \"bracket\"?",
            ),
            ("[permissions]\nmode = 'bypas'", "windlass.toml:2:8: unknown value \"bypas\"; did you mean \"bypass\"?"),
            (
                "[policy]\nturn_cap = -1",
                "windlass.toml:2:12: invalid value: integer `-1`, expected a whole number of at least 0",
            ),
            (
                "[policy]\nrun_token_limit = 0",
                "windlass.toml:2:19: invalid value: integer `0`, expected a whole number of at least 1",
            ),
            ("policy = 3", "windlass.toml:1:10: invalid type: integer `3`, expected a table"),
            ("[policy.retry]\ntries = 3", "windlass.toml:1:1: the key \"first_wait_ms\" is missing in this table"),
            ("model = 'a'\nmodel = 'b'", "windlass.toml:2:1: duplicate key"),
            (
                "[policy]\nturn_cap = 3\nreasoning = 'configured'",
                "windlass.toml:3:1: `configured` in `reasoning` is not built yet: it would do nothing",
            ),
            ("trusted = ['src']", "windlass.toml:1:11: \"src\" is not a whole path; write it from / or ~/"),
        ] {
            assert_eq!(complaint(text), expected);
        }
    }

    #[test]
    fn a_value_that_is_refused_is_not_offered() {
        for (text, expected) in [
            (
                "[policy]\nplanning = 'zebra'",
                "windlass.toml:2:12: unknown value \"zebra\"; what may stand here: no, optional, always",
            ),
            (
                "[policy]\nreasoning = 'zebra'",
                "windlass.toml:2:13: unknown value \"zebra\"; what may stand here: model_own, low, medium, high",
            ),
        ] {
            assert_eq!(complaint(text), expected);
        }
    }

    #[test]
    fn a_key_may_have_the_name_of_a_refused_value() {
        let text = explain("unknown field `remot`, expected one of `remote`, `model`");
        assert_eq!(text, "unknown key \"remot\"; did you mean \"remote\"?");
        let text = explain("unknown variant `remot`, expected `remote` or `built_in`");
        assert_eq!(text, "unknown value \"remot\"; what may stand here: built_in");
    }

    // proves X1: a key that makes the file unparsable is not quoted in the error
    #[test]
    fn damaged_toml_is_named_with_its_place_and_shows_no_value() {
        let text = complaint("model = 'm'\napi_key = sk-secret-value");
        assert!(text.starts_with("windlass.toml:2:11: ") && !text.contains("sk-secret"), "{text}");
        assert!(complaint("model = 'm").starts_with("windlass.toml:1:"));
        assert!(complaint("[policy\n").starts_with("windlass.toml:1:"));
        assert!(complaint("\u{0}").starts_with("windlass.toml:1:"));
    }

    // proves X1, X2: a project's file holds no key and does not trust itself
    #[test]
    fn a_project_may_neither_hold_a_key_nor_trust_itself() {
        for (text, expected) in [("api_key = 'sk-secret-value'", "api_key_env"), ("trusted = ['/p']", "trust itself")] {
            let error =
                SettingsFile::parse(Path::new("/p/windlass.toml"), SettingsScope::Project, text).expect_err("refused");
            assert!(error.to_string().starts_with("/p/windlass.toml:1:") && error.to_string().contains(expected));
            assert!(!format!("{error} {error:?}").contains("sk-secret"));
            assert!(SettingsFile::parse(Path::new("/u"), SettingsScope::User, text).is_ok());
        }
    }

    #[test]
    fn every_row_of_the_policy_can_be_set() {
        let text = r#"
            [policy]
            turn_cap = 3
            at_cap = "fail"
            retry = { tries = 2, first_wait_ms = 10, ceiling_ms = 20 }
            dialects = ["native", "bracket"]
            tools = ["built_in", "ending"]
            ends_by = "ending_tool"
            sampling = { tool_temperature_milli = 100, max_tokens = { fixed = 4096 } }
            reasoning = "low"
            parallel = "off"
            steering = "queue"
            stream_idle = { first_ms = 1, next_ms = 2 }
            guards = ["cycle"]
            result_cap = { chars = 100, rest = "drop" }
            unfinished_call = "interrupt"
            nudges = ["empty"]
            planning = "no"
            history = "all_that_fits"
            approval_wait_ms = 5
            tool_timeout_ms = 6
            output_corrections = 1
            tags = ["web"]
            hidden = ["run_command"]
            retry_after_limit_ms = 7
            server_wait_ms = 7
            outside_text = "ignore"
            titles = "model"
            run_cost_limit = "0.50"
            run_token_limit = 1000
            run_time_limit_ms = 1000
            session_cost_limit = 2
            session_token_limit = 1000
            day_cost_limit = 5.5
            day_token_limit = 1000
            agent_cost_limit = 5.5
            agent_token_limit = 1000
            retrieve = "workspace"
            overview = "on"
            unasked_changes = "ask"
            tools_offered = 8
            router = "model"
        "#;
        let file = SettingsFile::parse(Path::new("f"), SettingsScope::Project, text).expect("it parses");
        let rows = serde_json::to_value(&file.settings.policy).expect("it serialises");
        let set = rows.as_object().expect("an object").len();
        let all = complaint("[policy]\nzebra = 1").matches(", ").count() + 1;
        assert_eq!(set, all, "a row is missing in this test or can't be set");
    }
}
