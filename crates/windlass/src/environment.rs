//! The settings in environment variables. Only [`Builder::from_env`](crate::Builder::from_env) reads them.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::build_error::BuildError;

/// Settings for the model and the data folder. An empty variable counts as unset.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    /// `WINDLASS_MODEL`, `OPENAI_MODEL`.
    pub(crate) model: Option<String>,
    /// `WINDLASS_BASE_URL`.
    pub(crate) base_url: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub(crate) openai_url: Option<String>,
    /// `WINDLASS_API_KEY`.
    pub(crate) api_key: Option<String>,
    /// `OPENAI_API_KEY`.
    pub(crate) openai_key: Option<String>,
    /// `OLLAMA_HOST`.
    pub(crate) ollama_host: Option<String>,
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
        let text = |name: &'static str| {
            let text = raw(name).map(|value| value.into_string().map(|text| text.trim().to_owned()));
            text.transpose().map_err(|_| BuildError::Variable { name, problem: "it is not valid UTF-8".to_owned() })
        };
        let absolute = |name: &str| raw(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let users = || absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
        let model = match text("WINDLASS_MODEL")? {
            Some(model) => Some(model),
            None => text("OPENAI_MODEL")?,
        };
        Ok(Self {
            model,
            base_url: text("WINDLASS_BASE_URL")?,
            openai_url: text("OPENAI_BASE_URL")?,
            api_key: text("WINDLASS_API_KEY")?,
            openai_key: text("OPENAI_API_KEY")?,
            ollama_host: text("OLLAMA_HOST")?,
            data_dir: raw("WINDLASS_DATA_DIR").map(PathBuf::from).or_else(|| Some(users()?.join("windlass"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use super::Environment;

    fn read(variables: &[(&str, &str)]) -> Environment {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Environment::read(value).unwrap()
    }

    #[test]
    fn our_own_variables_come_before_others_and_empty_ones_are_none() {
        let environment = read(&[("WINDLASS_MODEL", "a"), ("OPENAI_MODEL", "b"), ("OPENAI_API_KEY", "")]);
        assert_eq!((environment.model.as_deref(), environment.openai_key), (Some("a"), None));
        assert_eq!(read(&[("OPENAI_MODEL", " b\n")]).model.as_deref(), Some("b"));
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
