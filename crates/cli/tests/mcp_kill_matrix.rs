//! The kill matrix with an MCP server, on the real binary: SIGKILL around every journal write of a run that calls a
//! server's tools, during a call of each effect class, and during a wait for a server whose tools are not known
//! yet; and how such waits are reported. The server is this program, started again; it counts every call on disk
//! with its idempotency key.

// Without /proc the tests can't look for surviving processes.
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, clippy::panic)]

mod support;

use std::path::PathBuf;
use std::process::{Child, ExitCode};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use serde_json::{Value, json};
use support::deaths::{Death, Fates, Person, Rules, Seen, Undisturbed};
use support::{Bench, Ran, count, script_under, writes};
use windlass_testkit::mcp::{FakeTool, McpDiary, McpScript, ToolAction, run_mcp_fake};
use windlass_testkit::{KillTarget, Script, ScriptStep, count_ways_to_die};

/// The `_meta` key under which a call carries its effect id (J4).
const KEY: &str = "windlass/effect-id";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("fake") {
        let script = McpScript::parse(&arguments.next().unwrap_or_default()).expect("a script");
        return run_mcp_fake(&script);
    }
    libtest_mimic::run(&Arguments::from_args(), trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    let named =
        |what: &str, preset: &str| format!("the_kill_matrix_with_an_mcp_{what}_for_{}", preset.replace('-', "_"));
    // One preset for each way to settle an interrupted call.
    let whole = ["default", "durable-chat", "operator"].map(|preset| {
        Trial::test(named("server", preset), move || {
            matrix(preset);
            Ok(())
        })
    });
    let in_flight = ["default", "durable-chat", "local-model", "assistant", "operator", "task"].map(|preset| {
        Trial::test(named("call_in_flight", preset), move || {
            CLASSES.into_iter().for_each(|class| in_flight(preset, class));
            let matrix = format!("{preset}, an MCP call in flight");
            count_ways_to_die(KillTarget::Binary, &matrix, CLASSES.len()).expect("as stated");
            Ok(())
        })
    });
    let late = [
        ("the_kill_matrix_with_an_mcp_server_that_is_waited_for_in_durable_chat", waited_for_matrix as fn()),
        ("a_wait_for_servers_that_was_killed_really_waits_after_the_resume", killed_in_a_wait),
        ("a_preset_with_nothing_but_server_tools_waits_for_them_before_its_first_turn", first_turn_waits),
        ("a_server_that_keeps_a_script_waiting_is_named_with_its_limit", waits_are_said),
    ];
    let late = late.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    whole.into_iter().chain(in_flight).chain(late).collect()
}

/// Whether a tool may run twice, according to its annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    ReadOnly,
    Idempotent,
    Once,
}

const CLASSES: [Class; 3] = [Class::ReadOnly, Class::Idempotent, Class::Once];

impl Class {
    fn tool(self) -> &'static str {
        match self {
            Self::ReadOnly => "read",
            Self::Idempotent => "set",
            Self::Once => "pay",
        }
    }

    fn annotations(self) -> Value {
        match self {
            Self::ReadOnly => json!({"readOnlyHint": true}),
            Self::Idempotent => json!({"readOnlyHint": false, "idempotentHint": true}),
            Self::Once => json!({"readOnlyHint": false, "idempotentHint": false}),
        }
    }
}

/// What a preset does with an interrupted call of class `Once` when nobody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settles {
    RunsAgain,
    Interrupts,
    Asks,
}

fn settles(preset: &str) -> Settles {
    match preset {
        "durable-chat" => Settles::RunsAgain,
        "task" | "operator" => Settles::Asks,
        _ => Settles::Interrupts,
    }
}

/// A bench with an MCP server. [`Served::new`] connects to it once, so that its tools are known.
struct Served {
    bench: Bench,
    config: PathBuf,
}

impl Served {
    fn new(script: Script, does: &ToolAction) -> Self {
        let served = Self::unmet(script, does);
        served.open_gate();
        let met = served.run(&["mcp", "test", "fake"], &[]);
        assert_eq!(met.code, 0, "{}{}", met.stdout, met.stderr);
        served
    }

