use std::path::PathBuf;
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};
use windlass_setup::settings::{DurabilitySetting, ModeSetting};

use super::{AnswerChoice, Cli, CliCommand, McpCommand, SessionsCommand};

fn parse(line: &[&str]) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(std::iter::once("windlass").chain(line.iter().copied()))
}

fn refusal(line: &[&str]) -> String {
    let error = parse(line).expect_err("the line should be refused");
    assert_eq!(error.exit_code(), 2, "{error}");
    error.to_string()
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

const RULE: &str = "what is said of a command stands at its variant. A doc comment at the struct or enum of its \
                    arguments would take its place (see `CliCommand`): make that a plain comment, `//`";

// Subcommands are built lazily (`defer`), but their descriptions must be known before that.
#[test]
fn a_command_says_of_itself_what_is_said_of_it_in_the_list() {
    let servers = McpCommand::augment_subcommands(clap::Command::new("mcp"));
    let sessions = SessionsCommand::augment_subcommands(clap::Command::new("sessions"));
    for listed in [Cli::command(), servers, sessions] {
        let mut whole = listed.clone();
        whole.build();
        for command in listed.get_subcommands() {
            let itself = whole.find_subcommand(command.get_name()).expect("it is there");
            let said = |command: &clap::Command| {
                let texts = [command.get_about(), command.get_long_about(), command.get_after_help()];
                texts.map(|text| text.map(ToString::to_string))
            };
            let name = command.get_name();
            assert_eq!(said(itself), said(command), "`{name}`: {RULE}");
        }
    }
}

#[test]
fn run_takes_everything_the_contract_names() {
    let cli = parse(&[
        "run",
        "do it",
        "--session",
        "notes",
        "--message-id",
        "42",
        "--model",
        "m",
        "--base-url",
        "http://h/v1",
        "--preset",
        "task",
        "--workspace",
        "/w",
        "--data-dir",
        "/d",
        "--max-turns",
        "7",
        "--deadline",
        "1h30m",
        "--allow",
        "a",
        "--allow",
        "b",
        "--deny",
        "c",
        "--mode",
        "strict",
        "--json",
        "--durability",
        "normal",
    ]);
    let cli = cli.expect("it parses");
    assert_eq!(cli.data_dir, Some(PathBuf::from("/d")));
    let Some(CliCommand::Run(run)) = cli.command else { panic!("not run") };
    assert_eq!((run.prompt.as_deref(), run.session.as_deref()), (Some("do it"), Some("notes")));
    assert_eq!((run.message_id.as_deref(), run.rules.preset.as_deref()), (Some("42"), Some("task")));
    assert_eq!((run.rules.max_turns, run.common.deadline), (Some(7), Some(Duration::from_secs(5400))));
    assert_eq!((run.common.allow, run.common.deny), (vec!["a".to_owned(), "b".into()], vec!["c".to_owned()]));
    assert_eq!((run.common.mode, run.common.durability), (Some(ModeSetting::Strict), Some(DurabilitySetting::Normal)));
    assert!(run.common.json);
}

#[test]
fn a_dash_is_a_prompt_and_the_data_dir_may_stand_before_the_command() {
    let cli = parse(&["--data-dir", "/d", "run", "-"]).expect("it parses");
    assert_eq!(cli.data_dir, Some(PathBuf::from("/d")));
    assert!(matches!(cli.command, Some(CliCommand::Run(run)) if run.prompt.as_deref() == Some("-")));
}

#[test]
fn a_prompt_may_begin_with_a_dash_after_two_dashes() {
    let cli = parse(&["run", "--", "--explain this flag"]).expect("it parses");
    assert!(matches!(cli.command, Some(CliCommand::Run(run)) if run.prompt.as_deref() == Some("--explain this flag")));
}

#[test]
fn sessions_resume_and_retry_parse() {
    let sessions = |line: &[&str]| match parse(line).expect("it parses").command {
        Some(CliCommand::Sessions { command }) => command.expect("a command"),
        other => panic!("{other:?}"),
    };
    let alone = parse(&["sessions"]).expect("it parses").command;
    assert!(matches!(alone, Some(CliCommand::Sessions { command: None })), "it lists them");
    assert!(matches!(sessions(&["sessions", "list"]), SessionsCommand::List(args) if !args.all));
    let listed = sessions(&["sessions", "list", "--archived", "--search", "a b"]);
    assert!(matches!(listed, SessionsCommand::List(args) if args.archived && args.search.as_deref() == Some("a b")));
    assert!(matches!(sessions(&["sessions", "pin", "k"]), SessionsCommand::Pin(args) if args.key == "k"));
    assert!(matches!(sessions(&["sessions", "show", "k"]), SessionsCommand::Show { key } if key == "k"));
    assert!(matches!(sessions(&["sessions", "export", "k", "-o", "f"]),
        SessionsCommand::Export { output: Some(file), .. } if file.as_os_str() == "f"));
    for flag in ["--as", "--key"] {
        assert!(matches!(sessions(&["sessions", "import", "f", flag, "k"]),
            SessionsCommand::Import { key: Some(key), .. } if key == "k"));
        let cli = parse(&["fork", "notes", flag, "k"]).expect("it parses");
        assert!(matches!(cli.command, Some(CliCommand::Fork(args)) if args.new_key.as_deref() == Some("k")));
    }
    assert!(matches!(sessions(&["sessions", "verify"]), SessionsCommand::Verify { key: None }));
    assert!(matches!(sessions(&["sessions", "rm", "k"]), SessionsCommand::Rm { .. }));
    let cli = parse(&["resume", "--answer", "run-again"]).expect("it parses");
    assert!(matches!(cli.command, Some(CliCommand::Resume(args))
        if args.key.is_none() && args.answer == Some(AnswerChoice::RunAgain)));
    let cli = parse(&["retry", "k", "--max-turns", "3"]).expect("it parses");
    assert!(matches!(cli.command, Some(CliCommand::Retry(args)) if args.rules.max_turns == Some(3)));
}

// proves W2: `windlass` alone is the chat
#[test]
fn nothing_and_chat_open_the_chat_with_the_same_options() {
    let options = ["--resume", "k", "--model", "m", "--preset", "task", "--allow", "read_file"];
    let bare = parse(&options).expect("it parses");
    let named = parse(&[&["chat"], &options[..]].concat()).expect("it parses");
    assert!(bare.command.is_none() && bare.chat.resume.as_deref() == Some("k"));
    assert!(matches!(named.command, Some(CliCommand::Chat(chat)) if chat == bare.chat));
    assert!(parse(&["-c"]).expect("it parses").chat.continue_last);
    for line in [&["-c", "-r", "k"][..], &["-c", "--session", "k"], &["-r", "k", "--session", "k"]] {
        refusal(line);
    }
}

#[test]
fn wrong_use_is_refused_with_a_reason() {
    assert!(refusal(&["run", "x", "--workspcae", "w"]).contains("--workspace"), "a near name is offered");
    assert!(refusal(&["run", "x", "--deadline", "30"]).contains("30s"));
    assert!(refusal(&["run", "x", "--max-turns", "0"]).contains("--max-turns"));
    assert!(refusal(&["run", "x", "--mode", "yolo"]).contains("bypass"));
    assert!(refusal(&["run", "x", "--session", ""]).contains("empty"));
    assert!(refusal(&["run", "x", "--session", "a\u{1b}b"]).contains("control character"));
    assert!(refusal(&["run", "x", "--session", "a\u{202e}b"]).contains("direction of text"));
    assert!(refusal(&["run", "x", "--session", "a\u{200b}b"]).contains("can't be seen"));
    assert!(refusal(&["run", "x", "--message-id", &"k".repeat(201)]).contains("200"));
    assert!(refusal(&["resume", "--preset", "task"]).contains("--preset"), "a resumed run keeps its rules");
    refusal(&["run", "two", "prompts"]);
    refusal(&["sessions", "nonsense"]);
}

#[test]
fn the_help_names_every_preset() {
    let mut cli = Cli::command();
    let help = cli.find_subcommand_mut("run").expect("run").render_help().to_string();
    for preset in windlass_machine::PRESETS {
        assert!(help.contains(preset), "{preset}");
    }
}

#[test]
fn a_command_for_the_sandbox_needs_no_dashes_before_it() {
    for line in [
        &["sandbox", "--network", "git", "log", "-n", "1", "--stat"][..],
        &["sandbox", "--network", "--", "git", "log", "-n", "1", "--stat"],
    ] {
        let Some(CliCommand::Sandbox(args)) = parse(line).expect("it parses").command else { panic!("{line:?}") };
        assert_eq!((args.network, args.command.join(" ").as_str()), (true, "git log -n 1 --stat"), "{line:?}");
    }
    assert!(parse(&["sandbox", "--netwrok", "git"]).is_err());
    assert!(parse(&["sandbox"]).is_err());
}
