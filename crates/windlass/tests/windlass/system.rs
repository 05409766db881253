//! The system prompt of an agent.

use windlass::{Agent, Builder, Function};
use windlass_testkit::{ModelServer, Script, ScriptStep};

fn look() -> Function {
    Function::plain("look", "Looks around.", |(): ()| async { "fog" })
}

async fn prefix(with: impl FnOnce(Builder) -> Builder) -> String {
    let server = ModelServer::start(Script::of([ScriptStep::say("Aye.")])).expect("a server");
    let builder = Agent::builder().base_url(server.base_url()).model("scripted").in_memory();
    with(builder).build().expect("built").run("Hello.").await.expect("an answer");
    server.requests()[0].body["messages"][0]["content"].as_str().expect("text").to_owned()
}

// proves C1: the rules about files are in the prompt only if the agent has file tools
#[tokio::test]
async fn rules_about_files_are_told_only_where_file_tools_are_offered() {
    let dir = tempfile::tempdir().expect("a folder");
    let is_about_files = |text: &str| text.contains("file");
    let with_tool = prefix(|builder| builder.tool(look())).await;
    assert!(with_tool.contains("How to work") && !is_about_files(&with_tool), "{with_tool}");
    assert!(!with_tool.contains("workspace"), "{with_tool}");
    let with_files = prefix(|builder| builder.workspace(dir.path()).deny("run_command")).await;
    assert!(with_files.contains("Read a file before you change it") && with_files.contains("Your workspace is"));
}

// proves C1
#[tokio::test]
async fn the_program_s_own_words_are_all_there_is_where_no_tool_is_offered() {
    assert_eq!(prefix(|builder| builder.system("You are a parrot.")).await, "You are a parrot.");
    let with_tool = prefix(|builder| builder.system("You are a parrot.").tool(look())).await;
    assert!(with_tool.starts_with("You are a parrot.\n\nHow to work:"), "{with_tool}");
    assert!(!with_tool.contains("Windlass"), "{with_tool}");
}
