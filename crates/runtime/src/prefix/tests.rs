//! The whole prefix of each preset, compared with a file beside this one, and the sections one by one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_machine::{PRESETS, preset, prompt_tokens};
use windlass_tools::dialect::ScriptLanguages;
use windlass_tools::{
    Registry, Secrets, Selection, Skill, SkillOwner, Workspace, ending_tools, file_tools, read_skill,
};
use windlass_vocab::{
    Attendance, Dialect, EffectClass, Json, OutputSpec, Policy, Reasoning, RunId, RunStarted, ToolName, ToolSpec,
};

use super::texts::PrefixTexts;
use super::{InstructionFile, Instructions, ProjectInstructions};

/// The folder of the workspace in the texts.
const WORKSPACE: &str = "/srv/ship";

fn file(path: &str, text: &str) -> InstructionFile {
    InstructionFile { path: path.into(), text: text.into() }
}

fn skills() -> Vec<Skill> {
    let skill = |name: &str, folder: &str| Skill {
        name: name.into(),
        description: format!("Use it for {name}."),
        folder: folder.into(),
        owner: SkillOwner::Project,
    };
    vec![skill("knots", "/srv/ship/.agents/skills/knots"), skill("pdf", "/home/me/.claude/skills/pdf")]
}

fn instructions() -> Instructions {
    let files = vec![file("/srv/AGENTS.md", "Speak plainly.\n"), file("AGENTS.md", "Run the tests.\n")];
    Instructions {
        system: None,
        session_system: None,
        user: Some(file("/home/me/.config/windlass/AGENTS.md", "Answer in English.\n")),
        project: ProjectInstructions { files, nested: vec!["docs/AGENTS.md".into()] },
        skills: skills(),
        workspace: Some(WORKSPACE.into()),
        script_languages: ScriptLanguages::default(),
    }
}

fn run(policy: Policy) -> RunStarted {
    RunStarted {
        run: RunId::default(),
        policy,
        agent: "Windlass".into(),
        chain: Vec::new(),
        deadline: None,
        attendance: Attendance::Unattended,
        retry_of: None,
        output: None,
        server: None,
        models: Vec::new(),
        role_chains: Box::default(),
        compact: false,
        began: None,
        spent_today: None,
        spent_by_agent: None,
        system: None,
    }
}

/// What a run under this policy is offered: the built-in tools and one of a server, as far as the policy wants them.
fn offer(policy: &Policy) -> Vec<ToolSpec> {
    let dir = tempfile::tempdir().expect("a folder");
    let workspace = Arc::new(Workspace::open(dir.path()).expect("a workspace"));
    let readable = Skill { folder: dir.path().to_owned(), ..skills().remove(0) };
    let mut registry = Registry::new();
    let skill = read_skill(&[readable], Some(&workspace), &Secrets::default());
    for tool in file_tools(workspace).into_iter().chain(skill).chain(ending_tools()) {
        registry.add(tool).expect("a tool");
    }
    let mut specs = registry.offer(&Selection::from(policy)).specs().to_vec();
    if policy.tools.contains(&windlass_vocab::ToolSource::Mcp) {
        specs.push(served());
    }
    specs
}

fn served() -> ToolSpec {
    ToolSpec {
        name: ToolName("hub.search".into()),
        wire_name: "hub_search".into(),
        description: "Searches the hub.".into(),
        schema: Json::from(&serde_json::json!({"type": "object", "properties": {}})),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    }
}

/// The dialect that a run of the preset begins with.
fn dialect(policy: &Policy) -> Option<Dialect> {
    policy.dialects.first().copied().filter(|dialect| *dialect == Dialect::ToolBlock)
}

fn whole_prefix(name: &str) -> String {
    let policy = preset(name).expect("a preset");
    let (offer, dialect) = (offer(&policy), dialect(&policy));
    let prefix = instructions().prefix(&run(policy), &offer, dialect);
    prefix.replace(&format!("on {}.", std::env::consts::OS), "on PLATFORM.") + "\n"
}

fn snapshot(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prefix/snapshots").join(format!("{name}.txt"))
}

/// Asserts that a prefix is as it was reviewed.
fn assert_reviewed(name: &str, actual: &str) {
    let reviewed = snapshot(name);
    if fs::read_to_string(&reviewed).unwrap_or_default() != actual {
        let now = std::env::temp_dir().join(format!("prefix-{name}.txt"));
        fs::write(&now, actual).expect("written");
        panic!(
            "the prefix of {name} has changed; if {} is as it should be, put it in the place of {}",
            now.display(),
            reviewed.display()
        );
    }
}

// proves C1
#[test]
fn the_whole_prefix_of_every_preset_is_as_it_was_reviewed() {
    for name in PRESETS {
        assert_reviewed(name, &whole_prefix(name));
    }
}

/// Eight tools that work with files.
fn eight_file_tools() -> Vec<ToolSpec> {
    let mut specs = offer(&preset("default").expect("a preset"));
    specs.retain(|spec| spec.name.is_local() && !["todo", "read_skill"].contains(&spec.name.bare()));
    specs
}

/// The most tokens of the prefix of a small model with eight tools.
const SMALL_PREFIX: u64 = 450;

