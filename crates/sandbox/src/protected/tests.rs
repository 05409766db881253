//! Tests of the scans before and after a command.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn workspace(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for file in files {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    (folder, root)
}

/// `.env` files may not be read, `AGENTS.md` and `.vscode` may not be written.
fn closed(path: &Path) -> PathAccess {
    match path.file_name().and_then(OsStr::to_str) {
        Some(".env") => PathAccess::Hidden,
        Some("AGENTS.md" | ".vscode") => PathAccess::ReadOnly,
        Some(_) | None => PathAccess::Open,
    }
}

fn scan_with(root: &Path, rules: &PathRules<'_>) -> ScanResult {
    scan_workspace(root, None, rules)
}

fn scan(root: &Path, literal_paths: &[&str]) -> ScanResult {
    let literal_paths: Vec<PathBuf> = literal_paths.iter().map(PathBuf::from).collect();
    scan_with(root, &PathRules { access_to: &closed, literal_paths: &literal_paths, ..PathRules::NONE })
}

fn under(root: &Path, paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(|path| root.join(path)).collect()
}

// proves X3
#[test]
fn what_is_there_is_found_at_any_depth_and_what_leads_repositories_besides() {
    let files = [".git/config", ".git/hooks/x", ".git/HEAD", "a/b/AGENTS.md", "a/.git/config", "a/.env", "n", "s/.git"];
    let (_folder, root) = workspace(&files);
    let found = scan(&root, &[]);
    let there = [".git/config", ".git/hooks", "a/.git/config", "a/b/AGENTS.md", "s/.git"];
    assert_eq!(found.there, under(&root, &there));
    assert_eq!((found.hidden, found.scan_extent), (under(&root, &["a/.env"]), ScanExtent::Complete));
}

// proves X3
#[test]
fn what_is_not_there_is_named_at_the_top_by_what_would_be_new() {
    let (_folder, root) = workspace(&[".git/config", "AGENTS.md", "file"]);
    symlink("/etc", root.join("link")).unwrap();
    let literal_paths = [".vscode", "AGENTS.md", ".env", "deep/.env", "open", "link/.env", "file/.env", "/x/.env"];
    let absent = scan(&root, &literal_paths).absent;
    let paths = [".git/commondir", ".git/config.worktree", ".git/gitdir", ".git/hooks", ".git/info", ".hg", ".svn"];
    assert_eq!(absent, under(&root, &paths));
    let literal_paths = literal_paths.map(PathBuf::from);
    let rules = PathRules { access_to: &closed, literal_paths: &literal_paths, ..PathRules::NONE };
    assert_eq!(missing_literal_paths(&root, &rules), under(&root, &[".vscode", ".env", "deep/.env", "file/.env"]));
}

// proves X3
#[test]
fn what_a_rule_spells_out_is_found_where_a_look_does_not_go() {
    let (_folder, root) = workspace(&["target/.env", "node_modules/a/.env", "x/.env"]);
    let found = scan(&root, &["target/.env", "x/.env"]);
    assert_eq!(found.hidden, under(&root, &["target/.env", "x/.env"]));
    assert_eq!(found.scan_extent, ScanExtent::WithoutBuildFolders);
    let (_folder, root) = workspace(&["a/b/c/.env"]);
    (0..=MOST_ENTRIES).for_each(|number| std::fs::write(root.join(number.to_string()), "").unwrap());
    let found = scan(&root, &["a/b/c/.env"]);
    assert_eq!((found.hidden, found.scan_extent), (under(&root, &["a/b/c/.env"]), ScanExtent::FirstEntries));
}

// proves X3
#[test]
fn a_name_is_missing_at_the_top_only_if_all_names_there_were_seen() {
    let (_folder, root) = workspace(&["A/.env", "b"]);
    let is_missing = |root: &Path, most, path: &str| {
        let mut look = WorkspaceScan::new(root, &PathRules::NONE, None);
        look.walk(most);
        look.is_missing_at_top(Path::new(path))
    };
    assert!(is_missing(&root, 10, "c/x"));
    assert!(!is_missing(&root, 10, "a/x") && !is_missing(&root, 10, "B"), "in any case of letters");
    assert!(!is_missing(&root, 10, "/c/x"), "it is not in the workspace");
    assert!(!is_missing(&root, 1, "c/x"), "there are more");
    assert!(!is_missing(&root.join("none"), 10, "c/x"), "nothing can be listed");
}

// proves X3
#[test]
fn what_leads_a_bare_repository_is_found() {
    let (_folder, root) = workspace(&["b/HEAD", "b/config", "b/objects/x", "b/refs/x", "b/hooks/x", "c/HEAD"]);
    assert_eq!(scan(&root, &[]).there, under(&root, &["b/config", "b/hooks"]));
}

