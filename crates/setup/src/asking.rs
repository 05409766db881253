//! Questions that only a person can decide. The door displays the question and returns the answer.

use std::collections::BTreeMap;
use std::io;

use windlass_mcp::{ServerConfig, ServerName};

use crate::servers::consent::{ConsentAnswer, ConsentAnswers};
use crate::settings::{ChangedFile, ServerConsent, Sources};

/// A yes or no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesNo {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// The MCP servers that a project names and that nobody has agreed to or refused yet.
#[derive(Debug)]
pub struct ServersQuestion<'a> {
    /// The file that names the servers, and the files behind their commands.
    pub consent: &'a ServerConsent,
    /// The servers.
    pub servers: &'a BTreeMap<&'a ServerName, &'a ServerConfig>,
    /// The answers given before.
    pub agreements: &'a ConsentAnswers,
}

/// The person at a door. A question is asked only when the door reports that somebody is there. `None` means no
/// decision: the same question is asked again another time. An error means that the person can't be reached.
pub trait Person: Send {
    /// Displays a sentence at once.
    fn report(&mut self, sentence: &str);

    /// Asks whether the person trusts a project whose folder they have not listed.
    fn trusts_new(&mut self, sources: &Sources) -> io::Result<Option<YesNo>>;

    /// Asks whether the person still trusts a project whose files have changed like this.
    fn trusts_changed(&mut self, changes: &[ChangedFile]) -> io::Result<Option<YesNo>>;

    /// Asks whether the servers of a project may start.
    fn agrees_to_servers(&mut self, question: &ServersQuestion<'_>) -> io::Result<Option<ConsentAnswer>>;

    /// Asks whether a model server on this machine may be used although it may not be the person's own. `doubt` is a
    /// clause that names the server.
    fn uses_model_server(&mut self, doubt: &str) -> io::Result<YesNo>;
}
