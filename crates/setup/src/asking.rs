//! What only a person can decide. The door shows the question where its person is, and gives back the answer.

use std::collections::BTreeMap;
use std::io;

use windlass_mcp::{ServerConfig, ServerName};

use crate::servers::consent::{ConsentAnswer, ConsentAnswers};
use crate::settings::{ChangedFile, ServerConsent, Sources};

/// A plain answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesNo {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// The MCP servers that a project names and nobody has agreed to or refused yet.
#[derive(Debug)]
pub struct ServersQuestion<'a> {
    /// The file that names them, and what stands behind their commands.
    pub consent: &'a ServerConsent,
    /// The servers.
    pub servers: &'a BTreeMap<&'a ServerName, &'a ServerConfig>,
    /// What was agreed to before.
    pub agreements: &'a ConsentAnswers,
}

/// The person at a door. Each question is asked only where the door says that somebody is there; `None` decides
/// nothing, and the same question is asked again another time. An error means that the person can't be reached.
pub trait Person: Send {
    /// Tells a sentence at once.
    fn tell(&mut self, sentence: &str);

    /// Whether a project is trusted whose folder they have not listed.
    fn trusts_new(&mut self, sources: &Sources) -> io::Result<Option<YesNo>>;

    /// Whether a project is still trusted whose files have changed like this.
    fn trusts_changed(&mut self, changes: &[ChangedFile]) -> io::Result<Option<YesNo>>;

    /// Whether the servers of a project may start.
    fn agrees_to_servers(&mut self, question: &ServersQuestion<'_>) -> io::Result<Option<ConsentAnswer>>;

    /// Whether a model server of this machine may be used that is not certainly their own. `doubt` is a clause that
    /// names it.
    fn uses_model_server(&mut self, doubt: &str) -> io::Result<YesNo>;
}