// proves X3: `.git/hooks -> ../scripts/hooks`, which git runs
#[test]
fn what_a_link_that_git_obeys_leads_to_is_closed_and_the_link_is_kept() {
    let (_folder, root) = workspace(&[".git/config", "scripts/hooks/pre-commit"]);
    symlink("../scripts/hooks", root.join(".git/hooks")).unwrap();
    let found = scan(&root, &[]);
    assert_eq!(found.there, under(&root, &[".git/config", "scripts/hooks"]));
    assert_eq!(found.links.first().map(|link| link.path.clone()), Some(root.join(".git/hooks")));
}

// proves X3: a repository's own settings make git run hooks of another folder
#[test]
fn the_folder_that_has_a_repositorys_hooks_is_closed() {
    let (_folder, root) = workspace(&[".git/config", "tools/hooks/pre-commit", "a/.git/HEAD"]);
    std::fs::write(root.join(".git/config"), "[core]\n\thooksPath = tools/hooks\n").unwrap();
    std::fs::write(root.join("a/.git/config"), "[core]\n\thooksPath = none\n").unwrap();
    let found = scan(&root, &[]);
    assert_eq!(found.there, under(&root, &[".git/config", "a/.git/config", "tools/hooks"]));
    assert!(found.absent.contains(&root.join("a/none")));
}

// proves X3: a linked worktree and a submodule have a `.git` file
#[test]
fn the_folder_of_hooks_is_closed_where_the_repository_is_elsewhere() {
    let (_folder, root) = workspace(&["main/.git/modules/lib/HEAD", "main/lib/tools/pre-commit", "main/.git/HEAD"]);
    std::fs::write(root.join("main/lib/.git"), "gitdir: ../.git/modules/lib\n").unwrap();
    std::fs::write(root.join("main/.git/modules/lib/config"), "[core]\n\thooksPath = tools\n").unwrap();
    assert!(scan(&root, &[]).there.contains(&root.join("main/lib/tools")));
}

// proves X3: `git config include.path ../build/settings`
#[test]
fn files_that_a_repositorys_settings_include_are_closed() {
    let (_folder, root) = workspace(&[".git/HEAD", "build/settings"]);
    let config = "[include]\npath = ../build/settings\n[includeIf \"gitdir:x\"]\npath = ../none\npath = /etc/passwd\n";
    std::fs::write(root.join(".git/config"), config).unwrap();
    let found = scan(&root, &[]);
    assert_eq!(found.there, under(&root, &[".git/config", "build/settings"]));
    assert!(found.absent.contains(&root.join("none")));
}

// proves X3: `~/.gitconfig` sets the hooks folder of all repositories
#[test]
fn the_folder_of_hooks_of_the_persons_own_settings_is_closed() {
    let (_folder, root) = workspace(&["w/.git/HEAD", "w/tools/hooks/pre-commit", "home/.gitconfig"]);
    std::fs::write(root.join("home/.gitconfig"), "[core]\nhooksPath = tools/hooks\n").unwrap();
    let found = scan_workspace(&root.join("w"), Some(&root.join("home")), &PathRules::NONE);
    assert_eq!(found.there, under(&root, &["w/tools/hooks"]));
}

