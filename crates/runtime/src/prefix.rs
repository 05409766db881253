//! The static prefix of a run (C1): identity → the user's instructions → the project's (AGENTS.md) → loop rules → the
//! schema of the output → tool schemas and calling rules, where calls are text. Built once per run, recorded, and
//! byte-stable from turn to turn.

use std::path::{Path, PathBuf};

use windlass_tools::dialect::prompt;
use windlass_tools::{FileRules, Secrets, Workspace};
use windlass_vocab::{Dialect, EndsBy, RunStarted, ToolSpec};

const IDENTITY: &str = include_str!("prompts/identity.md");
const RULES: &str = include_str!("prompts/rules.md");
const RULES_WITHOUT_FILES: &str = include_str!("prompts/rules_without_files.md");
const WORKSPACE: &str = include_str!("prompts/workspace.md");
const ENDING: &str = include_str!("prompts/ending.md");
const OUTPUT: &str = include_str!("prompts/output.md");
/// The most bytes of a project's instructions that are included.
const PROJECT_LIMIT: usize = 64 * 1024;

/// Built-in tools that change files; those that only read them are marked with `reads_files`.
const CHANGE_FILES: &[&str] = &["local.write_file", "local.edit_file", "local.move_file", "local.run_command"];

/// The instructions before every conversation of an agent.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    /// The user's own instructions, in place of Windlass's default identity.
    pub system: Option<String>,
    /// The folder the tools work in; its AGENTS.md is read.
    pub workspace: Option<PathBuf>,
}

impl Instructions {
    /// Returns the prefix for a run. Where no tools are offered it has no rules about tools, and where no tool works
    /// with files none about files.
    pub(crate) fn prefix(
        &self,
        run: &RunStarted,
        offer: &[ToolSpec],
        dialect: Option<Dialect>,
        rules: &FileRules,
        secrets: &Secrets,
    ) -> String {
        let mut sections = vec![self.identity(&run.agent)];
        let project = self.workspace.as_deref().and_then(|folder| project_instructions(folder, rules, secrets));
        if let Some(project) = project {
            sections.push(format!("Instructions of this project (AGENTS.md):\n\n{project}"));
        }
        if !offer.is_empty() {
            let works_with_files = |tool: &ToolSpec| tool.reads_files || CHANGE_FILES.contains(&tool.name.as_str());
            let rules = if offer.iter().any(works_with_files) { RULES } else { RULES_WITHOUT_FILES };
            sections.push(rules.trim().to_owned());
            if run.policy.ends_by == EndsBy::EndingTool {
                sections.push(ENDING.trim().to_owned());
            }
        }
        if let Some(output) = &run.output {
            sections.push(format!("{}\n\n{}", OUTPUT.trim(), output.schema.as_str()));
        }
        sections.extend(dialect.and_then(|dialect| prompt(dialect, offer, run.policy.parallel.into())));
        sections.join("\n\n")
    }

    fn identity(&self, agent: &str) -> String {
        if let Some(system) = &self.system {
            return system.clone();
        }
        let identity = IDENTITY.trim().replace("{agent}", agent).replace("{platform}", std::env::consts::OS);
        match &self.workspace {
            Some(dir) => format!("{identity} {}", WORKSPACE.trim().replace("{workspace}", &dir.display().to_string())),
            None => identity,
        }
    }
}

fn project_instructions(workspace: &Path, rules: &FileRules, secrets: &Secrets) -> Option<String> {
    // One byte over the limit shows that there is more.
    let workspace = Workspace::open(workspace).ok()?.hiding(secrets.clone());
    let mut text = workspace.beginning("AGENTS.md", PROJECT_LIMIT as u64 + 1, rules)?;
    if text.len() > PROJECT_LIMIT {
        text.truncate(text.floor_char_boundary(PROJECT_LIMIT));
        text.push_str("\n[AGENTS.md is longer; the rest is left out]");
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use std::path::Path;
    use std::sync::Arc;

    use windlass_tools::{FileRules, Permissions, Rule, Secrets};

    use super::PROJECT_LIMIT;

    fn project_instructions(workspace: &Path, secrets: &Secrets) -> Option<String> {
        super::project_instructions(workspace, &FileRules::default(), secrets)
    }

    // proves X5: a file that must not be read does not reach the model by another path
    #[test]
    fn the_instructions_of_a_project_are_left_out_where_a_rule_forbids_reading_them() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("private")).expect("a folder");
        std::fs::write(dir.path().join("private/key"), "a treasure").expect("written");
        std::os::unix::fs::symlink("private/key", dir.path().join("AGENTS.md")).expect("a link");
        assert_eq!(project_instructions(dir.path(), &Secrets::default()).as_deref(), Some("a treasure"));
        for rule in ["read(AGENTS.md)", "read_file(private/)"] {
            let rules: Vec<Rule> = vec![rule.parse().expect("a rule")];
            let denied = Permissions { deny: rules.clone(), ..Permissions::default() };
            let asked = Permissions { ask: rules, ..Permissions::default() };
            for permissions in [denied, asked] {
                let rules = FileRules::of(Arc::new(permissions));
                assert_eq!(super::project_instructions(dir.path(), &rules, &Secrets::default()), None, "{rule}");
            }
        }
    }

    // proves C1
    #[test]
    fn the_instructions_of_a_project_are_read_up_to_the_limit() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(project_instructions(dir.path(), &Secrets::default()), None);
        std::fs::write(dir.path().join("AGENTS.md"), " Be brief.\n").expect("written");
        assert_eq!(project_instructions(dir.path(), &Secrets::default()).as_deref(), Some("Be brief."));
        let file = std::fs::File::create(dir.path().join("AGENTS.md")).expect("a file");
        // More than fits in memory; the sparse file takes no space on the disk.
        file.set_len(1 << 40).expect("lengthened");
        let text = project_instructions(dir.path(), &Secrets::default()).expect("the beginning");
        assert!(text.len() < PROJECT_LIMIT + 100 && text.ends_with("the rest is left out]"));
    }

    // proves T10
    #[test]
    fn the_instructions_of_a_project_are_a_file_of_the_workspace_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = dir.path().join("work");
        std::fs::create_dir(&workspace).expect("a folder");
        std::fs::write(dir.path().join("private"), "a treasure").expect("written");
        let agents = workspace.join("AGENTS.md");
        for target in [dir.path().join("private"), "../private".into(), "/dev/zero".into()] {
            std::os::unix::fs::symlink(&target, &agents).expect("a link");
            assert_eq!(project_instructions(&workspace, &Secrets::default()), None, "{}", target.display());
            std::fs::remove_file(&agents).expect("removed");
        }
        // Nobody writes to the pipe: an ordinary open would block forever.
        assert!(std::process::Command::new("mkfifo").arg(&agents).status().expect("run").success());
        assert_eq!(project_instructions(&workspace, &Secrets::default()), None);
    }
}
