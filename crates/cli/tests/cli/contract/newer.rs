//! A session that a newer version has written: this version displays and exports it, and never writes to it.

use windlass_testkit::{Script, ScriptStep};
use windlass_vocab::{MessageAccepted, Record};

use crate::support::{Bench, journal};

fn bench() -> Bench {
    let bench = Bench::new(Script::of([ScriptStep::say("Done."), ScriptStep::say("Done again.")]));
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    bench
}

/// Asserts that the session is read-only because of a newer record of this kind.
fn is_read_only(bench: &Bench, kind: &str) {
    let before = bench.journal("s");
    let last = before.len();
    for line in [
        &["run", "more", "--session", "s"][..],
        &["resume", "s"],
        &["retry", "s"],
        &["fork", "s"],
        &["fork", "s", "--at", &last.to_string()],
    ] {
        let refused = bench.run(line);
        assert_eq!((refused.code, refused.stdout.as_str()), (5, ""), "{line:?}: {}", refused.stderr);
        let (newer, what) = (format!("`{kind}`"), format!("at record {}", last - 1));
        for said in ["newer version of Windlass", newer.as_str(), what.as_str()] {
            assert!(refused.stderr.contains(said), "{line:?} does not say {said:?}: {}", refused.stderr);
        }
    }
    assert_eq!((bench.journal("s"), bench.server.count()), (before, 1), "nothing was written or asked");
    let shown = bench.run(&["sessions", "show", "s"]);
    assert!(shown.code == 0 && shown.stdout.contains(kind), "{}{}", shown.stdout, shown.stderr);
    let replayed = bench.run(&["replay", "s"]);
    assert_eq!((replayed.code, replayed.stdout.as_str()), (0, "Done.\n"), "{}", replayed.stderr);
    assert!(replayed.stderr.contains("of a newer version; the session is read-only"), "{}", replayed.stderr);
    let checked = bench.run(&["replay", "s", "--check"]);
    assert_eq!(checked.code, 1, "{}", checked.stderr);
    assert!(checked.stdout.contains(&format!("the same up to record {}; from there", last - 1)), "{}", checked.stdout);
    let forked = bench.run(&["fork", "s", "--at", &(last - 1).to_string()]);
    assert_eq!((forked.code, forked.stdout.as_str()), (0, "s-fork\n"), "{}", forked.stderr);
    let ran = bench.run(&["run", "more", "--session", "s-fork"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done again.\n"), "{}", ran.stderr);
    bench.assert_whole("read-only");
}

// proves J7
#[test]
fn a_session_with_a_record_of_an_unknown_kind_is_read_only() {
    let bench = bench();
    journal::append(&bench.data(), "s", journal::unknown(), |sealed| sealed);
    is_read_only(&bench, "MoonPhased");
}

// proves J7: a known kind may have a different meaning in a newer version
#[test]
fn a_session_with_a_record_of_a_newer_version_is_read_only() {
    let bench = bench();
    let record = Record::from(MessageAccepted::new("m9", "by the moon"));
    journal::append(&bench.data(), "s", record, journal::of_version_two);
    is_read_only(&bench, "MessageAccepted");
}

// proves J7, X6: this version can't end an open run of such a session, so it refuses the import
#[test]
fn a_session_of_a_newer_version_is_exported_and_not_imported() {
    let bench = bench();
    journal::append(&bench.data(), "s", journal::unknown(), |sealed| sealed);
    let exported = bench.run(&["sessions", "export", "s"]);
    assert_eq!(bench.run(&["sessions", "rm", "s"]).code, 0);
    for line in [&["sessions", "import", "-"][..], &["sessions", "import", "-", "--key", "t"]] {
        let refused = bench.run_with_input(line, exported.stdout.as_bytes());
        assert_eq!((refused.code, refused.stdout.as_str()), (5, ""), "{}", refused.stderr);
        assert!(refused.stderr.contains("import it with that version"), "{}", refused.stderr);
    }
    assert_eq!(bench.keys(), Vec::<String>::new());
}