    /// A bench with a server that was never connected to, and that starts only once its gate is open.
    fn unmet(script: Script, does: &ToolAction) -> Self {
        let bench = Bench::new(script);
        let tools = CLASSES.map(|class| FakeTool::new(class.tool(), does.clone()).annotated(class.annotations()));
        let fake = McpScript { diary: Some(bench.dir.path().join("diary")), ..McpScript::with(tools) };
        let program = std::env::current_exe().expect("this program");
        let gate = "until [ -e \"$0\" ]; do sleep 0.05; done; exec \"$@\"";
        let gated = json!(["-c", gate, bench.dir.path().join("gate"), program, "fake", fake.to_json()]);
        let servers = json!({"mcpServers": {"fake": {"command": "sh", "args": gated}}});
        let config = bench.dir.path().join("servers.json");
        std::fs::write(&config, servers.to_string()).expect("written");
        Self { bench, config }
    }

    fn open_gate(&self) {
        std::fs::write(self.bench.dir.path().join("gate"), "").expect("written");
    }

    /// Writes the user's settings file.
    fn set(&self, toml: &str) {
        let folder = self.bench.dir.path().join(".config/windlass");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("windlass.toml"), toml).expect("written");
    }

    fn line<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        [words, &["--mcp-config", self.config.to_str().expect("a path")]].concat()
    }

    fn run(&self, words: &[&str], environment: &[(&str, &str)]) -> Ran {
        self.bench.run_with(&self.line(words), environment)
    }

    fn diary(&self) -> McpDiary {
        McpDiary::at(&self.bench.dir.path().join("diary"))
    }

    /// The idempotency keys of the calls that arrived, in order.
    fn keys(&self, context: &str) -> Vec<String> {
        let key = |meta: &Value| meta[KEY].as_str().map(str::to_owned);
        let calls = self.diary().calls().into_iter();
        calls.map(|call| key(&call.meta).unwrap_or_else(|| panic!("{context}: without its key: {call:?}"))).collect()
    }

    /// How often each call of the server's tools has taken place. A key ends in the id of the call.
    fn seen(&self, undisturbed: &Undisturbed, context: &str) -> Seen {
        let keys = self.keys(context);
        let times = |call: &str| keys.iter().filter(|key| key.ends_with(&format!(":{call}"))).count();
        let of_server = undisturbed.courses().iter().filter(|course| course.tool.starts_with("fake."));
        of_server.map(|course| (course.call.clone(), times(&course.call))).collect()
    }

    fn wait_for_call(&self, child: &mut Child) {
        let begun = Instant::now();
        while self.diary().calls().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no call arrived");
            assert!(child.try_wait().expect("waited").is_none(), "the process ended before the call");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn assert_nothing_survives(&self, context: &str) {
        self.bench.assert_nothing_survives(context);
        assert_eq!(self.diary().survivors(), Vec::<u32>::new(), "{context}");
    }
}

fn wire(class: Class) -> String {
    format!("fake__{}", class.tool())
}

fn last(preset: &str) -> ScriptStep {
    match preset {
        "task" => ScriptStep::call("task_completion", json!({ "result": "All done." })),
        _ => ScriptStep::say("All done."),
    }
}

fn line(preset: &str) -> Vec<&str> {
    vec!["run", "go", "--preset", preset, "--session", "s", "--message-id", "m", "--mode", "bypass"]
}

/// A script with every class: two calls in one reply and one alone.
fn script(preset: &str) -> Script {
    let steps = [
        ScriptStep::call(&wire(Class::ReadOnly), json!({"n": 1})).and_call(&wire(Class::Idempotent), json!({"n": 2})),
        ScriptStep::call(&wire(Class::Once), json!({"n": 3})),
        last(preset),
    ];
    script_under(preset, steps)
}

/// Resumes the run to its end; answers a question about an interrupted call with "run it again".
fn recover(served: &Served, preset: &str, context: &str) -> Ran {
    let ran = served.run(&line(preset), &[]);
    if ran.code != 6 {
        return ran;
    }
    assert_eq!(settles(preset), Settles::Asks, "{context}: nobody is asked here: {}", ran.stderr);
    served.run(&["resume", "s", "--answer", "run-again", "--mode", "bypass"], &[])
}

