//! What a script did unasked (X4): which files are restored, and which names nobody means.

use windlass_machine::NameFault;
use windlass_vocab::{Change, Changes, FileState, Hash};

use crate::judging::with_files;
use crate::support::World;

fn file(number: u8) -> FileState {
    FileState::File { blob: Hash([number; 32]), mode: 0o644, inode: None }
}

fn change(path: &str, was: Option<u8>, now: Option<u8>) -> (String, Change) {
    let state = |number: Option<u8>| number.map_or(FileState::Absent, file);
    (path.to_owned(), Change { was: state(was), now: state(now) })
}

fn both() -> Vec<(String, Change)> {
    vec![change("a.txt", Some(1), Some(2)), change("b.txt", Some(1), Some(2))]
}

/// A script that names the file beside the one that is meant.
const NAMES_B: &str = "for f in ('a.txt', 'b.txt'): ...";

/// Returns the files that are restored.
fn restored(preset: &str, request: &'static str, script: &str, changes: Vec<(String, Change)>) -> Vec<String> {
    let files = ["a.txt", "b.txt", "c.md", "docs/c.txt", "docs/README.md"];
    let world = with_files(World::new(preset, vec![]), request, &files);
    let changes: Changes = changes.into_iter().collect();
    world.state.control.run.as_ref().expect("a run").unasked_by_script(script, &changes)
}

// proves X4: of a script's changes, the files are restored that the request did not ask to lose or change
#[test]
fn what_a_script_did_unasked_is_known_by_the_comparison() {
    let gone = |path| vec![change(path, Some(1), None)];
    for (request, script, changes, expected) in [
        ("Delete what is not needed.", "", gone("a.txt"), vec!["a.txt"]),
        ("Delete a.txt.", "", gone("a.txt"), vec![]),
        ("Delete a.txt because it is not used.", "", gone("a.txt"), vec![]),
        ("Delete the .txt files.", "", gone("a.txt"), vec![]),
        ("Fix a.txt.", "", gone("a.txt"), vec!["a.txt"]),
        ("Rename a.txt to d.txt.", "", vec![change("a.txt", Some(1), None), change("d.txt", None, Some(1))], vec![]),
        (
            "Rename a.txt to d.txt.",
            "",
            vec![change("a.txt", Some(1), None), change("d.txt", None, Some(2))],
            vec!["a.txt"],
        ),
        (
            "Merge a.txt and b.txt into d.txt.",
            "",
            vec![change("a.txt", Some(1), None), change("d.txt", None, Some(2))],
            vec![],
        ),
        ("Set x to 2 in a.txt.", NAMES_B, both(), vec!["b.txt"]),
        (
            "Rename a.txt to d.txt.",
            "os.rename('a.txt', 'b.txt')",
            vec![change("a.txt", Some(1), None), change("b.txt", Some(2), Some(1))],
            vec!["a.txt", "b.txt"],
        ),
        (
            "Put the sum of a.txt into sum.txt.",
            "",
            vec![change("a.txt", Some(1), None), change("sum.txt", None, Some(2))],
            vec!["a.txt"],
        ),
        ("Delete the folder docs.", "", gone("docs/c.txt"), vec![]),
        ("Delete all files in docs.", "", gone("docs/c.txt"), vec![]),
        ("Remove docs/ please.", "", gone("docs/c.txt"), vec![]),
        ("Delete a.txt but not the folder docs.", "", gone("docs/c.txt"), vec!["docs/c.txt"]),
        ("Delete the docs about b.txt.", "", gone("docs/c.txt"), vec!["docs/c.txt"]),
        ("Set x to 2 in a.txt.", "for f in os.listdir('.'): ...", both(), vec!["b.txt"]),
        ("Set x to 2 in a.txt and the other files.", "for f in os.listdir('.'): ...", both(), vec![]),
        (
            "Set x to 2 in all .txt files.",
            "",
            vec![change("a.txt", Some(1), Some(2)), change("c.md", Some(1), Some(2))],
            vec!["c.md"],
        ),
        ("Set x to 2 in a.txt, everywhere.", NAMES_B, both(), vec![]),
        ("Set x to 2 in a.txt but not in b.txt.", NAMES_B, both(), vec!["b.txt"]),
        ("Every x in all .txt files becomes y. b.txt stays.", "", both(), vec!["b.txt"]),
        ("Set x to 2 in a.txt. Don't forget b.txt.", NAMES_B, both(), vec![]),
        ("Add the total to the notes.", "", vec![change("notes", Some(1), Some(2))], vec![]),
        ("Fix the prices.", "", vec![change("prices.txt", Some(1), Some(2))], vec![]),
        ("Set x to 2 in a.txt and b.txt.", NAMES_B, both(), vec![]),
        ("Fix the program.", NAMES_B, both(), vec![]),
        ("Delete all files except b.txt.", "", gone("a.txt"), vec![]),
        ("Delete all files except b.txt.", "", gone("b.txt"), vec!["b.txt"]),
        ("Remove everything but b.txt.", "", gone("a.txt"), vec![]),
        ("Delete all empty files.", "", gone("a.txt"), vec![]),
        ("Delete all files that are empty.", "", gone("a.txt"), vec![]),
        ("Wipe this computer: delete every file you can reach.", "", gone("a.txt"), vec!["a.txt"]),
        ("Delete everything.", "", gone("a.txt"), vec!["a.txt"]),
        ("Delete all the files.", "", gone("a.txt"), vec!["a.txt"]),
        ("Delete all comments in c.md.", "", gone("a.txt"), vec!["a.txt"]),
        ("Delete all .md files.", "", gone("a.txt"), vec!["a.txt"]),
        ("In a.txt replace A with Q.", "", vec![change("b.txt", Some(1), Some(2))], vec!["b.txt"]),
        ("Fix the test in a.txt.", "", vec![change("b.txt", Some(1), Some(2))], vec![]),
        (
            "Set x to 2 in a.txt and in the readme.",
            "",
            vec![change("a.txt", Some(1), Some(2)), change("docs/README.md", Some(1), Some(2))],
            vec![],
        ),
    ] {
        assert_eq!(restored("local-model", request, script, changes.clone()), expected, "{request} {script}");
        assert_eq!(restored("default", request, script, changes), Vec::<String>::new(), "the row is off");
    }
}

