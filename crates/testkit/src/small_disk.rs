//! A disk that is really full, or really read-only: a small file system, mounted where nobody else sees it.
//!
//! A test that wants one runs itself again: the test program is started anew in a mount namespace of its own, told
//! by [`MOUNT`] where the file system is, to run that test alone.

use std::path::PathBuf;
use std::process::{Command, Output};

const MOUNT: &str = "WINDLASS_TEST_MOUNT";

/// What the shell ends with where the file system can't be mounted, and what `unshare` does where it can't.
const NOT_HERE: [Option<i32>; 2] = [Some(99), Some(1)];

const SCRIPT: &str = r#"mount -t tmpfs -o "size=$1m" none "$2" || exit 99; shift 2; exec "$@""#;

/// The folder of an empty file system of so many megabytes. `None` where the test has run elsewhere, on such a
/// one: there is nothing left to do. `module` is the test's `module_path!()`, `name` its function.
///
/// Where the system lets nobody mount, that is said, and where `CI=true` it is a failure.
///
/// # Panics
/// The test failed there.
#[must_use]
pub fn small_disk(megabytes: u32, module: &str, name: &str) -> Option<PathBuf> {
    if let Some(mount) = std::env::var_os(MOUNT) {
        return Some(mount.into());
    }
    let within = module.split_once("::").map_or(String::new(), |(_program, within)| format!("{within}::"));
    let test = format!("{within}{name}");
    match run_on(megabytes, &test) {
        Ok(output) => {
            let shown = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(output.status.success(), "{test}: {shown}");
            assert!(shown.contains("1 passed"), "{test} is not the name of one test: {shown}");
        }
        Err(reason) => crate::skip(&reason),
    }
    None
}

/// Runs the test on such a file system; the error says why there is none. Whoever is root needs no namespace of
/// users, which some systems forbid.
fn run_on(megabytes: u32, test: &str) -> Result<Output, String> {
    let mut reason = String::new();
    for namespaces in [&["--user", "--map-root-user", "--mount"][..], &["--mount"]] {
        let mount = tempfile::tempdir().map_err(|error| error.to_string())?;
        let output = Command::new("unshare")
            .args(namespaces)
            .args(["sh", "-c", SCRIPT, "sh", &megabytes.to_string()])
            .arg(mount.path())
            .arg(std::env::current_exe().map_err(|error| error.to_string())?)
            .args(["--exact", test, "--nocapture"])
            .env(MOUNT, mount.path())
            .output()
            .map_err(|error| format!("unshare: {error}"))?;
        if !NOT_HERE.contains(&output.status.code()) {
            return Ok(output);
        }
        reason = format!("no file system of our own here: {}", String::from_utf8_lossy(&output.stderr));
    }
    Err(reason)
}
