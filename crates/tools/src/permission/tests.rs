//! Which calls may run, in every mode and by every kind of rule.

use windlass_vocab::Json;

use super::*;
use crate::file_accesses::FileAccesses;

pub(crate) fn spec(name: &str, effect: EffectClass) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        wire_name: name.into(),
        description: "".into(),
        schema: Json::empty_object(),
        effect,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    }
}

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

pub(crate) fn permissions(mode: Mode, allow: &[&str], ask: &[&str], deny: &[&str]) -> Permissions {
    Permissions { mode, allow: rules(allow), ask: rules(ask), deny: rules(deny), ..Permissions::default() }
}

/// A call that reads and writes these paths.
pub(crate) fn changing(paths: &[&str]) -> About {
    let access = |path: &&str| {
        [AccessKind::Read, AccessKind::Write].map(|access| FileAccess::new(access, *path, PathExtent::Itself))
    };
    let files = FileAccesses {
        accesses: paths.iter().flat_map(access).collect(),
        roots: Vec::new(),
        ..FileAccesses::default()
    };
    About::files(paths.iter().map(|path| (*path).to_owned()).collect(), files)
}

pub(crate) fn command(permissions: &Permissions, line: &str, grants: &[&str]) -> &'static str {
    let grants: Vec<Grant> = grants.iter().map(|&rule| Grant { rule: rule.into() }).collect();
    let spec = spec("local.run_command", EffectClass::Once);
    match permissions.check(&spec, &About::command(line), AskPolicy::ByEffect, &grants).verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny { .. } => "deny",
        Verdict::Invalid { .. } | Verdict::Unknown { .. } => "other",
    }
}

// proves T8
#[test]
fn without_rules_the_mode_decides_by_what_a_tool_does() {
    use EffectClass::{Idempotent, Once, ReadOnly, Verifiable};
    for (name, effect, default, strict) in [
        ("local.read_file", ReadOnly, Verdict::Allow, Verdict::Allow),
        ("local.write_file", Idempotent, Verdict::Allow, Verdict::Ask),
        ("local.edit_file", Verifiable, Verdict::Allow, Verdict::Ask),
        ("local.run_command", Once, Verdict::Ask, Verdict::Ask),
        ("hub.put", Idempotent, Verdict::Ask, Verdict::Ask),
        ("hub.post", Once, Verdict::Ask, Verdict::Ask),
    ] {
        for (mode, want) in [(Mode::Default, default), (Mode::Strict, strict), (Mode::Bypass, Verdict::Allow)] {
            let got = permissions(mode, &[], &[], &[]).check(
                &spec(name, effect),
                &About::text("x"),
                AskPolicy::ByEffect,
                &[],
            );
            assert_eq!(got.verdict, want, "{name} in {mode:?}");
        }
    }
}

// proves X3
#[test]
fn the_network_is_granted_by_rules_about_it_and_leaving_the_sandbox_is_always_asked() {
    let judge = |mode, allow: &[&str], deny: &[&str], grants: &[&str], sandbox_use| {
        let grants: Vec<Grant> = grants.iter().map(|&rule| Grant { rule: rule.into() }).collect();
        let about = About::command("cargo build").with_sandbox_use(sandbox_use);
        let run = spec("local.run_command", EffectClass::Once);
        match permissions(mode, allow, &[], deny).check(&run, &about, AskPolicy::ByEffect, &grants).verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny { .. } => "deny",
            Verdict::Invalid { .. } | Verdict::Unknown { .. } => "other",
        }
    };
    let (command, network) = ("run_command(cargo *)", "network(run_command(cargo *))");
    for (allow, deny, grant, inside, with_network) in [
        (&[][..], &[][..], &[][..], "ask", "ask"),
        (&[command], &[], &[], "allow", "ask"),
        (&[network], &[], &[], "ask", "allow"),
        (&[command, "network"], &[], &[], "allow", "allow"),
        (&["network"], &[], &[], "ask", "ask"),
        (&["network(run_command(npm *))", command], &[], &[], "allow", "ask"),
        (&[command], &[], &[network], "allow", "allow"),
        (&[command, network], &[network], &[], "allow", "deny"),
        (&[command, network], &["network"], &[], "allow", "deny"),
        (&[command, network], &[command], &[], "deny", "deny"),
    ] {
        let at = |sandbox_use| judge(Mode::Default, allow, deny, grant, sandbox_use);
        assert_eq!(
            (at(SandboxUse::Confined), at(SandboxUse::WithNetwork)),
            (inside, with_network),
            "{allow:?} {deny:?} {grant:?}"
        );
    }
    for mode in [Mode::Default, Mode::Strict, Mode::Bypass] {
        assert_eq!(judge(mode, &[command, network], &[], &[command], SandboxUse::Outside), "ask", "{mode:?}");
        assert_eq!(judge(mode, &[], &[command], &[], SandboxUse::Outside), "deny", "{mode:?}");
    }
    assert_eq!(judge(Mode::Bypass, &[], &[], &[], SandboxUse::WithNetwork), "allow");
    for denied in [network, "network"] {
        for sandbox_use in [SandboxUse::WithNetwork, SandboxUse::Outside, SandboxUse::NoSandbox] {
            assert_eq!(judge(Mode::Bypass, &[], &[denied], &[], sandbox_use), "deny", "{denied} {sandbox_use:?}");
        }
        assert_eq!(judge(Mode::Bypass, &[], &[denied], &[], SandboxUse::Confined), "allow", "{denied}");
    }
    let about = About::command("cargo build").with_sandbox_use(SandboxUse::WithNetwork);
    assert_eq!(
        allowing_rule(&spec("local.run_command", EffectClass::Once), &about),
        "network(run_command(cargo build *))"
    );
}

