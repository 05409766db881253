use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{CurrentUser, FILE_NAME, Sources, folders_of_project, left_alone, search};
use crate::settings::env::Env;
use crate::settings::error::SettingsError;
use crate::settings::flags::Flags;
use crate::settings::place::create_data_dir;

/// A home folder with a project in it.
struct Home {
    _dir: TempDir,
    root: PathBuf,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        fs::create_dir_all(root.join("me/project/sub/deep")).expect("folders");
        Self { _dir: dir, root }
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(&path, text).expect("a file");
        path
    }

    fn env(&self) -> Env {
        [("HOME", self.root.join("me"))].into_iter().collect()
    }

    fn gather_in(&self, folder: &str) -> Result<Sources, SettingsError> {
        Sources::gather(Flags::default(), self.env(), self.root.join(folder))
    }

    fn complaint(&self, folder: &str) -> String {
        self.gather_in(folder).expect_err("it is refused").to_string()
    }
}

fn model(sources: &Sources) -> Option<String> {
    sources.project.as_ref()?.settings.model.as_ref().map(|model| model.get_ref().first().to_owned())
}

#[test]
fn the_nearest_file_up_to_the_root_of_the_repository_counts() {
    let home = Home::new();
    home.write("me/windlass.toml", "model = 'above'");
    home.write("me/project/.git/HEAD", "");
    assert_eq!(model(&home.gather_in("me/project/sub/deep").expect("gathered")), None, "above the repository");
    home.write("me/project/windlass.toml", "model = 'project'");
    assert_eq!(model(&home.gather_in("me/project/sub/deep").expect("gathered")).as_deref(), Some("project"));
    home.write("me/project/sub/windlass.toml", "model = 'sub'");
    assert_eq!(model(&home.gather_in("me/project/sub/deep").expect("gathered")).as_deref(), Some("sub"));
}

#[test]
fn without_a_repository_the_search_ends_at_home_and_outside_it_at_once() {
    let home = Home::new();
    let in_home = home.write("me/windlass.toml", "");
    let above = home.write("windlass.toml", "");
    let me = home.root.join("me");
    let current_user = CurrentUser::new(&Env::default());
    let nearest = |folder: &Path, home: Option<&Path>| {
        search(&folders_of_project(folder, home), FILE_NAME, current_user, |_| false).found
    };
    assert_eq!(nearest(&me.join("project/sub"), Some(&me)), Some(in_home));
    fs::remove_file(me.join("windlass.toml")).expect("removed");
    assert_eq!(nearest(&me.join("project/sub"), Some(&me)), None, "above home");
    assert_eq!(nearest(&me.join("project"), Some(Path::new("/elsewhere"))), None, "outside home");
    assert_eq!(nearest(&home.root, None), Some(above));
}

#[test]
fn the_user_file_is_found_and_is_not_a_project_file_in_its_own_folder() {
    let home = Home::new();
    home.write("me/.config/windlass/windlass.toml", "permissions.mode = 'bypass'");
    let sources = home.gather_in("me/.config/windlass").expect("gathered");
    assert!(sources.user.is_some() && sources.project.is_none());
}

// proves X2: trust is checked for the real folder, whatever path led to it
#[test]
fn a_project_reached_through_a_link_is_the_folder_it_really_is() {
    let home = Home::new();
    home.write("me/project/windlass.toml", "permissions.mode = 'bypass'");
    symlink(home.root.join("me/project"), home.root.join("me/link")).expect("a link");
    let trusted = |folder: &str| home.write("me/.config/windlass/windlass.toml", &format!("trusted = ['{folder}']"));
    trusted("~/project");
    let mut sources = home.gather_in("me/link").expect("gathered");
    assert!(!sources.trusts_project(), "nobody has taken down yet what it says");
    sources.record_trust().expect("taken down");
    assert!(sources.trusts_project());
    assert!(home.gather_in("me/link").expect("gathered").trusts_project());
    home.write("me/project/windlass.toml", "permissions.mode = 'default'");
    assert!(!home.gather_in("me/link").expect("gathered").trusts_project(), "it says something else");
    trusted("~/link");
    assert!(!home.gather_in("me/link").expect("gathered").trusts_project());
}

