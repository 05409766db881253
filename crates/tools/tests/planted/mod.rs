//! Files that one command leaves for the next, or for the person: none of them opens the sandbox or stays at a
//! protected path (X3).

pub(crate) mod at_once;
pub(crate) mod cleared_up;
pub(crate) mod led_elsewhere;

use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;
use windlass_sandbox::{Confinement, Network, Surroundings};
use windlass_tools::guard::{ChildEnd, GuardedChild, GuardedProgram};
use windlass_vocab::CommandExit;

use crate::{Room, guard, needs_namespaces, said};

trials! {
    a_repository_that_a_command_makes_up_opens_no_folder,
    a_link_in_place_of_a_package_cache_is_not_written_through,
    what_is_protected_is_set_aside_though_names_are_taken_and_folders_closed,
    what_leads_git_stays_closed_in_a_workspace_full_of_files(needs_namespaces),
    what_leads_submodules_stays_closed_though_they_are_many(needs_namespaces),
    what_is_protected_and_new_is_set_aside_wherever_it_is,
    a_link_in_place_of_a_protected_paths_folder_leads_nowhere(needs_namespaces),
    a_protected_link_leads_where_it_led_and_its_target_is_protected_too(needs_namespaces),
    what_a_denied_link_leads_to_is_closed(needs_namespaces),
    a_program_that_works_beside_others_keeps_what_it_made,
    a_program_that_is_talked_to_leaves_nothing_protected,
}

/// Whether a file was set aside in place of `path`.
fn is_aside(room: &Room, path: &str) -> bool {
    let path = room.workspace.join(path);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned() + ".set-aside";
    let mut names = path.parent().unwrap().read_dir().unwrap().flatten().map(|entry| entry.file_name());
    path.symlink_metadata().is_err() && names.any(|other| other.to_str().unwrap().starts_with(&name))
}

// proves X3
fn a_repository_that_a_command_makes_up_opens_no_folder() {
    let room = Room::new();
    for (path, text) in [
        (".git", "gitdir: fake/worktrees/w\n"),
        ("fake/worktrees/w/gitdir", &format!("{}/.git\n", room.workspace.display())),
        ("fake/worktrees/w/commondir", "../..\n"),
        ("fake/HEAD", "ref: refs/heads/main\n"),
        ("fake/refs/x", ""),
    ] {
        room.file(path, text);
    }
    symlink(&room.home, room.workspace.join("fake/objects")).unwrap();
    let outcome = room.run("echo evil > ../home/.bashrc");
    assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{}", outcome.text);
    assert!(!room.home.join(".bashrc").exists());
}

// proves X3
fn a_link_in_place_of_a_package_cache_is_not_written_through() {
    let mut room = Room::with(|surroundings: &mut Surroundings| {
        surroundings.workspace = surroundings.home.clone().unwrap();
    });
    room.workspace = room.home.clone();
    let victim = room.data().with_file_name("victim");
    std::fs::create_dir(&victim).unwrap();
    let line = format!("mkdir -p .cache; mv .cache .c2; ln -s {} .cache", victim.display());
    assert_eq!(room.run(&line).exit, Some(CommandExit::Code(0)));
    let outcome = room.call(&json!({"command": "echo x > .cache/x", "network": true}));
    assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{}", outcome.text);
    assert!(!victim.join("x").exists());
}

// proves X3
fn what_is_protected_is_set_aside_though_names_are_taken_and_folders_closed() {
    let room = Room::new();
    let taken = "i=0; while [ $i -lt 1100 ]; do : > .envrc.set-aside-$i; i=$((i+1)); done; : > .envrc.set-aside; ";
    let text = said(&room, &format!("{taken} echo evil > .envrc"));
    assert!(text.contains("[Set aside as ") && !room.workspace.join(".envrc").exists(), "{text}");
    let text = said(&room, "mkdir -p .github/workflows; chmod 555 .github");
    assert!(is_aside(&room, ".github/workflows"), "{text}");
    assert_eq!(room.workspace.join(".github").metadata().unwrap().permissions().mode() & 0o777, 0o555);
    let text = said(&room, "mkdir -p .cargo; echo evil > .cargo/config$(printf '%0240d' 0)");
    assert_eq!(text.matches("[Set aside as ").count(), 1, "{text}");
    let left = room.workspace.join(".cargo").read_dir().unwrap().flatten().map(|entry| entry.file_name());
    assert!(left.into_iter().all(|name| !name.to_str().unwrap().starts_with("config0")));
}

