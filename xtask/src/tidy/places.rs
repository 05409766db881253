//! No file contains paths of the machine it was written on: no home folders, no private registries. (The
//! places are written in halves here, so that this file does not find itself.)

use super::problem::{Problem, numbered};
use crate::tree::Tree;

const FOLDERS: &[&str] = &[concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];
/// User names whose home folders tests may use.
const NOBODIES: &[&str] = &["me", "ada"];

const HOSTS: &[&str] = &[concat!("arti", "factory"), concat!("jf", "rog"), concat!("ne", "xus.")];

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let places = |(path, text)| {
        numbered(text).filter_map(move |(line, text)| {
            Some(Problem::at(path, line, format!("`{}` is a place of one machine", place(text)?)))
        })
    };
    tree.files().filter(|(path, _)| *path != "Cargo.lock").flat_map(places).collect()
}

fn place(line: &str) -> Option<&'static str> {
    let host = HOSTS.iter().find(|host| line.contains(**host));
    // A folder counts only at the start of a path: `src/home/x` is no home folder.
    let folder = FOLDERS.iter().find(|folder| {
        line.match_indices(**folder).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + folder.len()..]);
            let owner = after.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            !before.ends_with(|c: char| c.is_alphanumeric() || "_-.~}>)".contains(c)) && !NOBODIES.contains(&owner)
        })
    });
    host.or(folder).copied()
}

#[cfg(test)]
mod tests {
    use super::{FOLDERS, HOSTS, place};

    #[test]
    fn every_place_is_found() {
        for folder in FOLDERS {
            assert!(place(&format!("open(\"{folder}anna/x\")")).is_some(), "{folder}");
            assert!(place(&format!("{folder}x")).is_some(), "{folder}");
        }
        for host in HOSTS {
            assert!(place(&format!("https://{host}example.org/")).is_some(), "{host}");
        }
    }

    #[test]
    fn a_relative_path_and_a_made_up_home_are_no_places() {
        for folder in FOLDERS {
            assert_eq!(place(&format!("crates{folder}x.rs")), None, "{folder}");
            assert_eq!(place(&format!("\"{folder}me\"")), None, "{folder}");
        }
    }
}
