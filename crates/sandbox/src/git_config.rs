//! Finds the paths outside a repository folder that its settings make git obey: the hooks folder (`core.hooksPath`) and
//! included settings files. It does not run git, because a repository's settings may make git run other programs.

use std::iter::Peekable;
use std::path::{Component, Path, PathBuf};
use std::str::Chars;

use crate::plain_file::{read_plain, read_plain_text};

/// Longer settings files are ignored: no real one is this long.
const MOST_BYTES: u64 = 1 << 20;

/// How many files are read for one repository, including included files.
const MOST_FILES: usize = 20;

/// The names of hooks that git runs.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// How many included files are reported; those beyond this number are not closed.
const MOST_INCLUDED: usize = 1_000;

/// The paths that a repository's settings make git obey besides those in its own folder. Absolute paths, existing or
/// not, with symlinks unresolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitSettings {
    /// The folders that `core.hooksPath` names. If such a folder contains the worktree itself, each hook is listed
    /// instead.
    pub hooks: Vec<PathBuf>,
    /// Included settings files. The condition of an `includeIf` is not evaluated.
    pub included: Vec<PathBuf>,
}

impl GitSettings {
    /// Reads the settings of the repository at `git`, which is the `.git` of a worktree (a folder, a symlink, or a file
    /// that points to the folder) or a bare repository. Includes the personal settings in the home folder `home`.
    #[must_use]
    pub fn of(git: &Path, home: Option<&Path>) -> Self {
        let Some(worktree) = git.parent() else { return Self::default() };
        let homes: Vec<&Path> = home.map_or_else(|| worktree.ancestors().collect(), |home| vec![home]);
        let own = git_folders(git).into_iter().flat_map(|folder| settings_files(&folder));
        let mut files: Vec<PathBuf> = own.chain(home.into_iter().flat_map(personal_files)).collect();
        let (mut found, mut read) = (Self::default(), 0);
        // Included files are read after the others; which value takes precedence in git does not matter here.
        while let Some(file) = files.get(read).cloned() {
            read += 1;
            let text = read_plain(&file, MOST_BYTES).unwrap_or_default();
            for Setting { name, value } in settings(&String::from_utf8_lossy(&text)) {
                match name.as_str() {
                    "core.hookspath" => found.hooks.extend(hooks_in(&value, worktree, git, &homes)),
                    "include.path" | "includeif.path" if found.included.len() < MOST_INCLUDED => {
                        let included = included(&value, &file, &homes);
                        let new = included.iter().filter(|path| !files.contains(path)).cloned().collect::<Vec<_>>();
                        files.extend(new.into_iter().take(MOST_FILES.saturating_sub(files.len())));
                        found.included.extend(included);
                    }
                    _ => {}
                }
            }
        }
        for paths in [&mut found.hooks, &mut found.included] {
            paths.sort();
            paths.dedup();
        }
        found
    }
}

/// Returns the settings files for all repositories of a person, including the system-wide one.
fn personal_files(home: &Path) -> Vec<PathBuf> {
    let set = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folders = [home.join(".config")].into_iter().chain(set);
    let files = folders.map(|folder| folder.join("git/config"));
    [PathBuf::from("/etc/gitconfig"), home.join(".gitconfig")].into_iter().chain(files).collect()
}

/// Returns the files that a value of `include.path` in `file` may mean.
fn included(value: &str, file: &Path, homes: &[&Path]) -> Vec<PathBuf> {
    match (value.strip_prefix("~/"), file.parent()) {
        (Some(rest), _) => homes.iter().map(|home| home.join(rest)).collect(),
        (None, Some(folder)) if !value.is_empty() => vec![folder.join(value)],
        (None, Some(_) | None) => Vec::new(),
    }
}

/// Returns the settings files of a repository, without included ones.
fn settings_files(folder: &Path) -> [PathBuf; 2] {
    ["config", "config.worktree"].map(|name| folder.join(name))
}

/// Returns the folder that `git` is or points to, and the common folder for settings and hooks.
#[must_use]
pub fn git_folders(git: &Path) -> Vec<PathBuf> {
    let text = |path: &Path| read_plain_text(path, MOST_BYTES).ok();
    let own = match (git.is_dir(), git.parent()) {
        (true, _) => Some(git.to_owned()),
        (false, Some(worktree)) => text(git).and_then(|said| Some(worktree.join(said.strip_prefix("gitdir:")?.trim()))),
        (false, None) => None,
    };
    let Some(own) = own else { return Vec::new() };
    let common = text(&own.join("commondir")).map(|said| own.join(said.trim()));
    [own].into_iter().chain(common).collect()
}