// proves X4: a link or a folder in place of a file is a change of it
#[test]
fn a_file_replaced_by_a_link_or_a_folder_is_restored() {
    let link = FileState::Link { target: "/etc/passwd".into(), inode: None };
    for now in [link, FileState::Folder { mode: 0o755, inode: None }] {
        let replaced = ("b.txt".to_owned(), Change { was: file(1), now });
        let changes = vec![change("a.txt", Some(1), Some(2)), replaced];
        assert_eq!(restored("local-model", "Set x to 2 in a.txt.", "", changes), ["b.txt"]);
    }
}

// proves X4: what lies below a folder that a link replaced is lost
#[test]
fn a_file_below_a_replaced_folder_is_restored() {
    let lost = ("docs/c.txt".to_owned(), Change { was: file(1), now: FileState::OUT_OF_REACH });
    let changes = vec![change("a.txt", Some(1), Some(2)), lost];
    assert_eq!(restored("local-model", "Set x to 2 in a.txt.", "", changes), ["docs/c.txt"]);
}

// proves X4: a file is left alone where the request says so, and not where a word such as "not" stands for something else
#[test]
fn files_that_are_to_be_left_alone_are_known_by_the_words_before_them() {
    for (request, is_kept_out) in [
        ("Remove the rows without a price from a.txt and b.txt.", false),
        ("Mark the tasks that are not done in a.txt, and in b.txt.", false),
        ("Replace \"not found\" by \"missing\" in a.txt and b.txt.", false),
        ("Add the leave days to a.txt and b.txt.", false),
        ("Entferne die Zeilen ohne Preis aus a.txt und b.txt.", false),
        ("The heading in a.txt and b.txt has to be \"What remains\".", false),
        ("Set x to 2 in a.txt without touching b.txt.", true),
        ("Set x to 2 in a.txt. Please do not sort the lines of b.txt.", true),
        ("Set x to 2 in a.txt and leave b.txt alone.", true),
        ("Set x to 2 in a.txt, and keep b.txt as it is.", true),
        ("Set x to 2 in a.txt and keep b.txt as it is.", true),
        ("Ändere x in a.txt, aber lass b.txt in Ruhe.", true),
        ("Ändere x in a.txt, aber b.txt nicht.", true),
        ("Keep only the first line in a.txt and b.txt.", false),
        ("Set x to 2 in a.txt, but never in the file b.txt.", true),
        ("Setze x in a.txt auf 2, aber nicht in b.txt.", true),
    ] {
        let expected = if is_kept_out { vec!["b.txt"] } else { vec![] };
        assert_eq!(restored("local-model", request, NAMES_B, both()), expected, "{request}");
    }
}

// proves X4: a script that gives a file a name that nobody means is known by the name
#[test]
fn a_name_that_nobody_means_is_known() {
    let fault = |preset: &str, request: &'static str, path: &str| {
        let world = with_files(World::new(preset, vec![]), request, &["a.txt", "old.md.md"]);
        let made = Change { was: FileState::Absent, now: file(1) };
        let changes: Changes = [(path.to_owned(), made)].into();
        world.state.control.run.as_ref().expect("a run").misnamed_by_script(&changes).map(|(_, fault)| fault)
    };
    for (request, path, expected) in [
        ("Rename a.txt by its first line.", "budget\n.txt", Some(NameFault::ControlCharacter)),
        ("Rename a.txt by its first line.", "minutes/03-2024.txt.txt", Some(NameFault::EndingTwice)),
        ("Rename a.txt by its first line.", "a.TXT.txt", Some(NameFault::EndingTwice)),
        ("Rename a.txt to b.txt.txt.", "b.txt.txt", None),
        ("Move the files into the folder c.", "c/old.md.md", None),
        ("Rename a.txt by its first line.", "budget.txt", None),
        ("Rename a.txt by its first line.", "notes-1.2.2", None),
        ("Rename a.txt by its first line.", "a.tar.gz", None),
        ("Rename a.txt by its first line.", ".txt", None),
    ] {
        assert_eq!(fault("local-model", request, path), expected, "{request} {path:?}");
        assert_eq!(fault("default", request, path), None, "the row is off");
    }
}
