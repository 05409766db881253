//! The sources of passages that an agent has (C10).

use std::path::Path;
#[cfg(feature = "sqlite")]
use std::path::PathBuf;
use std::sync::Arc;

use windlass_runtime::ContextSource;
#[cfg(feature = "sqlite")]
use windlass_runtime::{FileSource, IndexedFolder};
#[cfg(feature = "sqlite")]
use windlass_tools::{FileRules, reads_unasked};
use windlass_tools::{Permissions, Workspace};
use windlass_vocab::{Policy, Retrieve};

use crate::agent_parts::AgentParts;
use crate::build_error::BuildError;

/// The folder of the indexes, in the data folder.
#[cfg(feature = "sqlite")]
const INDEXES: &str = "passages";

/// Returns the row of the policy, given the sources that the program has added.
pub(crate) fn retrieved(row: Retrieve, own: &[Arc<dyn ContextSource>]) -> Result<Retrieve, BuildError> {
    match row {
        Retrieve::Off if !own.is_empty() => Ok(Retrieve::Own),
        Retrieve::Own if own.is_empty() => Err(BuildError::NoContextSource),
        Retrieve::Off | Retrieve::Own | Retrieve::Workspace => Ok(row),
    }
}

impl AgentParts {
    /// Returns the sources that runs of this policy use.
    pub(crate) fn take_sources(
        &mut self,
        workspace: Option<&Arc<Workspace>>,
        permissions: &Arc<Permissions>,
        data_dir: Option<&Path>,
        policy: &Policy,
    ) -> Result<Vec<Arc<dyn ContextSource>>, BuildError> {
        let mut sources = std::mem::take(&mut self.context_sources);
        match policy.retrieve {
            Retrieve::Off | Retrieve::Own => {}
            Retrieve::Workspace => {
                let workspace = workspace.ok_or(BuildError::NothingToRetrieve)?;
                sources.push(files_of(workspace, permissions, data_dir)?);
            }
        }
        Ok(sources)
    }
}

/// Returns the source that finds passages in the files of the workspace.
#[cfg(feature = "sqlite")]
fn files_of(
    workspace: &Arc<Workspace>,
    permissions: &Arc<Permissions>,
    data_dir: Option<&Path>,
) -> Result<Arc<dyn ContextSource>, BuildError> {
    if !reads_unasked(workspace, permissions) {
        return Err(BuildError::RetrieveForbidden);
    }
    let rules = FileRules::of(Arc::clone(permissions));
    let index = data_dir.map(|dir| index_of(dir, workspace.root()));
    let folder = IndexedFolder { folder: Arc::clone(workspace), rules, prefix: String::new() };
    Ok(Arc::new(FileSource::new("the workspace", vec![folder], index)))
}

#[cfg(not(feature = "sqlite"))]
fn files_of(_: &Arc<Workspace>, _: &Arc<Permissions>, _: Option<&Path>) -> Result<Arc<dyn ContextSource>, BuildError> {
    Err(BuildError::NoRetrieval)
}

/// Returns the path of a workspace's index.
#[cfg(feature = "sqlite")]
fn index_of(data_dir: &Path, workspace: &Path) -> PathBuf {
    let name = windlass_store::hash_of(workspace.as_os_str().as_encoded_bytes()).to_string();
    data_dir.join(INDEXES).join(format!("{}.db", &name[..32.min(name.len())]))
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use windlass_runtime::{Passage, SourceError};
    use windlass_vocab::PolicyPatch;

    use super::*;

    struct Empty;

    impl ContextSource for Empty {
        fn name(&self) -> &str {
            "empty"
        }

        fn find(&self, _: &str, _: usize) -> windlass_provider::BoxFuture<'static, Result<Vec<Passage>, SourceError>> {
            Box::pin(std::future::ready(Ok(Vec::new())))
        }
    }

    // proves C10: what the program adds is used; a value that would find nothing is refused
    #[test]
    fn the_row_fits_the_sources_or_the_agent_is_not_built() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Arc::new(Workspace::open(dir.path()).unwrap());
        type Built = Result<(Retrieve, String), BuildError>;
        let sources = |row: Retrieve, own: usize, workspace: Option<&Arc<Workspace>>, deny: &[&str]| -> Built {
            let patch = PolicyPatch { retrieve: Some(row), ..PolicyPatch::default() };
            let context_sources = (0..own).map(|_| Arc::new(Empty) as Arc<dyn ContextSource>).collect();
            let mut parts = AgentParts { patches: vec![patch], context_sources, ..AgentParts::default() };
            let policy = parts.take_policy()?;
            let deny = deny.iter().map(|rule| rule.parse().unwrap()).collect();
            let permissions = Arc::new(Permissions { deny, ..Permissions::default() });
            let sources = parts.take_sources(workspace, &permissions, None, &policy)?;
            Ok((policy.retrieve, sources.iter().map(|source| source.name().to_owned()).collect::<Vec<_>>().join(", ")))
        };
        for (row, own, want) in [
            (Retrieve::Off, 0, (Retrieve::Off, "")),
            (Retrieve::Off, 1, (Retrieve::Own, "empty")),
            (Retrieve::Own, 2, (Retrieve::Own, "empty, empty")),
            (Retrieve::Workspace, 1, (Retrieve::Workspace, "empty, the workspace")),
        ] {
            let got = sources(row, own, Some(&workspace), &["read(private/)"]);
            assert_eq!(got.unwrap(), (want.0, want.1.to_owned()));
        }
        assert!(matches!(sources(Retrieve::Own, 0, Some(&workspace), &[]), Err(BuildError::NoContextSource)));
        assert!(matches!(sources(Retrieve::Workspace, 1, None, &[]), Err(BuildError::NothingToRetrieve)));
        let denied = sources(Retrieve::Workspace, 1, Some(&workspace), &["read_file"]);
        assert!(matches!(denied, Err(BuildError::RetrieveForbidden)));
    }

    #[test]
    fn each_workspace_has_an_index_of_its_own() {
        let index = |workspace: &str| index_of(Path::new("/data"), Path::new(workspace));
        assert_ne!(index("/a"), index("/b"));
        assert_eq!(index("/a"), index("/a"));
        assert!(index("/a").starts_with("/data/passages") && index("/a").extension().is_some_and(|end| end == "db"));
    }
}
