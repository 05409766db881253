//! Options before a command mean the same as after it: `windlass --model NAME run "…"`.

use super::common::{CommonFlags, RuleFlags};
use super::{ChatArgs, Cli, CliCommand};

/// Error: the options before a command include one that it does not take.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MisplacedOptions;

impl Cli {
    /// Moves the options before the command into the command's own.
    pub(crate) fn joined(mut self) -> Result<Self, MisplacedOptions> {
        let Some(command) = &mut self.command else { return Ok(self) };
        let mut before = std::mem::take(&mut self.chat);
        match command {
            CliCommand::Run(run) => {
                // Each of the two selects the session, so one after the command replaces any before it.
                let (session, continue_last) = (before.session.take(), std::mem::take(&mut before.continue_last));
                if run.session.is_none() && !run.continue_last {
                    (run.session, run.continue_last) = (session, continue_last);
                }
                run.rules.join(std::mem::take(&mut before.rules));
                run.common.join(std::mem::take(&mut before.common));
            }
            CliCommand::Chat(chat) => chat.join(std::mem::take(&mut before)),
            CliCommand::Retry(retry) => {
                retry.rules.join(std::mem::take(&mut before.rules));
                retry.common.join(std::mem::take(&mut before.common));
            }
            CliCommand::Serve(serve) => {
                serve.rules.join(std::mem::take(&mut before.rules));
                serve.common.join(std::mem::take(&mut before.common));
            }
            CliCommand::Open(open) => {
                open.rules.join(std::mem::take(&mut before.rules));
                open.common.join(std::mem::take(&mut before.common));
            }
            CliCommand::McpServe(serve) => {
                serve.rules.join(std::mem::take(&mut before.rules));
                serve.common.join(std::mem::take(&mut before.common));
            }
            // A resumed run keeps its settings.
            CliCommand::Resume(resume) => resume.common.join(std::mem::take(&mut before.common)),
            CliCommand::Sessions { .. }
            | CliCommand::Stop(_)
            | CliCommand::Answer(_)
            | CliCommand::Follow(_)
            | CliCommand::Attach(_)
            | CliCommand::Fork(_)
            | CliCommand::Replay(_)
            | CliCommand::Backup(_)
            | CliCommand::Mcp(_)
            | CliCommand::Undo(_)
            | CliCommand::Audit(_)
            | CliCommand::Usage(_)
            | CliCommand::Users(_)
            | CliCommand::Demo(_)
            | CliCommand::Doctor(_)
            | CliCommand::Models(_)
            | CliCommand::Trust(_)
            | CliCommand::Sandbox(_)
            | CliCommand::Init(_)
            | CliCommand::Completions(_)
            | CliCommand::Man(_) => {}
        }
        if before == ChatArgs::default() { Ok(self) } else { Err(MisplacedOptions) }
    }
}

impl ChatArgs {
    /// Takes over the options before the command that are not repeated after it.
    fn join(&mut self, before: Self) {
        let Self { continue_last, resume, session, rules, common } = before;
        // Each of the three selects the session, so one after the command replaces any before it.
        if !self.continue_last && self.resume.is_none() && self.session.is_none() {
            (self.continue_last, self.resume, self.session) = (continue_last, resume, session);
        }
        self.rules.join(rules);
        self.common.join(common);
    }
}

impl RuleFlags {
    /// Takes over the options before the command that are not repeated after it; lists are joined.
    fn join(&mut self, before: Self) {
        let Self { preset, system, plan, max_turns, max_cost, max_run_tokens, dialect, tags } = before;
        self.preset = self.preset.take().or(preset);
        self.system = self.system.take().or(system);
        self.plan |= plan;
        self.max_turns = self.max_turns.or(max_turns);
        self.max_cost = self.max_cost.or(max_cost);
        self.max_run_tokens = self.max_run_tokens.or(max_run_tokens);
        self.dialect.splice(..0, dialect);
        self.tags.splice(..0, tags);
    }
}

