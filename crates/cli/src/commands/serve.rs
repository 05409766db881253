//! `windlass serve`: sessions over HTTP, and the page (W3, W4). `windlass-server` answers the requests.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use windlass_runtime::LiveSessions;
use windlass_server::access::{
    Access, AccessToken, BrowserEntry, Caller, CallerRole, TokenHolder, UserList, users_file,
};
use windlass_server::{
    HttpServer, ResumedRuns, RunningServer, RunningServerFile, ServiceLimits, StopWish, resume_open_runs,
};
use windlass_setup::built_agents::BuiltAgents;
use windlass_setup::secrets::{known_secrets, scrubber};
use windlass_setup::servers::SharedServers;
use windlass_setup::session_agent::{SessionAgents, SharedStore};
use windlass_setup::settings::{Env, PlaceSettings};
use windlass_setup::{store, test_hooks};
use windlass_store::SessionRetention;

use super::block_on::block_on_all_cores;
use super::{prepared_run, session};
use crate::args::{LimitFlags, ServeArgs, flags};
use crate::demo::PAGE_WORDS;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::streams::{print, print_notice};

/// The most files that the server opens at once, and how many are kept for others than connections.
const MOST_FILES: u64 = 16_384;
const OTHER_FILES: u64 = 1_024;

/// How many bytes the system keeps for a client that has not read them yet, and how many connections may wait to be taken.
const SEND_BUFFER: u32 = 128 * 1024;
const WAITING_CONNECTIONS: u32 = 1_024;

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
    /// The token, where it was made up for this start: one that somebody chose is known to them, and shows up in no log.
    made_up: Option<&'a AccessToken>,
    workspace: &'a Path,
}

impl StartedServer<'_> {
    /// Says where the page is; `route` leads to a part of it.
    pub(super) fn welcome(&self, route: &str) -> String {
        let (address, workspace) = (self.address, self.workspace.display());
        let (query, asks) = match self.made_up {
            Some(token) => (format!("?token={}", token.expose()), ""),
            None => (String::new(), " (it asks for the token)"),
        };
        format!("Open http://{address}/{query}{route}{asks}\nSessions work in {workspace}; Ctrl-C ends the server.")
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
    let chosen = chosen_token(args, env)?;
    let is_chosen = chosen.is_some();
    let token = chosen.map_or_else(|| made_up_token(args), Ok)?;
    // Whatever gave the token, nothing that an agent reads or writes may have it.
    let env = &env.with(TOKEN_VARIABLE, token.expose());
    let flags = flags(data_dir, &args.rules, &args.common);
    let place = prepared_run::place(&prepared_run::gather(flags.clone(), env.clone())?)?;
    block_on_all_cores(async {
        let store = SharedStore(store::open(&place)?);
        let mut stops = stop_wishes();
        let listener = listen(args.address, &place)?;
        let address = listener.local_addr().unwrap_or(args.address);
        let agents = SessionAgents {
            flags,
            env: env.clone(),
            current_folder: prepared_run::current_folder()?,
            place: place.clone(),
            store,
            servers: SharedServers::default(),
            http: prepared_run::http_client()?,
            built: BuiltAgents::default(),
            live: LiveSessions::default(),
            deadline: args.common.deadline,
            demo_words: PAGE_WORDS,
        };
        let holder = Caller { user: session::OWNER.to_owned(), role: CallerRole::Admin };
        let entry_key = random_token()?;
        let entry = BrowserEntry::new(&entry_key, holder.clone());
        let users = UserList::read(users_file(&place.data_dir.value))?;
        let limits = limits(&args.service.limits);
        let access = Access::new(TokenHolder::new(&token, holder), users, address, &args.host_name, &limits);
        let access = access.with_entry(entry);
        let folders = folders(&args.folder, &place)?;
        let secrets = scrubber(&known_secrets(env, None));
        let state = HttpServer::new(agents, access, limits, secrets, test_hooks::clock(), folders);
        let state = Arc::new(state.with_retention(retention(args)));
        if let Some(told) = resumed(resume_open_runs(&state).await?) {
            print_notice(&told);
        }
        let file = server_file(&place, address, &entry_key);
        let made_up = (!is_chosen).then_some(&token);
        started(&StartedServer { address, entry: state.entry(), made_up, workspace: &place.workspace })?;
        tokio::spawn(tell_demo(Arc::clone(&state)));
        let mut ending = stops.clone();
        tokio::spawn(async move {
            // A server that is about to end is found no more.
            let _ = ending.wait_for(|wish| *wish > StopWish::GoOn).await;
            drop(file);
        });
        let served =
            windlass_server::serve(listener, Arc::clone(&state), stops.clone(), args.service.times.drain_wait).await;
        served.map_err(|error| CommandError::new(Exit::Failed, format!("serving failed: {error}")))?;
        if state.has_open_runs() {
            print_notice("windlass: open runs are put down; they go on when the server starts again");
        }
        tokio::select! {
            () = state.end() => {}
            // Without the sender nobody can wish any more, and the end is awaited.
            Ok(_) = stops.wait_for(|wish| *wish == StopWish::AtOnce) => {}
        }
        Ok(Exit::Done)
    })
}

