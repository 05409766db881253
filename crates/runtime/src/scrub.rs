//! Replaces secrets before anything becomes a record (X1): every fact passes through here first.

use std::borrow::Cow;

use windlass_machine::{CallResult, Fact, RunSettings, VerifiedCall};
use windlass_tools::Secrets;
use windlass_vocab::{
    Answer, Elicitation, ElicitationKind, Failure, Part, PinnedContext, PreparedCall, Preview, Remedy, TextOrigin,
    UnaskedChange, Verdict, VerdictReason,
};

/// Replaces every known secret in a fact.
pub(crate) fn scrub(secrets: &Secrets, fact: &mut Fact) {
    match fact {
        // Attachments were scrubbed before their texts were cut, and their blobs with them.
        Fact::Message { text, run_settings, attachments: _, message_id: _ } => {
            scrub_text(secrets, text);
            scrub_run_settings(secrets, run_settings);
        }
        Fact::Retried(run_settings) => scrub_run_settings(secrets, run_settings),
        Fact::HandedBack { text, .. } => scrub_text(secrets, text),
        Fact::Pinned(context, overview) => {
            scrub_context(secrets, context);
            for text in
                overview.iter_mut().flat_map(|overview| &mut overview.files).filter_map(|file| file.text.as_mut())
            {
                scrub_text(secrets, text);
            }
        }
        Fact::OfferChanged { context, .. } => scrub_context(secrets, context),
        Fact::Failed { failure, .. } => scrub_failure(secrets, failure),
        Fact::Replied { parts, calls, misfit, malformed, .. } => {
            parts.iter_mut().for_each(|part| scrub_part(secrets, part));
            calls.iter_mut().for_each(|call| scrub_call(secrets, call));
            for told in [misfit, malformed].into_iter().flatten() {
                scrub_text(secrets, told);
            }
        }
        Fact::Planned { parts, steps, .. } => {
            parts.iter_mut().for_each(|part| scrub_part(secrets, part));
            steps.iter_mut().for_each(|step| scrub_text(secrets, &mut step.step));
        }
        // What a child session recorded was scrubbed there; this process may know more secrets.
        Fact::StepReported(report) => {
            scrub_text(secrets, &mut report.answer);
            report.origins.iter_mut().for_each(|origin| scrub_origin(secrets, origin));
        }
        Fact::StepAsked { asked, .. } => {
            asked.preview.iter_mut().for_each(|preview| scrub_preview(secrets, preview));
            asked.elicitation.iter_mut().for_each(|elicitation| scrub_elicitation(secrets, elicitation));
            asked.because.iter_mut().for_each(|because| scrub_reason(secrets, because));
        }
        Fact::CallDone { finished, .. } => scrub_finished(secrets, finished),
        Fact::CallVerified { verified: VerifiedCall::Done(finished), .. } => scrub_finished(secrets, finished),
        Fact::Answered { answer, .. } => scrub_answer(secrets, answer),
        Fact::CallNeedsApproval { preview, because, .. } => {
            if let Some(preview) = preview {
                scrub_preview(secrets, preview);
            }
            if let Some(because) = because {
                scrub_reason(secrets, because);
            }
        }
        Fact::CallPaused { pause, .. } => {
            pause.state = secrets.scrub_json(&pause.state);
            pause.asks.iter_mut().for_each(|asked| scrub_elicitation(secrets, asked));
        }
        Fact::Elicited { elicitation, .. } => scrub_elicitation(secrets, elicitation),
        Fact::Changed(changed) => {
            if let Some(title) = &mut changed.title {
                scrub_text(secrets, title);
            }
        }
        Fact::Restored { left_alone, .. } => left_alone.values_mut().for_each(|why| scrub_text(secrets, why)),
        // File names stay unchanged, because an undo must find the files. These facts hold no file contents.
        Fact::Snapshot(_) | Fact::FilesChanged(_) | Fact::Undo(_) => {}
        Fact::CallVerified { verified: VerifiedCall::NotDone | VerifiedCall::Unknown, .. }
        | Fact::Opened(..)
        | Fact::LeaseTaken(_)
        | Fact::Resumed { .. }
        | Fact::CallAllowed { .. }
        | Fact::Stopped(_)
        | Fact::CompactionUndone(_)
        | Fact::Forked => {}
    }
}

/// Replaces every known secret in a part of a reply.
pub(crate) fn scrub_part(secrets: &Secrets, part: &mut Part) {
    match part {
        Part::Text { text } => scrub_text(secrets, text),
        Part::Thinking { text, signature } => {
            if let Cow::Owned(clean) = secrets.scrub(text) {
                *text = clean;
                // It was made for the text as it was; the provider would refuse it with any other.
                *signature = None;
            }
        }
        Part::Opaque { item } => {
            if secrets.is_in(item.as_str().as_bytes()) {
                *item = secrets.scrub_json(item);
            }
        }
        Part::Call { .. } => {}
    }
}

