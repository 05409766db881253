//! The MCP servers of a command: asks for consent, prepares and closes them.
//!
//! Nothing is started here: a run's first prompt starts the servers, and nothing waits for them. Notices about them
//! are kept until the code that displays the run collects them.

pub mod consent;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_mcp::{McpOptions, Notice, ServerConfig, ServerConfinement, ServerName, Servers};
use windlass_sandbox::{SandboxMode, Surroundings};
use windlass_tools::Sandbox;
use windlass_vocab::shown_path;

pub use self::consent::{ConsentAnswer, ConsentAnswers};
pub use self::shared::SharedServers;
use crate::asking::{Person, ServersQuestion};
use crate::permissions::permissions;
use crate::secrets::{self, KnownSecret};
use crate::settings::{ApprovedCommand, ConfiguredServer, Env, ServerConsent, Settings};

/// A notice about the servers.
#[derive(Clone, Debug)]
pub enum ServerNews {
    /// An event of one server.
    Happened(Notice),
    /// Servers of a project that nobody has agreed to, when nobody can be asked.
    NotAgreed {
        /// The file that names the servers.
        file: PathBuf,
        /// The servers.
        servers: Vec<ServerName>,
        /// The files behind the servers that have changed since a person last answered.
        changed: Vec<PathBuf>,
    },
}

/// The servers of a command, and the notices about them.
#[derive(Clone, Debug, Default)]
pub struct AttachedServers {
    servers: Option<Servers>,
    configs: Arc<BTreeMap<ServerName, ServerConfig>>,
    /// The approved commands of a project's servers.
    approved: Arc<BTreeMap<ServerName, ApprovedCommand>>,
    /// The servers that nobody has agreed to.
    withheld: BTreeSet<ServerName>,
    pending_news: Arc<Mutex<Vec<ServerNews>>>,
}

/// Servers that were configured in the same way; one folder has only one of each.
impl PartialEq for AttachedServers {
    fn eq(&self, other: &Self) -> bool {
        (&self.configs, &self.approved, &self.withheld) == (&other.configs, &other.approved, &other.withheld)
    }
}

impl AttachedServers {
    /// Prepares the servers that need no consent, and those the person agrees to now, if there is a person.
    pub fn new(
        settings: &Settings,
        secrets: &[KnownSecret],
        env: &Env,
        person: Option<&mut dyn Person>,
    ) -> io::Result<Self> {
        let attached = Self::default();
        if settings.servers.is_empty() {
            return Ok(attached);
        }
        let approved = attached.approved(settings, person)?;
        Ok(attached.with(approved, settings, secrets, env))
    }

    /// Prepares these servers. The others are known by name only.
    fn with(
        self,
        configs: BTreeMap<ServerName, ServerConfig>,
        settings: &Settings,
        secrets: &[KnownSecret],
        env: &Env,
    ) -> Self {
        let (pending_news, variables) = (Arc::clone(&self.pending_news), env.clone());
        let folder = folder(&settings.place.data_dir.value);
        let withheld: BTreeSet<_> =
            settings.servers.keys().filter(|name| !configs.contains_key(*name)).cloned().collect();
        let approved =
            settings.servers.iter().filter_map(|(name, server)| Some((name.clone(), server.approved.clone()?)));
        let approved: Arc<BTreeMap<_, _>> = Arc::new(approved.collect());
        let compared = Arc::clone(&approved);
        let options = McpOptions {
            memory: Some(folder.join("listings")),
            tokens: Some(folder.join("tokens.json")),
            variables: Arc::new(move |name| Some(variables.raw(name)?.to_str()?.to_owned())),
            guard: windlass::own_guard(),
            sandbox: Some(sandbox(settings)),
            notice: Arc::new(move |notice: Notice| publish(&pending_news, ServerNews::Happened(notice))),
            secrets: secrets::scrubber(secrets),
            root: Some(settings.place.workspace.clone()),
            withheld: withheld.clone(),
            check_start: Arc::new(move |name| compared.get(name).map_or(Ok(()), check_unchanged)),
            ..McpOptions::default()
        };
        let known = Arc::new(configs.clone());
        Self {
            servers: Some(Servers::new(configs, options)),
            configs: known,
            approved,
            withheld,
            pending_news: self.pending_news,
        }
    }

    /// Returns the servers if any of them may be used.
    pub fn servers(&self) -> Option<&Servers> {
        self.known().filter(|_| !self.configs.is_empty())
    }

    /// Returns the servers if any is configured, even one that may not be used.
    pub fn known(&self) -> Option<&Servers> {
        self.servers.as_ref()
    }

    /// Returns the servers that nobody has agreed to.
    pub fn withheld(&self) -> &BTreeSet<ServerName> {
        &self.withheld
    }

    /// Returns the servers that the person refused.
    pub fn refused(settings: &Settings) -> BTreeSet<ServerName> {
        let agreements = ConsentAnswers::read(&folder(&settings.place.data_dir.value));
        let refused =
            |server: &ConfiguredServer| server.consent.as_ref().is_some_and(|consent| agreements.is_refused(consent));
        settings.servers.iter().filter(|(_, server)| refused(server)).map(|(name, _)| name.clone()).collect()
    }