// proves J3, J4, J2, P3
fn matrix(preset: &str) {
    let first = Served::new(script(preset), &ToolAction::Echo);
    let ran = first.run(&line(preset), &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{preset}: {}", ran.stderr);
    first.assert_nothing_survives(preset);
    let undisturbed = Undisturbed::of(&first.bench, Rules::of(preset, Person::Away));
    let once: Vec<usize> = first.seen(&undisturbed, preset).into_values().collect();
    assert_eq!(once, [1, 1, 1], "{preset}");
    let deaths = undisturbed.deaths();
    deaths.iter().for_each(|death| killed(preset, &undisturbed, *death));
    let matrix = format!("{preset}, with an MCP server");
    count_ways_to_die(KillTarget::Binary, &matrix, deaths.len()).expect("as stated");
}

/// Kills a run at this point, and asserts that the resumed run ends exactly as it must.
fn killed(preset: &str, undisturbed: &Undisturbed, death: Death) {
    let context = format!("{preset}, killed {death}");
    let served = Served::new(script(preset), &ToolAction::Echo);
    let died = served.run(&line(preset), &[("WINDLASS_TEST_DIE", &death.to_string())]);
    assert_eq!(died.code, -9, "{context}: {}", died.stderr);
    served.assert_nothing_survives(&context);
    let at_death = served.seen(undisturbed, &context);
    let ran = recover(&served, preset, &context);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{context}: {}", ran.stderr);
    let journal = served.bench.journal("s");
    let expected = undisturbed.fates(death, &journal, &at_death, &context);
    let seen = served.seen(undisturbed, &context);
    assert_eq!(served.keys(&context).len(), seen.values().sum::<usize>(), "{context}: one key for all tries");
    assert_eq!(Fates::read(&journal, &seen), expected, "{context}: what became of each call");
    assert_eq!(count(&journal, "QuestionAsked"), expected.questions(), "{context}");
    assert_eq!((count(&journal, "MessageAccepted"), count(&journal, "RunEnded")), (1, 1), "{context}");
    assert_eq!(served.bench.server.count(), undisturbed.requests_after(death), "{context}: requests");
    served.assert_nothing_survives(&context);
    served.bench.assert_whole(&context);
}

/// Kills the process while the server works on the call, which it has counted.
// proves J4, T7, P3
fn in_flight(preset: &str, class: Class) {
    let context = format!("{preset}, {class:?} in flight");
    let script = script_under(preset, [ScriptStep::call(&wire(class), json!({"n": 1})), last(preset)]);
    let served = Served::new(script, &ToolAction::NeverAtFirst);
    let mut child = served.bench.spawn(&served.line(&line(preset)));
    served.wait_for_call(&mut child);
    child.kill().expect("killed");
    child.wait().expect("waited");
    served.assert_nothing_survives(&context);
    let ran = recover(&served, preset, &context);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{context}: {}", ran.stderr);
    let (times, outcome) = match (class, settles(preset)) {
        (Class::Once, Settles::Interrupts) => (1, "interrupted"),
        (Class::ReadOnly | Class::Idempotent, _) | (Class::Once, Settles::RunsAgain | Settles::Asks) => (2, "ok"),
    };
    let keys = served.keys(&context);
    assert_eq!(keys.len(), times, "{context}: {keys:?}");
    assert!(keys.iter().all(|key| *key == keys[0]), "{context}: one key for all tries: {keys:?}");
    let journal = served.bench.journal("s");
    let asked = usize::from(class == Class::Once && settles(preset) == Settles::Asks);
    assert_eq!(count(&journal, "QuestionAsked"), asked, "{context}");
    let finished = journal.iter().find(|record| record["kind"] == "CallFinished").expect("a result");
    assert_eq!(finished["body"]["outcome"], outcome, "{context}");
    served.assert_nothing_survives(&context);
    served.bench.assert_whole(&context);
}

/// A script whose model waits for its tools.
fn waiting_script() -> Script {
    let calls =
        [ScriptStep::call("wait_for_servers", json!({})), ScriptStep::call(&wire(Class::ReadOnly), json!({"n": 1}))];
    Script::of(calls.into_iter().chain([last("durable-chat")]))
}

/// No wait before the first turn: the model calls `wait_for_servers` itself.
const NO_WAIT: &str = "[policy]\nserver_wait_ms = 0\n";

/// Kills the process around every write of a run whose server was never connected to.
// proves J3, P2, L1
fn waited_for_matrix() {
    let unmet = || {
        let served = Served::unmet(waiting_script(), &ToolAction::Echo);
        served.set(NO_WAIT);
        served.open_gate();
        served
    };
    let undisturbed = unmet();
    let ran = undisturbed.run(&line("durable-chat"), &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{}", ran.stderr);
    assert_eq!(undisturbed.keys("undisturbed").len(), 1);
    let writes = writes(undisturbed.bench.journal("s")).len();
    for number in 1..=writes {
        for side in ["before", "after"] {
            let (served, context) = (unmet(), format!("killed {side} write {number}"));
            let died = served.run(&line("durable-chat"), &[("WINDLASS_TEST_DIE", &format!("{side}:{number}"))]);
            assert_eq!(died.code, -9, "{context}: {}", died.stderr);
            let at_death = served.keys(&context).len();
            let ran = served.run(&line("durable-chat"), &[]);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{context}: {}", ran.stderr);
            let again = if at_death > 0 && was_read_by_the_first_process(&served) { 0 } else { 1 };
            assert_eq!(served.keys(&context).len(), at_death + again, "{context}: calls that arrived");
            served.assert_nothing_survives(&context);
            served.bench.assert_whole(&context);
        }
    }
    let matrix = "durable-chat, with an MCP server that is waited for";
    count_ways_to_die(KillTarget::Binary, matrix, 2 * writes).expect("as stated");
}

/// Whether the result of the server's tool was journaled before the process was killed.
fn was_read_by_the_first_process(served: &Served) -> bool {
    let journal = served.bench.journal("s");
    let read = journal.iter().find(|record| record["body"]["tool"] == "fake.read").expect("the call");
    let finished = |record: &&Value| record["kind"] == "CallFinished" && record["body"]["call"] == read["body"]["call"];
    journal.iter().find(finished).expect("its result")["epoch"] == 1
}

/// Kills the process during the wait; the server starts only before the next process.
// proves J3, P2
fn killed_in_a_wait() {
    let served = Served::unmet(waiting_script(), &ToolAction::Echo);
    served.set(NO_WAIT);
    let mut child = served.bench.spawn(&served.line(&line("durable-chat")));
    let begun = Instant::now();
    while served.bench.server.requests().is_empty() || served.bench.records("s", "CallStarted") == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the model never waited");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.try_wait().expect("waited").is_none(), "it waits");
    child.kill().expect("killed");
    child.wait().expect("waited");
    served.assert_nothing_survives("killed in a wait");
    served.open_gate();
    let ran = served.run(&line("durable-chat"), &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{}", ran.stderr);
    let requests = served.bench.server.requests();
    let told = requests.last().expect("a request").body["messages"].to_string();
    assert!(told.contains("fake is there, with 3 tools."), "{told}");
    assert_eq!(served.keys("killed in a wait").len(), 1);
}

// proves P2, L1, E2
fn first_turn_waits() {
    for flags in [&[][..], &["--json"]] {
        let script = Script::of([ScriptStep::call(&wire(Class::ReadOnly), json!({"n": 1})), last("durable-chat")]);
        let served = Served::unmet(script, &ToolAction::Echo);
        // The test clock runs a hundred times as fast.
        served.set("[policy]\nserver_wait_ms = 3000000\n");
        let child = served.bench.spawn(&served.line(&[&line("durable-chat")[..], flags].concat()));
        served.open_gate();
        let ran = support::ran(child);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let offered = served.bench.server.requests()[0].body["tools"].to_string();
        assert!(offered.contains("fake__read") && !offered.contains("wait_for_servers"), "{offered}");
        let said = if flags.is_empty() { ran.stderr } else { ran.stdout };
        let wanted =
            if flags.is_empty() { "waiting for the server fake to start (up to 50 min" } else { "\"Waiting\"" };
        assert_eq!(said.matches(wanted).count(), 1, "{said}");
        // From the second run on the server's tools are known, and nothing waits.
        let again = served.run(&["run", "again", "--preset", "durable-chat", "--mode", "bypass"], &[]);
        assert!(again.code == 0 && !again.stderr.contains("waiting for the server"), "{}", again.stderr);
    }
}

// proves P2, T5
fn waits_are_said() {
    let wait = || ScriptStep::call("wait_for_servers", json!({}));
    let hung = Served::unmet(
        Script::of([wait(), ScriptStep::call("fake__read", json!({})), last("default")]),
        &ToolAction::Echo,
    );
    hung.set("[policy]\nserver_wait_ms = 0\n[mcp]\nstartup_timeout = 3\n");
    let begun = Instant::now();
    let ran = hung.run(&line("default"), &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("waiting for the server fake to start (up to 3 s)").count(), 1, "{}", ran.stderr);
    assert!(begun.elapsed() < Duration::from_secs(30), "it is waited for once: {:?}", begun.elapsed());
    let told = hung.bench.last_request("tool").concat();
    assert!(told.contains("is not waited for again in this run"), "{told}");

    let silent =
        Served::new(Script::of([ScriptStep::call("fake__read", json!({})), last("default")]), &ToolAction::Never);
    silent.set("[mcp]\ncall_timeout = 3\n");
    let ran = silent.run(&line("default"), &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("waiting for fake.read (up to 3 s)").count(), 1, "{}", ran.stderr);
}
