//! `windlass demo`: runs a real job without a model; with `--crash` the job is killed halfway and resumed.
//!
//! The crash is real: a second process of this program does the job and sends itself SIGKILL once its third rename
//! is recorded. This process then resumes the session as `windlass resume` would, and counts in the journal and on the
//! disk how often each rename was done.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::process::{Signal, getpid, kill_process};
use windlass::door::{AwaitedEnd, FollowError};
use windlass::{Agent, Event, Session};
use windlass_machine::preset;
use windlass_runtime::OpenApprovals;
use windlass_setup::context_files::ContextFiles;
use windlass_setup::demo::{PROMPT, make_scratch};
use windlass_setup::models::DEMO;
use windlass_setup::run_setup::RunSetup;
use windlass_setup::servers::AttachedServers;
use windlass_setup::settings::{
    ChosenDialects, CommandEnv, Env, Flags, ModeSetting, PermissionSettings, PlaceSettings, SandboxSettings,
    SettingOrigin, Settings, Sourced, Sources,
};
use windlass_setup::store;
use windlass_setup::{agent, secrets};
use windlass_store::Store;
use windlass_tools::Protected;
use windlass_vocab::{Attendance, CallId, MessageId, ModelName, Record, RunId};

use super::block_on::block_on;
use super::prepared_run::PreparedRun;
use super::{follow, prepared_run, session};
use crate::args::DemoArgs;
use crate::demo::{DemoCount, WORDS};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::quoted;
use crate::streams::{print, print_notice};

/// Environment variable that gives the second process the key of the demo session to run and crash. It is not a flag,
/// so that it stays out of the help and the completions.
const DIES: &str = "WINDLASS_DEMO_DIES";

/// Number of renames recorded before the process kills itself.
const SURVIVED: usize = 3;

pub(super) fn demo(data_dir: Option<PathBuf>, args: &DemoArgs, env: Env) -> CommandResult {
    let place = prepared_run::place(&prepared_run::gather(Flags { data_dir, ..Flags::default() }, env.clone())?)?;
    if let Some(key) = env.raw(DIES).map(|key| key.to_string_lossy().into_owned()) {
        return block_on(die(place, env, &key));
    }
    let key = args.session.as_deref();
    block_on(async {
        let store = store::open(&place)?;
        refuse_taken(store.as_ref(), key).await?;
        if args.crash { crash(place, env, store, key).await } else { play(place, env, store, key).await }
    })
}

/// Fails if the key is in use: a demo begins a new session.
async fn refuse_taken(store: &dyn Store, key: Option<&str>) -> Result<(), CommandError> {
    let Some(key) = key else { return Ok(()) };
    match session::find(store, key).await? {
        None => Ok(()),
        Some(_) => {
            let word = quoted(key);
            let text = format!("there is a session `{key}` already; `windlass sessions rm {word}` deletes it");
            Err(CommandError::new(Exit::Usage, text))
        }
    }
}

/// Runs the demo in place of a job for which there is no model.
pub(super) async fn watch(prepared_run: PreparedRun, store: Arc<dyn Store>) -> CommandResult {
    play(prepared_run.setup.settings.place, prepared_run.setup.env, store, None).await
}

fn announce(key: Option<&str>) -> Result<DemoStart, CommandError> {
    let beginning = begin(key)?;
    print_notice("Demo: the model is scripted, and nothing leaves this machine.");
    print_notice("The loop, the journal, the tools and the files are real.");
    print_notice(&format!("Folder: {}\n\n> {PROMPT}", beginning.folder.display()));
    Ok(beginning)
}

/// A demo session that has not begun yet, and the folder made for it.
pub(super) struct DemoStart {
    pub(super) key: String,
    pub(super) folder: PathBuf,
}

/// Makes a folder with the demo's files. The job begins when [`PROMPT`] is sent to a session with this key that was
/// built from [`prepare`].
pub(super) fn begin(key: Option<&str>) -> Result<DemoStart, CommandError> {
    let (suffix, parent) = (session::fresh_suffix(), std::env::temp_dir());
    let folder = make_scratch(&parent, &suffix).map_err(|error| {
        let text = format!(
            "no folder for the demo can be made in {}: {error}; set TMPDIR to a folder you can write to",
            parent.display()
        );
        CommandError::new(Exit::Failed, text)
    })?;
    Ok(DemoStart { key: key.map_or_else(|| format!("demo-{suffix}"), str::to_owned), folder })
}

