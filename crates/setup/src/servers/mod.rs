//! The MCP servers of a command: agreed to, made ready, and let go.
//!
//! Nothing is started here; a run's first prompt wakes them, and none is waited for. What a person
//! should know of them is kept until whoever shows the run has a line for it.

pub mod consent;
mod kept;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_mcp::{Held, Notice, Options, ServerConfig, ServerName, Servers};
use windlass_sandbox::{SandboxMode, Surroundings};
use windlass_tools::Sandbox;
use windlass_vocab::shown_path;

pub use self::consent::{Agreements, ConsentAnswer};
pub use self::kept::Kept;
use crate::asking::{Person, ServersQuestion};
use crate::permissions::permissions;
use crate::secrets::{self, Secret};
use crate::settings::{Agreed, Consent, Env, Server, Settings};

/// What a person should know of the servers.
#[derive(Clone, Debug)]
pub enum News {
    /// What happened to one of them.
    Happened(Notice),
    /// Servers of a project that nobody has agreed to, where nobody can be asked.
    NotAgreed {
        /// The file that names them.
        file: PathBuf,
        /// The servers.
        servers: Vec<ServerName>,
        /// The files behind them that have changed since a person last answered.
        changed: Vec<PathBuf>,
    },
}

/// The servers of a command, and what they have to tell.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    servers: Option<Servers>,
    configs: Arc<BTreeMap<ServerName, ServerConfig>>,
    /// What the commands of a project's servers may start.
    agreed: Arc<BTreeMap<ServerName, Agreed>>,
    /// Those that nobody has agreed to.
    withheld: BTreeSet<ServerName>,
    told: Arc<Mutex<Vec<News>>>,
}

impl Attached {
    /// Makes ready the servers that nobody need be asked about, and those the person agrees to now, where there is one.
    pub fn new(
        settings: &Settings,
        secrets: &[Secret],
        env: &Env,
        person: Option<&mut dyn Person>,
    ) -> io::Result<Self> {
        let attached = Self::default();
        if settings.servers.is_empty() {
            return Ok(attached);
        }
        let agreed = attached.agreed(settings, person)?;
        Ok(attached.with(agreed, settings, secrets, env))
    }

    /// Makes these ready. The others are known by name.
    fn with(
        self,
        configs: BTreeMap<ServerName, ServerConfig>,
        settings: &Settings,
        secrets: &[Secret],
        env: &Env,
    ) -> Self {
        let (told, variables) = (Arc::clone(&self.told), env.clone());
        let folder = folder(&settings.place.data_dir.value);
        let withheld: BTreeSet<_> =
            settings.servers.keys().filter(|name| !configs.contains_key(*name)).cloned().collect();
        let agreed = settings.servers.iter().filter_map(|(name, server)| Some((name.clone(), server.agreed.clone()?)));
        let agreed: Arc<BTreeMap<_, _>> = Arc::new(agreed.collect());
        let compared = Arc::clone(&agreed);
        let options = Options {
            memory: Some(folder.join("listings")),
            tokens: Some(folder.join("tokens.json")),
            variables: Arc::new(move |name| Some(variables.raw(name)?.to_str()?.to_owned())),
            guard: windlass::own_guard(),
            sandbox: Some(sandbox(settings)),
            notice: Arc::new(move |notice: Notice| tell(&told, News::Happened(notice))),
            secrets: secrets::scrubber(secrets),
            root: Some(settings.place.workspace.clone()),
            withheld: withheld.clone(),
            check_start: Arc::new(move |name| compared.get(name).map_or(Ok(()), as_agreed)),
            ..Options::default()
        };
        let known = Arc::new(configs.clone());
        Self { servers: Some(Servers::new(configs, options)), configs: known, agreed, withheld, told: self.told }
    }

    /// The servers, where any of them may be used.
    pub fn servers(&self) -> Option<&Servers> {
        self.known().filter(|_| !self.configs.is_empty())
    }

    /// The servers, where any is configured, be it one that may not be used.
    pub fn known(&self) -> Option<&Servers> {
        self.servers.as_ref()
    }

    /// Those of these that the person said no to.
    pub fn refused(settings: &Settings) -> BTreeSet<ServerName> {
        let agreements = Agreements::read(&folder(&settings.place.data_dir.value));
        let refused = |server: &Server| server.consent.as_ref().is_some_and(|consent| agreements.is_refused(consent));
        settings.servers.iter().filter(|(_, server)| refused(server)).map(|(name, _)| name.clone()).collect()
    }

    /// Whether these are the same, as they are configured.
    fn is_like(&self, other: &Self) -> bool {
        (&self.configs, &self.agreed, &self.withheld) == (&other.configs, &other.agreed, &other.withheld)
    }