// proves X3
fn what_leads_git_stays_closed_in_a_workspace_full_of_files() {
    let room = Room::new();
    for path in [".git/config", ".git/hooks/x.sample", ".git/HEAD", "windlass.toml"] {
        room.file(path, "as it was");
    }
    (0..20_000).for_each(|number| std::fs::write(room.workspace.join(format!("f{number}")), "").unwrap());
    for line in
        ["echo evil > .git/hooks/pre-commit", "echo evil >> .git/config", "mv .git g2", "echo evil > windlass.toml"]
    {
        let outcome = room.run(line);
        assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{line}: {}", outcome.text);
    }
    for path in [".git/info/attributes", ".envrc", ".cargo/config.toml"] {
        let text = said(&room, &format!("mkdir -p $(dirname {path}) && echo evil > {path}"));
        assert!(text.contains("[Set aside as ") && !room.workspace.join(path).exists(), "{path}: {text}");
    }
}

// proves X3
fn what_leads_submodules_stays_closed_though_they_are_many() {
    let room = Room::new();
    room.file(".git/HEAD", "");
    (0..400).for_each(|number| drop(room.file(&format!(".git/modules/m{number}/HEAD"), "")));
    room.file(".git/modules/sub/HEAD", "");
    room.file(".git/modules/sub/config", "as it was");
    for line in [
        "echo evil >> .git/modules/sub/config",
        "mkdir .git/modules/sub/hooks",
        "mv .git/modules/sub x",
        "mv .git/modules x",
    ] {
        let outcome = room.run(line);
        assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{line}: {}", outcome.text);
    }
    assert!(room.workspace.join(".git/modules/sub/config").exists(), "it was there before");
}

// proves X3
fn what_is_protected_and_new_is_set_aside_wherever_it_is() {
    let room = Room::new();
    for path in [
        ".cargo/config.toml",
        ".cargo/config",
        "x.code-workspace",
        ".roorules-code",
        "a/b/AGENTS.md",
        "a/.vscode/tasks.json",
        "a/.ENVRC",
        "sub/.git/config",
        "sub/.git/hooks/post-checkout",
        "store/denied",
    ] {
        let text = said(&room, &format!("mkdir -p $(dirname {path}) && echo evil > {path}"));
        assert!(text.contains("[Set aside as ") && !room.workspace.join(path).exists(), "{path}: {text}");
    }
    let text = said(&room, "mkdir bare; cd bare; mkdir objects refs hooks; echo x > HEAD; echo x > config");
    assert!(is_aside(&room, "bare/config") && is_aside(&room, "bare/hooks"), "{text}");
    // Files that existed before, or that no rule is about, stay.
    room.file("kept/AGENTS.md", "as it was");
    let text = said(&room, "echo x > kept/notes.md; mkdir -p target/a; echo x > target/a/AGENTS.md");
    assert!(!text.contains("[Set aside as ") && room.workspace.join("kept/AGENTS.md").exists(), "{text}");
}

