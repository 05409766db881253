//! Decides trust in a project's folder before any setting of its files is used (X2): recorded when the folder is
//! first used, and asked for again, with the difference, when the files have changed.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use windlass_vocab::Attendance;

use crate::asking::{Person, YesNo};
use crate::servers::{self, ConsentAnswer, ConsentAnswers};
use crate::settings::{ChangedFile, ServerConsent, SettingsNotice, Sources, TrustState, create_data_dir};

/// Returns the sources with the trust that the person has given before or gives now; without trust the project may
/// only tighten.
pub fn settle_trust(mut sources: Sources, attendance: Attendance, person: &mut dyn Person) -> io::Result<Sources> {
    sources.note_empty();
    match (sources.trust_state(), attendance) {
        (Some(TrustState::AsTrusted), _) | (None, Attendance::Unattended) => Ok(sources),
        (Some(TrustState::New), _) => {
            record_as_trusted(&mut sources, "is trusted as it is now; when it changes you are asked again", person);
            Ok(sources)
        }
        (None, Attendance::Attended) => {
            // An error in the settings is reported when they are resolved; until it is fixed there is nothing to
            // agree to.
            let loosens = sources.needing_trust().is_ok_and(|loosened| !loosened.is_empty());
            if loosens && !sources.is_declined() { ask_about_new(sources, person) } else { Ok(sources) }
        }
        (Some(TrustState::Changed), _) if sources.is_declined() => {
            sources.notice(SettingsNotice::ChangeDeclined);
            Ok(sources)
        }
        (Some(TrustState::Changed), Attendance::Attended) => ask_about_change(sources, person),
        (Some(TrustState::Changed), Attendance::Unattended) => {
            note_changes(&mut sources);
            Ok(sources)
        }
    }
}

/// Displays how a trusted project has changed, and asks whether it is still trusted.
pub fn ask_about_change(mut sources: Sources, person: &mut dyn Person) -> io::Result<Sources> {
    let changes = sources.changes();
    match person.trusts_changed(&changes)? {
        Some(YesNo::Yes) => record_as_trusted(&mut sources, "is trusted as it is now", person),
        Some(YesNo::No) => {
            // If recording fails, the person is asked again.
            let _ = sources.decline();
            let changed = |path: &Path| changes.iter().any(|change| change.path == path);
            refuse_servers(&sources, |consent| {
                changed(&consent.file) || consent.files.keys().any(|file| changed(file))
            });
        }
        None => {}
    }
    Ok(sources)
}

/// Records a refusal of the servers covered by the question that the person said no to: the next question would be
/// the same one.
fn refuse_servers(sources: &Sources, is_meant: impl Fn(&ServerConsent) -> bool) {
    // An error in the settings is reported when they are resolved.
    let Ok(settings) = sources.resolve() else { return };
    let mut agreements = ConsentAnswers::read(&servers::folder(&settings.place.data_dir.value));
    let asked: BTreeSet<&ServerConsent> =
        settings.servers.values().filter_map(|server| server.consent.as_ref()).collect();
    for consent in asked.into_iter().filter(|consent| is_meant(consent)) {
        if agreements.is_open(consent) && create_data_dir(&settings.place.data_dir.value).is_ok() {
            // If recording fails, the person is asked about these servers.
            let _ = agreements.record(consent, ConsentAnswer::No);
        }
    }
}

/// Adds a notice about the changes since the project was trusted, when nobody is asked about them now.
fn note_changes(sources: &mut Sources) {
    let changes = sources.changes();
    let Some(folder) = sources.project.as_ref().map(|file| file.folder().to_owned()) else { return };
    let name = |change: &ChangedFile| change.path.strip_prefix(&folder).unwrap_or(&change.path).display().to_string();
    let files = changes.iter().map(name).collect();
    sources.notice(SettingsNotice::Changed { files });
}