    /// Returns the notices since the last call.
    pub fn news(&self) -> Vec<ServerNews> {
        std::mem::take(&mut self.pending_news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Closes the servers.
    pub async fn close(&self) {
        if let Some(servers) = &self.servers {
            servers.shutdown().await;
        }
    }

    fn approved(
        &self,
        settings: &Settings,
        mut person: Option<&mut dyn Person>,
    ) -> io::Result<BTreeMap<ServerName, ServerConfig>> {
        let mut agreements = ConsentAnswers::read(&folder(&settings.place.data_dir.value));
        for (consent, servers) in open(&settings.servers, &agreements) {
            let Some(person) = person.as_deref_mut() else {
                publish(&self.pending_news, not_agreed(&agreements, &consent, &servers));
                continue;
            };
            let question = ServersQuestion { consent: &consent, servers: &servers, agreements: &agreements };
            if let Some(answer) = person.agrees_to_servers(&question)? {
                agreements.record(&consent, answer)?;
            }
        }
        let usable =
            |server: &ConfiguredServer| server.consent.as_ref().is_none_or(|consent| agreements.is_agreed(consent));
        let usable = settings.servers.iter().filter(|(_, server)| usable(server));
        let config = |server: &ConfiguredServer| match &server.consent {
            Some(consent) if agreements.is_in_sandbox(consent) => {
                ServerConfig { sandbox: ServerConfinement::InWorkspace, ..server.config.clone() }
            }
            Some(_) | None => server.config.clone(),
        };
        Ok(usable.map(|(name, server)| (name.clone(), config(server))).collect())
    }
}

/// Refuses a command when a file behind it was replaced after the person agreed.
fn check_unchanged(approved: &ApprovedCommand) -> Result<(), String> {
    match approved.first_change() {
        None => Ok(()),
        Some(path) => {
            let path = path.display().to_string();
            Err(format!("{} is not what you agreed to; you are asked about it at the next start", shown_path(&path)))
        }
    }
}

/// The sandbox for servers whose entries ask for one, or that were approved only in one, however commands are run.
fn sandbox(settings: &Settings) -> Sandbox {
    let surroundings = settings.sandbox.surroundings(&settings.place);
    let mode = surroundings.mode.max(SandboxMode::Workspace);
    Sandbox::new(Surroundings { mode, ..surroundings }, Arc::new(permissions(&settings.permissions)))
}

/// The folder for everything about servers.
pub fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("mcp")
}

/// Returns the consents that nobody has given or refused yet, each with its servers.
fn open<'a>(
    servers: &'a BTreeMap<ServerName, ConfiguredServer>,
    agreements: &ConsentAnswers,
) -> BTreeMap<ServerConsent, BTreeMap<&'a ServerName, &'a ServerConfig>> {
    let mut open = BTreeMap::<_, BTreeMap<_, _>>::new();
    for (name, server) in servers {
        if let Some(consent) = server.consent.as_ref().filter(|consent| agreements.is_open(consent)) {
            open.entry(consent.clone()).or_default().insert(name, &server.config);
        }
    }
    open
}

fn not_agreed(
    agreements: &ConsentAnswers,
    consent: &ServerConsent,
    servers: &BTreeMap<&ServerName, &ServerConfig>,
) -> ServerNews {
    ServerNews::NotAgreed {
        file: consent.file.clone(),
        servers: servers.keys().map(|name| (*name).clone()).collect(),
        changed: agreements.changed(consent).into_iter().map(Path::to_owned).collect(),
    }
}

fn publish(pending_news: &Mutex<Vec<ServerNews>>, news: ServerNews) {
    pending_news.lock().unwrap_or_else(PoisonError::into_inner).push(news);
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{AttachedServers, ServerNews};
    use crate::asking::YesNo;
    use crate::scripted_person::ScriptedPerson;
    use crate::settings::{Flags, Sources};

    // proves X2: no door starts a program of a project before consent
    #[test]
    fn servers_of_a_project_wait_for_the_person_at_the_door() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        fs::create_dir(root.join("project")).expect("a folder");
        let text = r#"{"mcpServers": {"notes": {"command": "notes-server"}}}"#;
        fs::write(root.join("project/.mcp.json"), text).expect("a file");
        let flags =
            Flags { workspace: Some(root.join("project")), data_dir: Some(root.join("data")), ..Flags::default() };
        let env = [("HOME", root.display().to_string())].into_iter().collect();
        let sources = Sources::gather(flags, env, root.clone()).expect("gathered");
        let settings = sources.resolve().expect("resolved");

        let unasked = AttachedServers::new(&settings, &[], &sources.env, None).expect("made ready");
        assert!(unasked.servers().is_none() && unasked.known().is_some());
        let [ServerNews::NotAgreed { file, servers, changed }] = &unasked.news()[..] else { panic!("nothing is told") };
        assert_eq!((file, changed.len()), (&root.join("project/.mcp.json"), 0));
        assert_eq!(servers.iter().map(ToString::to_string).collect::<Vec<_>>(), ["notes"]);

        let mut person = ScriptedPerson::saying(YesNo::Yes);
        let approved = AttachedServers::new(&settings, &[], &sources.env, Some(&mut person)).expect("made ready");
        assert!(approved.servers().is_some() && approved.news().is_empty());
        let again = AttachedServers::new(&settings, &[], &sources.env, None).expect("made ready");
        assert!(again.servers().is_some(), "the answer is kept");
        assert_eq!(person.asked, ["servers"]);
    }
}
