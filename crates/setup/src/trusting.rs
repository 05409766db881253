//! Trust in a project's folder, settled before anything is read from its files (X2): taken down when the folder is first
//! used, and asked for again, with the difference, when the files say something else than they did.

use std::io;

use windlass_vocab::Attendance;

use crate::asking::{Answer, Person};
use crate::settings::{Sources, Standing};

/// The sources with the trust that the person has or now gives; without, the project may only tighten.
pub fn settle(mut sources: Sources, attendance: Attendance, person: &mut dyn Person) -> io::Result<Sources> {
    sources.note_empty();
    let Some(standing) = sources.standing() else {
        return match attendance {
            Attendance::Attended => ask_first(sources, person),
            Attendance::Unattended => Ok(sources),
        };
    };
    match (standing, attendance) {
        (Standing::AsTrusted, _) => {}
        (Standing::New, _) => {
            take_down(&mut sources, "is trusted as it is now; when it changes you are asked again", person);
        }
        (Standing::Changed, Attendance::Attended) if !sources.is_declined() => {
            match person.trusts_changed(&sources.changes())? {
                Some(Answer::Yes) => take_down(&mut sources, "is trusted as it is now", person),
                // Where it can't be taken down they are asked again.
                Some(Answer::No) => drop(sources.decline()),
                None => {}
            }
        }
        (Standing::Changed, Attendance::Attended) => {
            for changed in sources.changes() {
                let told =
                    "has changed since you trusted it, and may only tighten your settings: you said no to the change";
                sources.notice(format!("{} {told}", changed.path.display()));
            }
        }
        (Standing::Changed, Attendance::Unattended) => note_changes(&mut sources),
    }
    Ok(sources)
}

/// Says what is not as it was trusted, where nobody is asked about it now.
fn note_changes(sources: &mut Sources) {
    let told = "has changed since you trusted it, and may only tighten your settings: any windlass command at a terminal \
                shows how it has changed, and asks";
    for changed in sources.changes() {
        sources.notice(format!("{} {told}", changed.path.display()));
    }
}

/// Takes down that the project is trusted as it is. What can't be taken down can't be compared later, and is not trusted.
fn take_down(sources: &mut Sources, what: &str, person: &mut dyn Person) {
    let Some(file) = sources.project.as_ref().map(|file| file.path().display().to_string()) else { return };
    let told = match sources.keep_trust() {
        Ok(()) => format!("{file} {what}{}", unwatched(sources)),
        Err(error) => format!("{file} may only tighten your settings: that you trust it can't be taken down: {error}"),
    };
    // At once: whoever only lists sessions looks at no notices.
    person.tell(&told);
}

/// What of the project can't be watched, for people.
fn unwatched(sources: &Sources) -> String {
    let folders: Vec<_> = sources.unwatched().iter().map(|folder| folder.display().to_string()).collect();
    if folders.is_empty() {
        return String::new();
    }
    format!(" (but not {}, behind one of its servers, which holds too much to be watched)", folders.join(", "))
}

/// Asks, the first time it is seen, whether a project is trusted that would loosen something.
fn ask_first(sources: Sources, person: &mut dyn Person) -> io::Result<Sources> {
    // What is wrong with its rules is told by whoever takes them; until it is mended there is nothing to agree to.
    let Ok(loosened) = sources.needing_trust() else { return Ok(sources) };
    let Some(file) = sources.project.as_ref().map(|file| file.path().display().to_string()) else { return Ok(sources) };
    if loosened.is_empty() || sources.is_declined() {
        return Ok(sources);
    }
    match person.trusts_new(&sources, &loosened)? {
        Some(Answer::Yes) => {
            let mut trusted = sources.clone().trust_folder().or_else(|error| {
                person.tell(&format!("{file} can't be trusted: {error}"));
                Ok::<_, io::Error>(sources)
            })?;
            // What was exchanged while the question stood was not agreed to.
            if trusted.standing() == Some(Standing::Changed) {
                note_changes(&mut trusted);
            }
            Ok(trusted)
        }
        Some(Answer::No) => {
            // Where it can't be taken down they are asked again.
            let _ = sources.decline();
            Ok(sources)
        }
        None => Ok(sources),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::scripted_person::ScriptedPerson;
    use crate::settings::Flags;

    /// What counts in the project below `root`, whose person has all their own files there too.
    fn gathered(root: &Path) -> Sources {
        let folder = |name: &str| root.join(name).display().to_string();
        let env = [("HOME", folder("home")), ("XDG_CONFIG_HOME", folder("config"))].into_iter().collect();
        let flags = Flags { workspace: Some(root.join("project")), ..Flags::default() };
        Sources::gather(flags, env, root.to_owned()).expect("gathered")
    }

    // proves X2: the same at every door, whoever shows the question
    #[test]
    fn a_project_that_loosens_is_asked_about_once_and_again_when_it_changes() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        fs::create_dir(root.join("project")).expect("a folder");
        let says = |text: &str| fs::write(root.join("project/windlass.toml"), text).expect("a file");
        let settled =
            |attendance, person: &mut ScriptedPerson| settle(gathered(&root), attendance, person).expect("settled");

        says("[permissions]\nallow = ['todo']\n");
        let mut person = ScriptedPerson::saying(Answer::No);
        assert!(!settled(Attendance::Unattended, &mut person).trusts_project());
        assert!(person.asked.is_empty(), "nobody is there");
        assert!(!settled(Attendance::Attended, &mut person).trusts_project());
        assert!(!settled(Attendance::Attended, &mut person).trusts_project());
        assert_eq!(person.asked, ["new"], "a no is kept");

        says("[permissions]\nallow = ['read_file']\n");
        let mut person = ScriptedPerson::saying(Answer::Yes);
        assert!(settled(Attendance::Attended, &mut person).trusts_project());
        assert!(settled(Attendance::Attended, &mut person).trusts_project());
        assert_eq!(person.asked, ["new"], "a yes is kept");

        says("[permissions]\nmode = 'bypass'\n");
        assert!(!settled(Attendance::Unattended, &mut person).trusts_project());
        assert!(settled(Attendance::Attended, &mut person).trusts_project());
        assert_eq!(person.asked, ["new", "changed"]);
    }
}