// proves S5, M6: short, and the same in every folder
#[test]
fn the_prefix_for_small_models_is_short_and_the_same_everywhere() {
    let policy = preset("local-model").expect("a preset");
    let offer = eight_file_tools();
    assert_eq!(offer.len(), 8);
    let prefix = |workspace: &str| {
        let here = Instructions { workspace: Some(workspace.into()), ..Instructions::default() };
        here.prefix(&run(policy.clone()), &offer, Some(Dialect::ToolTag))
    };
    let text = prefix(WORKSPACE);
    assert_eq!(text, prefix("/elsewhere"));
    let tokens = prompt_tokens(&text);
    println!("the prefix for small models with {} tools: {tokens} tokens in {} bytes", offer.len(), text.len());
    assert!(tokens <= SMALL_PREFIX, "{tokens} tokens:\n{text}");
    let rules = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())).count();
    assert!((1..=7).contains(&rules), "{rules} rules");
    assert!(!text.contains("properties"), "no schema: {text}");
    assert_reviewed("tool_tag", &format!("{text}\n\n({tokens} tokens)\n"));
}

/// The most tokens of the prefix of a model that writes scripts.
const SCRIPT_PREFIX: u64 = 400;

// proves S5, M6: scripts are explained in few words, in the languages that can be run
#[test]
fn the_prefix_for_scripts_is_short_and_the_same_everywhere() {
    let policy = preset("local-model").expect("a preset");
    let offer = [ToolSpec { name: ToolName("local.run_command".into()), ..served() }];
    let prefix = |workspace: &str, script_languages| {
        let here = Instructions { workspace: Some(workspace.into()), script_languages, ..Instructions::default() };
        here.prefix(&run(policy.clone()), &offer, Some(Dialect::Script))
    };
    for (name, languages) in [("script", ScriptLanguages::PythonAndShell), ("script_shell", ScriptLanguages::Shell)] {
        let text = prefix(WORKSPACE, languages);
        assert_eq!(text, prefix("/elsewhere", languages));
        let tokens = prompt_tokens(&text);
        assert!(tokens <= SCRIPT_PREFIX, "{tokens} tokens:\n{text}");
        let rules = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())).count();
        assert!((1..=7).contains(&rules), "{rules} rules");
        assert!(!text.contains("run_command"), "no tool is named: {text}");
        assert_reviewed(name, &format!("{text}\n\n({tokens} tokens)\n"));
    }
    let nothing = Instructions::default().prefix(&run(policy.clone()), &[], Some(Dialect::Script));
    assert!(
        !nothing.contains("```") && !nothing.contains("script"),
        "where no command is offered, no script is explained: {nothing}"
    );
}

// proves C1, C2: a small model is told what the person and the project say
#[test]
fn the_instructions_of_people_stand_in_a_short_prefix_too() {
    let policy = preset("task").expect("a preset");
    let offer = offer(&policy);
    let text = instructions().prefix(&run(policy), &offer, Some(Dialect::ToolTag));
    for part in ["Answer in English.", "Run the tests.", "- knots:", "End the run with exactly one of", "hub.search()"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

// proves C1: the order of the sections
#[test]
fn the_sections_follow_each_other_in_the_order_of_the_rule() {
    let policy = Policy { reasoning: Reasoning::Low, ..preset("task").expect("a preset") };
    let offer = offer(&policy);
    let schema = Json::from(&serde_json::json!({"type": "object"}));
    let output = Some(OutputSpec { name: "Catch".into(), schema });
    let prefix = instructions().prefix(
        &RunStarted { output: output.map(Box::new), ..run(policy) },
        &offer,
        Some(Dialect::ToolBlock),
    );
    let sections = [
        "You are Windlass",
        "Answer in English.",
        "Speak plainly.",
        "Run the tests.",
        "- docs/AGENTS.md",
        "How to work:",
        "End the run with exactly one of",
        "Your final answer",
        "Your workspace is /srv/ship",
        "tools of these servers: hub.",
        "Keep your reasoning short",
        "- knots: Use it for knots. (.agents/skills/knots)",
        "- pdf: Use it for pdf. (/home/me/.claude/skills/pdf)",
        "How to call tools:",
    ];
    let places: Vec<usize> =
        sections.iter().map(|part| prefix.find(part).unwrap_or_else(|| panic!("{part}: {prefix}"))).collect();
    assert!(places.is_sorted(), "{places:?}: {prefix}");
}

// proves C1, C2: what does not apply is not there
#[test]
fn a_section_that_does_not_apply_is_left_out() {
    let policy = preset("default").expect("a preset");
    let bare = Instructions { system: Some("You are a parrot.".into()), skills: skills(), ..Instructions::default() };
    assert_eq!(bare.prefix(&run(policy.clone()), &[], None), "You are a parrot.", "no tool reads skills");
    let served = bare.prefix(&run(policy), &[served()], None);
    assert!(served.starts_with("You are a parrot.\n\nHow to work:") && !served.contains("workspace"), "{served}");
    let guidance = |reasoning| {
        super::reasoning::section(PrefixTexts::of(None, &[], ScriptLanguages::default()), reasoning).is_some()
    };
    assert!(guidance(Reasoning::High) && !guidance(Reasoning::ModelOwn));
}
