//! The notices of a prepared run, in words.

use windlass_setup::models::ModelNotice;
use windlass_setup::run_setup::RunSetup;
use windlass_setup::secrets::scrubber;
use windlass_setup::settings::Settings;
use windlass_vocab::Attendance;

use super::unsandboxed;
use crate::output::setting_words::{model_notice, settings_notice};

/// Returns what is to be said of the settings, before anything is asked about what they name. `attendance` says whether a
/// person at the terminal can be asked.
pub(crate) fn settings_notices(settings: &Settings, attendance: Attendance) -> Vec<String> {
    let mut notices: Vec<String> = settings.notices.iter().map(settings_notice).collect();
    if attendance == Attendance::Unattended {
        notices.extend(unsandboxed::notice(settings.sandbox.mode.value));
    }
    notices
}

/// Returns what is to be said of the files that instruct the agent.
pub(crate) fn context_notices(setup: &RunSetup) -> Vec<String> {
    let secrets = scrubber(&setup.secrets);
    setup.context_files.notices.iter().map(|notice| secrets.scrub(&notice.to_string()).into_owned()).collect()
}

/// Returns what is to be said of the choice of the model.
pub(crate) fn model_notices(notices: &[ModelNotice], attendance: Attendance) -> Vec<String> {
    notices.iter().filter(|notice| is_due(notice, attendance)).map(model_notice).collect()
}

/// A suggestion is for somebody who can follow it: a job without a person is left as it is, and as silent.
fn is_due(notice: &ModelNotice, attendance: Attendance) -> bool {
    match notice {
        ModelNotice::BetterPreset { .. } => attendance == Attendance::Attended,
        ModelNotice::Picked(_)
        | ModelNotice::Found(_)
        | ModelNotice::NotUsed { .. }
        | ModelNotice::NoModelHere { .. }
        | ModelNotice::UnreadableMemory(_) => true,
    }
}
