//! `windlass init`: writes a windlass.toml from the answers to a few questions. Never overwrites an existing file.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windlass::door::OPENAI;
use windlass_setup::models::{self, ModelChoice, ModelFallback, ModelPreference};
use windlass_setup::settings::{Env, Flags, ModelEndpoint, SettingsFile, SettingsScope, Sources, create_data_dir};
use windlass_setup::test_hooks;
use windlass_setup::trusting;
use windlass_tools::{ReadableBy, write_whole};

use super::block_on::block_on;
use super::prepared_run;
use crate::args::InitArgs;
use crate::consent::TerminalPerson;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::init::{DraftTrust, InitDialog, SettingsDraft, ask, names_server};
use crate::interrupts::{self, OnInterrupt};
use crate::output::harmless_line;
use crate::streams::{print, print_notice};

pub(super) fn init(data_dir: Option<PathBuf>, args: &InitArgs, env: Env) -> CommandResult {
    let flags = Flags {
        data_dir,
        model: args.model.clone(),
        base_url: args.base_url.clone(),
        preset: args.preset.clone(),
        ..Flags::default()
    };
    let sources = prepared_run::gather(flags, env)?;
    let scope = if args.user { SettingsScope::User } else { SettingsScope::Project };
    refuse_to_overwrite(&path_of(scope, &sources)?)?;
    if !args.yes && !io::stdin().is_terminal() {
        return Err(CommandError::new(Exit::Usage, "nobody is there to ask: give --yes to take what is found"));
    }
    // Leaving at a question ends with the same exit code, by Ctrl-C as by Ctrl-D.
    let _leaves = interrupts::set_action(OnInterrupt::Exit);
    block_on(async {
        let mut draft = find_draft(&sources, scope).await?;
        if !args.yes {
            let mut person = InitDialog { keyboard: io::stdin().lock(), screen: io::stderr() };
            let user_file = sources.user_file().map(|path| path.display().to_string());
            let asked = ask(&draft, user_file.as_deref(), &mut person);
            draft = asked.map_err(|error| unanswered(&error))?;
        }
        let path = path_of(draft.scope, &sources)?;
        refuse_to_overwrite(&path)?;
        let trust = if draft.needs_trust() && !args.yes {
            write_and_ask(&path, &draft, &sources)?
        } else {
            write_checked(&path, &draft, DraftTrust::NotGiven)?;
            DraftTrust::NotGiven
        };
        print(&format!("{}\n", path.display()))?;
        print_notice(&end_notice(&draft, trust));
        Ok(Exit::Done)
    })
}

/// Says what the file is good for now.
fn end_notice(draft: &SettingsDraft, trust: DraftTrust) -> String {
    let untrusted = "it may only tighten your settings until you trust this folder: `windlass trust` asks";
    match (draft.scope, trust, &draft.model) {
        (SettingsScope::User, _, _) | (SettingsScope::Project, DraftTrust::Given, _) => {
            "written; `windlass doctor` checks it".to_owned()
        }
        (SettingsScope::Project, DraftTrust::NotGiven, Some(model)) if draft.needs_trust() => format!(
            "written; the model {} stands in it as a comment: a project names a server only once you trust its folder. Take \
             the # away, and `windlass trust` asks; or write it for all folders with `windlass init --user`",
            harmless_line(model)
        ),
        (SettingsScope::Project, DraftTrust::NotGiven, _) => {
            format!("written; {untrusted}. `windlass doctor` checks it")
        }
    }
}

/// Writes the file, shows it with the server that only a trusted folder may name, and asks for trust; on a yes the file
/// with the server takes the place of the other. Whoever leaves at the question has a file that works.
fn write_and_ask(path: &Path, draft: &SettingsDraft, sources: &Sources) -> Result<DraftTrust, CommandError> {
    write_checked(path, draft, DraftTrust::NotGiven)?;
    print_notice(&format!(
        "{} is written; the server in it counts once you trust this folder:",
        harmless_line(&path.display().to_string())
    ));
    let mut planned = Sources::gather(Flags::default(), sources.env.clone(), sources.cwd.clone())?;
    planned.project = Some(parsed(path, draft, DraftTrust::Given)?);
    let replace = |trust| write_whole(path, draft.render(trust).as_bytes(), ReadableBy::AsBefore);
    let mut not_written = None;
    let asked = trusting::ask_about_planned(planned, &mut TerminalPerson, || {
        replace(DraftTrust::Given).inspect_err(|error| not_written = Some(at(path, error)))
    });
    let asked = asked.map_err(|error| not_written.unwrap_or_else(|| CommandError::output(&error)))?;
    if asked.trusts_project() {
        return Ok(DraftTrust::Given);
    }
    // The person may have agreed, and that could not be recorded.
    replace(DraftTrust::NotGiven).map_err(|error| at(path, &error))?;
    Ok(DraftTrust::NotGiven)
}