// proves T8: the offered rule is the missing one
#[test]
fn of_a_line_that_is_allowed_but_for_a_part_the_rule_of_that_part_is_offered() {
    let run = spec("local.run_command", EffectClass::Once);
    let cargo = permissions(Mode::Default, &["run_command(cargo *)"], &[], &[]);
    for (line, grants, want) in [
        ("cargo test 2>&1 | tail -20", &[][..], "run_command(tail *)"),
        ("cargo test | grep x | tail -3", &["run_command(grep *)"], "run_command(tail *)"),
        ("cargo test | python3 x.py", &[], "run_command(python3 x.py)"),
        ("cargo test | grep x | tail -3", &[], "run_command(cargo test | grep x | tail -3)"),
        ("tail -3 x", &[], "run_command(tail *)"),
        ("cargo test > x", &[], "run_command(cargo test > x)"),
    ] {
        let given: Vec<Grant> = grants.iter().map(|&rule| Grant { rule: rule.into() }).collect();
        let rule = cargo.missing_rule(&run, &About::command(line), &given);
        assert_eq!(rule, want, "{line}");
        let more: Vec<&str> = grants.iter().copied().chain([rule.as_str()]).collect();
        assert_eq!(command(&cargo, line, &more), "allow", "{line}: {rule}");
    }
}

// proves T8
#[test]
fn an_allowed_command_is_not_a_door_for_another() {
    let git = permissions(Mode::Default, &["run_command(git *)"], &[], &[]);
    for (line, want) in [
        ("git status", "allow"),
        ("git", "allow"),
        ("git log 2>&1", "allow"),
        ("git add . && git commit -m 'x; y'", "allow"),
        ("git status; rm -rf /", "ask"),
        ("git x && y", "ask"),
        ("git x || y", "ask"),
        ("git x | sh", "ask"),
        ("git x & y", "ask"),
        ("git x\nrm y", "ask"),
        ("git $(rm y)", "ask"),
        ("git `rm y`", "ask"),
        ("git \"$(rm y)\"", "ask"),
        ("git log > ~/.profile", "ask"),
        ("git log >> x", "ask"),
        ("git x <(rm y)", "ask"),
        ("gitx", "ask"),
        ("PAGER=rm git log", "ask"),
        ("timeout 5 git log", "ask"),
        (">x git log", "ask"),
        ("find . -exec git log ;", "ask"),
    ] {
        assert_eq!(command(&git, line, &[]), want, "{line}");
    }
    let both = permissions(Mode::Default, &["run_command(git *)", "run_command(cargo *)"], &[], &[]);
    assert_eq!(command(&both, "cargo test && git push", &[]), "allow");
    let every = permissions(Mode::Default, &["run_command"], &[], &[]);
    assert_eq!(command(&every, "echo $(anything) > x", &[]), "allow");
}

