//! The offer: which tools it has, how a call is prepared, and the outcome of a tool that misbehaves.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_tools::{BoxFuture, CallContext, Mode, Offer, Permissions, Registry, RegistryError, Tool, Verification};
use windlass_vocab::{
    EffectClass, Ending, Grant, Json, Outcome, OutcomeKind, PreparedCall, Preview, Remedy, Repair, ReplyCall,
    SessionId, SnapshotKind, ToolName, ToolSource, ToolSpec, Verdict, VerdictReason,
};

#[derive(Clone, Copy)]
enum Way {
    Answer,
    Panic,
    Hang,
    HangUntilStopped,
    NoPreview,
}

struct Scripted {
    spec: ToolSpec,
    way: Way,
}

impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let way = self.way;
        Box::pin(async move {
            match way {
                Way::Answer | Way::NoPreview => Outcome::ok(arguments.to_string()),
                Way::Panic => panic!("a loose screw"),
                Way::Hang => std::future::pending().await,
                Way::HangUntilStopped => {
                    context.cancel.cancelled().await;
                    Outcome::new(OutcomeKind::Cancelled, "brought to an end")
                }
            }
        })
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        match self.way {
            Way::NoPreview => Err("the file is gone".into()),
            Way::Panic => panic!("a loose screw"),
            Way::Answer | Way::Hang | Way::HangUntilStopped => {
                Ok(Preview { title: arguments.to_string(), body: String::new(), rule: None })
            }
        }
    }

    fn verify(&self, _: CallContext, _: Value) -> BoxFuture<'static, Verification> {
        match self.way {
            Way::Panic => panic!("a loose screw"),
            Way::Hang => Box::pin(std::future::pending()),
            Way::Answer | Way::HangUntilStopped | Way::NoPreview => Box::pin(std::future::ready(Verification::NotDone)),
        }
    }

    fn stop_grace(&self) -> Duration {
        match self.way {
            Way::HangUntilStopped => Duration::from_secs(60),
            Way::Answer | Way::Panic | Way::Hang | Way::NoPreview => Duration::ZERO,
        }
    }
}

/// A tool with the default preview of its arguments.
struct Plain(ToolSpec);

impl Tool for Plain {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run(&self, _: CallContext, _: Value) -> BoxFuture<'static, Outcome> {
        Box::pin(std::future::ready(Outcome::ok("")))
    }
}

// proves T8: arguments are shown in full, or the call does not run
#[test]
fn all_arguments_are_shown_or_the_call_is_denied() {
    let mut registry = Registry::new();
    registry.add(Arc::new(Plain(tool("hub.put", EffectClass::Once, Way::Answer).spec().clone()))).unwrap();
    let offer = registry.offer(&[ToolSource::Mcp].into_iter().collect());
    for (length, verdict) in [(100, "Ask"), (50_000, "Ask"), (1_000_001, "Deny")] {
        let text = "x".repeat(length);
        let call = reply("hub.put", &serde_json::json!({"n": 1, "text": text}).to_string());
        let prepared = offer.prepare(&call, &Permissions::default(), &[]);
        assert!(format!("{:?}", prepared.verdict).starts_with(verdict), "{length}: {:?}", prepared.verdict);
        let shown = prepared.preview.map(|preview| preview.title + &preview.body);
        assert_eq!(shown.is_some_and(|shown| shown.contains(&text)), verdict == "Ask", "{length}");
    }
}

fn tool(name: &str, effect: EffectClass, way: Way) -> Scripted {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let spec = ToolSpec {
        name: name.into(),
        wire_name: String::new(),
        description: "".into(),
        schema: Json::from(&schema),
        effect,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: BTreeSet::new(),
    };
    Scripted { spec, way }
}

fn offer_of(tools: Vec<Scripted>) -> Offer {
    let mut registry = Registry::new();
    for tool in tools {
        registry.add(Arc::new(tool)).unwrap();
    }
    registry.offer(&[ToolSource::BuiltIn, ToolSource::Ending, ToolSource::Mcp].into_iter().collect())
}

fn reply(name: &str, arguments: &str) -> ReplyCall {
    ReplyCall { provider_id: Some("c1".into()), name: name.into(), arguments: arguments.into(), mended: None }
}

fn context() -> CallContext {
    CallContext::detached(SessionId(uuid::Uuid::nil()))
}

fn arguments() -> Json {
    Json::from(&json!({"n": 1}))
}