/// Prepares the demo's run; ignores what is configured for real runs.
pub(super) fn prepare(place: PlaceSettings, folder: &Path, env: Env) -> Result<PreparedRun, CommandError> {
    let policy = preset("default").ok_or_else(|| CommandError::new(Exit::Failed, "the preset `default` is missing"))?;
    let mode = Sourced::new(ModeSetting::Default, SettingOrigin::Default);
    let settings = Settings {
        place: PlaceSettings { workspace: folder.to_owned(), ..place },
        endpoint: None,
        model: Some(Sourced::new(DEMO.into(), SettingOrigin::Default)),
        table: None,
        fallbacks: Vec::new(),
        role_models: std::collections::BTreeMap::new(),
        policy,
        dialects: ChosenDialects::default(),
        agent: "Windlass".to_owned(),
        system: None,
        project_instructions: Sourced::new(false, SettingOrigin::Default),
        instruction_folders: Vec::new(),
        permissions: PermissionSettings {
            mode,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            protected: Protected::default(),
        },
        sandbox: SandboxSettings::usual(env.home()),
        fetch_private: Vec::new(),
        command_env: CommandEnv::default(),
        servers: std::collections::BTreeMap::new(),
        notices: Vec::new(),
    };
    let (view, secrets) = (prepared_run::answer_view(&env), secrets::known_secrets(&env, None));
    let sources = Sources::of(Flags::default(), env.clone(), &folder.display().to_string());
    let (attendance, servers) = (Attendance::Unattended, AttachedServers::default());
    Ok(PreparedRun {
        setup: RunSetup {
            settings,
            sources,
            secrets,
            env,
            deadline: None,
            attendance,
            context_files: ContextFiles::default(),
            servers,
            demo_words: WORDS,
            learned: Vec::new(),
            http: prepared_run::http_client()?,
        },
        view,
    })
}

async fn play(place: PlaceSettings, env: Env, store: Arc<dyn Store>, key: Option<&str>) -> CommandResult {
    let DemoStart { key, folder } = announce(key)?;
    let mut prepared_run = prepare(place, &folder, env)?;
    let agent = agent::build(&prepared_run.setup, store, &ModelName::from(DEMO))?;
    let (session, mut events) = agent.open_followed(&key).await?;
    let awaited = send(&session).await?;
    let done = follow::follow(&mut prepared_run, &agent, &session, &mut events, awaited).await;
    session.close().await;
    print_notice(&format!("\nSee the files:   ls {}", folder.display()));
    print_notice(&format!("Every step:      windlass sessions show {}", quoted(&key)));
    print_notice("Now kill it:     windlass demo --crash");
    done
}

async fn send(session: &Session) -> Result<AwaitedEnd, CommandError> {
    let id = MessageId::from("demo");
    let sent = session.send(id.clone(), PROMPT.to_owned()).await.map_err(FollowError::from)?;
    Ok(AwaitedEnd::after(sent, id))
}

/// Runs in the second process: does the job in the current folder until it kills itself.
async fn die(place: PlaceSettings, env: Env, key: &str) -> CommandResult {
    let store = store::open(&place)?;
    let folder = place.workspace.clone();
    let mut prepared_run = prepare(place, &folder, env)?;
    let agent = agent::build(&prepared_run.setup, store, &ModelName::from(DEMO))?;
    let (session, mut events) = agent.open_followed(key).await?;
    let awaited = send(&session).await?;
    let mut renames = RecordedRenames::default();
    let ended = agent
        .follow(&session, &mut events, awaited, |event| {
            // A display error must not prevent the planned crash.
            let _ = prepared_run.view.event(event);
            if renames.after(event) == SURVIVED {
                let _ = kill_process(getpid(), Signal::KILL);
            }
        })
        .await?;
    Ok(Exit::from(&ended))
}

/// Counts the recorded renames.
#[derive(Default)]
struct RecordedRenames {
    asked: BTreeSet<CallId>,
    done: usize,
}

