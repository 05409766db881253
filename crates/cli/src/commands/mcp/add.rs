//! Adds a server to a windlass.toml and removes it. Everything else in the file stays.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use windlass_mcp::{ServerName, servers_from_json};
use windlass_setup::settings::file_edit::SettingsWriteError;
use windlass_setup::settings::{
    FILE_NAME, ServerAddition, ServerRemoval, SettingsScope, Sources, add_server, remove_server,
};

use super::inquiry::parse_server_name;
use crate::args::AddArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::streams::print;

/// Returns the settings file to write.
fn file(scope: SettingsScope, sources: &Sources) -> Result<PathBuf, CommandError> {
    let unknown = || CommandError::new(Exit::Usage, "it is not known where your settings are: set HOME, or --project");
    match scope {
        SettingsScope::Project => {
            let there = sources.project.as_ref().map(|file| file.path().to_owned());
            Ok(there.unwrap_or_else(|| sources.workspace.join(FILE_NAME)))
        }
        SettingsScope::User => sources.user_file().ok_or_else(unknown),
    }
}

pub(super) fn add(args: &AddArgs, sources: &Sources) -> CommandResult {
    let name = parse_server_name(&args.server)?;
    let scope = if args.project { SettingsScope::Project } else { SettingsScope::User };
    let path = file(scope, sources)?;
    let entry = entry(args);
    let wrong = |error: &dyn ToString| CommandError::new(Exit::Usage, error.to_string());
    servers_from_json(&json!({ name.as_str(): entry })).map_err(|error| wrong(&error))?;
    let replaces = if args.replace { ServerAddition::Replaced } else { ServerAddition::New };
    let added = add_server(&path, scope, &name, &entry, replaces).map_err(|error| match &error {
        SettingsWriteError::KnownServer { .. } => {
            CommandError::new(Exit::Usage, format!("{error}; --replace puts this one in its place"))
        }
        SettingsWriteError::NoPlace
        | SettingsWriteError::Secret
        | SettingsWriteError::ReadOnly(_)
        | SettingsWriteError::Damaged(_)
        | SettingsWriteError::Busy(_)
        | SettingsWriteError::Disk(..) => wrong(&error),
    })?;
    let what = match added {
        ServerAddition::New => "Added",
        ServerAddition::Replaced => "Replaced",
    };
    print(&format!("{what} {name} in {}. `windlass mcp test {name}` tries it.\n", path.display()))?;
    Ok(Exit::Done)
}

pub(super) fn remove(name: &ServerName, scope: SettingsScope, sources: &Sources) -> CommandResult {
    let path = file(scope, sources)?;
    let removed = remove_server(&path, scope, name);
    match removed.map_err(|error| CommandError::new(Exit::Usage, error.to_string()))? {
        ServerRemoval::Yes => print(&format!("Removed {name} from {}.\n", path.display()))?,
        ServerRemoval::NotThere => {
            let text =
                format!("{} names no MCP server `{name}`; `windlass mcp list` says where each stands", path.display());
            return Err(CommandError::new(Exit::Usage, text));
        }
    }
    Ok(Exit::Done)
}

/// Returns the entry in the JSON form that other programs use.
fn entry(args: &AddArgs) -> Value {
    let pairs = |pairs: &[(String, String)]| {
        let member = |(name, value): &(String, String)| (name.clone(), Value::from(value.clone()));
        Value::Object(pairs.iter().map(member).collect())
    };
    let mut entry = Map::new();
    if let Some(url) = &args.url {
        entry.insert("type".into(), "http".into());
        entry.insert("url".into(), url.clone().into());
        if !args.header.is_empty() {
            entry.insert("headers".into(), pairs(&args.header));
        }
    } else if let Some((program, rest)) = args.command.split_first() {
        entry.insert("command".into(), program.clone().into());
        entry.insert("args".into(), rest.to_vec().into());
        if !args.env.is_empty() {
            entry.insert("env".into(), pairs(&args.env));
        }
    }
    if !args.tags.is_empty() {
        entry.insert("tags".into(), args.tags.clone().into());
    }
    if args.trust {
        entry.insert("trust".into(), true.into());
    }
    Value::Object(entry)
}
