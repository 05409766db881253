//! The system prompt of an agent.

use windlass::{Agent, Builder, Function};
use windlass_testkit::{AfterSteps, ModelServer, Scene, Script, ScriptStep};

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

// proves M8, W1: a server on this machine is asked what its model can do
#[tokio::test]
async fn a_local_model_that_can_not_call_tools_is_told_how_to_write_calls() {
    let list = serde_json::json!({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "llamacpp"}]});
    let caps = serde_json::json!({"supports_tools": false, "supports_tool_calls": false});
    let props = serde_json::json!({"default_generation_settings": {"n_ctx": 8192}, "chat_template_caps": caps});
    let script = Script::of([ScriptStep::say("Aye.")]).answering("/v1/models", list).answering("/props", props);
    let server = ModelServer::start(script).expect("a server");
    let builder = Agent::builder().base_url(server.base_url()).model("m").in_memory().tool(look());
    builder.build().expect("built").run("Hello.").await.expect("an answer");
    let request = &server.requests()[0].body;
    assert!(request["tools"].is_null(), "{request}");
    assert!(request["messages"][0]["content"].as_str().is_some_and(|text| text.contains("look")), "{request}");
}

// proves C2: the session's own counts more than the configured one, also with an agent that is built without it
#[tokio::test]
async fn a_session_keeps_its_own_system_prompt() {
    let dir = tempfile::tempdir().expect("a folder");
    let in_session = |with: fn(Builder) -> Builder| {
        let dir = dir.path().to_owned();
        async move {
            let scene =
                Scene { steps: vec![ScriptStep::say("Aye.")], then: AfterSteps::RepeatLast, ..Scene::default() };
            let server = ModelServer::start(Script::default().scene(scene)).expect("a server");
            let builder = Agent::builder().base_url(server.base_url()).model("scripted").data_dir(dir);
            let agent = with(builder).build().expect("built");
            agent.session("s").run("Hello.").await.expect("an answer");
            server.requests()[0].body["messages"][0]["content"].as_str().expect("text").to_owned()
        }
    };
    assert_eq!(in_session(|builder| builder.system("You are a parrot.")).await, "You are a parrot.");
    let given = in_session(|builder| builder.system("You are a parrot.").session_system("You are a cook.")).await;
    assert_eq!(given, "You are a cook.");
    assert_eq!(in_session(|builder| builder.system("You are a parrot.")).await, "You are a cook.");
    assert_eq!(in_session(|builder| builder.session_system("You are a mate.")).await, "You are a mate.");
    assert_eq!(in_session(|builder| builder).await, "You are a mate.");
}
