//! `windlass serve`: sessions over HTTP, and the page (W3, W4). `windlass-server` answers the requests.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use windlass_runtime::LiveSessions;
use windlass_server::access::{Access, AccessToken, BrowserEntry, Caller, CallerRole, ServedHosts, TokenHolder};
use windlass_server::{HttpServer, ResumedRuns, RunningServerFile, ServiceLimits, resume_open_runs};
use windlass_setup::secrets::{known_secrets, scrubber};
use windlass_setup::servers::SharedServers;
use windlass_setup::session_agent::{SessionAgents, SharedStore};
use windlass_setup::settings::{Env, PlaceSettings};
use windlass_setup::{store, test_hooks};

use super::block_on::block_on;
use super::{prepared_run, session};
use crate::args::{ServeArgs, flags};
use crate::demo::WORDS;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::streams::{print, print_notice};

/// Names the variable with the token that lets callers in.
const TOKEN_VARIABLE: &str = "WINDLASS_SERVE_TOKEN";

pub(super) fn serve(data_dir: Option<PathBuf>, args: &ServeArgs, env: &Env) -> CommandResult {
    run(data_dir, args, env, |started| print(&format!("{}\n", started.welcome(""))))
}

/// A server that listens.
pub(super) struct StartedServer<'a> {
    /// Where it listens.
    pub(super) address: SocketAddr,
    /// What lets a browser in without the token.
    pub(super) entry: Option<&'a BrowserEntry>,
    token: &'a AccessToken,
    workspace: &'a Path,
}

impl StartedServer<'_> {
    /// Says where the page is; `route` leads to a part of it.
    pub(super) fn welcome(&self, route: &str) -> String {
        let (address, token) = (self.address, self.token.expose());
        let workspace = self.workspace.display();
        format!("Open http://{address}/?token={token}{route}\nSessions work in {workspace}; Ctrl-C ends the server.")
    }
}

