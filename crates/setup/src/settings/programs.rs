//! Finds the files behind a server's command (X2). A person who agrees to `python3 tools/server.py` agrees to what
//! that script does, so its content is part of the consent; a tool could otherwise change it in the workspace.
//!
//! A word of the command (see `command_words`) counts if it names, relative to the server's working folder or to the
//! workspace,
//!
//! - a file, also without a script's extension;
//! - a folder or a Python module: with every file in it, up to a limit beyond which the person is told that it is not
//!   watched; in the workspace itself, which is what many servers work *on*, only the files that start a program;
//! - a file that tells a program what to run, and the files that it names in turn.
//!
//! Files that are not named can't be found: imports of these files, or a program that a package manager finds. Tools
//! can't write to a file outside the project. They can write to one outside the workspace but inside its project,
//! when another run has the whole project as its workspace. A symlink in the project that points outside counts by
//! its target.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use windlass_mcp::{ServerConfig, ServerTransport};
use windlass_sandbox::{read_plain, read_plain_text};
use windlass_store::hash_of;
use windlass_vocab::Hash;

use super::command_words::{CommandLine, module_parts, words_within};

/// A larger file is identified by its size, times and inode number.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Hashed in place of the content of a file that can't be read.
const UNREADABLE: &[u8] = b"\0this file could not be read\0";

/// Limits on the number and total size of the files of a folder.
const MOST_FILES: usize = 1000;
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// A larger file is not parsed for names of other files.
const LONGEST_ORDERS: u64 = 256 * 1024;

/// Folders that programs generate themselves; they are skipped.
const PASSED_OVER: &[&str] = &[".git", ".hg", ".venv", "__pycache__", "node_modules"];

/// The files that `node .` and `python3 .` run.
const STARTED_BY: &[&str] = &["index.js", "index.cjs", "index.mjs", "__init__.py", "__main__.py"];

/// Extensions that may be omitted from a script's name.
const ENDINGS: &[&str] = &["py", "js", "cjs", "mjs", "ts"];

/// Files and the hashes of their contents.
type FileHashes = BTreeMap<PathBuf, Hash>;

/// The files and folders behind a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandFiles {
    /// The watched files.
    pub(super) files: FileHashes,
    /// Folders with too many files to watch.
    pub(super) unwatched: BTreeSet<PathBuf>,
}

impl CommandFiles {
    /// Merges the files of several commands.
    pub(super) fn all(several: impl Iterator<Item = Self>) -> Self {
        several.fold(Self::default(), |mut all, one| {
            all.files.extend(one.files);
            all.unwatched.extend(one.unwatched);
            all
        })
    }

    /// Combines a digest with these files.
    pub(super) fn digest_with(&self, digest: Hash) -> Hash {
        if *self == Self::default() {
            return digest;
        }
        let bytes = |path: &PathBuf| path.as_os_str().as_encoded_bytes().to_vec();
        let count = |number: usize| number.to_string().into_bytes();
        let mut fields = vec![digest.to_string().into_bytes(), count(self.files.len())];
        fields.extend(self.files.iter().flat_map(|(path, hash)| [bytes(path), hash.to_string().into_bytes()]));
        fields.extend(std::iter::once(count(self.unwatched.len())).chain(self.unwatched.iter().map(bytes)));
        hash_of(&encoded(&fields))
    }
}

/// Prefixes each field with its length: a name may contain any character, and no two lists may have the same
/// encoding.
fn encoded(fields: &[Vec<u8>]) -> Vec<u8> {
    fields.iter().flat_map(|field| [format!("{}:", field.len()).as_bytes(), field].concat()).collect()
}

/// The folders that relative paths of commands start from.
#[derive(Clone, Copy)]
pub(super) struct CommandFolders<'a> {
    pub(super) cwd: &'a Path,
    pub(super) workspace: &'a Path,
}