// proves T1
#[test]
fn an_offer_holds_the_tools_of_its_sources_in_a_fixed_order() {
    let tools = || {
        let mut ending = tool("local.finish", EffectClass::ReadOnly, Way::Answer);
        ending.spec.ending = Some(Ending::Completed);
        vec![
            tool("local.b", EffectClass::Once, Way::Answer),
            tool("hub.x", EffectClass::Once, Way::Answer),
            ending,
            tool("local.a", EffectClass::Once, Way::Answer),
        ]
    };
    let mut registries = [Registry::new(), Registry::new()];
    tools().into_iter().for_each(|tool| registries[0].add(Arc::new(tool)).unwrap());
    tools().into_iter().rev().for_each(|tool| registries[1].add(Arc::new(tool)).unwrap());
    for registry in registries {
        let wires = |sources: &[ToolSource]| {
            let offer = registry.offer(&sources.iter().copied().collect());
            offer.specs().iter().map(|spec| spec.wire_name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(wires(&[ToolSource::BuiltIn]), ["a", "b"]);
        assert_eq!(wires(&[ToolSource::Ending]), ["finish"]);
        assert_eq!(wires(&[ToolSource::Mcp, ToolSource::BuiltIn]), ["hub__x", "a", "b"]);
        assert!(wires(&[ToolSource::Remote]).is_empty());
    }
}

// proves T1
#[test]
fn a_tool_with_a_bad_name_or_schema_is_not_taken() {
    let mut registry = Registry::new();
    registry.add(Arc::new(tool("hub.x", EffectClass::Once, Way::Answer))).unwrap();
    let again = registry.add(Arc::new(tool("hub.x", EffectClass::Once, Way::Answer)));
    assert_eq!(again, Err(RegistryError::Duplicate("hub.x".into())));
    for name in ["x", ".x", "hub.", "hub.two words", "hub.x(y)", "hub.*", ""] {
        let added = registry.add(Arc::new(tool(name, EffectClass::Once, Way::Answer)));
        assert_eq!(added, Err(RegistryError::Name(name.into())));
    }
    let mut broken = tool("hub.y", EffectClass::Once, Way::Answer);
    broken.spec.schema = Json::from(&json!({"type": "object", "properties": {"n": {"type": "nonsense"}}}));
    let error = registry.add(Arc::new(broken)).unwrap_err().to_string();
    assert!(error.contains("`hub.y`"), "{error}");
}

// proves T3
#[test]
fn a_sound_call_is_prepared_whole() {
    let offer = offer_of(vec![tool("hub.put", EffectClass::Idempotent, Way::Answer)]);
    let prepared = offer.prepare(&reply("put", " {\"n\": 1} "), &Permissions::default(), &[]);
    let want = PreparedCall {
        provider_id: Some("c1".into()),
        name: "put".into(),
        tool: Some("hub.put".into()),
        arguments: Json::parse("{\"n\": 1}").unwrap(),
        raw: None,
        repairs: vec![Repair::Name],
        effect: EffectClass::Idempotent,
        ending: None,
        repeatable: false,
        reads_files: false,
        verdict: Verdict::Ask,
        preview: Some(Preview { title: "{\"n\":1}".into(), body: String::new(), rule: Some("hub.put".into()) }),
        snapshot: SnapshotKind::None,
        because: Some(VerdictReason::Mode { mode: "default".into() }),
    };
    assert_eq!(prepared, want);
    let granted =
        offer.prepare(&reply("hub__put", "{\"n\":1}"), &Permissions::default(), &[Grant { rule: "hub.put".into() }]);
    assert_eq!((granted.verdict, granted.preview), (Verdict::Allow, None));
}

// proves T3, T5
#[test]
fn a_call_that_can_not_run_says_why() {
    let offer = offer_of(vec![tool("local.put", EffectClass::Idempotent, Way::Answer)]);
    let verdict = |name: &str, text: &str| offer.prepare(&reply(name, text), &Permissions::default(), &[]);
    let unknown = verdict("putt", "{\"n\": 1}");
    assert!(matches!(&unknown.verdict, Verdict::Unknown { reason, .. } if reason.contains("Did you mean `put`?")));
    assert_eq!((unknown.tool, unknown.arguments), (None, Json::parse("{\"n\": 1}").unwrap()));
    for (text, want) in [("{\"n\": \"x\"}", "/n"), ("", "required"), ("[1]", "not an array"), ("{\"n\": \"1", "column")]
    {
        let prepared = verdict("put", text);
        assert!(matches!(&prepared.verdict, Verdict::Invalid { reason, .. } if reason.contains(want)), "{prepared:?}");
        assert!(prepared.arguments.as_str().starts_with('{'), "{prepared:?}");
    }
}

// proves T3
#[test]
fn what_was_mended_is_recorded_with_what_the_model_wrote() {
    let offer = offer_of(vec![tool("local.put", EffectClass::Idempotent, Way::Answer)]);
    let prepare = |name: &str, text: &str| offer.prepare(&reply(name, text), &Permissions::default(), &[]);
    for (name, text, repairs) in [
        ("put", r#"{"n": 1}"#, vec![]),
        ("put", "{'n': 1,}", vec![Repair::Syntax]),
        ("put", r#"{"n": "1"}"#, vec![Repair::Coerced]),
        ("functions.put", r#"{"n": "1""#, vec![Repair::Syntax, Repair::Name, Repair::Coerced]),
        ("Put", r#"{"n": 1}"#, vec![Repair::Nearest]),
    ] {
        let prepared = prepare(name, text);
        assert_eq!(prepared.verdict, Verdict::Allow, "{text}");
        assert_eq!(prepared.arguments.to_value(), serde_json::json!({"n": 1}), "{text}");
        let about_arguments = repairs.iter().any(|repair| !matches!(repair, Repair::Name | Repair::Nearest));
        assert_eq!(prepared.raw.as_deref(), about_arguments.then_some(text));
        assert_eq!(prepared.repairs, repairs, "{text}");
    }
}

// proves T8
#[test]
fn what_can_not_be_shown_is_not_asked_about_but_denied() {
    for way in [Way::NoPreview, Way::Panic] {
        let offer = offer_of(vec![tool("hub.put", EffectClass::Once, way)]);
        let strict = Permissions { mode: Mode::Strict, ..Permissions::default() };
        let prepared = offer.prepare(&reply("hub__put", "{\"n\": 1}"), &strict, &[]);
        let Verdict::Deny { reason, remedy } = prepared.verdict else { panic!("{:?}", prepared.verdict) };
        assert!(reason.contains("it can't be shown to them") && !reason.contains("hub.put"), "{reason}");
        assert_eq!(remedy, Some(Remedy::Allow { rule: "hub.put".into() }));
        let allowed = Permissions { allow: vec!["hub.put".parse().unwrap()], ..strict };
        assert_eq!(offer.prepare(&reply("hub__put", "{\"n\": 1}"), &allowed, &[]).verdict, Verdict::Allow);
    }
}

// proves T5
#[tokio::test(start_paused = true)]
async fn a_tool_that_breaks_hangs_or_is_unknown_is_an_outcome() {
    let offer = offer_of(vec![
        tool("local.fine", EffectClass::Once, Way::Answer),
        tool("local.broken", EffectClass::Once, Way::Panic),
        tool("local.hung", EffectClass::Once, Way::Hang),
    ]);
    for (name, kind, text) in [
        ("local.fine", OutcomeKind::Ok, "{\"n\":1}"),
        ("local.broken", OutcomeKind::InfrastructureError, "a loose screw"),
        ("local.hung", OutcomeKind::TimedOut, "within 90 s"),
        ("local.none", OutcomeKind::Unknown, "There is no tool"),
    ] {
        let outcome = offer.run(&ToolName::from(name), context(), &arguments(), Duration::from_secs(90)).await;
        assert_eq!(outcome.kind, kind, "{name}");
        assert!(outcome.text.contains(text), "{}", outcome.text);
    }
    let edited = Json::from(&json!({"n": "edited"}));
    let outcome = offer.run(&"local.fine".into(), context(), &edited, Duration::from_secs(90)).await;
    assert_eq!(outcome.kind, OutcomeKind::InvalidArguments);
}

// proves L8
#[tokio::test(start_paused = true)]
async fn a_stop_is_seen_inside_a_tool_and_overtakes_one_that_does_not_look() {
    for (way, text) in [(Way::Hang, "Stopped before it was done"), (Way::HangUntilStopped, "brought to an end")] {
        let offer = offer_of(vec![tool("local.x", EffectClass::ReadOnly, way)]);
        let context = context();
        let cancel = context.cancel.clone();
        let run = tokio::spawn(offer.run(&"local.x".into(), context, &arguments(), Duration::from_secs(90)));
        tokio::task::yield_now().await;
        let before = tokio::time::Instant::now();
        cancel.cancel();
        let outcome = run.await.unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Cancelled);
        assert!(outcome.text.contains(text), "{}", outcome.text);
        assert!(before.elapsed() < Duration::from_millis(10));
    }
}

// proves J4
#[tokio::test(start_paused = true)]
async fn a_tool_that_can_not_say_whether_it_ran_leaves_it_unknown() {
    let offer = offer_of(vec![
        tool("local.fine", EffectClass::Verifiable, Way::Answer),
        tool("local.broken", EffectClass::Verifiable, Way::Panic),
        tool("local.hung", EffectClass::Verifiable, Way::Hang),
    ]);
    for (name, want) in [
        ("local.fine", Verification::NotDone),
        ("local.broken", Verification::Unknown),
        ("local.hung", Verification::Unknown),
        ("local.none", Verification::Unknown),
    ] {
        let got = offer.verify(&ToolName::from(name), context(), &arguments(), Duration::from_secs(90)).await;
        assert_eq!(got, want, "{name}");
    }
}
