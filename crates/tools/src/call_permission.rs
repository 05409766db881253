//! Whether a call may run, and what a person is shown of it: where they are asked, and where they might be, should a crash
//! cut it short. What can't be shown whole can't be agreed to.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use windlass_vocab::{EffectClass, Grant, Preview, Remedy, TextOrigin, ToolSpec, Verdict, VerdictReason};

use crate::cut::thousands;
use crate::permission::{allowing_rule, exact_rule};
use crate::registry::RegisteredTool;
use crate::sandbox_use::SandboxUse;
use crate::shorten::shorten;
use crate::{About, AskPolicy, CheckedPaths, Permissions, Ruling};

/// What the rules say about a call right before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallPermission {
    /// It may run, on these paths.
    Run(CheckedPaths),
    /// It may not.
    Refused {
        /// Why, for the model.
        reason: String,
        /// What a person could change about it.
        remedy: Option<Remedy>,
    },
    /// A person is asked first.
    Ask {
        /// What they are shown.
        preview: Option<Preview>,
        /// What decided that they are asked.
        because: Option<VerdictReason>,
    },
}

/// What the rules are held against: as the tool says, else its arguments.
pub(crate) fn about_call(entry: &RegisteredTool, arguments: &Value) -> About {
    let about = catch_unwind(AssertUnwindSafe(|| entry.tool.about(arguments))).ok().flatten();
    about.unwrap_or_else(|| About::text(serde_json::to_string(arguments).unwrap_or_default()))
}

/// The verdict on a sound call and what a person is shown of it: where they are asked, and where
/// they might be, should a crash cut it short.
pub(crate) fn verdict_with_preview(
    entry: &RegisteredTool,
    arguments: &Value,
    permissions: &Permissions,
    grants: &[Grant],
) -> (Verdict, Option<Preview>, Option<VerdictReason>) {
    let about = about_call(entry, arguments);
    let ruling = permissions.check(&entry.spec, &about, entry.tool.ask_policy(), grants);
    with_preview(entry, arguments, permissions, grants, &about, ruling)
}

/// A ruling on a sound call, with what a person is shown of it.
pub(crate) fn with_preview(
    entry: &RegisteredTool,
    arguments: &Value,
    permissions: &Permissions,
    grants: &[Grant],
    about: &About,
    ruling: Ruling,
) -> (Verdict, Option<Preview>, Option<VerdictReason>) {
    let Ruling { verdict, because } = ruling;
    let wanted = match (&verdict, entry.spec.effect) {
        (Verdict::Ask, _) | (Verdict::Allow, EffectClass::Once) => true,
        (Verdict::Allow, EffectClass::ReadOnly | EffectClass::Idempotent | EffectClass::Verifiable)
        | (Verdict::Deny { .. } | Verdict::Invalid { .. } | Verdict::Unknown { .. }, _) => false,
    };
    if !wanted {
        return (verdict, None, Some(because));
    }
    let (rule, warning) = match &because {
        VerdictReason::Protected { path, pattern } => {
            (exact_rule(&entry.spec, about), Some(protected_warning(path, pattern)))
        }
        VerdictReason::Mode { .. } => (permissions.missing_rule(&entry.spec, about, grants), None),
        VerdictReason::Rule { .. } | VerdictReason::Grant { .. } | VerdictReason::OutsideText { .. } => {
            (allowing_rule(&entry.spec, about), None)
        }
    };
    // No rule lets a protected path be changed unseen.
    let remedy = warning.is_none().then(|| Remedy::Allow { rule: rule.clone() });
    let because = Some(because);
    let preview = preview_of(entry, arguments, &warning.unwrap_or_default());
    match (preview, verdict) {
        (Ok(preview), verdict) => {
            let rule = preview.rule.clone().or_else(|| lasting_rule(entry, about, rule));
            (verdict, Some(Preview { rule, ..preview }), because)
        }
        (Err(problem), Verdict::Ask) => {
            let reason = unshowable_reason(&entry.spec, &problem);
            (Verdict::Deny { reason, remedy }, None, because)
        }
        (Err(_), verdict) => (verdict, None, because),
    }
}

