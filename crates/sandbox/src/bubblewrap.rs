//! The same walls made by bubblewrap, for machines where only a program with a profile of its own may make
//! namespaces.

use std::ffi::OsString;
use std::path::Path;

use crate::places::{HIDDEN, TEMP};
use crate::{Confinement, Network};

/// What bubblewrap is started with, up to the program, which must be seen inside.
#[must_use]
pub fn bubblewrap_arguments(confinement: &Confinement, program: &Path) -> Vec<OsString> {
    let mut arguments = Arguments::default();
    arguments.flags(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--as-pid-1", "--die-with-parent"]);
    if confinement.network == Network::Off {
        arguments.flags(&["--unshare-net"]);
    }
    arguments.onto("--ro-bind", Path::new("/"), Path::new("/"));
    arguments.at("--dev", "/dev");
    arguments.at("--proc", "/proc");
    HIDDEN.iter().for_each(|folder| arguments.at("--tmpfs", folder));
    arguments.onto("--bind", &confinement.temp, Path::new(TEMP));
    let program = [program.to_owned()];
    confinement.readable.iter().chain(&program).for_each(|path| arguments.onto("--ro-bind-try", path, path));
    confinement.writable.iter().for_each(|path| arguments.onto("--bind", path, path));
    for path in &confinement.protected {
        let root = confinement.writable.iter().find(|folder| path.starts_with(folder));
        let parents = path.ancestors().skip(1).take_while(|parent| Some(*parent) != root.map(AsRef::as_ref));
        let parents: Vec<&Path> = if root.is_some() { parents.collect() } else { Vec::new() };
        parents.iter().rev().for_each(|parent| arguments.onto("--bind", parent, parent));
        arguments.onto("--ro-bind-try", path, path);
    }
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
struct Arguments(Vec<OsString>);

impl Arguments {
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