    /// What they have told since this was last asked.
    pub fn news(&self) -> Vec<News> {
        std::mem::take(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets them go.
    pub async fn close(&self) {
        if let Some(servers) = &self.servers {
            servers.shutdown().await;
        }
    }

    fn agreed(
        &self,
        settings: &Settings,
        mut person: Option<&mut dyn Person>,
    ) -> io::Result<BTreeMap<ServerName, ServerConfig>> {
        let mut agreements = Agreements::read(&folder(&settings.place.data_dir.value));
        for (consent, servers) in open(&settings.servers, &agreements) {
            let Some(person) = person.as_deref_mut() else {
                tell(&self.told, not_agreed(&agreements, &consent, &servers));
                continue;
            };
            let question = ServersQuestion { consent: &consent, servers: &servers, agreements: &agreements };
            if let Some(answer) = person.agrees_to_servers(&question)? {
                agreements.say(&consent, answer)?;
            }
        }
        let usable = |server: &Server| server.consent.as_ref().is_none_or(|consent| agreements.has(consent));
        let usable = settings.servers.iter().filter(|(_, server)| usable(server));
        let config = |server: &Server| match &server.consent {
            Some(consent) if agreements.is_in_sandbox(consent) => {
                ServerConfig { sandbox: Held::InWorkspace, ..server.config.clone() }
            }
            Some(_) | None => server.config.clone(),
        };
        Ok(usable.map(|(name, server)| (name.clone(), config(server))).collect())
    }
}

/// What was exchanged since the person agreed is not started.
fn as_agreed(agreed: &Agreed) -> Result<(), String> {
    match agreed.exchanged() {
        None => Ok(()),
        Some(path) => {
            let path = path.display().to_string();
            Err(format!("{} is not what you agreed to; start windlass again to be asked about it", shown_path(&path)))
        }
    }
}

/// What servers run in whose entries ask for it, or that were agreed to only so, however commands are run.
fn sandbox(settings: &Settings) -> Sandbox {
    let surroundings = settings.sandbox.surroundings(&settings.place);
    let mode = surroundings.mode.max(SandboxMode::Workspace);
    Sandbox::new(Surroundings { mode, ..surroundings }, Arc::new(permissions(&settings.permissions)))
}

/// Where everything about servers is kept.
pub fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("mcp")
}

/// What nobody has agreed to or refused yet, and the servers that wait for it.
fn open<'a>(
    servers: &'a BTreeMap<ServerName, Server>,
    agreements: &Agreements,
) -> BTreeMap<Consent, BTreeMap<&'a ServerName, &'a ServerConfig>> {
    let mut open = BTreeMap::<_, BTreeMap<_, _>>::new();
    for (name, server) in servers {
        if let Some(consent) = server.consent.as_ref().filter(|consent| agreements.is_open(consent)) {
            open.entry(consent.clone()).or_default().insert(name, &server.config);
        }
    }
    open
}

fn not_agreed(agreements: &Agreements, consent: &Consent, servers: &BTreeMap<&ServerName, &ServerConfig>) -> News {
    News::NotAgreed {
        file: consent.file.clone(),
        servers: servers.keys().map(|name| (*name).clone()).collect(),
        changed: agreements.changed(consent).into_iter().map(Path::to_owned).collect(),
    }
}

fn tell(told: &Mutex<Vec<News>>, news: News) {
    told.lock().unwrap_or_else(PoisonError::into_inner).push(news);
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Attached, News};
    use crate::asking::Answer;
    use crate::scripted_person::ScriptedPerson;
    use crate::settings::{Flags, Sources};

    // proves X2: no program of a project before consent, whichever door it is
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

        let unasked = Attached::new(&settings, &[], &sources.env, None).expect("made ready");
        assert!(unasked.servers().is_none() && unasked.known().is_some());
        let [News::NotAgreed { file, servers, changed }] = &unasked.news()[..] else { panic!("nothing is told") };
        assert_eq!((file, changed.len()), (&root.join("project/.mcp.json"), 0));
        assert_eq!(servers.iter().map(ToString::to_string).collect::<Vec<_>>(), ["notes"]);

        let mut person = ScriptedPerson::saying(Answer::Yes);
        let agreed = Attached::new(&settings, &[], &sources.env, Some(&mut person)).expect("made ready");
        assert!(agreed.servers().is_some() && agreed.news().is_empty());
        let again = Attached::new(&settings, &[], &sources.env, None).expect("made ready");
        assert!(again.servers().is_some(), "the answer is kept");
        assert_eq!(person.asked, ["servers"]);
    }
}