/// The verdict on a call that a rule allows and that carries text from outside. No rule is offered: the next text is
/// another.
pub(crate) fn outside_text_verdict(
    entry: &RegisteredTool,
    arguments: &Value,
    because: VerdictReason,
) -> (Verdict, Option<Preview>, Option<VerdictReason>) {
    match preview_of(entry, arguments, "") {
        Ok(preview) => (Verdict::Ask, Some(Preview { rule: None, ..preview }), Some(because)),
        Err(problem) => (Verdict::deny(unshowable_reason(&entry.spec, &problem)), None, Some(because)),
    }
}

/// What a person is shown of a call: what holds it first, then the warning, then what the tool shows.
fn preview_of(entry: &RegisteredTool, arguments: &Value, warning: &str) -> Result<Preview, String> {
    let made =
        catch_unwind(AssertUnwindSafe(|| (entry.tool.preview(arguments), entry.tool.confinement_line(arguments))));
    let (preview, held) = made.map_err(|_| "the preview broke off".to_owned())?;
    let held = held.map(|held| held + "\n").unwrap_or_default();
    let whole = preview.map(|preview| Preview { body: held + warning + &preview.body, ..preview });
    whole.and_then(readable_preview)
}

/// Puts a warning into a preview, below the line that says what holds the call.
pub(crate) fn insert_warning(entry: &RegisteredTool, arguments: &Value, preview: &mut Preview, warning: &str) {
    let held = catch_unwind(AssertUnwindSafe(|| entry.tool.confinement_line(arguments))).ok().flatten();
    let below = held.filter(|held| preview.body.starts_with(held.as_str())).map_or(0, |held| held.len() + 1);
    preview.body.insert_str(below.min(preview.body.len()), warning);
}

/// What a person should know of text from outside before they agree.
pub(crate) fn outside_text_warning(origin: &TextOrigin, shared: &str) -> String {
    const SHOWN: usize = 200;
    format!("it carries text from {origin}: \u{201c}{}\u{201d}\n", shorten(shared, SHOWN))
}

/// What a person should know before they agree.
fn protected_warning(path: &str, pattern: &str) -> String {
    format!("{path} is protected ({pattern}): what is there may run by itself, or instruct agents.\n")
}

/// The rule that is offered for good. None would help a tool that is not what was agreed to, nor a command that
/// is to leave the sandbox.
fn lasting_rule(entry: &RegisteredTool, about: &About, rule: String) -> Option<String> {
    match (entry.tool.ask_policy(), about.sandbox_use) {
        (AskPolicy::Anew, _) | (_, SandboxUse::Outside) => None,
        (
            AskPolicy::ByEffect | AskPolicy::Always,
            SandboxUse::Confined | SandboxUse::WithNetwork | SandboxUse::NoSandbox,
        ) => Some(rule),
    }
}

/// A preview that a person can read: its title on one line, and its body whole, for whoever agrees agrees to all
/// of it. One that is longer than anybody reads can't be agreed to.
fn readable_preview(preview: Preview) -> Result<Preview, String> {
    const TITLE: usize = 400;
    const LONGEST: usize = 1_000_000;
    let length = preview.body.chars().count();
    if length > LONGEST {
        let (length, most) = (thousands(length), thousands(LONGEST));
        return Err(format!("what is to be shown is {length} characters long, and {most} is the most; do it in parts"));
    }
    let whole = preview.title.split(['\n', '\r']).collect::<Vec<_>>().join(" ");
    let title = shorten(&whole, TITLE);
    let body = if title == whole { preview.body } else { format!("{whole}\n{}", preview.body) };
    Ok(Preview { title, body, ..preview })
}

fn unshowable_reason(spec: &ToolSpec, problem: &str) -> String {
    let (tool, problem) = (spec.name.bare(), problem.trim_end_matches('.'));
    format!("`{tool}` was not run: a person would have to agree, and it can't be shown to them: {problem}.")
}
