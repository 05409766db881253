//! `windlass open`: opens the page of the server that runs for this data folder, or of one that is started here.
//!
//! The address that a browser gets has an entry code in place of the token: the command line of a process can be read by
//! others, and the code counts once.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use windlass_server::RunningServer;
use windlass_server::access::EntryPurpose;
use windlass_setup::settings::{Env, PlaceSettings};

use super::block_on::block_on;
use super::readable_store::open_to_show;
use super::serve::{self, StartedServer};
use super::{prepared_run, session};
use crate::args::{CommonFlags, OpenArgs, RuleFlags, ServeArgs, flags};
use crate::browser::{self, BrowserChoice};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::local_server::{browser_code, find_server};
use crate::streams::{print, print_notice};

/// Where a server listens that nobody gave an address.
const USUAL_PORT: u16 = 7700;

pub(super) fn open(data_dir: Option<PathBuf>, args: &OpenArgs, env: &Env) -> CommandResult {
    if args.common.json {
        return Err(CommandError::new(Exit::Usage, "open prints no events: leave --json out"));
    }
    let all = flags(data_dir.clone(), &args.rules, &args.common);
    let place = prepared_run::place(&prepared_run::gather_unasked(all, env.clone())?)?;
    let route = route(&place, args.key.as_deref())?;
    let browser = if args.no_browser { BrowserChoice::None } else { BrowserChoice::of(env) };
    match find_server(&place)? {
        Some(server) => {
            let is_of_start = RuleFlags::default() != args.rules
                || !is_plain(&args.common)
                || !args.service.are_usual()
                || args.address.is_some();
            if is_of_start {
                print_notice(
                    "windlass: a server runs already, with its own settings; yours are for one that is started",
                );
            }
            block_on(show_running(&server, &browser, &route))
        }
        None => serve::run(data_dir, &server(args), env, |started| show_started(started, &browser, &route)),
    }
}

/// Returns the arguments of the server to start.
fn server(args: &OpenArgs) -> ServeArgs {
    ServeArgs {
        address: args.address.unwrap_or_else(free_address),
        token_file: None,
        host_name: Vec::new(),
        folder: Vec::new(),
        service: args.service.clone(),
        rules: args.rules.clone(),
        common: args.common.clone(),
    }
}

/// Returns the usual address where its port is free: a browser keeps what it knows of a page by its address.
fn free_address() -> SocketAddr {
    let usual = (Ipv4Addr::LOCALHOST, USUAL_PORT).into();
    if TcpListener::bind::<SocketAddr>(usual).is_ok() { usual } else { (Ipv4Addr::LOCALHOST, 0).into() }
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
    let base = server.page();
    let purpose = match browser {
        BrowserChoice::Programs(_) => EntryPurpose::Browser,
        BrowserChoice::Remote { .. } | BrowserChoice::None => EntryPurpose::Person,
    };
    let entry = browser_code(server, purpose).await?;
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