/// Returns the files of the project behind a server's command.
pub(super) fn command_files(config: &ServerConfig, folders: CommandFolders<'_>) -> CommandFiles {
    let ServerTransport::Stdio { command, args, env, cwd } = &config.reach else { return CommandFiles::default() };
    let line = CommandLine { program: command, arguments: args, variables: env };
    let folder = cwd.as_ref().map_or_else(|| folders.cwd.to_owned(), |cwd| folders.cwd.join(cwd));
    let project = project_around(folders.workspace);
    let mut search = CommandFileSearch { workspace: folders.workspace, project, found: CommandFiles::default() };
    let words = line.words();
    for folder in [folder.as_path(), folders.workspace] {
        words.iter().for_each(|word| search.add_named(folder, word));
        line.orders().into_iter().for_each(|file| search.add_orders(&folder.join(file)));
    }
    search.found
}

/// Returns the project that contains the workspace: the repository, or the folder whose files name the servers.
fn project_around(workspace: &Path) -> &Path {
    let nearest = |names: &[&str]| {
        workspace.ancestors().find(|folder| names.iter().any(|name| folder.join(name).symlink_metadata().is_ok()))
    };
    nearest(&[".git"]).or_else(|| nearest(&[".mcp.json", "windlass.toml"])).unwrap_or(workspace)
}

/// The files found so far.
struct CommandFileSearch<'a> {
    workspace: &'a Path,
    project: &'a Path,
    found: CommandFiles,
}

impl CommandFileSearch<'_> {
    /// Adds everything that `word` names in `folder`.
    fn add_named(&mut self, folder: &Path, word: &str) {
        self.add(&folder.join(word));
        if !word.ends_with(['/', '.']) {
            ENDINGS.iter().for_each(|ending| self.add(&folder.join(format!("{word}.{ending}"))));
        }
        self.add_module(folder, word);
    }

    /// Adds a Python module if it exists, with the whole package around it: Python also runs the parent packages.
    fn add_module(&mut self, folder: &Path, word: &str) {
        let Some(parts) = module_parts(word) else { return };
        for root in [folder.to_owned(), folder.join("src")] {
            let module: PathBuf = root.join(parts.join("/"));
            if module.is_dir() || module.with_extension("py").is_file() {
                self.add(&root.join(parts[0]));
                self.add(&root.join(format!("{}.py", parts[0])));
            }
        }
    }

    /// Adds a file that tells a program what to run, and the files it names.
    fn add_orders(&mut self, path: &Path) {
        self.add(path);
        let text = read_plain_text(path, LONGEST_ORDERS).unwrap_or_default();
        let folder = path.parent().unwrap_or(self.workspace);
        for line in text.lines() {
            for word in words_within(line).iter().filter(|word| folder.join(word).is_file()) {
                self.add(&folder.join(word));
            }
            // An entry point: `"package.module:function"`.
            let entries = line.split(['"', '\'']).filter_map(|text| Some(text.split_once(':')?.0));
            entries.filter(|_| path.ends_with("pyproject.toml")).for_each(|module| self.add_module(folder, module));
        }
    }

    /// Adds the file or folder at `path`, if it is part of the project.
    fn add(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        if !real.starts_with(self.project) {
            self.found.files.extend(links_outside(path, self.project));
        } else if real == self.workspace || real == self.project {
            STARTED_BY
                .iter()
                .map(|name| real.join(name))
                .filter(|file| file.is_file())
                .for_each(|file| self.add(&file));
            self.add_orders(&real.join("package.json"));
        } else if real.is_dir() {
            match all_within(&real, self.project) {
                Some(files) => self.found.files.extend(files),
                None => drop(self.found.unwatched.insert(real)),
            }
        } else {
            self.found.files.extend(content(&real).map(|hash| (real, hash)));
        }
    }
}

/// Returns the symlinks in the project along `path`, which is outside the project, each with its target.
fn links_outside(path: &Path, project: &Path) -> FileHashes {
    let link = |path: &Path| {
        let place = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
        let is_link = place.starts_with(project) && place.is_symlink();
        let real = path.canonicalize().ok().filter(|_| is_link)?;
        Some((place, hash_of(real.as_os_str().as_encoded_bytes())))
    };
    path.ancestors().filter_map(link).collect()
}

