//! `windlass attach`: chats in a session of a server, over the same events as the page.

use std::fs;
use std::io;
use std::path::PathBuf;

use windlass_server::RunningServer;
use windlass_setup::secrets::{KnownSecret, known_secrets, scrubber};
use windlass_setup::settings::{Env, Flags, PlaceSettings};

use super::block_on::block_on;
use super::prepared_run;
use crate::args::AttachArgs;
use crate::attach::{
    GivenToken, ListFormat, LocalPlace, RemoteAddress, RemoteSession, Transport, find_session, list, send_one,
};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::interrupts::{self, OnInterrupt};
use crate::local_server::{find_server, terminal_token};
use crate::output::harmless_line;
use crate::piped::{self, StdinWait};
use crate::prompt::{self, StdinKind};
use crate::remote_server::RemoteClient;
use crate::streams::{print, print_notice};
use crate::{chat, hidden_line};

/// Names the variable with the token of a server.
const TOKEN_VARIABLE: &str = "WINDLASS_TOKEN";

pub(super) fn attach(data_dir: Option<PathBuf>, args: &AttachArgs, env: Env) -> CommandResult {
    let place =
        prepared_run::place(&prepared_run::gather_unasked(Flags { data_dir, ..Flags::default() }, env.clone())?)?;
    let (address, own) = match &args.url {
        Some(url) => (read(url)?, None),
        None => {
            let own = find_server(&place)?.ok_or_else(no_server)?;
            (read(&own.page())?, Some(own))
        }
    };
    let look = if args.json || args.list { None } else { chat::look(&env) };
    let message = match look {
        Some(_) => None,
        None if args.list => None,
        None => Some(message()?),
    };
    let token = own.map_or_else(|| token(args, &address, &env), |server| own_token(&server))?;
    if address.transport() == Transport::Open {
        print_notice(&format!(
            "windlass: {} is reached without encryption: whoever is on the way can read the token and the conversation; \
             https or `ssh -L` keeps them private",
            address.base
        ));
    }
    let local = local_place(place, env, &token)?;
    let _interrupts = interrupts::set_action(OnInterrupt::Exit);
    block_on(async {
        let client = RemoteClient::new(address.base.clone(), token)?;
        if args.list {
            let format = if args.json { ListFormat::Json } else { ListFormat::Lines };
            print(&list(&client, format).await?)?;
            return Ok(Exit::Done);
        }
        let named = args.session.as_deref().or(address.session.as_deref());
        let session = match named {
            Some(name) => Some(find_session(&client, name).await?.ok_or_else(|| no_session(name))?),
            None => None,
        };
        let view = if args.json { prepared_run::json_view() } else { prepared_run::answer_view(&local.env) };
        let talk = RemoteSession::new(client, session, local);
        match (look, message) {
            (Some(look), _) => chat::at_terminal(talk, look, None).await,
            (None, Some(text)) => send_one(talk, &text, view).await,
            (None, None) => Ok(Exit::Done),
        }
    })
}

fn no_session(name: &str) -> CommandError {
    let text = format!("the server has no session `{}`; --list shows those there are", harmless_line(name));
    CommandError::new(Exit::Usage, text)
}

/// Reads the message from standard input.
fn message() -> Result<String, CommandError> {
    match piped::connected() {
        StdinKind::Terminal => {
            let text = "attach needs a terminal that can move the cursor, or a message on standard input: \
                        echo \"…\" | windlass attach URL";
            Err(CommandError::new(Exit::Usage, text))
        }
        kind @ (StdinKind::Device | StdinKind::Piped) => {
            Ok(prompt::read(None, kind, io::stdin(), StdinWait::USUAL, || ())?)
        }
    }
}

fn read(url: &str) -> Result<RemoteAddress, CommandError> {
    RemoteAddress::read(url).map_err(|error| CommandError::new(Exit::Usage, error))
}

fn no_server() -> CommandError {
    let text = "no server of this data folder runs: start one with `windlass serve`, or give the address of another";
    CommandError::new(Exit::Usage, text)
}

/// Asks the server of this data folder for a token.
fn own_token(server: &RunningServer) -> Result<String, CommandError> {
    let mut token = String::new();
    block_on(async {
        token = terminal_token(server).await?;
        Ok(Exit::Done)
    })?;
    Ok(token)
}

/// Returns the token: that of the address, of the file, of the environment, or what the person types.
fn token(args: &AttachArgs, address: &RemoteAddress, env: &Env) -> Result<String, CommandError> {
    let given = match (&address.token, &args.token_file, env.raw(TOKEN_VARIABLE)) {
        (Some(GivenToken(token)), ..) => Some(token.clone()),
        (None, Some(file), _) => {
            let unreadable = |error| CommandError::new(Exit::Usage, format!("{}: {error}", file.display()));
            Some(fs::read_to_string(file).map_err(unreadable)?.trim().to_owned())
        }
        (None, None, Some(token)) => Some(token.to_string_lossy().trim().to_owned()),
        (None, None, None) => {
            let prompt = format!("Token of {} (as `windlass serve` printed it): ", address.base);
            hidden_line::ask(&prompt).map_err(|error| CommandError::output(&error))?
        }
    };
    let given = given.filter(|token| !token.is_empty());
    given.ok_or_else(|| {
        let text = format!(
            "{} needs a token: give the address as `windlass serve` printed it, or --token-file, or {TOKEN_VARIABLE}",
            address.base
        );
        CommandError::new(Exit::Usage, text)
    })
}

fn local_place(place: PlaceSettings, env: Env, token: &str) -> Result<LocalPlace, CommandError> {
    let mut known = known_secrets(&env, None);
    known.push(KnownSecret { name: TOKEN_VARIABLE.to_owned(), value: token.to_owned() });
    let folder = prepared_run::current_folder()?;
    Ok(LocalPlace { env, folder, data_dir: place.data_dir.value, secrets: scrubber(&known) })
}
