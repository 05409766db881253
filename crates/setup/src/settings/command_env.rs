//! Variables that are withheld from commands or passed to them regardless of their names and values (X1).

use std::collections::BTreeSet;

use toml::Spanned;

use super::error::SettingsError;
use super::file::SettingsFile;
use super::sources::Sources;

/// Names of variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandEnv {
    /// Not passed to commands; their values are secret.
    pub hide: BTreeSet<String>,
    /// Passed to commands although they hold a secret.
    pub keep: BTreeSet<String>,
}

/// Combines the lists of all settings files.
pub(super) fn command_env(sources: &Sources) -> Result<CommandEnv, SettingsError> {
    let mut env = CommandEnv::default();
    for file in [&sources.project, &sources.user].into_iter().flatten() {
        env.hide.extend(names(file, &file.settings.tools.hide_env)?);
        env.keep.extend(names(file, &file.settings.tools.keep_env)?);
    }
    Ok(env)
}

fn names(file: &SettingsFile, names: &[Spanned<String>]) -> Result<Vec<String>, SettingsError> {
    let checked = names.iter().map(|name| {
        let text = name.get_ref().trim();
        if text.is_empty() || text.contains(['=', '\0']) {
            let problem = "this is not the name of a variable; write it like \"GITHUB_TOKEN\"";
            return Err(SettingsError::wrong(file.origin(name), problem));
        }
        Ok(text.to_owned())
    });
    checked.collect()
}
