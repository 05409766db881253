//! Test hooks of the real binary, compiled only under debug assertions: dying before or after the n-th journal write,
//! a faster clock, and other servers to probe on this machine. A release build has none of them.

use std::sync::Arc;

use windlass_runtime::{Clock, SystemClock};
use windlass_store::SqliteOptions;
use windlass_tools::Workspace;

use crate::models::LocalServer;

/// `WINDLASS_TEST_DIE=before:3` or `after:3`: die around the third append of this process.
#[cfg(debug_assertions)]
pub fn with_failpoints(options: SqliteOptions) -> SqliteOptions {
    use windlass_store::AppendPoint;
    let Some((point, count)) = std::env::var("WINDLASS_TEST_DIE").ok().and_then(|text| parse(&text)) else {
        return options;
    };
    let die = move |reached: AppendPoint, number: u64| {
        if reached == point && number == count {
            die_now();
        }
    };
    SqliteOptions { on_append: Some(Arc::new(die)), ..options }
}

#[cfg(debug_assertions)]
fn parse(text: &str) -> Option<(windlass_store::AppendPoint, u64)> {
    let (point, count) = text.split_once(':')?;
    let point = match point {
        "before" => windlass_store::AppendPoint::Before,
        "after" => windlass_store::AppendPoint::After,
        _ => return None,
    };
    Some((point, count.parse().ok()?))
}

/// Kills this process like `kill -9`: no destructor runs, nothing is flushed.
#[cfg(debug_assertions)]
fn die_now() {
    let pid = std::process::id().to_string();
    let _ = std::process::Command::new("kill").args(["-KILL", &pid]).status();
}

/// A release build has no failpoints.
#[cfg(not(debug_assertions))]
pub fn with_failpoints(options: SqliteOptions) -> SqliteOptions {
    options
}

/// `WINDLASS_TEST_DIE=restore:2`: die before the second change an undo makes to files.
#[cfg(debug_assertions)]
pub fn with_restore_failpoint(workspace: Workspace) -> Workspace {
    let wanted = std::env::var("WINDLASS_TEST_DIE").ok();
    let count = wanted.and_then(|text| text.strip_prefix("restore:")?.parse::<u64>().ok());
    let Some(count) = count else { return workspace };
    let changes = std::sync::atomic::AtomicU64::new(0);
    workspace.on_restore(move || {
        if changes.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 == count {
            die_now();
        }
    })
}

/// A release build has no failpoints.
#[cfg(not(debug_assertions))]
pub fn with_restore_failpoint(workspace: Workspace) -> Workspace {
    workspace
}

/// `WINDLASS_TEST_CLOCK=100`: a clock that runs a hundred times as fast.
#[cfg(debug_assertions)]
pub fn clock() -> Arc<dyn Clock> {
    match std::env::var("WINDLASS_TEST_CLOCK").ok().and_then(|scale| scale.parse().ok()) {
        Some(scale) => Arc::new(windlass_runtime::ScaledClock::new(scale)),
        None => Arc::new(SystemClock),
    }
}

/// The system clock.
#[cfg(not(debug_assertions))]
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// `WINDLASS_TEST_OLLAMA=http://127.0.0.1:1234/v1`: the only server to probe on this machine.
#[cfg(debug_assertions)]
pub fn local_servers() -> Vec<LocalServer> {
    match std::env::var("WINDLASS_TEST_OLLAMA") {
        Ok(url) => vec![LocalServer::at(&url)],
        Err(_) => LocalServer::usual(),
    }
}

/// The servers to probe on this machine.
#[cfg(not(debug_assertions))]
pub fn local_servers() -> Vec<LocalServer> {
    LocalServer::usual()
}