/// Returns the folders that a value of `core.hooksPath` may mean. A relative one starts where hooks run: the worktree,
/// or the folder of a bare repository.
fn hooks_in(value: &str, worktree: &Path, git: &Path, homes: &[&Path]) -> Vec<PathBuf> {
    if value.is_empty() {
        return Vec::new();
    }
    let folders: Vec<PathBuf> = match value.strip_prefix("~/") {
        Some(rest) => homes.iter().map(|home| flat(&home.join(rest))).collect(),
        None if git.ends_with(".git") => vec![flat(&worktree.join(value))],
        None => [worktree, git].iter().map(|from| flat(&from.join(value))).collect(),
    };
    let is_around = |folder: &Path| worktree.starts_with(folder);
    let hooks = |folder: PathBuf| match is_around(&folder) {
        true => HOOKS.iter().map(|hook| folder.join(hook)).collect(),
        false => vec![folder],
    };
    folders.into_iter().flat_map(hooks).collect()
}

/// Simplifies `/a/./b/../c` to `/a/c` lexically.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(flat.pop()),
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => flat.push(part),
        }
    }
    flat
}

/// A setting with its name in lower case, without the quoted subsection: `remote.url` of `[remote "origin"]`.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    name: String,
    value: String,
}

/// Parses a settings file. Skips an invalid line, though git would reject the file.
fn settings(text: &str) -> Vec<Setting> {
    let (mut found, mut section) = (Vec::new(), String::new());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(next) = chars.peek().copied() {
        match next {
            '[' => section = header(&mut chars),
            '#' | ';' => drop(chars.by_ref().find(|c| *c == '\n')),
            c if c.is_alphabetic() => {
                let key = word(&mut chars);
                let value = value(&mut chars);
                found.push(Setting { name: format!("{section}.{key}"), value });
            }
            _ => drop(chars.next()),
        }
    }
    found
}

/// Parses the name of a section and drops the quoted subsection, which may contain any characters. The older form
/// `[section.sub]` means the same.
fn header(chars: &mut Peekable<Chars<'_>>) -> String {
    chars.next();
    let name = word(chars);
    let mut is_quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => break,
            '\n' => break,
            _ => {}
        }
    }
    name
}

/// Parses a name, in lower case.
fn word(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut name = String::new();
    while chars.peek().is_some_and(char::is_ascii_whitespace) {
        chars.next();
    }
    while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '-') {
        name.extend(c.to_lowercase());
    }
    name
}