// proves X3
fn a_link_in_place_of_a_protected_paths_folder_leads_nowhere() {
    let room = Room::new();
    let text =
        said(&room, "mkdir g2 c2; ln -s g2 .github; ln -s c2 .config; ln -s c2 .cargo; mkdir a; ln -s ../g2 a/.github");
    for path in [".github", ".config", ".cargo", "a/.github"] {
        assert!(is_aside(&room, path), "{path}: {text}");
    }
    // A symlink that the person created stays: its target is closed.
    for name in [".github", ".config", ".cargo"] {
        symlink("g2", room.workspace.join(name)).unwrap();
    }
    room.file("g2/actions/x", "as it was");
    assert_ne!(room.run("echo evil > g2/actions/x").exit, Some(CommandExit::Code(0)));
    let text = said(
        &room,
        "mkdir g2/workflows; echo e > g2/workflows/x.yml; mkdir g2/fish; echo e > g2/config.toml; echo e > g2/x",
    );
    for path in ["g2/workflows", "g2/fish", "g2/config.toml"] {
        assert!(is_aside(&room, path), "{path}: {text}");
    }
    assert!(room.workspace.join("g2/x").exists() && room.workspace.join(".github").is_symlink());
}

// proves X3
fn a_protected_link_leads_where_it_led_and_its_target_is_protected_too() {
    let room = Room::new();
    room.file("docs/agents.md", "as it was");
    symlink("docs/agents.md", room.workspace.join("AGENTS.md")).unwrap();
    assert_ne!(room.run("echo evil > docs/agents.md").exit, Some(CommandExit::Code(0)));
    let text = said(&room, "rm AGENTS.md; echo evil > AGENTS.md");
    assert!(text.contains("[Set aside as "), "{text}");
    said(&room, "ln -sfn other AGENTS.md");
    said(&room, "rm AGENTS.md");
    assert_eq!(std::fs::read_to_string(room.workspace.join("AGENTS.md")).unwrap(), "as it was");
}

// proves X3
fn what_a_denied_link_leads_to_is_closed() {
    let room = Room::new();
    room.file("conf/env", "a-secret");
    room.file("keys/a/key", "a-secret");
    room.file(".claude/denied", "a-secret");
    let outside = room.home.join("outside");
    std::fs::write(&outside, "a-secret").unwrap();
    symlink("conf/env", room.workspace.join("denied")).unwrap();
    std::fs::create_dir(room.workspace.join("b")).unwrap();
    symlink(room.workspace.join("keys"), room.workspace.join("b/denied")).unwrap();
    std::fs::create_dir(room.workspace.join("c")).unwrap();
    symlink(&outside, room.workspace.join("c/denied")).unwrap();
    for line in [
        "cat denied",
        "cat conf/env",
        "cat b/denied/a/key",
        "cat keys/a/key",
        "cat c/denied",
        "cat ../home/outside",
        "cp -L denied x; cat x",
        "cat .claude/denied",
    ] {
        let text = said(&room, line);
        assert!(!text.contains("a-secret"), "{line}: {text}");
    }
}

// proves X3, P3
fn a_program_that_works_beside_others_keeps_what_it_made() {
    let room = Room::new();
    let held = room.sandbox.program_confinement(&guard(), Network::Off).unwrap().unwrap();
    talk_to(&room, "echo x > .envrc", held.without_cleanup());
    assert!(room.workspace.join(".envrc").exists());
}

// proves X3, P3
fn a_program_that_is_talked_to_leaves_nothing_protected() {
    let room = Room::new();
    let held = room.sandbox.program_confinement(&guard(), Network::Off).unwrap().unwrap();
    talk_to(&room, "echo evil > .envrc; mkdir a; echo evil > a/AGENTS.md", held);
    assert!(is_aside(&room, ".envrc") && is_aside(&room, "a/AGENTS.md"));
}

/// Runs this line to its end as a program with piped input and output.
fn talk_to(room: &Room, line: &str, confinement: Confinement) {
    let program = GuardedProgram {
        program: "sh".into(),
        args: vec!["-c".into(), line.into()],
        directory: room.workspace.clone(),
        environment: Vec::new(),
        scrubbed: std::collections::BTreeSet::new(),
        stop_grace: std::time::Duration::from_millis(50),
        confinement: Some(confinement),
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let mut child = GuardedChild::start(&guard(), &program).await.unwrap();
        assert_eq!(child.life.ended().await, ChildEnd::Exited(0));
    });
}