/// Writes the file, unless it could not be read back.
fn write_checked(path: &Path, draft: &SettingsDraft, trust: DraftTrust) -> Result<(), CommandError> {
    parsed(path, draft, trust)?;
    write(path, draft.scope, &draft.render(trust)).map_err(|error| at(path, &error))
}

fn parsed(path: &Path, draft: &SettingsDraft, trust: DraftTrust) -> Result<SettingsFile, CommandError> {
    Ok(SettingsFile::parse(path, draft.scope, &draft.render(trust))?)
}

fn unanswered(error: &io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => CommandError::new(Exit::Cancelled, "left; nothing is written"),
        _ => CommandError::new(Exit::Usage, format!("no answer: {error}")),
    }
}

/// Drafts the settings from those that exist and from the model servers running on this machine.
async fn find_draft(sources: &Sources, scope: SettingsScope) -> Result<SettingsDraft, CommandError> {
    let settings = sources.resolve()?;
    let chosen =
        models::choose(&settings, ModelPreference::new(None, ModelFallback::Demo), &test_hooks::local_servers()).await;
    let (endpoint, model) = match chosen.map(|chosen| chosen.choice) {
        Ok(ModelChoice::Server { endpoint, model }) => (Some(endpoint), Some(model.value.0)),
        Ok(ModelChoice::Demo) => (None, None),
        // The configured server does not answer yet; write it down all the same.
        Err(_) => (settings.endpoint.clone(), settings.model.clone().map(|model| model.value.0)),
    };
    let (server, model) = match &sources.flags.model {
        // The server is in the name.
        Some(given) if names_server(given) => (None, Some(given.clone())),
        Some(_) | None => by_provider(endpoint, model),
    };
    Ok(SettingsDraft { scope, server, model, preset: settings.policy.preset, commands: Vec::new() })
}

/// Returns the address and the model to write. At a provider's own address the model is written with the provider, which
/// takes the provider's key with it; OpenAI's is written alone.
fn by_provider(endpoint: Option<ModelEndpoint>, model: Option<String>) -> (Option<String>, Option<String>) {
    let provider = endpoint.as_ref().and_then(ModelEndpoint::hosted);
    match (provider, model) {
        (Some(provider), model) if *provider == OPENAI => (None, model),
        (Some(provider), Some(model)) => (None, Some(format!("{}:{model}", provider.prefix))),
        (Some(_) | None, model) => (endpoint.map(|endpoint| endpoint.base_url.value), model),
    }
}

fn path_of(scope: SettingsScope, sources: &Sources) -> Result<PathBuf, CommandError> {
    match scope {
        SettingsScope::Project => Ok(sources.workspace.join(windlass_setup::settings::FILE_NAME)),
        SettingsScope::User => {
            let missing = || CommandError::new(Exit::Usage, "it is not known where your own settings belong: set HOME");
            sources.user_file().ok_or_else(missing)
        }
    }
}

fn refuse_to_overwrite(path: &Path) -> Result<(), CommandError> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let text = format!("{} is there already and is left as it is: edit it, or move it away first", path.display());
    Err(CommandError::new(Exit::Usage, text))
}

fn write(path: &Path, scope: SettingsScope, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if scope == SettingsScope::User {
        // The person may later add an API key to their own settings file.
        options.mode(0o600);
        if let Some(folder) = path.parent() {
            create_data_dir(folder)?;
        }
    }
    let mut file: File = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn at(path: &Path, error: &io::Error) -> CommandError {
    CommandError::new(Exit::Usage, format!("{} can't be written: {error}", path.display()))
}
