//! The same isolation by bubblewrap, for machines where only a program with its own security profile may create
//! namespaces.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use crate::places::{HIDDEN_FOLDERS, TEMP};
use crate::{Confinement, Network};

/// Returns the arguments for bubblewrap, up to the program to run, which must be visible inside.
#[must_use]
pub fn bubblewrap_arguments(confinement: &Confinement, program: &Path) -> Vec<OsString> {
    let mut arguments = BubblewrapArguments::default();
    arguments.flags(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--as-pid-1", "--die-with-parent"]);
    if confinement.network == Network::Off {
        arguments.flags(&["--unshare-net"]);
    }
    arguments.onto("--ro-bind", Path::new("/"), Path::new("/"));
    arguments.at("--dev", "/dev");
    arguments.at("--proc", "/proc");
    HIDDEN_FOLDERS.iter().for_each(|folder| arguments.at("--tmpfs", folder));
    arguments.onto("--bind", &confinement.temp, Path::new(TEMP));
    let program = [program.to_owned()];
    confinement.readable.iter().chain(&program).for_each(|path| arguments.onto("--ro-bind-try", path, path));
    confinement.writable.iter().for_each(|path| arguments.onto("--bind", path, path));
    // All folders first: a later bind mount of a folder covers earlier ones inside it.
    let mut pinned = BTreeSet::new();
    for folder in confinement.protected.iter().flat_map(|path| confinement.folders_above(path)) {
        if pinned.insert(folder) {
            arguments.onto("--bind", folder, folder);
        }
    }
    confinement.protected.iter().for_each(|path| arguments.onto("--ro-bind-try", path, path));
    for path in &confinement.unreadable {
        if path.is_dir() {
            arguments.at("--tmpfs", path);
            arguments.at("--remount-ro", path);
        } else {
            arguments.onto("--ro-bind", Path::new("/dev/null"), path);
        }
    }
    arguments.flags(&["--"]);
    arguments.0
}

#[derive(Default)]
struct BubblewrapArguments(Vec<OsString>);

impl BubblewrapArguments {
    fn flags(&mut self, flags: &[&str]) {
        self.0.extend(flags.iter().map(OsString::from));
    }

    fn at(&mut self, option: &str, path: impl AsRef<Path>) {
        self.0.extend([OsString::from(option), path.as_ref().into()]);
    }

    fn onto(&mut self, option: &str, source: &Path, target: &Path) {
        self.0.extend([OsString::from(option), source.into(), target.into()]);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    // proves X3
    #[test]
    fn what_is_protected_is_bound_after_every_folder_it_is_in() {
        let protected: Vec<PathBuf> =
            ["/w/.git/config", "/w/.git/hooks", "/w/a/.git/hooks", "/w/.envrc"].map(PathBuf::from).into();
        let writable = vec![PathBuf::from("/w")];
        let held = Confinement { writable, protected: protected.clone(), ..Confinement::default() };
        let arguments = bubblewrap_arguments(&held, Path::new("/bin/x"));
        let option_of = |path: &Path| {
            let last = arguments.iter().rposition(|argument| argument == path.as_os_str());
            last.and_then(|at| arguments.get(at - 2)).cloned()
        };
        for path in &protected {
            assert_eq!(option_of(path).as_deref(), Some("--ro-bind-try".as_ref()), "{}", path.display());
        }
        let first_protected = arguments.iter().position(|argument| argument == protected[0].as_os_str());
        let last_folder = arguments.iter().rposition(|argument| argument == "/w/a/.git");
        assert!(last_folder < first_protected && last_folder.is_some());
    }
}