// proves T8
#[test]
fn deny_comes_before_ask_before_allow_and_a_grant_before_what_is_configured() {
    let all = permissions(
        Mode::Default,
        &["run_command(git *)"],
        &["run_command(git push *)"],
        &["run_command(rm *)", "run_command(git push --force*)"],
    );
    assert_eq!(command(&all, "git status", &[]), "allow");
    assert_eq!(command(&all, "git push", &[]), "ask");
    assert_eq!(command(&all, "git push", &["run_command(git push *)"]), "allow");
    assert_eq!(command(&all, "git status && git push", &["run_command(git push *)"]), "allow");
    assert_eq!(command(&all, "git status && git push", &[]), "ask");
    assert_eq!(command(&all, "git push --force x", &["run_command(git *)"]), "deny");
    assert_eq!(command(&all, "git status; rm x", &["run_command(rm *)"]), "deny");
    assert_eq!(command(&all, "echo $(rm x)", &["run_command"]), "deny");
    assert_eq!(command(&all, "ls", &["not a rule", ""]), "ask");
}

// proves T8, P3: an earlier approval does not cover a tool that has changed
#[test]
fn a_tool_that_has_changed_asks_whatever_was_allowed_before() {
    let put = spec("hub.put", EffectClass::ReadOnly);
    let judge = |permissions: &Permissions, asks| {
        let grants = [Grant { rule: "hub.put".into() }];
        permissions.check(&put, &About::text("x"), asks, &grants).verdict
    };
    let allowing = permissions(Mode::Default, &["hub.*"], &[], &[]);
    assert_eq!(judge(&allowing, AskPolicy::Always), Verdict::Allow);
    assert_eq!(judge(&allowing, AskPolicy::Anew), Verdict::Ask);
    assert_eq!(judge(&permissions(Mode::Bypass, &[], &[], &[]), AskPolicy::Anew), Verdict::Allow);
    let denying = permissions(Mode::Default, &[], &[], &["hub.put"]);
    assert!(matches!(judge(&denying, AskPolicy::Anew), Verdict::Deny { .. }));
}

// proves T8
#[test]
fn bypass_stops_at_deny_alone() {
    let bypass = permissions(Mode::Bypass, &[], &["run_command"], &["run_command(rm *)"]);
    assert_eq!(command(&bypass, "anything $(at all)", &[]), "allow");
    assert_eq!(command(&bypass, "x; /bin/rm y", &[]), "deny");
}

// proves T8
#[test]
fn the_rule_that_is_offered_allows_the_call_it_was_offered_for() {
    let run = spec("local.run_command", EffectClass::Once);
    for line in [
        "cargo test -p x",
        "rm *.o",
        "a && b",
        "echo $(date) > x",
        "sh -c 'a * b'",
        "grep '\\*' x",
        "x (y",
        "x > y\u{a0}",
    ] {
        let about = About::command(line);
        let rule = allowing_rule(&run, &about);
        let allowed = permissions(Mode::Strict, &[&rule], &[], &[]);
        assert_eq!(allowed.check(&run, &about, AskPolicy::ByEffect, &[]).verdict, Verdict::Allow, "{line}: {rule}");
    }
    let edit = spec("local.edit_file", EffectClass::Verifiable);
    for paths in [&["src/a b.rs"][..], &["x*.md"], &["app/[id]/x"], &["~"], &["a", "b/c"], &["b/x", "b/y"]] {
        let about = changing(paths);
        let rule = allowing_rule(&edit, &about);
        let allowed = permissions(Mode::Strict, &[&rule], &[], &[]);
        assert_eq!(allowed.check(&edit, &about, AskPolicy::ByEffect, &[]).verdict, Verdict::Allow, "{paths:?}: {rule}");
        let other = changing(&["other"]);
        assert_eq!(allowed.check(&edit, &other, AskPolicy::ByEffect, &[]).verdict, Verdict::Ask, "{paths:?}: {rule}");
    }
    let rule = allowing_rule(&run, &About::command("rm *.o"));
    assert_eq!(command(&permissions(Mode::Default, &[&rule], &[], &[]), "rm -rf / x.o", &[]), "ask");
    assert_eq!(allowing_rule(&spec("hub.put", EffectClass::Once), &About::text("{}")), "hub.put");
}