/// Records that the project is trusted as it is. If recording fails it is not trusted, because it can't be compared
/// later.
fn record_as_trusted(sources: &mut Sources, what: &str, person: &mut dyn Person) {
    let Some(file) = sources.project.as_ref().map(|file| file.path().display().to_string()) else { return };
    let sentence = match sources.record_trust() {
        Ok(()) => format!("{file} {what}{}", unwatched(sources)),
        Err(error) => format!("{file} may only tighten your settings: that you trust it can't be taken down: {error}"),
    };
    // Displayed at once: commands that only list sessions don't print notices.
    person.report(&sentence);
}

/// The folders of the project that can't be watched, for messages.
fn unwatched(sources: &Sources) -> String {
    let folders: Vec<_> = sources.unwatched().iter().map(|folder| folder.display().to_string()).collect();
    if folders.is_empty() {
        return String::new();
    }
    format!(" (but not {}, behind one of its servers, which holds too much to be watched)", folders.join(", "))
}

/// Asks whether the person trusts a project whose folder they have not listed.
pub fn ask_about_new(sources: Sources, person: &mut dyn Person) -> io::Result<Sources> {
    ask_about_planned(sources, person, || Ok(()))
}

/// Asks whether the person trusts a project whose settings file is not in its folder yet: `sources` hold the file as
/// planned, and `install` writes it once the person has agreed.
pub fn ask_about_planned(
    sources: Sources,
    person: &mut dyn Person,
    install: impl FnOnce() -> io::Result<()>,
) -> io::Result<Sources> {
    let Some(file) = sources.project.as_ref().map(|file| file.path().display().to_string()) else { return Ok(sources) };
    match person.trusts_new(&sources)? {
        Some(YesNo::Yes) => {
            install()?;
            let mut trusted = sources.clone().trust_folder().or_else(|error| {
                person.report(&format!("{file} can't be trusted: {error}"));
                Ok::<_, io::Error>(sources)
            })?;
            // A file that was replaced while the question was open was not agreed to.
            if trusted.trust_state() == Some(TrustState::Changed) {
                note_changes(&mut trusted);
            }
            Ok(trusted)
        }
        Some(YesNo::No) => {
            // If recording fails, the person is asked again.
            let _ = sources.decline();
            refuse_servers(&sources, |_| true);
            Ok(sources)
        }
        None => Ok(sources),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::scripted_person::ScriptedPerson;
    use crate::settings::Flags;

    /// Gathers the sources of the project below `root`; the person's own files are below it too.
    fn gathered(root: &Path) -> Sources {
        let folder = |name: &str| root.join(name).display().to_string();
        let env = [("HOME", folder("home")), ("XDG_CONFIG_HOME", folder("config"))].into_iter().collect();
        let flags = Flags { workspace: Some(root.join("project")), ..Flags::default() };
        Sources::gather(flags, env, root.to_owned()).expect("gathered")
    }

    // proves X2: the question is the same at every door
    #[test]
    fn a_project_that_loosens_is_asked_about_once_and_again_when_it_changes() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        fs::create_dir(root.join("project")).expect("a folder");
        let says = |text: &str| fs::write(root.join("project/windlass.toml"), text).expect("a file");
        let settled = |attendance, person: &mut ScriptedPerson| {
            settle_trust(gathered(&root), attendance, person).expect("settled")
        };

        says("[permissions]\nallow = ['todo']\n");
        let mut person = ScriptedPerson::saying(YesNo::No);
        assert!(!settled(Attendance::Unattended, &mut person).trusts_project());
        assert!(person.asked.is_empty(), "nobody is there");
        assert!(!settled(Attendance::Attended, &mut person).trusts_project());
        assert!(!settled(Attendance::Attended, &mut person).trusts_project());
        assert_eq!(person.asked, ["new"], "a no is kept");

        says("[permissions]\nallow = ['read_file']\n");
        let mut person = ScriptedPerson::saying(YesNo::Yes);
        assert!(settled(Attendance::Attended, &mut person).trusts_project());
        assert!(settled(Attendance::Attended, &mut person).trusts_project());
        assert_eq!(person.asked, ["new"], "a yes is kept");

        says("[permissions]\nmode = 'bypass'\n");
        assert!(!settled(Attendance::Unattended, &mut person).trusts_project());
        assert!(settled(Attendance::Attended, &mut person).trusts_project());
        assert_eq!(person.asked, ["new", "changed"]);
    }
}
