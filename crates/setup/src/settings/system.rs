//! The system prompt (C2), and whether the project's own instructions are used.

use super::agents;
use super::error::SettingsError;
use super::origin::{SettingOrigin, Sourced};
use super::sources::Sources;

/// Returns who the agent is and what it is for: the flag, or else the project's file, or else the person's; what a file
/// says is followed by what the chosen agent adds.
pub(super) fn system(sources: &Sources) -> Result<Option<Sourced<String>>, SettingsError> {
    if let Some(given) = Sourced::flag("system", sources.flags.system.clone()) {
        return not_empty(given).map(Some);
    }
    let configured = sources.in_files(|file| file.sourced(&file.settings.system)).map(not_empty).transpose()?;
    let of_agent = agents::chosen(sources)?.system.map(not_empty).transpose()?;
    Ok(match (configured, of_agent) {
        (Some(configured), Some(added)) => {
            Some(Sourced::new(format!("{}\n\n{}", configured.value.trim_end(), added.value), added.origin))
        }
        (configured, added) => configured.or(added),
    })
}

fn not_empty(system: Sourced<String>) -> Result<Sourced<String>, SettingsError> {
    if system.value.trim().is_empty() {
        let problem = "the system prompt is empty; leave it out for the default one";
        return Err(SettingsError::wrong(system.origin, problem));
    }
    Ok(system)
}

/// Returns whether the project's instructions are used; they are unless a file says no.
pub(super) fn project_instructions(sources: &Sources) -> Sourced<bool> {
    let in_files = sources.in_files(|file| file.sourced(&file.settings.project_instructions));
    in_files.unwrap_or_else(|| Sourced::new(true, SettingOrigin::Default))
}

#[cfg(test)]
mod tests {
    use super::super::tests::SettingsFixture;

    // proves C2, X2
    #[test]
    fn the_system_prompt_is_the_flag_else_a_trusted_project_s_else_the_person_s() {
        let system = |given: &SettingsFixture| given.settings().system.map(|system| system.value).unwrap_or_default();
        assert_eq!(system(&SettingsFixture::usable()), "");
        let given = SettingsFixture::usable().user("system = 'You are a mate.'").project("system = 'You are a thief.'");
        assert_eq!(system(&given), "You are a mate.", "the project is not trusted");
        let notices = given.settings().notices;
        assert!(notices.len() == 1 && notices[0].to_string().contains("a system prompt"), "{notices:?}");
        assert_eq!(given.needing_trust(), ["/p/windlass.toml:1:10: a system prompt"]);
        let given = given.flags(|flags| flags.system = Some("You are a cook.".into()));
        assert_eq!((system(&given).as_str(), given.settings().notices.len()), ("You are a cook.", 0));
        let given = SettingsFixture::usable().project("system = 'You are a pilot.'").trusted();
        assert_eq!(system(&given), "You are a pilot.");
        let empty = SettingsFixture::usable().user("system = ' '").error();
        assert!(
            empty.ends_with("windlass.toml:1:10: the system prompt is empty; leave it out for the default one"),
            "{empty}"
        );
    }

    // proves X2
    #[test]
    fn a_project_can_t_turn_its_instructions_on_where_the_person_turned_them_off() {
        let used = |given: &SettingsFixture| given.settings().project_instructions.value;
        assert!(used(&SettingsFixture::usable()));
        assert!(!used(&SettingsFixture::usable().project("project_instructions = false")));
        let given =
            SettingsFixture::usable().user("project_instructions = false").project("project_instructions = true");
        assert!(!used(&given));
        assert!(used(&given.trusted()));
    }
}