impl CommonFlags {
    /// Takes over the options before the command that are not repeated after it; lists are joined.
    fn join(&mut self, before: Self) {
        let Self {
            model,
            agent,
            base_url,
            workspace,
            deadline,
            allow,
            deny,
            fetch_private,
            mcp_config,
            mode,
            sandbox,
            json,
            durability,
        } = before;
        self.model = self.model.take().or(model);
        self.agent = self.agent.take().or(agent);
        self.base_url = self.base_url.take().or(base_url);
        self.workspace = self.workspace.take().or(workspace);
        self.deadline = self.deadline.or(deadline);
        self.allow.splice(..0, allow);
        self.deny.splice(..0, deny);
        self.fetch_private.splice(..0, fetch_private);
        self.mcp_config.splice(..0, mcp_config);
        self.mode = self.mode.or(mode);
        self.sandbox = self.sandbox.or(sandbox);
        self.json |= json;
        self.durability = self.durability.or(durability);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::MisplacedOptions;
    use crate::args::{ChatArgs, Cli, CliCommand};

    fn joined(line: &[&str]) -> Result<Cli, MisplacedOptions> {
        Cli::try_parse_from([&["windlass"], line].concat()).expect("it parses").joined()
    }

    // proves W2: an option means the same before and after the command
    #[test]
    fn options_before_a_command_are_those_of_the_command() {
        let options = [
            "--session",
            "s",
            "--model",
            "m",
            "--agent",
            "r",
            "--base-url",
            "http://h/v1",
            "--preset",
            "task",
            "--workspace",
            "/w",
            "--max-turns",
            "7",
            "--max-cost",
            "0.5",
            "--max-run-tokens",
            "9000",
            "--dialect",
            "bracket",
            "--tag",
            "t",
            "--deadline",
            "1h",
            "--allow",
            "a",
            "--deny",
            "c",
            "--fetch-private",
            "h",
            "--mcp-config",
            "f",
            "--mode",
            "strict",
            "--sandbox",
            "off",
            "--json",
            "--durability",
            "normal",
        ];
        let before = joined(&[&options, &["run", "go"][..]].concat()).expect("it is taken");
        let after = joined(&[&["run", "go"], &options[..]].concat()).expect("it is taken");
        let run = |cli: Cli| match cli.command {
            Some(CliCommand::Run(run)) => (run.prompt, run.session, run.rules, run.common, cli.chat),
            other => panic!("{other:?}"),
        };
        let before = run(before);
        assert_eq!(before.4, ChatArgs::default());
        assert_eq!(before, run(after));
    }

    // proves W2
    #[test]
    fn what_stands_after_the_command_wins_and_lists_are_joined() {
        let line = ["--model", "a", "--allow", "x", "run", "go", "--model", "b", "--allow", "y"];
        let Some(CliCommand::Run(run)) = joined(&line).expect("it is taken").command else { panic!("not run") };
        assert_eq!((run.common.model.as_deref(), run.common.allow), (Some("b"), vec!["x".to_owned(), "y".into()]));
    }

    // proves W2
    #[test]
    fn the_session_of_a_chat_may_be_named_before_it() {
        let chat = |line: &[&str]| match joined(line).expect("it is taken").command {
            Some(CliCommand::Chat(chat)) => chat,
            other => panic!("{other:?}"),
        };
        for options in [&["--session", "s"][..], &["-c"], &["-r", "s"]] {
            let before = chat(&[options, &["chat"]].concat());
            assert_eq!(before, chat(&[&["chat"], options].concat()), "{options:?}");
            assert_ne!(before, ChatArgs::default(), "{options:?}");
        }
        assert_eq!(chat(&["-c", "chat", "-r", "s"]), chat(&["chat", "-r", "s"]), "what stands after the command wins");
    }

    #[test]
    fn what_a_command_does_not_take_is_refused_before_it_too() {
        for line in [
            &["--model", "m", "sessions", "list"][..],
            &["--preset", "task", "resume"],
            &["-r", "s", "run", "go"],
            &["--session", "s", "retry"],
        ] {
            assert_eq!(joined(line).err(), Some(MisplacedOptions), "{line:?}");
        }
        assert!(joined(&["-c", "--model", "m"]).expect("the chat takes them").chat.continue_last);
    }
}
