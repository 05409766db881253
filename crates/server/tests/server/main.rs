//! Tests of the page's modules, by the test runner that comes with Node: they have no packages.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

// proves E1, W4: the page folds every journal of the fixtures, whole, in parts and again, to the same view
#[test]
fn the_pages_own_tests_pass() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let Ok(ran) = Command::new("node").arg("--test").args(tests(&web)).current_dir(&web).output() else {
        return windlass_testkit::skip("there is no `node` to run the page's tests with");
    };
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    let passed = out.lines().find_map(|line| line.strip_prefix("# pass ")).and_then(|count| count.parse::<u32>().ok());
    assert!(passed.is_some_and(|passed| passed >= 30), "{out}");
}

fn tests(web: &Path) -> Vec<String> {
    let files = std::fs::read_dir(web.join("tests")).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut tests: Vec<String> =
        files.map(|path| path.display().to_string()).filter(|path| path.ends_with(".test.mjs")).collect();
    tests.sort();
    assert!(!tests.is_empty(), "there are tests");
    tests
}
