//! The files behind a server's command (X2). Whoever agrees to `python3 tools/server.py` agrees to what that script does,
//! so what it says is part of what they agree to; and a tool can write in the workspace.
//!
//! What is not named can't be seen: a module that a script imports, a program that a package manager finds. A file
//! outside the workspace is out of the tools' reach.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use windlass::mcp::{Reach, ServerConfig};
use windlass::store::hash_of;
use windlass::vocab::Hash;

/// A longer file is known by its size and time.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Files and what they hold.
pub(super) type Files = BTreeMap<PathBuf, Hash>;

/// Where paths of commands start from.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) cwd: &'a Path,
    pub(super) workspace: &'a Path,
}

/// The files of the workspace that the command of a server names: its program, and what of its arguments is one.
pub(super) fn named_by(config: &ServerConfig, ground: Ground<'_>) -> Files {
    let Reach::Stdio { command, args, cwd, .. } = &config.reach else { return Files::new() };
    // A bare program is looked for elsewhere.
    let program = Some(command).filter(|command| command.contains('/'));
    let words = program.into_iter().chain(args).flat_map(|word| {
        let value = word.split_once('=').map(|(_, value)| value);
        std::iter::once(word.as_str()).chain(value)
    });
    let folder = cwd.as_ref().map_or_else(|| ground.cwd.to_owned(), |cwd| ground.cwd.join(cwd));
    let folders = [folder.as_path(), ground.workspace];
    let paths = words.flat_map(|word| folders.map(|folder| folder.join(word)));
    let inside = |path: PathBuf| path.canonicalize().ok().filter(|real| real.starts_with(ground.workspace));
    paths.filter_map(inside).filter_map(|path| Some((path.clone(), content(&path)?))).collect()
}

fn content(path: &Path) -> Option<Hash> {
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    if metadata.len() > LONGEST {
        let known_by = format!("{} {} {}", metadata.len(), metadata.mtime(), metadata.mtime_nsec());
        return Some(hash_of(known_by.as_bytes()));
    }
    // What can't be read is not what was agreed to either.
    Some(hash_of(&std::fs::read(path).unwrap_or_default()))
}

/// The digest of something with these files.
pub(super) fn digest_with(digest: Hash, files: &Files) -> Hash {
    if files.is_empty() {
        return digest;
    }
    let lines = files.iter().map(|(path, hash)| format!("{hash} {}\n", path.display()));
    hash_of(std::iter::once(format!("{digest}\n")).chain(lines).collect::<String>().as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn config(command: &str, args: &[&str], cwd: Option<&Path>) -> ServerConfig {
        let entry = serde_json::json!({"s": {"command": command, "args": args, "cwd": cwd}});
        let mut entry = entry;
        if cwd.is_none() {
            entry["s"].as_object_mut().expect("an object").remove("cwd");
        }
        let servers = windlass::mcp::servers_within(&entry, windlass::mcp::Limits::default()).expect("it is sound");
        servers.into_values().next().expect("a server")
    }

    // proves X2
    #[test]
    fn the_program_and_what_of_its_arguments_is_a_file_of_the_workspace_count() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        let work = root.join("work");
        fs::create_dir_all(work.join("tools")).expect("folders");
        for file in ["work/run.sh", "work/tools/server.py", "outside.py", "work/python3"] {
            fs::write(root.join(file), file).expect("a file");
        }
        let ground = Ground { cwd: &work, workspace: &work };
        let named = |config: &ServerConfig, ground| {
            let files = named_by(config, ground).into_keys();
            files.map(|path| path.strip_prefix(&root).expect("inside").display().to_string()).collect::<Vec<_>>()
        };
        let absolute = work.join("run.sh").display().to_string();
        let outside = root.join("outside.py").display().to_string();
        let (server, run) = (vec!["work/tools/server.py"], vec!["work/run.sh"]);
        for (command, args, expected) in [
            ("python3", &["tools/server.py"][..], server.clone()),
            ("python3", &["./tools/../tools/server.py", "-v"], server.clone()),
            ("python3", &["--script=tools/server.py"], server.clone()),
            ("./run.sh", &[], run.clone()),
            (&absolute, &[], run.clone()),
            ("python3", &[&outside, "../outside.py", "tools", "-m", "no-such"], vec![]),
        ] {
            assert_eq!(named(&config(command, args, None), ground), expected, "{command} {args:?}");
        }
        let elsewhere = Ground { cwd: &root, workspace: &work };
        assert_eq!(named(&config("python3", &["tools/server.py"], None), elsewhere), server);
        assert_eq!(named(&config("python3", &["server.py"], Some(&work.join("tools"))), elsewhere), server);
        assert_eq!(named(&config("sh", &["work/run.sh"], None), elsewhere), run);
    }

    // proves X2: another script is another consent
    #[test]
    fn what_a_script_says_is_part_of_the_digest() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        let digest = || {
            digest_with(
                hash_of(b"x"),
                &named_by(&config("sh", &["s.sh"], None), Ground { cwd: &root, workspace: &root }),
            )
        };
        let absent = digest();
        assert_eq!(absent, hash_of(b"x"), "what names no file is agreed to as before");
        fs::write(root.join("s.sh"), "echo 1").expect("a file");
        let first = digest();
        fs::write(root.join("s.sh"), "echo 2").expect("a file");
        let second = digest();
        assert!(absent != first && first != second);
        fs::write(root.join("s.sh"), "echo 1").expect("a file");
        assert_eq!(digest(), first);
    }
}