// proves T8
#[test]
fn every_path_of_a_call_must_be_allowed_and_none_denied() {
    let put = spec("local.move_file", EffectClass::Verifiable);
    let strict = permissions(Mode::Strict, &["move_file(src/*)"], &[], &["move_file(src/keep/*)"]);
    let judge = |paths: &[&str]| strict.check(&put, &changing(paths), AskPolicy::ByEffect, &[]).verdict;
    assert_eq!(judge(&["src/a", "src/b"]), Verdict::Allow);
    assert_eq!(judge(&["src/a", "b"]), Verdict::Ask);
    let Verdict::Deny { reason, .. } = judge(&["src/keep/a", "b"]) else { panic!("not denied") };
    assert!(reason.contains("the rule `move_file(src/keep/*)` forbids it"), "{reason}");
    assert!(matches!(judge(&["src/keep", "src/b"]), Verdict::Deny { .. }), "a folder goes with what is in it");
}

// proves X5
#[test]
fn whoever_opens_files_without_a_call_learns_what_is_denied() {
    let denied = permissions(Mode::Bypass, &[], &[], &["read(secrets/)", "write_file(**/.env)", "read(/port/ship/x)"]);
    let rule = |access, path| denied.denying_access(access, path, &["/port/ship".into()]).map(ToString::to_string);
    assert_eq!(rule(AccessKind::Read, "secrets/key").as_deref(), Some("read(secrets/)"));
    assert_eq!(rule(AccessKind::Write, "secrets/key"), None);
    assert_eq!(rule(AccessKind::Write, "a/.env").as_deref(), Some("write_file(**/.env)"));
    assert_eq!(rule(AccessKind::Read, "x").as_deref(), Some("read(/port/ship/x)"));
}

// proves T8, T10: fetching asks unless a rule or the mode allows it, and the offered rule is for the host
#[test]
fn a_web_address_asks_and_is_allowed_by_its_host() {
    let fetch = spec("local.fetch_url", EffectClass::ReadOnly);
    let about = |url: &str| About::address(&crate::address::Address::parse(url).unwrap());
    let judge = |permissions: &Permissions, url: &str, grants: &[Grant]| {
        permissions.check(&fetch, &about(url), AskPolicy::Always, grants).verdict
    };
    let url = "https://Docs.RS:443/serde?x=(1)*";
    for (mode, want) in [(Mode::Default, Verdict::Ask), (Mode::Strict, Verdict::Ask), (Mode::Bypass, Verdict::Allow)] {
        assert_eq!(judge(&permissions(mode, &[], &[], &[]), url, &[]), want, "{mode:?}");
    }
    let rule = allowing_rule(&fetch, &about(url));
    assert_eq!(rule, "fetch_url(https://docs.rs/*)");
    let allowed = permissions(Mode::Strict, &[&rule], &[], &[]);
    for (url, want) in [
        (url, Verdict::Allow),
        ("https://docs.rs/other", Verdict::Allow),
        ("https://docs.rs.evil.com/", Verdict::Ask),
        ("http://docs.rs/", Verdict::Ask),
        ("https://docs.rs:8443/", Verdict::Ask),
    ] {
        assert_eq!(judge(&allowed, url, &[]), want, "{url}");
    }
    let both = permissions(Mode::Bypass, &["fetch_url"], &[], &["fetch_url(docs.rs)"]);
    assert!(matches!(judge(&both, url, &[Grant { rule: "fetch_url".into() }]), Verdict::Deny { .. }));
    let asked = permissions(Mode::Default, &["fetch_url"], &["fetch_url(docs.rs)"], &[]);
    assert_eq!(judge(&asked, url, &[]), Verdict::Ask);
    assert_eq!(judge(&asked, url, &[Grant { rule }]), Verdict::Allow);
    assert_eq!(judge(&asked, "https://pages.example/", &[]), Verdict::Allow);
    for rule in ["network", "network(docs.rs)", "network(fetch_url(docs.rs))", "network(fetch_url)"] {
        assert_eq!(judge(&permissions(Mode::Default, &[rule], &[], &[]), url, &[]), Verdict::Allow, "{rule}");
        let denied = judge(&permissions(Mode::Bypass, &[], &[], &[rule]), url, &[]);
        assert!(matches!(denied, Verdict::Deny { .. }), "{rule}");
    }
    for rule in ["network(pages.example)", "network(run_command)", "read", "write(docs.rs)"] {
        assert_eq!(judge(&permissions(Mode::Default, &[rule], &[], &[]), url, &[]), Verdict::Ask, "{rule}");
        assert_eq!(judge(&permissions(Mode::Bypass, &[], &[], &[rule]), url, &[]), Verdict::Allow, "{rule}");
    }
}
