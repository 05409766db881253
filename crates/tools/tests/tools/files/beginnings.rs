//! The beginning of a file that goes into a prefix.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use windlass_tools::{FileBeginning, FileBeginningError, FileRules, Permissions, Rule, Secrets, Workspace};

fn read(workspace: &Workspace, path: &str) -> Result<FileBeginning, FileBeginningError> {
    workspace.beginning(path, 64, &FileRules::default())
}

// proves C1: what is too long is cut between characters, and what is no text is not read
#[test]
fn the_beginning_of_a_file_is_whole_characters_up_to_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    assert_eq!(read(&workspace, "AGENTS.md"), Err(FileBeginningError::Missing));
    assert_eq!(read(&workspace, "nowhere/AGENTS.md"), Err(FileBeginningError::Missing));
    for (content, text, is_cut, is_utf8) in [
        ("Be brief.".as_bytes().to_vec(), "Be brief.".to_owned(), false, true),
        (b"a".repeat(64), "a".repeat(64), false, true),
        (b"a".repeat(65), "a".repeat(64), true, true),
        ("é".repeat(40).into_bytes(), "é".repeat(32), true, true),
        (format!("a{}", "€".repeat(40)).into_bytes(), format!("a{}", "€".repeat(21)), true, true),
        (b"caf\xe9 noir".to_vec(), "caf\u{fffd} noir".to_owned(), false, false),
    ] {
        std::fs::write(dir.path().join("AGENTS.md"), content).unwrap();
        let real = "AGENTS.md".into();
        assert_eq!(read(&workspace, "AGENTS.md"), Ok(FileBeginning { text, is_cut, is_utf8, real }));
    }
    std::fs::write(dir.path().join("AGENTS.md"), b"a\0b").unwrap();
    let error = read(&workspace, "AGENTS.md").expect_err("it is no text").to_string();
    assert_eq!(error, "it is binary data, not text");
    // More than fits in memory; the sparse file takes no space on the disk.
    let huge = std::fs::File::create(dir.path().join("huge")).unwrap();
    std::io::Write::write_all(&mut &huge, &b"a".repeat(20_000)).unwrap();
    huge.set_len(1 << 40).unwrap();
    assert_eq!(read(&workspace, "huge").map(|read| (read.text.len(), read.is_cut)), Ok((64, true)));
}

// proves T10
#[test]
fn only_a_file_of_the_folder_is_read_whatever_links_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("ws");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(dir.path().join("private"), "a treasure").unwrap();
    std::fs::write(root.join("real.md"), "Be brief.").unwrap();
    let workspace = Workspace::open(&root).unwrap();
    let agents = root.join("AGENTS.md");
    for (target, problem) in [
        ("../private", "it is a link that leads out of"),
        ("/dev/zero", "it is a link that leads out of"),
        ("nothing", "it is a link to nothing"),
        ("AGENTS.md", "links"),
        (".", "it is not a plain file"),
    ] {
        symlink(target, &agents).unwrap();
        let error = read(&workspace, "AGENTS.md").expect_err(target).to_string();
        assert!(error.contains(problem), "{target}: {error}");
        std::fs::remove_file(&agents).unwrap();
    }
    symlink("real.md", &agents).unwrap();
    let read_it = read(&workspace, "AGENTS.md").unwrap();
    assert_eq!((read_it.text.as_str(), read_it.real.to_str()), ("Be brief.", Some("real.md")));
    std::fs::remove_file(&agents).unwrap();
    // Nobody writes to the pipe: an ordinary open would block forever.
    assert!(std::process::Command::new("mkfifo").arg(&agents).status().unwrap().success());
    assert!(read(&workspace, "AGENTS.md").is_err());
}

// proves X5, X1: a file that must not be read does not reach the model by another path, nor does a secret in one
#[test]
fn a_file_that_rules_forbid_or_ask_about_is_not_read_and_secrets_are_replaced() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("private")).unwrap();
    std::fs::write(dir.path().join("private/key"), "a treasure chest").unwrap();
    symlink("private/key", dir.path().join("AGENTS.md")).unwrap();
    let secrets = Secrets::new([("CHEST", "treasure chest")]);
    let workspace = Workspace::open(dir.path()).unwrap().hiding(secrets);
    assert_eq!(read(&workspace, "AGENTS.md").map(|read| read.text), Ok("a ⟦secret:CHEST⟧".to_owned()));
    for rule in ["read(AGENTS.md)", "read_file(private/)"] {
        let rules: Vec<Rule> = vec![rule.parse().unwrap()];
        let denied = Permissions { deny: rules.clone(), ..Permissions::default() };
        let asked = Permissions { ask: rules, ..Permissions::default() };
        for permissions in [denied, asked] {
            let rules = FileRules::of(Arc::new(permissions));
            assert_eq!(workspace.beginning("AGENTS.md", 64, &rules), Err(FileBeginningError::Forbidden), "{rule}");
        }
    }
}