impl RecordedRenames {
    fn after(&mut self, event: &Event) -> usize {
        if let Event::Record(envelope) = event {
            match &envelope.record {
                Record::CallRequested(call) if call.name == "move_file" => drop(self.asked.insert(call.call)),
                Record::CallFinished(call) if self.asked.contains(&call.call) => self.done += 1,
                _ => {}
            }
        }
        self.done
    }
}

async fn crash(place: PlaceSettings, env: Env, store: Arc<dyn Store>, key: Option<&str>) -> CommandResult {
    let DemoStart { key, folder } = announce(key)?;
    let (process, signal) = start_and_lose(&place, &key, &folder)?;
    if signal != Signal::KILL.as_raw() {
        return Err(CommandError::new(
            Exit::Failed,
            format!("process {process} was to die of SIGKILL, not of {signal}"),
        ));
    }
    let row = session::by_key(store.as_ref(), &key).await?;
    let before = store.read(row.session, 0).await?;
    let count = DemoCount::of(&before, &folder).map_err(|error| unreadable(&folder, &error))?;
    print_notice(&format!("\nKilled: process {process} is gone (SIGKILL), in the middle of its job."));
    let (records, DemoCount { renamed, left, .. }) = (before.len(), count);
    print_notice(&format!("The journal has {records} records; {renamed} files are renamed, {left} not yet.\n"));
    print_notice(&format!("$ windlass resume {}", quoted(&key)));
    let mut prepared_run = prepare(place, &folder, env)?;
    let agent = agent::build(&prepared_run.setup, store.clone(), &ModelName::from(DEMO))?;
    let done = resume(&mut prepared_run, &agent, row.session, RunId(row.runs)).await?;
    let records = store.read(row.session, 0).await?;
    let count = DemoCount::of(&records, &folder).map_err(|error| unreadable(&folder, &error))?;
    print(&count_wording(&count))?;
    print_notice(&format!("\nEvery step:      windlass sessions show {}", quoted(&key)));
    Ok(if count.is_right() { done } else { Exit::Failed })
}

async fn resume(
    prepared_run: &mut PreparedRun,
    agent: &Agent,
    id: windlass_vocab::SessionId,
    run: RunId,
) -> CommandResult {
    let (session, mut events) = agent.open_existing(id, OpenApprovals::CheckedAgain).await?;
    let done = follow::follow(prepared_run, agent, &session, &mut events, AwaitedEnd::Run(run)).await;
    session.close().await;
    done
}

/// Starts the second process and waits for its end; returns its process id and the signal that killed it.
fn start_and_lose(place: &PlaceSettings, key: &str, folder: &Path) -> Result<(u32, i32), CommandError> {
    let failed = |what: &str| CommandError::new(Exit::Failed, format!("the demo's other process {what}"));
    let program = std::env::current_exe().map_err(|error| failed(&format!("can't be started: {error}")))?;
    let mut child = Command::new(program)
        .args(["demo", "--data-dir"])
        .arg(&place.data_dir.value)
        .env(DIES, key)
        .env("WINDLASS_WORKSPACE", folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| failed(&format!("can't be started: {error}")))?;
    let status = child.wait().map_err(|error| failed(&format!("can't be waited for: {error}")))?;
    let signal = status.signal().ok_or_else(|| failed(&format!("was to be killed and ended with {status}")))?;
    Ok((child.id(), signal))
}

fn unreadable(folder: &Path, error: &io::Error) -> CommandError {
    CommandError::new(Exit::Failed, format!("{}: {error}", folder.display()))
}

fn count_wording(count: &DemoCount) -> String {
    let verdict =
        if count.is_right() { "Each file was renamed exactly once." } else { "THIS IS WRONG; please report it." };
    format!(
        "\nCounted in the journal: {} renames, {} twice; resumed {}.\n\
         Counted on the disk:    {} pictures under a new name, {} under the old one, {} there twice.\n{verdict}\n",
        count.renames,
        count.twice,
        if count.resumes == 1 { "once".to_owned() } else { format!("{} times", count.resumes) },
        count.renamed,
        count.left,
        count.copies
    )
}