/// Replaces every known secret in an answer.
pub(crate) fn scrub_answer(secrets: &Secrets, answer: &mut Answer) {
    if let Some(arguments) = &mut answer.arguments {
        *arguments = secrets.scrub_json(arguments);
    }
    if let Some(reason) = &mut answer.reason {
        scrub_text(secrets, reason);
    }
}

fn scrub_run_settings(secrets: &Secrets, run_settings: &mut RunSettings) {
    for server in run_settings.models.iter_mut().filter_map(|model| model.server.as_mut()) {
        scrub_text(secrets, server);
    }
    if let Some(system) = &mut run_settings.system {
        scrub_text(secrets, system);
    }
}

fn scrub_elicitation(secrets: &Secrets, elicitation: &mut Elicitation) {
    scrub_text(secrets, &mut elicitation.message);
    match &mut elicitation.wants {
        ElicitationKind::Form { schema } => *schema = secrets.scrub_json(schema),
        ElicitationKind::Visit { url } => scrub_text(secrets, url),
    }
}

/// A server's descriptions of its tools are text from outside.
fn scrub_context(secrets: &Secrets, context: &mut PinnedContext) {
    scrub_text(secrets, &mut context.prefix);
    for spec in context.offer.iter_mut().filter(|spec| !spec.name.is_local()) {
        if let Cow::Owned(clean) = secrets.scrub(&spec.description) {
            spec.description = clean.into();
        }
        spec.schema = secrets.scrub_json(&spec.schema);
    }
}

fn scrub_text(secrets: &Secrets, text: &mut String) {
    if let Cow::Owned(clean) = secrets.scrub(text) {
        *text = clean;
    }
}

fn scrub_failure(secrets: &Secrets, failure: &mut Failure) {
    scrub_text(secrets, &mut failure.message);
}

pub(crate) fn scrub_preview(secrets: &Secrets, preview: &mut Preview) {
    scrub_text(secrets, &mut preview.title);
    scrub_text(secrets, &mut preview.body);
    if let Some(rule) = &mut preview.rule {
        scrub_text(secrets, rule);
    }
}

fn scrub_call(secrets: &Secrets, call: &mut PreparedCall) {
    scrub_text(secrets, &mut call.name);
    call.arguments = secrets.scrub_json(&call.arguments);
    if let Some(raw) = &mut call.raw {
        scrub_text(secrets, raw);
    }
    match &mut call.verdict {
        Verdict::Deny { reason, remedy } | Verdict::Invalid { reason, remedy } => {
            scrub_text(secrets, reason);
            scrub_remedy(secrets, remedy);
        }
        Verdict::Unknown { reason, .. } => scrub_text(secrets, reason),
        Verdict::Allow | Verdict::Ask => {}
    }
    if let Some(preview) = &mut call.preview {
        scrub_preview(secrets, preview);
    }
    if let Some(because) = &mut call.because {
        scrub_reason(secrets, because);
    }
}

fn scrub_reason(secrets: &Secrets, because: &mut VerdictReason) {
    match because {
        VerdictReason::Rule { rule } | VerdictReason::Grant { rule } => scrub_text(secrets, rule),
        VerdictReason::Protected { path, pattern } => {
            scrub_text(secrets, path);
            scrub_text(secrets, pattern);
        }
        VerdictReason::OutsideText { origin } => scrub_origin(secrets, origin),
        VerdictReason::Unasked {
            change:
                UnaskedChange::Deletes { path }
                | UnaskedChange::NotNamed { path }
                | UnaskedChange::AfterDeniedDelete { path },
        } => scrub_text(secrets, path),
        VerdictReason::Unasked { change: UnaskedChange::InAnswer {} | UnaskedChange::Unclear {} }
        | VerdictReason::Unconfined {}
        | VerdictReason::Mode { .. } => {}
    }
}

pub(crate) fn scrub_origin(secrets: &Secrets, origin: &mut TextOrigin) {
    match origin {
        TextOrigin::Page { url: named }
        | TextOrigin::Server { server: named }
        | TextOrigin::File { path: named }
        | TextOrigin::Command { command: named } => scrub_text(secrets, named),
    }
}

fn scrub_remedy(secrets: &Secrets, remedy: &mut Option<Remedy>) {
    if let Some(text) = remedy.as_mut().and_then(Remedy::text_mut) {
        scrub_text(secrets, text);
    }
}

fn scrub_finished(secrets: &Secrets, finished: &mut CallResult) {
    scrub_text(secrets, &mut finished.text);
    finished.images.iter_mut().for_each(|image| scrub_text(secrets, &mut image.name));
    if let Some(origin) = &mut finished.origin {
        scrub_origin(secrets, origin);
    }
    scrub_remedy(secrets, &mut finished.remedy);
    if let Some(structured) = &mut finished.structured {
        *structured = secrets.scrub_json(structured);
    }
    for item in finished.plan.iter_mut().flatten() {
        scrub_text(secrets, &mut item.step);
    }
}
