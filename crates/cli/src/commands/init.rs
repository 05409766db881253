//! `windlass init`: writes a windlass.toml by a few questions. Never over one that is there.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windlass_setup::models::{self, Choice, Otherwise, Wish};
use windlass_setup::settings::{Env, Flags, SettingsFile, Sources, Whose, create_data_dir};
use windlass_setup::test_hooks;

use super::block_on::block_on;
use super::job;
use crate::args::InitArgs;
use crate::error::{CommandError, Done};
use crate::exit::Exit;
use crate::init::{Draft, Person, ask};
use crate::streams::{print, tell};

pub(super) fn init(data_dir: Option<PathBuf>, args: &InitArgs, env: Env) -> Done {
    let flags = Flags {
        data_dir,
        model: args.model.clone(),
        base_url: args.base_url.clone(),
        preset: args.preset.clone(),
        ..Flags::default()
    };
    let sources = job::gather(flags, env)?;
    let whose = if args.user { Whose::User } else { Whose::Project };
    refuse_to_overwrite(&path_of(whose, &sources)?)?;
    if !args.yes && !io::stdin().is_terminal() {
        return Err(CommandError::new(Exit::Usage, "nobody is there to ask: give --yes to take what is found"));
    }
    block_on(async {
        let mut draft = found(&sources, whose).await?;
        if !args.yes {
            let mut person = Person { keyboard: io::stdin().lock(), screen: io::stderr() };
            let user_file = sources.user_file().map(|path| path.display().to_string());
            let asked = ask(&draft, user_file.as_deref(), &mut person);
            draft = asked.map_err(|error| unanswered(&error))?;
        }
        let path = path_of(draft.whose, &sources)?;
        refuse_to_overwrite(&path)?;
        let text = draft.render();
        SettingsFile::parse(&path, draft.whose, &text)?;
        write(&path, draft.whose, &text).map_err(|error| at(&path, &error))?;
        print(&format!("{}\n", path.display()))?;
        tell("written; `windlass doctor` checks it");
        Ok(Exit::Done)
    })
}

fn unanswered(error: &io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => CommandError::new(Exit::Cancelled, "left; nothing is written"),
        _ => CommandError::new(Exit::Usage, format!("no answer: {error}")),
    }
}

/// What is configured already or runs here.
async fn found(sources: &Sources, whose: Whose) -> Result<Draft, CommandError> {
    let settings = sources.resolve()?;
    let chosen = models::choose(&settings, Wish::new(None, Otherwise::Demo), &test_hooks::local_servers()).await;
    let (endpoint, model) = match chosen.map(|chosen| chosen.choice) {
        Ok(Choice::Server { endpoint, model }) => (Some(endpoint), Some(model.value.0)),
        Ok(Choice::Demo) => (None, None),
        // Something is named that does not answer yet; it is written down all the same.
        Err(_) => (settings.endpoint.clone(), settings.model.clone().map(|model| model.value.0)),
    };
    let server =
        endpoint.map(|endpoint| endpoint.base_url.value).filter(|address| address != windlass_setup::settings::OPENAI);
    Ok(Draft { whose, server, model, preset: settings.policy.preset, commands: Vec::new() })
}

fn path_of(whose: Whose, sources: &Sources) -> Result<PathBuf, CommandError> {
    match whose {
        Whose::Project => Ok(sources.workspace.join(windlass_setup::settings::FILE_NAME)),
        Whose::User => {
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

fn write(path: &Path, whose: Whose, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if whose == Whose::User {
        // A key may be added to one's own file later.
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
