//! The warning at the start of an unattended run on a machine that can't isolate its commands (X3). In an attended run
//! each question says so instead.

use windlass::own_guard;
use windlass_sandbox::{SandboxMode, SandboxSupport};
use windlass_tools::guard::probe_support;

/// Returns the warning, if one is needed.
pub(super) fn notice(mode: SandboxMode) -> Option<String> {
    // With Landlock there is some isolation; a full probe takes milliseconds, so it is done only without it.
    if mode == SandboxMode::Off || has_landlock() {
        return None;
    }
    own_guard().and_then(|guard| support_notice(&probe_support(&guard)))
}

#[cfg(target_os = "linux")]
fn has_landlock() -> bool {
    windlass_sandbox::has_landlock()
}

#[cfg(not(target_os = "linux"))]
fn has_landlock() -> bool {
    false
}

fn support_notice(support: &SandboxSupport) -> Option<String> {
    let why = support.why.iter().map(|why| format!(" ({why})")).collect::<String>();
    match &support.failure {
        Some(failure) => Some(format!(
            "no command is run: what the sandbox can do on this machine could not be tried ({failure}). See `windlass \
             doctor`, or say --sandbox off"
        )),
        None if support.enforces_anything() => None,
        None => Some(format!(
            "commands run without a sandbox: this kernel has neither namespaces nor Landlock to hold them{why}. They can \
             change and send whatever you can"
        )),
    }
}

#[cfg(test)]
mod tests {
    use windlass_sandbox::Isolation;

    use super::*;

    // proves X3
    #[test]
    fn a_machine_that_holds_nothing_is_told_and_one_that_does_is_not() {
        let none =
            SandboxSupport { isolation: Isolation::Landlock, landlock: 0, why: Some("EPERM".into()), failure: None };
        assert!(support_notice(&none).is_some_and(|said| said.contains("without a sandbox") && said.contains("EPERM")));
        let untried = SandboxSupport { failure: Some("no guard".into()), ..none.clone() };
        assert!(
            support_notice(&untried)
                .is_some_and(|said| said.contains("no command is run") && said.contains("no guard"))
        );
        assert_eq!(support_notice(&SandboxSupport { landlock: 1, ..none.clone() }), None);
        assert_eq!(support_notice(&SandboxSupport { isolation: Isolation::Namespaces, ..none }), None);
        assert_eq!(notice(SandboxMode::Off), None);
    }
}
