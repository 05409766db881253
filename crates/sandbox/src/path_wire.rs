//! Paths as JSON: a string, or the bytes of a name that is not UTF-8. A command may give its files any name, and a
//! confinement that can't be serialized would prevent every later command.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The JSON form of a path.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathJson {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Path> for PathJson {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_owned()),
        }
    }
}

impl From<PathJson> for PathBuf {
    fn from(written: PathJson) -> Self {
        match written {
            PathJson::Text(text) => Self::from(text),
            PathJson::Bytes(bytes) => Self::from(OsString::from_vec(bytes)),
        }
    }
}

/// Serializes a path, for `#[serde(with = "path_wire")]`.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    PathJson::from(path).serialize(serializer)
}

/// Deserializes a path.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(PathJson::deserialize(deserializer)?.into())
}

/// The same for a list of paths, for `#[serde(with = "path_wire::list")]`.
pub mod list {
    use super::{Deserialize, Deserializer, Path, PathBuf, PathJson, Serializer};

    /// Serializes paths.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| PathJson::from(Path::new(path))))
    }

    /// Deserializes paths.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<PathJson>::deserialize(deserializer)?.into_iter().map(PathBuf::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confinement, ProtectedLink};

    // proves X3
    #[test]
    fn names_that_are_no_text_arrive_as_they_were() {
        let odd = PathBuf::from(OsString::from_vec(b"/w/d\xff/.envrc".to_vec()));
        let plain = PathBuf::from("/w/.envrc");
        let confinement = Confinement {
            protected: vec![odd.clone(), plain.clone()],
            links: vec![ProtectedLink { path: odd, target: plain }],
            ..Confinement::default()
        };
        let line = serde_json::to_string(&confinement).unwrap();
        assert_eq!(serde_json::from_str::<Confinement>(&line).unwrap(), confinement);
    }
}
