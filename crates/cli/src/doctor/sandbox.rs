//! Checks the sandbox by running a command in it, and names the protections this machine can't enforce (X3).

use windlass::own_guard;
use windlass_sandbox::{Isolation, SandboxMode};
use windlass_setup::settings::Sourced;
use windlass_tools::guard::probe_support;

use super::check::Check;
use crate::output::setting_words::origin_text;

/// Compares what this machine can enforce with the configured mode.
pub(crate) fn check(mode: &Sourced<SandboxMode>) -> Check {
    if mode.value == SandboxMode::Off {
        let said = format!("commands run outside a sandbox ({})", origin_text(&mode.origin));
        return Check::warn("sandbox", said, "set `mode = \"workspace\"` in the table [sandbox] of windlass.toml");
    }
    let Some(guard) = own_guard() else {
        return Check::fail("sandbox", "this program is not found again, so no command can be held");
    };
    let support = probe_support(&guard);
    if let Some(failure) = &support.failure {
        return Check::fail("sandbox", format!("it could not be tried, so no command runs: {failure}"));
    }
    let said = format!("{} ({}): {}", mode.value.as_str(), origin_text(&mode.origin), support.description());
    let gaps: Vec<String> = support.gaps().into_iter().map(|gap| format!("not enforced here: {gap}")).collect();
    let why = support.why.iter().map(|why| format!("because {why}"));
    let details: Vec<String> = gaps.into_iter().chain(why).collect();
    match (support.enforces_anything(), &support.isolation) {
        (true, _) if details.is_empty() => Check::ok("sandbox", said),
        (true, Isolation::Namespaces | Isolation::Bubblewrap(_) | Isolation::Seatbelt) => {
            Check::ok("sandbox", said).with(details)
        }
        (true, Isolation::Landlock) => {
            Check::warn("sandbox", said, "allow unprivileged user namespaces, or install bubblewrap").with(details)
        }
        (false, _) => {
            let advice = "use a kernel with Landlock (5.13 or later) or user namespaces, or install bubblewrap";
            Check::warn("sandbox", said, advice).with(details)
        }
    }
}
