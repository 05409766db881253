//! Lists the files that instruct the agent, and what was left out of them.

use windlass_setup::context_files::{self, ContextFiles};
use windlass_setup::secrets::known_secrets;
use windlass_setup::settings::{Env, Settings};

use super::check::Check;

pub(crate) fn check(env: &Env, settings: &Settings) -> Check {
    let ContextFiles { user, project, skills, notices } =
        context_files::find(settings, env, &known_secrets(env, Some(settings)));
    let files: Vec<String> = user.iter().chain(&project.files).map(|file| file.path.clone()).collect();
    let used =
        if files.is_empty() { "no instructions".to_owned() } else { format!("instructions: {}", files.join(", ")) };
    let count = match skills.len() {
        0 => "no skills".to_owned(),
        1 => "1 skill".to_owned(),
        count => format!("{count} skills"),
    };
    let nested = project.nested.iter().map(|path| format!("instructions for their folder: {path}"));
    let skills = skills.iter().map(|skill| format!("skill {} ({})", skill.name, skill.folder.display()));
    let notices = notices.iter().map(ToString::to_string);
    Check::ok("context", format!("{used}; {count}")).with(nested.chain(skills).chain(notices).collect())
}