/// Says that no model is connected, where that is so.
async fn tell_demo(state: Arc<HttpServer>) {
    match state.plays_demo(session::OWNER).await {
        Ok(false) => {}
        Ok(true) => {
            print_notice("windlass: no model is connected: the page plays a demo, and says how to connect one");
        }
        Err(error) => {
            print_notice(&format!("windlass: no message can be answered: {}", CommandError::from(error).message));
        }
    }
}

/// Returns the operator's token that lets callers in, if there is one.
fn chosen_token(args: &ServeArgs, env: &Env) -> Result<Option<AccessToken>, CommandError> {
    let (chosen, origin) = match (&args.token_file, env.raw(TOKEN_VARIABLE)) {
        (Some(file), _) => {
            let text = fs::read_to_string(file)
                .map_err(|error| CommandError::new(Exit::Usage, format!("{}: {error}", file.display())))?;
            (Some(text.trim().to_owned()), file.display().to_string())
        }
        (None, Some(text)) => (Some(text.to_string_lossy().into_owned()), TOKEN_VARIABLE.to_owned()),
        (None, None) => (None, String::new()),
    };
    let checked = chosen.map(|text| {
        AccessToken::chosen(&text).map_err(|error| {
            let text = format!("{origin}: {error}; `openssl rand -hex 32` makes a good one");
            CommandError::new(Exit::Usage, text)
        })
    });
    checked.transpose()
}

/// Makes up a token for this start, where only this machine can reach the server.
fn made_up_token(args: &ServeArgs) -> Result<AccessToken, CommandError> {
    if args.address.ip().is_loopback() {
        return random_token();
    }
    let text = format!(
        "{} can be reached from other machines: give a token with --token-file or {TOKEN_VARIABLE}",
        args.address
    );
    Err(CommandError::new(Exit::Usage, text))
}

fn random_token() -> Result<AccessToken, CommandError> {
    AccessToken::random()
        .map_err(|error| CommandError::new(Exit::Failed, format!("no random token can be made: {error}")))
}

fn limits(flags: &LimitFlags) -> ServiceLimits {
    ServiceLimits {
        body: usize::from(flags.max_body) * 1024 * 1024,
        runs: flags.max_runs.get(),
        user_runs: flags.max_user_runs.get(),
        user_sessions: flags.max_user_sessions,
        user_streams: flags.max_user_streams.get(),
        user_requests: flags.max_user_requests,
        stranger_requests: flags.max_stranger_requests,
        connections: most_connections(),
    }
}

/// Lets this process have as many files open as the system allows, within reason, and returns how many of them may be
/// connections: stores, tool servers and commands need the rest.
fn most_connections() -> usize {
    let asked = getrlimit(Resource::Nofile);
    let reachable = asked.maximum.unwrap_or(MOST_FILES).min(MOST_FILES);
    let current = asked.current.unwrap_or(MOST_FILES);
    // Where it can't be raised, what there is has to do.
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(reachable.max(current)), maximum: asked.maximum });
    let files = if raised.is_ok() { reachable.max(current) } else { current };
    usize::try_from(files.saturating_sub(OTHER_FILES).max(files / 2)).unwrap_or(usize::MAX)
}

fn listen(address: SocketAddr, place: &PlaceSettings) -> Result<TcpListener, CommandError> {
    listen_at(address).map_err(|error| CommandError::new(Exit::Usage, no_listener(address, place, &error)))
}

/// Says why the server can't listen there.
fn no_listener(address: SocketAddr, place: &PlaceSettings, error: &std::io::Error) -> String {
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return format!("{address} can't be listened at: {error}; choose another with --address");
    }
    match RunningServer::find(&place.data_dir.value) {
        Ok(Some(server)) if server.address == address => {
            format!("a server of this data folder runs at {address} already: `windlass open` shows its page")
        }
        Ok(_) | Err(_) => format!("port {} is taken by another program; choose another with --address", address.port()),
    }
}

fn listen_at(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    // The connections have this limit too: otherwise the system keeps megabytes for a client that does not read.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(WAITING_CONNECTIONS)
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

/// Returns how long sessions are kept.
fn retention(args: &ServeArgs) -> SessionRetention {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    SessionRetention {
        archive_after_ms: ms(args.service.times.archive_after),
        delete_after_ms: ms(args.service.times.delete_after),
    }
}

/// Says what became of the runs that were open; nothing where none was.
fn resumed(runs: ResumedRuns) -> Option<String> {
    let ResumedRuns { resumed, elsewhere, failed, later } = runs;
    let parts = [
        (resumed, "resumed"),
        (later, "wait for their turn"),
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

/// Returns what Ctrl-C, SIGTERM and SIGHUP ask for: the first drains the server, the second ends it at once. They are
/// noticed from the call on, before anything is awaited.
fn stop_wishes() -> watch::Receiver<StopWish> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let (sender, receiver) = watch::channel(StopWish::GoOn);
    tokio::spawn(async move {
        next_signal(&mut signals).await;
        sender.send_replace(StopWish::Drain);
        print_notice(
            "windlass: nothing new starts; what is under way is finished first (a second signal ends it at once)",
        );
        next_signal(&mut signals).await;
        sender.send_replace(StopWish::AtOnce);
        // The sender is kept: the wish stands until the process has ended.
        std::future::pending::<()>().await;
    });
    receiver
}

async fn next_signal(signals: &mut [Signal]) {
    let waits = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
    futures_util::future::select_all(waits).await;
}