/// Parses the value after `=`, up to the end of the line or a comment; empty for a name alone.
fn value(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut value = String::new();
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    if chars.next_if_eq(&'=').is_none() {
        return value;
    }
    // Trailing blanks are not part of the value, unless quoted.
    let (mut kept, mut is_quoted) = (0, false);
    while let Some(c) = chars.next() {
        match c {
            '\n' => break,
            '#' | ';' if !is_quoted => {
                chars.by_ref().find(|c| *c == '\n');
                break;
            }
            '"' => is_quoted = !is_quoted,
            '\\' => {
                // A backslash at its end continues the line.
                let _ = chars.next_if_eq(&'\r');
                match chars.next() {
                    Some('\n') | None => continue,
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some(escaped) => value.push(escaped),
                }
                kept = value.len();
                continue;
            }
            c if !is_quoted && c.is_ascii_whitespace() => {
                if !value.is_empty() {
                    value.push(c);
                }
                continue;
            }
            c => value.push(c),
        }
        kept = value.len();
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    fn hooks(config: &str) -> Vec<PathBuf> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write(&root, &[("w/.git/config", config)]);
        let inside = |path: PathBuf| path.strip_prefix(root.join("w")).map(Path::to_owned).unwrap_or(path);
        hooks_paths(&root.join("w/.git")).into_iter().map(inside).collect()
    }

    fn hooks_paths(git: &Path) -> Vec<PathBuf> {
        GitSettings::of(git, None).hooks
    }

    // proves X5: git reads all of these as the same folder
    #[test]
    fn the_folder_of_hooks_is_found_however_it_is_written() {
        for config in [
            "[core]\n\thooksPath = tools/hooks\n",
            "[CORE]\r\n  HOOKSPATH=tools/hooks\r\n",
            "[core] hooksPath = tools/hooks",
            "[a]\nb\n[core]\nbare = false # x\nhookspath = \"tools/hooks\" ; remark\n",
            "[core]\nhooksPath = too\\\nls/hooks  \t\n",
            "[core]\nhooksPath = to\"ols/ho\"oks",
            "[core]\nhooksPath = ./tools/../tools/hooks/\n",
            "\u{feff}[x \"a]\\\"b\"]\ny = z\n[core]\nhooksPath = tools/hooks\n",
            "[core]\nnonsense = = =\n= x\nhooksPath = tools/hooks\n",
        ] {
            assert_eq!(hooks(config), [PathBuf::from("tools/hooks")], "{config:?}");
        }
        for config in
            ["", "[core]\nhooksPath", "[core]\n# hooksPath = a\n", "[other]\nhooksPath = a", "[core", "hooksPath"]
        {
            assert_eq!(hooks(config), Vec::<PathBuf>::new(), "{config:?}");
        }
        assert_eq!(hooks("[core]\nhooksPath = \" a;b \\\"c\\\\ \"\n"), [PathBuf::from(" a;b \"c\\ ")]);
        assert_eq!(hooks("[core]\nhooksPath = /etc/hooks\nhooksPath = a"), [Path::new("/etc/hooks"), Path::new("a")]);
    }

    // proves X5: this parser and git read the same value from such a file
    #[test]
    fn git_reads_the_same() {
        let folder = tempfile::tempdir().unwrap();
        for value in ["tools/hooks", "with blank", "a\"b", "c\\d", "e;f", " g ", "tab\there"] {
            let file = folder.path().join("config");
            let mut git = std::process::Command::new("git");
            let set = git.args(["config", "--file"]).arg(&file).args(["core.hooksPath", value]).status().unwrap();
            assert!(set.success());
            let text = std::fs::read_to_string(&file).unwrap();
            let want = Setting { name: "core.hookspath".into(), value: value.into() };
            assert_eq!(settings(&text), [want], "{text}");
        }
    }

    // proves X5
    #[test]
    fn a_folder_that_the_worktree_is_in_is_told_by_its_hooks() {
        let paths = hooks("[core]\nhooksPath = .");
        assert_eq!(paths.len(), HOOKS.len());
        assert!(paths.contains(&PathBuf::from("pre-commit")), "{paths:?}");
    }

    // proves X5
    #[test]
    fn settings_that_are_included_or_shared_count() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write(
            &root,
            &[
                ("main/.git/config", "[include]\npath = ../more\n[includeIf \"gitdir:x\"]\npath = cond\n"),
                ("main/more", "[core]\nhooksPath = a\n[include]\npath = more\n"),
                ("main/.git/cond", "[core]\nhooksPath = b\n"),
                ("main/.git/config.worktree", "[core]\nhooksPath = c\n"),
                ("main/.git/worktrees/w/commondir", "../..\n"),
                ("w/.git", "gitdir: ../main/.git/worktrees/w\n"),
            ],
        );
        let want = |worktree: &str| ["a", "b", "c"].map(|name| root.join(worktree).join(name));
        assert_eq!(hooks_paths(&root.join("main/.git")), want("main"));
        assert_eq!(hooks_paths(&root.join("w/.git")), want("w"));
        assert_eq!(hooks_paths(&root.join("none/.git")), Vec::<PathBuf>::new());
        let included = GitSettings::of(&root.join("w/.git"), None).included;
        let included: Vec<PathBuf> = included.iter().map(|path| flat(path)).collect();
        assert!(
            ["more", ".git/cond"].iter().all(|path| included.contains(&root.join("main").join(path))),
            "{included:?}"
        );
    }

    // proves X5: `core.hooksPath` in a person's own settings applies to all their repositories
    #[test]
    fn the_persons_own_settings_count() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write(
            &root,
            &[
                ("home/.gitconfig", "[core]\nhooksPath = tools/hooks\n[include]\npath = ~/w/more\n"),
                ("home/.config/git/config", "[core]\nhooksPath = ~/w/mine\n"),
                ("home/w/more", "[core]\nhooksPath = third\n"),
                ("home/w/.git/HEAD", ""),
            ],
        );
        let found = GitSettings::of(&root.join("home/w/.git"), Some(&root.join("home")));
        let want = ["mine", "third", "tools/hooks"].map(|name| root.join("home/w").join(name));
        assert!(want.iter().all(|path| found.hooks.contains(path)), "{found:?}");
        assert!(found.included.contains(&root.join("home/w/more")), "{found:?}");
        assert_eq!(GitSettings::of(&root.join("home/w/.git"), None), GitSettings::default());
    }

    // proves X5: a project in the home folder may name its hooks relative to it
    #[test]
    fn the_home_folder_may_be_any_above_the_worktree() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write(&root, &[("me/w/.git/config", "[core]\nhooksPath = ~/w/hooks\n")]);
        assert!(hooks_paths(&root.join("me/w/.git")).contains(&root.join("me/w/hooks")));
    }
}
