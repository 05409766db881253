//! Keeps the agents that were built last: the settings are read for every request, and one that is built from the same gets
//! the same agent, with its tools, models and secret finders.

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass::Agent;
use windlass_provider::DeclaredModel;
use windlass_vocab::{Attendance, ModelName};

use crate::agent::AgentError;
use crate::context_files::ContextFiles;
use crate::run_setup::RunSetup;
use crate::secrets::KnownSecret;
use crate::servers::AttachedServers;
use crate::settings::Settings;

/// How many are kept: one for each folder, user and attendance in use.
const KEPT: usize = 16;

/// The agents that were built last, the newest at the end.
#[derive(Debug, Default)]
pub struct BuiltAgents(Mutex<VecDeque<(AgentInputs, Agent)>>);

/// What an agent of a door is built from and what may change. Which programs the system has (Python, a sandbox) is found out
/// once for each agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AgentInputs {
    settings: Settings,
    secrets: Vec<KnownSecret>,
    context_files: ContextFiles,
    servers: AttachedServers,
    declared: Vec<DeclaredModel>,
    attendance: Attendance,
    deadline: Option<Duration>,
    model: ModelName,
    owner: String,
    /// Tools hold on to the folder, so another one in its place needs another agent.
    folder: Option<FolderId>,
}

/// Device and inode.
type FolderId = (u64, u64);

impl AgentInputs {
    pub(crate) fn new(setup: &RunSetup, model: &ModelName, owner: &str) -> Self {
        Self {
            settings: setup.settings.clone(),
            secrets: setup.secrets.clone(),
            context_files: setup.context_files.clone(),
            servers: setup.servers.clone(),
            declared: setup.learned.iter().map(|learned| learned.answers()).collect(),
            attendance: setup.attendance,
            deadline: setup.deadline,
            model: model.clone(),
            owner: owner.to_owned(),
            folder: folder_id(&setup.settings.place.workspace),
        }
    }
}