/// Serves until a signal comes. `started` is called as soon as the server listens.
pub(super) fn run(
    data_dir: Option<PathBuf>,
    args: &ServeArgs,
    env: &Env,
    started: impl FnOnce(&StartedServer<'_>) -> Result<(), CommandError>,
) -> CommandResult {
    if args.common.json {
        return Err(CommandError::new(Exit::Usage, "serve prints no events; its clients read them: leave --json out"));
    }
    let token = token(args, env)?;
    let flags = flags(data_dir, &args.rules, &args.common);
    let place = prepared_run::place(&prepared_run::gather(flags.clone(), env.clone())?)?;
    block_on(async {
        let store = SharedStore(store::open(&place)?);
        let stopping = interrupted();
        let listener = listen(args.address).await?;
        let address = listener.local_addr().unwrap_or(args.address);
        let agents = SessionAgents {
            flags,
            env: env.clone(),
            current_folder: prepared_run::current_folder()?,
            place: place.clone(),
            store,
            servers: SharedServers::default(),
            live: LiveSessions::default(),
            deadline: args.common.deadline,
            demo_words: WORDS,
        };
        let holder = Caller { user: session::OWNER.to_owned(), role: CallerRole::Admin };
        let entry_key = random_token()?;
        let entry = BrowserEntry::new(&entry_key, holder.clone());
        let access = Access::new(vec![TokenHolder::new(&token, holder)], ServedHosts::new(address, &args.host_name))
            .with_entry(entry);
        let users = access.users();
        let folders = folders(&args.folder, &place)?;
        let secrets = scrubber(&known_secrets(env, None));
        let state =
            Arc::new(HttpServer::new(agents, access, ServiceLimits::default(), secrets, test_hooks::clock(), folders));
        if let Some(told) = resumed(resume_open_runs(&state, &users).await?) {
            print_notice(&told);
        }
        let file = server_file(&place, address, &entry_key);
        started(&StartedServer { address, entry: state.entry(), token: &token, workspace: &place.workspace })?;
        let stopping = async move {
            stopping.await;
            // A server that is about to end is found no more.
            drop(file);
        };
        let served = windlass_server::serve(listener, Arc::clone(&state), stopping).await;
        served.map_err(|error| CommandError::new(Exit::Failed, format!("serving failed: {error}")))?;
        print_notice("windlass: open runs are put down; they go on when the server starts again");
        state.end().await;
        Ok(Exit::Done)
    })
}

/// Returns the token that lets callers in: the operator's, or one made up for this start.
fn token(args: &ServeArgs, env: &Env) -> Result<AccessToken, CommandError> {
    let (chosen, origin) = match (&args.token_file, env.raw(TOKEN_VARIABLE)) {
        (Some(file), _) => {
            let text = fs::read_to_string(file)
                .map_err(|error| CommandError::new(Exit::Usage, format!("{}: {error}", file.display())))?;
            (Some(text.trim().to_owned()), file.display().to_string())
        }
        (None, Some(text)) => (Some(text.to_string_lossy().into_owned()), TOKEN_VARIABLE.to_owned()),
        (None, None) => (None, String::new()),
    };
    match chosen {
        Some(text) => AccessToken::chosen(&text).map_err(|error| {
            let text = format!("{origin}: {error}; `openssl rand -hex 32` makes a good one");
            CommandError::new(Exit::Usage, text)
        }),
        None if args.address.ip().is_loopback() => random_token(),
        None => {
            let text = format!(
                "{} can be reached from other machines: give a token with --token-file or {TOKEN_VARIABLE}",
                args.address
            );
            Err(CommandError::new(Exit::Usage, text))
        }
    }
}

fn random_token() -> Result<AccessToken, CommandError> {
    AccessToken::random()
        .map_err(|error| CommandError::new(Exit::Failed, format!("no random token can be made: {error}")))
}

async fn listen(address: SocketAddr) -> Result<TcpListener, CommandError> {
    TcpListener::bind(address).await.map_err(|error| {
        let text = format!("{address} can't be listened at: {error}; choose another with --address");
        CommandError::new(Exit::Usage, text)
    })
}

/// Returns the folders that sessions may work in, the workspace first.
fn folders(named: &[PathBuf], place: &PlaceSettings) -> Result<Vec<PathBuf>, CommandError> {
    let mut folders = vec![place.workspace.clone()];
    for folder in named {
        let found = folder.canonicalize().ok().filter(|found| found.is_dir());
        let found = found.ok_or_else(|| {
            CommandError::new(Exit::Usage, format!("--folder {}: there is no such folder", folder.display()))
        })?;
        folders.push(found);
    }
    Ok(folders)
}

/// Says what became of the runs that were open; nothing where none was.
fn resumed(runs: ResumedRuns) -> Option<String> {
    let ResumedRuns { resumed, elsewhere, failed } = runs;
    let parts = [
        (resumed, "resumed"),
        (elsewhere, "left to the processes that have them open"),
        (failed, "not resumed (--log says why)"),
    ];
    let told: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!told.is_empty()).then(|| format!("windlass: runs that were open: {}", told.join(", ")))
}

/// Writes the file by which `windlass open` finds this server; says so where it will not.
fn server_file(place: &PlaceSettings, address: SocketAddr, entry_key: &AccessToken) -> Option<RunningServerFile> {
    match RunningServerFile::claim(&place.data_dir.value, address, entry_key) {
        Ok(Some(file)) => Some(file),
        Ok(None) => {
            print_notice("windlass: another server of this data folder runs; `windlass open` leads to that one");
            None
        }
        Err(error) => {
            print_notice(&format!("windlass: `windlass open` will not find this server: {error}"));
            None
        }
    }
}

/// Waits for Ctrl-C, SIGTERM or SIGHUP. They are noticed from the call on, before anything is awaited.
fn interrupted() -> impl Future<Output = ()> + Send + 'static {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    async move {
        let waits = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(waits).await;
    }
}
