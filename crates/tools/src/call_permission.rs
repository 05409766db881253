//! Whether a call may run, and the preview that a person sees if they are asked, now or after a crash interrupted the
//! call. A call whose preview can't be shown in full can't be approved.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use windlass_vocab::{
    EffectClass, Grant, Preview, Remedy, TextOrigin, ToolSpec, UnaskedChange, Verdict, VerdictReason,
};

use crate::cut::thousands;
use crate::permission::{allowing_rule, exact_rule};
use crate::registry::RegisteredTool;
use crate::sandbox_use::SandboxUse;
use crate::shorten::shorten;
use crate::{About, AskPolicy, CertainFailure, CheckedPaths, FailureSource, Permissions, Ruling};

/// The permission of a call, as checked right before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallPermission {
    /// The call may run, on these paths.
    Run(CheckedPaths),
    /// The call must not run.
    Refused {
        /// The reason, for the model.
        reason: String,
        /// What a person could change to permit it.
        remedy: Option<Remedy>,
    },
    /// A person must be asked first.
    Ask {
        /// The preview for the person.
        preview: Option<Preview>,
        /// Which rule or default requires the question.
        because: Option<VerdictReason>,
    },
}

/// Returns the subject that rules are matched against: the one the tool gives, else the call's arguments.
pub(crate) fn about_call(entry: &RegisteredTool, arguments: &Value) -> About {
    let about = catch_unwind(AssertUnwindSafe(|| entry.tool.about(arguments))).ok().flatten();
    about.unwrap_or_else(|| About::text(serde_json::to_string(arguments).unwrap_or_default()))
}

/// Returns why a call can't succeed, if its tool knows that.
pub(crate) fn certain_failure_of(entry: &RegisteredTool, arguments: &Value) -> Option<CertainFailure> {
    catch_unwind(AssertUnwindSafe(|| entry.tool.certain_failure(arguments))).ok().flatten()
}

/// Returns the verdict on a call that a person would be asked about, if its arguments can never be used: nobody is asked,
/// and no rule is offered that would not make it run.
fn unusable_arguments(entry: &RegisteredTool, arguments: &Value) -> Option<Verdict> {
    let failure = certain_failure_of(entry, arguments)?;
    let CertainFailure { reason, remedy, source } = failure;
    (source == FailureSource::Arguments).then_some(Verdict::Invalid { reason, remedy })
}

/// Returns the verdict on a valid call, with its preview for a person who is asked now, or after a crash interrupted
/// the call.
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

/// Returns a ruling on a valid call, with its preview for a person.
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
    if verdict == Verdict::Ask
        && let Some(invalid) = unusable_arguments(entry, arguments)
    {
        return (invalid, None, None);
    }
    let (rule, warning) = match &because {
        VerdictReason::Protected { path, pattern } => {
            (exact_rule(&entry.spec, about), Some(protected_warning(path, pattern)))
        }
        VerdictReason::Mode { .. } => (permissions.missing_rule(&entry.spec, about, grants), None),
        VerdictReason::Rule { .. }
        | VerdictReason::Grant { .. }
        | VerdictReason::OutsideText { .. }
        | VerdictReason::Unasked { .. }
        | VerdictReason::Unconfined {} => (allowing_rule(&entry.spec, about), None),
    };
    // No rule permits changing a protected path without asking, so none is offered.
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

/// The verdict on a call that a rule allows but that carries text from outside, or was not asked for. No rule is offered,
/// because the next call will be a different one.
pub(crate) fn verdict_on_this_call(
    entry: &RegisteredTool,
    arguments: &Value,
    because: VerdictReason,
) -> (Verdict, Option<Preview>, Option<VerdictReason>) {
    match preview_of(entry, arguments, "") {
        Ok(preview) => (Verdict::Ask, Some(Preview { rule: None, ..preview }), Some(because)),
        Err(problem) => (Verdict::deny(unshowable_reason(&entry.spec, &problem)), None, Some(because)),
    }
}

/// Returns the preview of a call: the line that names its confinement, then the warning, then the tool's own preview.
fn preview_of(entry: &RegisteredTool, arguments: &Value, warning: &str) -> Result<Preview, String> {
    let made =
        catch_unwind(AssertUnwindSafe(|| (entry.tool.preview(arguments), entry.tool.confinement_line(arguments))));
    let (preview, held) = made.map_err(|_| "the preview broke off".to_owned())?;
    let held = held.map(|held| held + "\n").unwrap_or_default();
    let whole = preview.map(|preview| Preview { body: held + warning + &preview.body, ..preview });
    whole.and_then(readable_preview)
}

/// Inserts a warning into a preview, below the line that names the call's confinement.
pub(crate) fn insert_warning(entry: &RegisteredTool, arguments: &Value, preview: &mut Preview, warning: &str) {
    let held = catch_unwind(AssertUnwindSafe(|| entry.tool.confinement_line(arguments))).ok().flatten();
    let below = held.filter(|held| preview.body.starts_with(held.as_str())).map_or(0, |held| held.len() + 1);
    preview.body.insert_str(below.min(preview.body.len()), warning);
}

/// Returns the warning about text from outside, for the person who decides.
pub(crate) fn outside_text_warning(origin: &TextOrigin, shared: &str) -> String {
    const SHOWN: usize = 200;
    format!("it carries text from {origin}: \u{201c}{}\u{201d}\n", shorten(shared, SHOWN))
}

/// Returns the warning about a change that was not asked for, for the person who decides.
pub(crate) fn unasked_warning(change: &UnaskedChange) -> String {
    match change {
        UnaskedChange::InAnswer {} => "the request is a question, and this call changes files\n".to_owned(),
        UnaskedChange::Unclear {} => "the request does not say exactly what to change\n".to_owned(),
        UnaskedChange::Deletes { path } => format!("the request does not name {path}, which would be lost\n"),
        UnaskedChange::NotNamed { path } => format!("the request does not ask to change {path}\n"),
        UnaskedChange::AfterDeniedDelete { path } => format!("deleting {path} was refused in this run\n"),
    }
}

/// Returns the warning about a protected path, for the person who decides.
fn protected_warning(path: &str, pattern: &str) -> String {
    format!("{path} is protected ({pattern}): what is there may run by itself, or instruct agents.\n")
}

/// Returns the rule offered for permanent approval. There is none for a tool that has changed since it was agreed to,
/// nor for a command that is to leave the sandbox: no rule would permit those.
fn lasting_rule(entry: &RegisteredTool, about: &About, rule: String) -> Option<String> {
    match (entry.tool.ask_policy(), about.sandbox_use) {
        (AskPolicy::Anew, _) | (_, SandboxUse::Outside) => None,
        (
            AskPolicy::ByEffect | AskPolicy::Always,
            SandboxUse::Confined | SandboxUse::WithNetwork | SandboxUse::NoSandbox,
        ) => Some(rule),
    }
}

/// Returns a preview that a person can read: its title on one line and its body whole, because approval covers all of
/// it. A preview too long for anyone to read is an error.
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
