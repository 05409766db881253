//! A disk that is really full, or really read-only: a small file system in a private mount namespace.
//!
//! A test that needs one runs itself again: it starts the test program in a new mount namespace, to run that test
//! alone; [`MOUNT`] holds the path of the file system.

use std::path::PathBuf;
use std::process::{Command, Output};

const MOUNT: &str = "WINDLASS_TEST_MOUNT";

/// Exit codes of the shell when mounting fails, and of `unshare` when it fails.
const NOT_HERE: [Option<i32>; 2] = [Some(99), Some(1)];

const SCRIPT: &str = r#"mount -t tmpfs -o "size=$1m" none "$2" || exit 99; shift 2; exec "$@""#;

/// Returns the folder of an empty file system of this many megabytes. `None` if the test has already run in the child
/// process, with such a file system: the caller returns. `module` is the test's `module_path!()`, `name` its function.
///
/// If the system does not allow mounting, the test is skipped, which with `CI=true` is a failure.
///
/// # Panics
/// The test failed in the child process.
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

/// Runs the test on such a file system; an error tells why there is none. The second try has no user namespace: root
/// needs none, and some systems forbid them.
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