/// Returns every file below a folder; `None` if there are too many or they are too large.
fn all_within(folder: &Path, project: &Path) -> Option<FileHashes> {
    let (mut files, mut bytes, mut seen) = (FileHashes::new(), 0, BTreeSet::new());
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if !seen.insert(folder.clone()) {
            continue;
        }
        for entry in std::fs::read_dir(&folder).ok().into_iter().flatten().flatten() {
            if PASSED_OVER.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            // A symlink inside the project counts as its target.
            let Ok(real) = entry.path().canonicalize() else { continue };
            if !real.starts_with(project) {
                files.extend(links_outside(&entry.path(), project));
            } else if real.is_dir() {
                folders.push(real);
            } else if let Some(hash) = content(&real) {
                bytes += real.metadata().map_or(0, |metadata| metadata.len());
                files.insert(real, hash);
            }
            if bytes > MOST_BYTES || files.len() > MOST_FILES || seen.len() + folders.len() > MOST_FILES {
                return None;
            }
        }
    }
    Some(files)
}

fn content(path: &Path) -> Option<Hash> {
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    if metadata.len() > LONGEST {
        // A writer of the file can set its modification time, but not its inode change time.
        let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
        let known_by = format!("{} {} {} {times:?}", metadata.len(), metadata.dev(), metadata.ino());
        return Some(hash_of(known_by.as_bytes()));
    }
    // An unreadable file must match no approved content, an empty file's included.
    Some(read_plain(path, LONGEST).map_or_else(|_| hash_of(UNREADABLE), |bytes| hash_of(&bytes)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn config(command: &str, args: &[&str]) -> ServerConfig {
        config_with(command, args, serde_json::json!({}))
    }

    /// A configuration with further fields besides the command.
    fn config_with(command: &str, args: &[&str], mut entry: serde_json::Value) -> ServerConfig {
        entry["command"] = serde_json::json!(command);
        entry["args"] = serde_json::json!(args);
        let entries = serde_json::json!({ "s": entry });
        let servers =
            windlass_mcp::servers_within(&entries, windlass_mcp::ServerLimits::default()).expect("it is sound");
        servers.into_values().next().expect("a server")
    }

    /// Creates a folder with these files, each containing its own name or the text after `=`.
    fn folder(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        for file in files {
            let (name, text) = file.split_once('=').unwrap_or((file, file));
            fs::create_dir_all(root.join(name).parent().expect("a folder")).expect("folders");
            fs::write(root.join(name), text).expect("a file");
        }
        (dir, root)
    }

    fn named(config: &ServerConfig, root: &Path, folders: CommandFolders<'_>) -> Vec<String> {
        let files = command_files(config, folders).files.into_keys();
        files.map(|path| path.strip_prefix(root).expect("inside").display().to_string()).collect()
    }

    // proves X2
    #[test]
    fn the_program_and_what_of_its_arguments_is_a_file_of_the_workspace_count() {
        let (_dir, root) = folder(&["work/run.sh", "work/tools/server.py", "outside.py", "work/python3"]);
        let work = root.join("work");
        let folders = CommandFolders { cwd: &work, workspace: &work };
        let absolute = work.join("run.sh").display().to_string();
        let outside = root.join("outside.py").display().to_string();
        let (server, run) = (vec!["work/tools/server.py"], vec!["work/run.sh"]);
        for (command, args, expected) in [
            ("python3", &["tools/server.py"][..], server.clone()),
            ("python3", &["./tools/../tools/server.py", "-v"], server.clone()),
            ("python3", &["--script=tools/server.py"], server.clone()),
            ("python3", &["${PWD}/tools/server.py"], server.clone()),
            ("./run.sh", &[], run.clone()),
            (&absolute, &[], run.clone()),
            ("python3", &[&outside, "../outside.py", "-m", "no-such"], vec![]),
        ] {
            assert_eq!(named(&config(command, args), &root, folders), expected, "{command} {args:?}");
        }
        let elsewhere = CommandFolders { cwd: &root, workspace: &work };
        assert_eq!(named(&config("python3", &["tools/server.py"]), &root, elsewhere), server);
        let inside = config_with("python3", &["server.py"], serde_json::json!({"cwd": work.join("tools")}));
        assert_eq!(named(&inside, &root, elsewhere), server);
        assert_eq!(named(&config("sh", &["work/run.sh"]), &root, elsewhere), run);
    }

    // proves X2: files are found however a command names what it runs
    #[test]
    fn modules_folders_lines_and_what_gives_orders_count() {
        let package = r#"package.json={"main": "lib/main.js", "scripts": {"x": "node web.js"}, "files": ["docs"]}"#;
        let project = "pyproject.toml=[project.scripts]\nserve = \"pkg.cli:main\"\n";
        let (_dir, root) = folder(&[
            "mod.py",
            "app/__init__.py",
            "app/sub/__main__.py",
            "app/__pycache__/a.pyc",
            "src/pkg/cli.py",
            "src/pkg/deep/x.py",
            "x/run.sh",
            "lib/main.js",
            "web.js",
            "docs/a.md",
            "index.js",
            "Makefile=all:\n\t./x/run.sh\n",
            package,
            project,
        ]);
        let folders = CommandFolders { cwd: &root, workspace: &root };
        let app = ["app/__init__.py", "app/sub/__main__.py"];
        let npm = ["lib/main.js", "package.json", "web.js"];
        for (command, args, expected) in [
            ("python3", &["-m", "mod"][..], &["mod.py"][..]),
            ("python3", &["-mmod"], &["mod.py"]),
            ("python3", &["-m", "app.sub"], &app),
            ("python3", &["app/"], &app),
            ("python3", &["app"], &app),
            ("python3", &["-m", "app.none"], &[]),
            ("uvicorn", &["mod:server"], &["mod.py"]),
            ("node", &["web"], &["web.js"]),
            ("node", &["."], &["index.js", "lib/main.js", "package.json", "web.js"]),
            ("sh", &["-c", "cd x && ./run.sh"], &["x/run.sh"]),
            ("sh", &["-c", "exec ./x/run.sh --fast"], &["x/run.sh"]),
            ("npm", &["run", "start"], &npm),
            ("sh", &["-c", "npm start"], &npm),
            ("make", &["-s"], &["Makefile", "x/run.sh"]),
            ("uv", &["run", "serve"], &["pyproject.toml", "src/pkg/cli.py", "src/pkg/deep/x.py"]),
        ] {
            assert_eq!(named(&config(command, args), &root, folders), expected, "{command} {args:?}");
        }
        let loading = config_with("python3", &[], serde_json::json!({"env": {"PYTHONPATH": "lib:/usr/lib", "X": "x"}}));
        assert_eq!(named(&loading, &root, folders), ["lib/main.js"]);
    }

    // proves X2: a folder that is not watched is reported as such
    #[test]
    fn a_folder_with_too_much_in_it_is_told_and_not_watched() {
        let (_dir, root) = folder(&["big/a.py"]);
        let command_files =
            || command_files(&config("python3", &["big"]), CommandFolders { cwd: &root, workspace: &root });
        assert_eq!((command_files().files.len(), command_files().unwatched.len()), (1, 0));
        (0..MOST_FILES).for_each(|number| fs::write(root.join(format!("big/{number}")), "").expect("a file"));
        assert_eq!((command_files().files.len(), command_files().unwatched), (0, BTreeSet::from([root.join("big")])));
    }

    // proves X2: a changed script needs new consent
    #[test]
    fn what_a_script_says_is_part_of_the_digest() {
        let (_dir, root) = folder(&[]);
        let folders = CommandFolders { cwd: &root, workspace: &root };
        let digest = || command_files(&config("sh", &["s.sh"]), folders).digest_with(hash_of(b"x"));
        let absent = digest();
        assert_eq!(absent, hash_of(b"x"), "what names no file is agreed to as before");
        fs::write(root.join("s.sh"), "echo 1").expect("a file");
        let first = digest();
        fs::write(root.join("s.sh"), "echo 2").expect("a file");
        let second = digest();
        assert!(absent != first && first != second);
        fs::write(root.join("s.sh"), "echo 1").expect("a file");
        assert_eq!(digest(), first);
        fs::remove_file(root.join("s.sh")).expect("removed");
        std::os::unix::fs::symlink("/bin/true", root.join("s.sh")).expect("a link");
        assert!(digest() != first && digest() != absent, "a link out of the workspace is another script");
    }

    // proves X2: a script that can't be read is not taken for an empty one, nor for any that was agreed to
    #[cfg(target_os = "linux")]
    #[test]
    fn an_unreadable_script_matches_no_content() {
        // A regular file that nobody can read from its beginning, whatever their rights.
        let unreadable = Path::new("/proc/self/mem");
        assert!(unreadable.is_file() && fs::read(unreadable).is_err());
        assert_eq!(content(unreadable), Some(hash_of(UNREADABLE)));
        assert_ne!(hash_of(UNREADABLE), hash_of(b""));
    }

    // proves X2: consent given in a subfolder covers the project's files outside it too
    #[test]
    fn a_script_of_the_project_beside_the_workspace_counts() {
        for mark in [".git/HEAD", ".mcp.json"] {
            let (_dir, root) = folder(&["repo/tools/s.py", "repo/sub/x", "other/s.py", &format!("repo/{mark}")]);
            let (repo, sub) = (root.join("repo"), root.join("repo/sub"));
            let folders = CommandFolders { cwd: &sub, workspace: &sub };
            let server = config("python3", &["../tools/s.py", "../../other/s.py"]);
            assert_eq!(named(&server, &root, folders), ["repo/tools/s.py"], "{mark}");
            let digest = || command_files(&server, folders).digest_with(hash_of(b"x"));
            let before = digest();
            fs::write(repo.join("tools/s.py"), "another").expect("a file");
            assert_ne!(digest(), before);
        }
    }

    // proves X2: a symlinked folder is watched for a changed target, too
    #[test]
    fn a_link_on_the_way_to_a_script_outside_counts_by_where_it_leads() {
        let (_dir, root) = folder(&["work/x", "out1/deep/s.py", "out2/deep/s.py"]);
        let work = root.join("work");
        let files = || {
            command_files(&config("python3", &["tools/deep/s.py"]), CommandFolders { cwd: &work, workspace: &work })
                .files
        };
        let link = work.join("tools");
        std::os::unix::fs::symlink(root.join("out1"), &link).expect("a link");
        let before = files();
        assert_eq!(before.keys().collect::<Vec<_>>(), [&link]);
        fs::remove_file(&link).expect("removed");
        std::os::unix::fs::symlink(root.join("out2"), &link).expect("a link");
        assert_ne!(files(), before);
    }

    // proves X2: no two lists of files have one digest, and nobody can reset the inode change time
    #[test]
    fn names_with_any_signs_and_long_files_are_told_apart() {
        let file = |name: &str| (PathBuf::from(name), hash_of(name.as_bytes()));
        let digest = |files: &[(PathBuf, Hash)]| {
            let files = files.iter().cloned().collect();
            CommandFiles { files, unwatched: BTreeSet::new() }.digest_with(hash_of(b"x"))
        };
        let (one, other) = (file("a"), file("b"));
        let joined = PathBuf::from(format!("a\n{} b", other.1));
        assert_ne!(digest(&[one.clone(), other]), digest(&[(joined, one.1)]));

        let (_dir, root) = folder(&["long.py"]);
        let long = fs::File::options().write(true).open(root.join("long.py")).expect("a file");
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        long.set_len(LONGEST + 1).expect("longer");
        long.set_modified(then).expect("a time");
        let known = || content(&root.join("long.py"));
        let before = known();
        assert_eq!(known(), before);
        let changed = || long.metadata().map(|metadata| (metadata.ctime(), metadata.ctime_nsec())).expect("its times");
        let first = changed();
        // A file system's clock may tick only every few milliseconds.
        while changed() == first {
            std::os::unix::fs::FileExt::write_at(&long, b"y", 0).expect("written");
            long.set_modified(then).expect("a time");
        }
        assert_ne!(known(), before);
    }

    // proves X2: a symlink that points out of the workspace is watched wherever it is
    #[test]
    fn a_link_in_a_watched_folder_that_comes_to_lead_elsewhere_is_a_change() {
        let (_dir, root) = folder(&["app/__main__.py"]);
        let link = root.join("app/helper");
        let files =
            || command_files(&config("python3", &["app"]), CommandFolders { cwd: &root, workspace: &root }).files;
        let mut seen = BTreeSet::from([format!("{:?}", files())]);
        for outside in ["/bin/true", "/bin/false", "/usr"] {
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(outside, &link).expect("a link");
            assert!(files().contains_key(&link) && seen.insert(format!("{:?}", files())), "{outside}");
        }
    }
}