// proves X3: `.git/hooks/pre-commit -> ../../scripts/pre-commit.sh`, which git runs
#[test]
fn what_links_in_closed_folders_lead_to_is_closed() {
    let files = [".git/hooks/x", "scripts/pre-commit", "ci/x.yml", "ci/more/y", "conf/key", ".vscode/a/b/x", ".env/x"];
    let (_folder, root) = workspace(&files);
    for (link, target) in [
        (".git/hooks/pre-commit", "../../scripts/pre-commit"),
        (".git/hooks/commit-msg", "../../none"),
        (".vscode/a/b/l", "../../../ci"),
        ("ci/more/again", "../../scripts"),
        (".vscode/round", "."),
        (".vscode/all", ".."),
        (".vscode/out", "/etc"),
        (".env/key", "../conf/key"),
        (".env/out", "/etc/passwd"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    let found = scan(&root, &[]);
    let there = [".git/hooks", ".vscode", "ci", "scripts", "scripts/pre-commit"];
    assert_eq!(found.there, under(&root, &there));
    assert_eq!(found.hidden, under(&root, &[".env", "conf/key"]));
    assert!(found.absent.contains(&root.join("none")));
    // The first scan has found all of it.
    let rules = PathRules { access_to: &closed, ..PathRules::NONE };
    let (protected, unreadable, links) = (found.there, found.hidden, found.links);
    let before = Confinement { protected, unreadable, links, ..Confinement::default() };
    assert_eq!(new_closed_paths(&root, &rules, &before), Vec::<PathBuf>::new());
}

// proves X3: `.vscode -> gen/vscode`, which does not exist yet
#[test]
fn what_a_closed_link_leads_to_may_not_be_made_where_it_is_not_there() {
    let (_folder, root) = workspace(&["file"]);
    symlink("gen/vscode", root.join(".vscode")).unwrap();
    symlink("/elsewhere", root.join("AGENTS.md")).unwrap();
    assert_eq!(scan(&root, &[".vscode"]).absent, under(&root, &[".git", ".hg", ".svn", "gen/vscode"]));
}

// proves X3: `chmod 311 conf` by one command, `cat conf/.env` by the next
#[test]
fn a_folder_that_cannot_be_listed_is_closed_as_a_whole() {
    let (_folder, root) = workspace(&["conf/.env", "a/AGENTS.md"]);
    without_power_over_files(|| {
        let shut = |name: &str| std::fs::set_permissions(root.join(name), PermissionsExt::from_mode(0o311)).unwrap();
        shut("conf");
        let rules = PathRules { access_to: &closed, hides_by_pattern: true, ..PathRules::NONE };
        assert_eq!(scan_with(&root, &rules).hidden, under(&root, &["conf"]));
        let there = scan_with(&root, &PathRules { hides_by_pattern: false, ..rules }).there;
        assert_eq!(there, under(&root, &["a/AGENTS.md", "conf"]));
        // The second scan leaves a folder alone that was closed; it scans a folder that the command has made
        // inaccessible.
        shut("a");
        let before = Confinement { protected: there, ..Confinement::default() };
        assert_eq!(new_closed_paths(&root, &rules, &before), Vec::<PathBuf>::new());
        shut("a");
        let before = Confinement { protected: under(&root, &["conf"]), ..Confinement::default() };
        assert_eq!(new_closed_paths(&root, &rules, &before), under(&root, &["a/AGENTS.md"]));
    });
}

// proves X3: a rule about a path outside, reached through a symlink in the workspace
#[test]
fn nothing_outside_the_workspace_is_new_to_a_second_look() {
    let (_folder, root) = workspace(&["work/file", "home/.env"]);
    let work = root.join("work");
    symlink("..", work.join("h")).unwrap();
    let literal_paths = [PathBuf::from("h/home/.env"), root.join("home/.env")];
    let rules = PathRules {
        access_to: &closed,
        literal_paths: &literal_paths,
        may_lead_to_closed: &|_| true,
        ..PathRules::NONE
    };
    let before = Confinement { links: scan_with(&work, &rules).links, ..Confinement::default() };
    assert_eq!(new_closed_paths(&work, &rules, &before), Vec::<PathBuf>::new());
}

// proves X3: because of one symlink the submodules are not set aside
#[test]
fn a_new_link_among_submodules_is_all_that_is_new() {
    let (_folder, root) = workspace(&[".git/HEAD", ".git/modules/a/HEAD", ".git/modules/a/config"]);
    let rules = PathRules { access_to: &closed, ..PathRules::NONE };
    let before = Confinement { protected: scan_with(&root, &rules).there, ..Confinement::default() };
    symlink("x", root.join(".git/modules/l")).unwrap();
    assert_eq!(new_closed_paths(&root, &rules, &before), under(&root, &[".git/modules/l"]));
}

// proves X3: submodules that were closed as a whole are not set aside
#[test]
fn what_is_in_a_folder_that_was_closed_as_a_whole_is_not_new() {
    let (_folder, root) = workspace(&[".git/HEAD", ".git/modules/a/HEAD", ".git/modules/a/config"]);
    let before = Confinement { protected: under(&root, &[".git/modules"]), ..Confinement::default() };
    let rules = PathRules { access_to: &closed, ..PathRules::NONE };
    assert_eq!(new_closed_paths(&root, &rules, &before), Vec::<PathBuf>::new());
}

// proves X3: `.vscode` of a concurrent command
#[test]
fn what_others_made_meanwhile_is_new() {
    let (_folder, root) = workspace(&[".vscode/tasks.json", "AGENTS.md"]);
    let rules = PathRules { access_to: &closed, ..PathRules::NONE };
    let protected = scan_with(&root, &rules).there;
    let before = Confinement { protected, made_meanwhile: under(&root, &[".vscode"]), ..Confinement::default() };
    assert_eq!(new_closed_paths(&root, &rules, &before), under(&root, &[".vscode"]));
}

/// Runs `run` without root's capabilities to bypass file permissions.
fn without_power_over_files<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let held = || {
        #[cfg(target_os = "linux")]
        {
            use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
            let power = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
            let CapabilitySets { effective, permitted, inheritable } = capabilities(None).unwrap();
            let sets = CapabilitySets { effective: effective - power, permitted, inheritable };
            set_capabilities(None, sets).unwrap();
        }
        run()
    };
    std::thread::scope(|scope| scope.spawn(held).join().unwrap())
}