// proves X2, C1
#[test]
fn instructions_in_a_folder_that_is_not_used_are_named_under_both_names() {
    for name in ["AGENTS.md", "CLAUDE.md"] {
        let home = Home::new();
        let file = home.write(&format!("me/project/{name}"), "Do this.");
        let (used, unused) = (home.root.join("me/project/sub"), home.root.join("me/project"));
        let notice = left_alone(&[&used, &unused], std::slice::from_ref(&used));
        assert!(format!("{notice:?}").contains(&format!("{} is not used", file.display())), "{notice:?}");
    }
}

// proves X1: a key in a file others can read is not used
#[test]
fn a_key_in_a_file_that_others_can_read_is_refused() {
    let home = Home::new();
    let path = home.write("me/.config/windlass/windlass.toml", "api_key = 'sk-secret'");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("a mode");
    let text = home.complaint("me/project");
    assert!(
        text.contains("others can read this file")
            && text.contains("windlass.toml:1:11")
            && !text.contains("sk-secret"),
        "{text}"
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    assert!(home.gather_in("me/project").is_ok());
}

#[test]
fn what_is_no_readable_text_file_is_refused_with_its_path() {
    let home = Home::new();
    let path = home.root.join("me/project/windlass.toml");
    fs::create_dir(&path).expect("a folder");
    assert!(home.complaint("me/project").ends_with("windlass.toml: the file can't be read: it is not a plain file"));
    fs::remove_dir(&path).expect("removed");
    symlink(home.root.join("me/project/sub"), &path).expect("a link");
    assert!(home.complaint("me/project").ends_with("it is not a plain file"));
    fs::remove_file(&path).expect("removed");
    symlink("/dev/zero", &path).expect("a link");
    let sources = home.gather_in("me/project").expect("gathered");
    assert!(
        sources.project.is_none() && sources.notices[0].to_string().contains("others can write to"),
        "{:?}",
        sources.notices
    );
    fs::remove_file(&path).expect("removed");
    fs::write(&path, b"model = '\xff'").expect("a file");
    assert!(home.complaint("me/project").ends_with("not UTF-8 at byte 9"));
    fs::write(&path, "#".repeat(300_000)).expect("a file");
    assert!(home.complaint("me/project").ends_with("longer than 256 KiB"));
}

#[test]
fn a_workspace_that_is_no_folder_is_refused_with_who_named_it() {
    let home = Home::new();
    home.write("me/file", "");
    let flags = |path: &str| Flags { workspace: Some(path.into()), ..Flags::default() };
    let gather = |flags: Flags| Sources::gather(flags, home.env(), home.root.join("me"));
    assert_eq!(gather(flags("project/../project")).expect("gathered").workspace, home.root.join("me/project"));
    for path in ["nowhere", "file"] {
        let text = gather(flags(path)).expect_err("refused").to_string();
        assert!(text.starts_with("workspace: the workspace ") && text.contains(path), "{text}");
    }
    let env = [("HOME", home.root.join("me")), ("WINDLASS_WORKSPACE", "nowhere".into())].into_iter().collect();
    let error = Sources::gather(Flags::default(), env, home.root.clone()).expect_err("refused");
    assert!(error.to_string().starts_with("WINDLASS_WORKSPACE: "));
}

#[test]
fn the_data_folder_is_made_for_its_owner_alone() {
    let home = Home::new();
    let path = home.root.join("me/.local/share/windlass");
    create_data_dir(&path).expect("made");
    create_data_dir(&path).expect("it may be there already");
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_folder_is_read_once_and_another_has_files_of_its_own() {
    let home = Home::new();
    let here = home.write("me/project/windlass.toml", "");
    let there = home.write("me/other/windlass.toml", "");
    let sources = Sources::gather(Flags::default(), home.env(), home.root.join("me/project")).expect("gathered");
    let folder = |sources: &Sources| sources.project.as_ref().map(|file| file.folder().to_owned());
    fs::remove_file(&here).expect("removed");
    let sources = sources.for_folder(&home.root.join("me/project")).expect("kept");
    assert_eq!(folder(&sources).as_deref(), here.parent());
    let sources = sources.for_folder(&home.root.join("me/other")).expect("gathered");
    assert_eq!((sources.workspace.as_path(), folder(&sources).as_deref()), (there.parent().unwrap(), there.parent()));
}

// Some services have the home /dev/null.
#[test]
fn a_home_that_is_no_folder_has_no_file() {
    let home = Home::new();
    let env = [("HOME", home.write("nobody", ""))].into_iter().collect();
    let sources = Sources::gather(Flags::default(), env, home.root.join("me/project")).expect("gathered");
    assert!(sources.user.is_none());
}
