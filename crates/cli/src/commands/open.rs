//! `windlass open`: opens the page of the server that runs for this data folder, or of one that is started here.
//!
//! The address that a browser gets has an entry code in place of the token: the command line of a process can be read by
//! others, and the code counts once.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use serde::{Deserialize, Serialize};
use windlass_server::RunningServer;
use windlass_server::access::EntryPurpose;
use windlass_setup::settings::{Env, PlaceSettings};

use super::block_on::block_on;
use super::readable_store::open_to_show;
use super::serve::{self, StartedServer};
use super::{prepared_run, session};
use crate::args::{CommonFlags, OpenArgs, RuleFlags, flags};
use crate::browser::{self, BrowserChoice};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::remote_server::RemoteClient;
use crate::streams::{print, print_notice};

pub(super) fn open(data_dir: Option<PathBuf>, args: &OpenArgs, env: &Env) -> CommandResult {
    if args.common.json {
        return Err(CommandError::new(Exit::Usage, "open prints no events: leave --json out"));
    }
    let all = flags(data_dir.clone(), &args.rules, &args.common);
    let place = prepared_run::place(&prepared_run::gather_unasked(all, env.clone())?)?;
    let route = route(&place, args.key.as_deref())?;
    let browser = if args.no_browser { BrowserChoice::None } else { BrowserChoice::of(env) };
    let running = RunningServer::find(&place.data_dir.value).map_err(|error| {
        let text = format!("whether a server runs can't be told: {error}; --data-dir names another data folder");
        CommandError::new(Exit::Failed, text)
    })?;
    match running {
        Some(server) => {
            let unused = RuleFlags::default() != args.rules || !is_plain(&args.common) || args.address.is_some();
            if unused {
                print_notice(
                    "windlass: a server runs already, with its own settings; yours are for one that is started",
                );
            }
            block_on(show_running(&server, &browser, &route))
        }
        None => serve::run(data_dir, &args.server(), env, |started| show_started(started, &browser, &route)),
    }
}

/// Whether only flags are given that say which folder is meant.
fn is_plain(common: &CommonFlags) -> bool {
    let CommonFlags { workspace, .. } = common.clone();
    *common == CommonFlags { workspace, ..CommonFlags::default() }
}

/// Returns the part of the address that leads to the session.
fn route(place: &PlaceSettings, key: Option<&str>) -> Result<String, CommandError> {
    let Some(key) = key else { return Ok(String::new()) };
    let mut found = String::new();
    block_on(async {
        let store = open_to_show(place)?;
        found = format!("#/s/{}", session::by_key(store.as_ref(), key).await?.session);
        Ok(Exit::Done)
    })?;
    Ok(found)
}

/// Lets a browser into a server that runs.
async fn show_running(server: &RunningServer, browser: &BrowserChoice, route: &str) -> CommandResult {
    let base = format!("http://{}/", server.address);
    let purpose = match browser {
        BrowserChoice::Programs(_) => EntryPurpose::Browser,
        BrowserChoice::Remote { .. } | BrowserChoice::None => EntryPurpose::Person,
    };
    let entry = ask_for_code(&base, server, purpose).await.map_err(|error| {
        let process = server.process;
        CommandError { message: format!("the server of process {process}: {}", error.message), ..error }
    })?;
    let address = format!("{base}?code={}{route}", entry.code);
    match browser {
        BrowserChoice::Programs(programs) => {
            print_notice(&format!("windlass: opening {base}, the server of process {}", server.process));
            if let Err(error) = browser::open(programs, &address) {
                print_notice(&no_browser(&error));
                print(&format!("{address}\n"))?;
                print_notice(&counts_once(entry.seconds));
            }
        }
        BrowserChoice::Remote { .. } | BrowserChoice::None => {
            print(&format!("{address}\n"))?;
            print_notice(&counts_once(entry.seconds));
            tell_tunnel(browser, server.address);
        }
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct CodeRequest {
    purpose: &'static str,
}

#[derive(Deserialize)]
struct CodeReply {
    code: String,
    seconds: u64,
}

async fn ask_for_code(base: &str, server: &RunningServer, purpose: EntryPurpose) -> Result<CodeReply, CommandError> {
    let base = base.parse().map_err(|error| CommandError::new(Exit::Failed, format!("{base}: {error}")))?;
    let client = RemoteClient::new(base, server.entry_key().to_owned())?;
    let purpose = match purpose {
        EntryPurpose::Browser => "browser",
        EntryPurpose::Person => "person",
    };
    Ok(client.post("api/entry", &CodeRequest { purpose }).await?)
}

/// Shows the page of the server that was started here.
fn show_started(started: &StartedServer<'_>, browser: &BrowserChoice, route: &str) -> Result<(), CommandError> {
    print(&format!("{}\n", started.welcome(route)))?;
    match browser {
        BrowserChoice::Programs(_) => drop(open_beside(started, browser, route)),
        BrowserChoice::Remote { .. } | BrowserChoice::None => tell_tunnel(browser, started.address),
    }
    Ok(())
}

/// Opens the browser while the server begins to serve.
fn open_beside(started: &StartedServer<'_>, browser: &BrowserChoice, route: &str) -> Option<JoinHandle<()>> {
    let BrowserChoice::Programs(programs) = browser.clone() else { return None };
    let code = started.entry?.issue(EntryPurpose::Browser).ok()?;
    let address = format!("http://{}/?code={}{route}", started.address, code.expose());
    Some(thread::spawn(move || {
        if let Err(error) = browser::open(&programs, &address) {
            print_notice(&no_browser(&error));
        }
    }))
}

fn no_browser(error: &str) -> String {
    format!("windlass: no browser could be started ({error}); open the address yourself, or name one in $BROWSER")
}

fn counts_once(seconds: u64) -> String {
    let time = match seconds / 60 {
        0 => format!("{seconds} seconds"),
        minutes => format!("{minutes} minutes"),
    };
    format!("windlass: the address lets one browser in, once, within {time}")
}

/// Says how a browser of the machine that the person sits at reaches the server.
fn tell_tunnel(browser: &BrowserChoice, address: SocketAddr) {
    if let BrowserChoice::Remote { host } = browser {
        let port = address.port();
        print_notice(&format!(
            "windlass: on the machine you sit at, `ssh -L {port}:{address} {host}` leads there; then open the address as it is"
        ));
    }
}
