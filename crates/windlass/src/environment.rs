//! The settings in environment variables. Only [`Builder::from_env`](crate::Builder::from_env) reads them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::build_error::BuildError;
use crate::model_providers::{AddressVariable, ModelProvider, all_key_variables, all_variables};

/// Settings for the model and the data folder. An empty variable counts as unset.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    /// The variables that name the model, its server and its key, as far as they are set.
    variables: BTreeMap<&'static str, String>,
    /// `WINDLASS_DATA_DIR`, or the user's data folder.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "there is no store in a folder"))]
    pub(crate) data_dir: Option<PathBuf>,
}

impl Environment {
    pub(crate) fn of_process() -> Result<Self, BuildError> {
        Self::read(|name| std::env::var_os(name))
    }

    fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, BuildError> {
        let raw = |name: &str| variable(name).filter(|value| !value.is_empty());
        let absolute = |name: &str| raw(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let users = || absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
        let mut variables = BTreeMap::new();
        for name in all_variables() {
            let Some(value) = raw(name) else { continue };
            let text = value.into_string();
            let text = text.map_err(|_| BuildError::Variable { name, problem: "it is not valid UTF-8".to_owned() })?;
            if !text.trim().is_empty() {
                variables.insert(name, text.trim().to_owned());
            }
        }
        let data_dir = raw("WINDLASS_DATA_DIR").map(PathBuf::from).or_else(|| Some(users()?.join("windlass")));
        Ok(Self { variables, data_dir })
    }

    /// The value of one of the variables for the model.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The value of the first of these variables that is set.
    pub(crate) fn first(&self, names: impl IntoIterator<Item = &'static str>) -> Option<&str> {
        names.into_iter().find_map(|name| self.get(name))
    }

    /// Every key, with a name for its placeholder.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (String, String)> {
        all_key_variables().filter_map(|name| {
            let placeholder = name.to_ascii_lowercase();
            Some((placeholder.trim_start_matches("windlass_").to_owned(), self.get(name)?.to_owned()))
        })
    }

    /// The address in a variable, if it is set.
    pub(crate) fn address_in(&self, variable: AddressVariable) -> Result<Option<String>, BuildError> {
        let address = self.get(variable.name).map(|text| variable.form.base_url(text)).transpose();
        address.map_err(|error| BuildError::Variable { name: variable.name, problem: error.to_string() })
    }

    /// The address that the environment gives for a provider.
    pub(crate) fn address_of(&self, provider: &ModelProvider) -> Result<Option<String>, BuildError> {
        provider.address_variable.map_or(Ok(None), |variable| self.address_in(variable))
    }

    #[cfg(test)]
    pub(crate) fn of(variables: &[(&'static str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Self { variables, data_dir: None }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use super::Environment;
    use crate::model_providers::MODEL_VARIABLES;

    fn read(variables: &[(&str, &str)]) -> Environment {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Environment::read(value).unwrap()
    }

    #[test]
    fn our_own_variables_come_before_others_and_empty_ones_are_none() {
        let environment = read(&[("WINDLASS_MODEL", "a"), ("OPENAI_MODEL", "b"), ("OPENAI_API_KEY", "")]);
        assert_eq!((environment.first(MODEL_VARIABLES), environment.get("OPENAI_API_KEY")), (Some("a"), None));
        assert_eq!(read(&[("OPENAI_MODEL", " b\n")]).first(MODEL_VARIABLES), Some("b"));
    }

    // proves X1: every key that is read is a known secret
    #[test]
    fn keys_are_given_with_the_names_of_their_placeholders() {
        let environment = read(&[("OPENAI_API_KEY", "k1"), ("WINDLASS_API_KEY", "k2")]);
        let keys: Vec<_> = environment.keys().collect();
        assert_eq!(keys, [("api_key".into(), "k2".into()), ("openai_api_key".into(), "k1".into())]);
    }

    #[test]
    fn journals_are_kept_where_the_command_line_keeps_them() {
        let folder = |variables: &[(&str, &str)]| read(variables).data_dir;
        assert_eq!(folder(&[("HOME", "/h")]), Some(PathBuf::from("/h/.local/share/windlass")));
        assert_eq!(folder(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), Some(PathBuf::from("/x/windlass")));
        assert_eq!(folder(&[("HOME", "/h"), ("XDG_DATA_HOME", "x")]), Some(PathBuf::from("/h/.local/share/windlass")));
        assert_eq!(folder(&[("HOME", "/h"), ("WINDLASS_DATA_DIR", "here")]), Some(PathBuf::from("here")));
        assert_eq!(folder(&[]), None);
    }

    #[test]
    fn a_variable_that_is_no_text_is_named() {
        use std::os::unix::ffi::OsStringExt as _;
        let broken = |name: &str| (name == "OPENAI_MODEL").then(|| OsString::from_vec(vec![0xff]));
        let error = Environment::read(broken).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("OPENAI_MODEL: it is not valid UTF-8"));
    }
}
