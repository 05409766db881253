//! Skips a test whose requirements are missing.

/// Prints that a test is skipped, and why.
///
/// # Panics
/// With `CI=true`: everything must be available, so a skip is a failure.
pub fn skip(reason: &str) {
    let strict = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!strict, "a skip counts as a failure where CI=true: {reason}");
    println!("skipped: {reason}");
}
