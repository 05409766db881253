//! Handles the answer "always": writes the permission rule into the person's own settings file (T8). Within the
//! session the recorded answer grants the permission, even if writing the file fails.

use windlass_setup::settings::file_edit::{self, SettingsWrite};
use windlass_setup::settings::{self, Env, SettingOrigin, Settings, Sourced};
use windlass_tools::Rule;

use crate::output::harmless_lines;

/// Saves the rule in the settings file, adds it to the settings of this process, and returns the result as a message
/// in whole lines.
pub(crate) async fn keep(rule: &str, env: &Env, settings: &mut Settings) -> String {
    let (path, text) = (settings::user_file(env), rule.to_owned());
    let kept = tokio::task::spawn_blocking(move || file_edit::allow(&text, path.as_deref())).await;
    let file = settings::user_file_for_people(env);
    let shown = harmless_lines(rule);
    let why = match kept {
        Ok(Ok(kept)) => {
            let allow = &mut settings.permissions.allow;
            allow.extend(rule.parse::<Rule>().ok().map(|rule| Sourced::new(rule, SettingOrigin::Session)));
            return match kept {
                SettingsWrite::Written => format!("allowed from now on: {shown}\nwritten to {file}\n"),
                SettingsWrite::Known => format!("allowed from now on: {shown}\nit is in {file} already\n"),
            };
        }
        Ok(Err(why)) => why.to_string(),
        Err(_) => "writing it down broke off".to_owned(),
    };
    let line = serde_json::Value::String(shown.clone());
    format!(
        "allowed for this session: {shown}\nnot written down: {}\nto allow it always, put this in {file}:\n  \
         [permissions]\n  allow = [{line}]\n",
        harmless_lines(&why)
    )
}