fn folder_id(folder: &Path) -> Option<FolderId> {
    folder.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

impl BuiltAgents {
    /// Returns the kept agent that was built from the same, or the one that `build` returns, which is kept.
    pub(crate) fn get_or_build(
        &self,
        inputs: AgentInputs,
        build: impl FnOnce() -> Result<Agent, AgentError>,
    ) -> Result<Agent, AgentError> {
        if let Some(kept) = self.kept(&inputs) {
            return Ok(kept);
        }
        let agent = build()?;
        // Another request may have built the same meanwhile; its sessions and these are to share one.
        if let Some(kept) = self.kept(&inputs) {
            return Ok(kept);
        }
        let mut kept = self.agents();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((inputs, agent.clone()));
        Ok(agent)
    }

    /// Returns the agent that was built from these, which is the newest from now on.
    fn kept(&self, inputs: &AgentInputs) -> Option<Agent> {
        let mut kept = self.agents();
        let place = kept.iter().rposition(|(known, _)| known == inputs)?;
        let found = kept.remove(place)?;
        let agent = found.1.clone();
        kept.push_back(found);
        Some(agent)
    }

    fn agents(&self) -> MutexGuard<'_, VecDeque<(AgentInputs, Agent)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use windlass::Agent;
    use windlass_provider::{HttpClient, HttpConfig};
    use windlass_runtime::LiveSessions;
    use windlass_store::MemoryStore;
    use windlass_vocab::Attendance;

    use super::{BuiltAgents, KEPT};
    use crate::demo::DemoWords;
    use crate::models::ModelFallback;
    use crate::servers::SharedServers;
    use crate::session_agent::{AgentOverrides, AgentPurpose, AgentRequest, SessionAgents, SharedStore};
    use crate::settings::{Env, Flags, Sources};

    /// The agents of sessions in `root/work`, where `root/config/windlass/windlass.toml` is the person's file.
    fn agents(root: &Path) -> SessionAgents {
        let folder = |name: &str| root.join(name).display().to_string();
        let env: Env = [("HOME", folder("home")), ("XDG_CONFIG_HOME", folder("config"))].into_iter().collect();
        let flags = Flags {
            workspace: Some(root.join("work")),
            data_dir: Some(root.join("data")),
            model: Some("m".to_owned()),
            // Nobody listens there, so nothing is learned of the model.
            base_url: Some("http://127.0.0.1:9/v1".to_owned()),
            // Without a guard process there are no commands.
            deny: vec!["run_command".to_owned()],
            ..Flags::default()
        };
        std::fs::create_dir_all(root.join("work")).unwrap();
        let place = Sources::gather(flags.clone(), env.clone(), root.to_owned()).unwrap().resolve().unwrap().place;
        SessionAgents {
            flags,
            env,
            current_folder: root.to_owned(),
            place,
            store: SharedStore(Arc::new(MemoryStore::new())),
            servers: SharedServers::default(),
            http: HttpClient::new(HttpConfig::default()).unwrap(),
            built: BuiltAgents::default(),
            live: LiveSessions::default(),
            deadline: None,
            demo_words: DemoWords { connect: "", demo: "" },
        }
    }

    async fn agent_of(agents: &SessionAgents, owner: &str, attendance: Attendance, system: Option<&str>) -> Agent {
        let request = AgentRequest {
            session: None,
            owner,
            folder: None,
            purpose: AgentPurpose::Say,
            attendance,
            fallback: ModelFallback::Refuse,
        };
        let overrides = AgentOverrides { system: system.map(str::to_owned), ..AgentOverrides::default() };
        agents.agent_with(request, overrides).await.unwrap().agent
    }

    async fn agent(agents: &SessionAgents) -> Agent {
        agent_of(agents, "ann", Attendance::Attended, None).await
    }

    fn is_same(one: &Agent, other: &Agent) -> bool {
        Arc::ptr_eq(one.deps(), other.deps())
    }

    // proves W3: requests share an agent until something that it is built from changes
    #[tokio::test]
    async fn an_agent_is_built_again_when_what_it_is_built_from_has_changed() {
        let root = tempfile::tempdir().unwrap();
        let agents = agents(&root.path().canonicalize().unwrap());
        let first = agent(&agents).await;
        assert!(is_same(&agent(&agents).await, &first));

        for (what, other) in [
            ("another user", agent_of(&agents, "bob", Attendance::Attended, None).await),
            ("nobody to ask", agent_of(&agents, "ann", Attendance::Unattended, None).await),
            ("another system text", agent_of(&agents, "ann", Attendance::Attended, Some("Be brief.")).await),
        ] {
            assert!(!is_same(&other, &first), "{what}");
        }
        assert!(is_same(&agent(&agents).await, &first), "each is kept");

        let mut last = first;
        let (work, config) = (root.path().join("work"), root.path().join("config/windlass"));
        std::fs::create_dir_all(&config).unwrap();
        let changes: [(&str, &dyn Fn()); 3] = [
            ("a rule", &|| std::fs::write(config.join("windlass.toml"), "[permissions]\ndeny = ['todo']\n").unwrap()),
            ("instructions", &|| std::fs::write(work.join("AGENTS.md"), "Haul slowly.").unwrap()),
            ("another folder in its place", &|| {
                std::fs::rename(&work, root.path().join("before")).unwrap();
                std::fs::create_dir(&work).unwrap();
                std::fs::write(work.join("AGENTS.md"), "Haul slowly.").unwrap();
            }),
        ];
        for (what, change) in changes {
            change();
            let next = agent(&agents).await;
            assert!(!is_same(&next, &last), "{what}");
            assert!(is_same(&agent(&agents).await, &next), "{what}");
            last = next;
        }
    }

    // proves W3: texts that clients make up fill no memory
    #[tokio::test]
    async fn only_the_last_agents_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let agents = agents(&root.path().canonicalize().unwrap());
        let first = agent(&agents).await;
        for number in 0..KEPT - 1 {
            agent_of(&agents, "ann", Attendance::Attended, Some(&number.to_string())).await;
        }
        assert!(is_same(&agent(&agents).await, &first), "it was used last now");
        for number in 0..KEPT {
            agent_of(&agents, "ann", Attendance::Attended, Some(&format!("other {number}"))).await;
        }
        assert_eq!(agents.built.agents().len(), KEPT);
        assert!(!is_same(&agent(&agents).await, &first));
    }
}
