//! An offer: the fixed set of tools of one run.
//!
//! `prepare` turns a call as the model wrote it into one the machine can decide on. `run` starts it
//! and bounds it: a timeout, a stop of the run, and a panic of the tool are outcomes like any other.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::Value;
use windlass_vocab::{
    EffectClass, Grant, Json, Outcome, OutcomeKind, PreparedCall, Repair, ReplyCall, SnapshotKind, TextOrigin,
    ToolName, ToolSpec, Verdict, VerdictReason,
};

use crate::argument_keys::keys_fit;
use crate::arguments::{self, ArgumentSchema, ParsedArguments, SchemaFit};
use crate::call_permission::{
    CallPermission, about_call, insert_warning, outside_text_warning, verdict_on_this_call, verdict_with_preview,
    with_preview,
};
use crate::dialect::repair_of;
use crate::names::{self, wire_name};
use crate::quoted::quoted;
use crate::registry::RegisteredTool;
use crate::{BoxFuture, CallContext, CheckedPaths, Permissions, PlannedChange, Tool, Verification};

/// The tools of one run. Cheap to clone, never changes.
#[derive(Clone)]
pub struct Offer {
    inner: Arc<OfferParts>,
}

struct OfferParts {
    specs: Vec<ToolSpec>,
    entries: Vec<Arc<RegisteredTool>>,
    /// Tools the model does not know of but may call by their full names: their servers connected later.
    late: Vec<(ToolSpec, Arc<RegisteredTool>)>,
    hidden: Vec<ToolSpec>,
    /// Every server, with or without tools to offer.
    servers: BTreeSet<String>,
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.inner.specs.iter().map(|spec| &spec.name)).finish()
    }
}

impl Offer {
    pub(crate) fn new(
        entries: Vec<Arc<RegisteredTool>>,
        hidden: &[Arc<RegisteredTool>],
        servers: BTreeSet<String>,
    ) -> Self {
        let mut taken = BTreeSet::new();
        let tools = entries.into_iter().map(|entry| (with_wire_name(&entry, &mut taken), entry)).collect();
        Self::named(tools, hidden, servers)
    }

    /// An offer of tools that have their wire names already.
    pub(crate) fn named(
        tools: Vec<(ToolSpec, Arc<RegisteredTool>)>,
        hidden: &[Arc<RegisteredTool>],
        servers: BTreeSet<String>,
    ) -> Self {
        let mut taken = tools.iter().map(|(spec, _)| spec.wire_name.clone()).collect();
        let hidden = hidden.iter().map(|entry| with_wire_name(entry, &mut taken)).collect();
        let (specs, entries) = tools.into_iter().unzip();
        Self { inner: Arc::new(OfferParts { specs, entries, late: Vec::new(), hidden, servers }) }
    }

    /// This offer plus these tools, sorted by name. Tools already in it keep their wire names.
    pub(crate) fn with(
        &self,
        more: impl IntoIterator<Item = Arc<RegisteredTool>>,
        hidden: &[Arc<RegisteredTool>],
    ) -> Self {
        let mut tools = self.tools();
        let mut taken = self.inner.specs.iter().map(|spec| spec.wire_name.clone()).collect();
        for entry in more.into_iter().filter(|entry| !self.has(&entry.spec.name)) {
            tools.push((with_wire_name(&entry, &mut taken), entry));
        }
        tools.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        Self::named(tools, hidden, self.inner.servers.clone())
    }

    /// This offer without the tool of this full name.
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut tools = self.tools();
        tools.retain(|(spec, _)| spec.name.as_str() != name);
        let (specs, entries) = tools.into_iter().unzip();
        let (hidden, servers) = (self.inner.hidden.clone(), self.inner.servers.clone());
        Self { inner: Arc::new(OfferParts { specs, entries, late: Vec::new(), hidden, servers }) }
    }

    /// This offer, in which calls of this tool run this version of it. What the model is told of it stays.
    pub(crate) fn running(&self, entry: Option<&Arc<RegisteredTool>>) -> Self {
        let OfferParts { specs, entries, hidden, servers, .. } = self.inner.as_ref();
        let of_now = |old: &Arc<RegisteredTool>| {
            let new = entry.filter(|new| new.spec.name == old.spec.name);
            Arc::clone(new.unwrap_or(old))
        };
        let (specs, entries) = (specs.clone(), entries.iter().map(of_now).collect());
        let (hidden, servers) = (hidden.clone(), servers.clone());
        Self { inner: Arc::new(OfferParts { specs, entries, late: Vec::new(), hidden, servers }) }
    }

    /// This offer, in which those of these tools that it lacks can be called by their full names.
    pub(crate) fn with_late(&self, entries: impl IntoIterator<Item = Arc<RegisteredTool>>) -> Self {
        let OfferParts { specs, entries: offered, hidden, servers, .. } = self.inner.as_ref();
        let mut taken = specs.iter().chain(hidden).map(|spec| spec.wire_name.clone()).collect();
        let late = entries.into_iter().filter(|entry| !self.has(&entry.spec.name));
        let late = late.map(|entry| (with_wire_name(&entry, &mut taken), entry)).collect();
        let (specs, hidden, servers) = (specs.clone(), hidden.clone(), servers.clone());
        Self { inner: Arc::new(OfferParts { specs, entries: offered.clone(), late, hidden, servers }) }
    }

    fn tools(&self) -> Vec<(ToolSpec, Arc<RegisteredTool>)> {
        self.inner.specs.iter().cloned().zip(self.inner.entries.iter().cloned()).collect()
    }

    /// Whether the tool is in the offer.
    #[must_use]
    pub fn has(&self, tool: &ToolName) -> bool {
        self.inner.specs.iter().any(|spec| spec.name == *tool)
    }

    /// Whether this is exactly the name of an offered or hidden tool, on the wire or in full.
    #[must_use]
    pub fn names_exactly(&self, name: &str) -> bool {
        names::exact(name, self.specs()).is_some() || names::exact(name, &self.inner.hidden).is_some()
    }

    /// Returns the specs that are sent to the model.
    #[must_use]
    pub fn specs(&self) -> &[ToolSpec] {
        &self.inner.specs
    }

    /// Resolves the name, parses and validates the arguments, checks the permission.
    #[must_use]
    pub fn prepare(&self, call: &ReplyCall, permissions: &Permissions, grants: &[Grant]) -> PreparedCall {
        let mut parsed = arguments::parse(&call.arguments);
        if let Some(written) = &call.mended {
            parsed.repairs.push(repair_of(&parsed.json, written));
            parsed.raw = Some(written.clone());
        }
        if let Some(index) = names::exact(&call.name, &self.inner.hidden) {
            return self.hidden(&self.inner.hidden[index], call, parsed.json, parsed.raw);
        }
        let (spec, entry) = match self.late(&call.name) {
            Some((spec, entry)) => (spec, entry),
            None => {
                let resolved = names::resolve(&call.name, self.specs(), &self.inner.servers);
                parsed.repairs.extend(resolved.repair());
                let Some(index) = resolved.index() else {
                    return self.unknown(call, parsed.json, parsed.raw, parsed.repairs);
                };
                (&self.inner.specs[index], &self.inner.entries[index])
            }
        };
        fit(&mut parsed, &entry.schema, &spec.wire_name, &call.arguments);
        let ParsedArguments { value, json, raw, repairs } = parsed;
        let (verdict, preview, because) = match value {
            Err(reason) => (Verdict::invalid(reason), None, None),
            Ok(value) => verdict_with_preview(entry, &value, permissions, grants),
        };
        PreparedCall {
            provider_id: call.provider_id.clone(),
            name: call.name.clone(),
            tool: Some(spec.name.clone()),
            arguments: json,
            raw,
            repairs,
            effect: spec.effect,
            ending: spec.ending,
            repeatable: spec.repeatable,
            reads_files: spec.reads_files,
            verdict,
            preview,
            snapshot: entry.tool.snapshot_kind(),
            because,
        }
    }

    /// Whether this name resolves to a tool, offered or hidden, or to a server that is unavailable, in which
    /// case the model is told so.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        let (specs, servers) = (self.specs(), &self.inner.servers);
        names::resolve(name, specs, servers).index().is_some()
            || self.late(name).is_some()
            || names::exact(name, &self.inner.hidden).is_some()
            || names::unavailable(name, specs, servers).is_some()
    }

    /// Whether these arguments, as a model wrote them, have the keys that the tool of this name takes. Of a name that
    /// resolves to no tool nothing is known, so that they do.
    #[must_use]
    pub fn fits(&self, name: &str, arguments: &str) -> bool {
        let offered = || Some(&self.specs()[names::resolve(name, self.specs(), &self.inner.servers).index()?]);
        let spec = self.late(name).map(|(spec, _)| spec).or_else(offered);
        spec.is_none_or(|spec| keys_fit(&spec.schema, arguments))
    }

    /// Returns a late tool called by its full name. An offered tool takes precedence.
    fn late(&self, name: &str) -> Option<&(ToolSpec, Arc<RegisteredTool>)> {
        let name = name.trim();
        let found = self.inner.late.iter().find(|(spec, _)| spec.wire_name == name || spec.name.as_str() == name)?;
        (!self.names_exactly(name)).then_some(found)
    }

    /// A hidden tool is refused even when the model knows its name (T2).
    fn hidden(&self, spec: &ToolSpec, call: &ReplyCall, arguments: Json, raw: Option<String>) -> PreparedCall {
        let reason = format!("`{}` is not available here. {}", spec.name.bare(), names::list_offered(self.specs()));
        PreparedCall {
            tool: Some(spec.name.clone()),
            verdict: Verdict::deny(reason),
            ..self.unknown(call, arguments, raw, Vec::new())
        }
    }

    fn unknown(&self, call: &ReplyCall, arguments: Json, raw: Option<String>, repairs: Vec<Repair>) -> PreparedCall {
        let reason = names::unknown_tool_message(&call.name, self.specs(), &self.inner.servers);
        PreparedCall {
            provider_id: call.provider_id.clone(),
            name: call.name.clone(),
            tool: None,
            arguments,
            raw,
            repairs,
            effect: EffectClass::ReadOnly,
            ending: None,
            repeatable: false,
            reads_files: false,
            verdict: Verdict::Unknown { reason, unavailable: None },
            preview: None,
            snapshot: SnapshotKind::None,
            because: None,
        }
    }

    /// Returns the paths a call is about to change, as its tool declares them.
    #[must_use]
    pub fn planned_changes(&self, tool: &ToolName, arguments: &Json) -> Vec<PlannedChange> {
        let Some(entry) = self.entry(tool) else { return Vec::new() };
        catch_unwind(AssertUnwindSafe(|| entry.tool.planned_changes(&arguments.to_value()))).unwrap_or_default()
    }

    /// Runs a call, within `timeout_default` unless the tool has a limit of its own.
    #[must_use]
    pub fn run(
        &self,
        tool: &ToolName,
        context: CallContext,
        arguments: &Json,
        timeout_default: Duration,
    ) -> BoxFuture<'static, Outcome> {
        let Some(entry) = self.entry(tool) else {
            let text = names::unknown_tool_message(tool.as_str(), self.specs(), &self.inner.servers);
            return Box::pin(std::future::ready(Outcome::new(OutcomeKind::Unknown, text)));
        };
        let arguments = arguments.to_value();
        // A person may have edited the arguments since they were prepared.
        if let Some(fault) = entry.schema.fault(entry.spec.name.bare(), &arguments) {
            return Box::pin(std::future::ready(Outcome::new(OutcomeKind::InvalidArguments, fault)));
        }
        let limit = entry.tool.timeout().unwrap_or(timeout_default);
        Box::pin(run_bounded(Arc::clone(&entry.tool), context, arguments, limit))
    }

    /// Returns why a call must not run, if a rule forbids it. Checked again right before it runs, because a person may
    /// have changed its arguments or the rules since it was prepared; a deny applies after both.
    #[must_use]
    pub fn forbidden(&self, tool: &ToolName, arguments: &Json, permissions: &Permissions) -> Option<String> {
        if permissions.deny.is_empty() {
            return None;
        }
        let entry = self.entry(tool)?;
        permissions.forbidden(&entry.spec, &about_call(entry, &arguments.to_value()))
    }

    /// Checks the permission of a call that no person has approved, right before it runs. The rules may differ from
    /// those it was prepared under: another process may run it, in another mode (X6). So the check is complete and
    /// includes text from outside (X4).
    #[must_use]
    pub fn check_permission<'t>(
        &self,
        tool: &ToolName,
        arguments: &Json,
        permissions: &Permissions,
        grants: &[Grant],
        texts: impl IntoIterator<Item = (&'t TextOrigin, &'t str)>,
    ) -> CallPermission {
        // A tool that does not exist runs nothing.
        let Some(entry) = self.entry(tool) else { return CallPermission::Run(CheckedPaths::default()) };
        let arguments = arguments.to_value();
        let about = about_call(entry, &arguments);
        let ruling = permissions.check(&entry.spec, &about, entry.tool.ask_policy(), grants);
        let feared = permissions.fears_outside_text(&about);
        let carried = if feared { quoted(&arguments, texts) } else { None };
        let (verdict, mut preview, because) = match (&ruling.verdict, &carried) {
            (Verdict::Allow, None) => return CallPermission::Run(CheckedPaths::of(about)),
            (Verdict::Allow, Some((origin, _))) => {
                verdict_on_this_call(entry, &arguments, VerdictReason::OutsideText { origin: (*origin).clone() })
            }
            (Verdict::Ask | Verdict::Deny { .. } | Verdict::Invalid { .. } | Verdict::Unknown { .. }, _) => {
                with_preview(entry, &arguments, permissions, grants, &about, ruling)
            }
        };
        if let (Some(preview), Some((origin, shared))) = (&mut preview, &carried) {
            insert_warning(entry, &arguments, preview, &outside_text_warning(origin, shared));
        }
        match verdict {
            Verdict::Allow => CallPermission::Run(CheckedPaths::of(about)),
            Verdict::Ask => CallPermission::Ask { preview, because },
            Verdict::Deny { reason, remedy } | Verdict::Invalid { reason, remedy } => {
                CallPermission::Refused { reason, remedy }
            }
            Verdict::Unknown { reason, .. } => CallPermission::Refused { reason, remedy: None },
        }
    }

    /// The same for a call that a person has approved: it runs unless a rule forbids it.
    #[must_use]
    pub fn check_approved_call(&self, tool: &ToolName, arguments: &Json, permissions: &Permissions) -> CallPermission {
        let Some(entry) = self.entry(tool) else { return CallPermission::Run(CheckedPaths::default()) };
        let about = about_call(entry, &arguments.to_value());
        let forbidden = permissions.forbidden(&entry.spec, &about);
        match forbidden {
            Some(reason) => CallPermission::Refused { reason, remedy: None },
            None => CallPermission::Run(CheckedPaths::of(about)),
        }
    }

    /// Requires approval for a call that would carry one of these texts from outside to a protected path or the network
    /// (X4), and names the text's origin in the preview. Not in bypass mode.
    pub fn ask_about_outside_text<'t>(
        &self,
        call: &mut PreparedCall,
        permissions: &Permissions,
        texts: impl IntoIterator<Item = (&'t TextOrigin, &'t str)>,
    ) {
        let Some(entry) = call.tool.as_ref().and_then(|tool| self.entry(tool)) else { return };
        let arguments = call.arguments.to_value();
        if !permissions.fears_outside_text(&about_call(entry, &arguments)) {
            return;
        }
        let Some((origin, shared)) = quoted(&arguments, texts) else { return };
        let because = VerdictReason::OutsideText { origin: origin.clone() };
        match call.verdict {
            Verdict::Allow => {
                (call.verdict, call.preview, call.because) = verdict_on_this_call(entry, &arguments, because);
            }
            Verdict::Ask => {}
            Verdict::Deny { .. } | Verdict::Invalid { .. } | Verdict::Unknown { .. } => return,
        }
        if let Some(preview) = &mut call.preview {
            insert_warning(entry, &arguments, preview, &outside_text_warning(origin, &shared));
        }
    }

    /// Asks the tool whether a call that a crash interrupted took place.
    #[must_use]
    pub fn verify(
        &self,
        tool: &ToolName,
        context: CallContext,
        arguments: &Json,
        timeout_default: Duration,
    ) -> BoxFuture<'static, Verification> {
        let Some(entry) = self.entry(tool) else {
            return Box::pin(std::future::ready(Verification::Unknown));
        };
        let (tool, arguments) = (Arc::clone(&entry.tool), arguments.to_value());
        let limit = tool.timeout().unwrap_or(timeout_default);
        Box::pin(async move {
            let cancel = context.cancel.clone();
            let work = AssertUnwindSafe(async move { tool.verify(context, arguments).await }).catch_unwind();
            tokio::select! {
                verification = work => verification.unwrap_or(Verification::Unknown),
                () = cancel.cancelled() => Verification::Unknown,
                () = tokio::time::sleep(limit) => Verification::Unknown,
            }
        })
    }

    pub(crate) fn entry(&self, tool: &ToolName) -> Option<&Arc<RegisteredTool>> {
        let late = self.inner.late.iter().map(|(_, entry)| entry);
        self.inner.entries.iter().chain(late).find(|entry| entry.spec.name == *tool)
    }
}

/// Returns the tool's spec with an unused wire name, and adds that name to `taken`.
fn with_wire_name(entry: &RegisteredTool, taken: &mut BTreeSet<String>) -> ToolSpec {
    let wire_name = wire_name(&entry.spec.name, taken);
    taken.insert(wire_name.clone());
    ToolSpec { wire_name, ..entry.spec.clone() }
}

/// Converts arguments to the form their schema asks for, where that loses nothing; if they don't fit, replaces
/// the parsed value by the error message.
fn fit(parsed: &mut ParsedArguments, schema: &ArgumentSchema, tool: &str, written: &str) {
    let Ok(value) = &parsed.value else { return };
    match schema.fit(tool, value) {
        SchemaFit::AsGiven => {}
        SchemaFit::Coerced(value, repairs) => {
            parsed.json = Json::from(&value);
            parsed.value = Ok(value);
            parsed.raw.get_or_insert_with(|| written.to_owned());
            parsed.repairs.extend(repairs);
        }
        SchemaFit::Mismatch(reason) => parsed.value = Err(reason),
    }
}

/// Runs a tool until it answers, times out or the run is stopped. After a stop the tool has its grace period to
/// answer; then its future is dropped.
async fn run_bounded(tool: Arc<dyn Tool>, context: CallContext, arguments: Value, limit: Duration) -> Outcome {
    let grace = tool.stop_grace();
    let effect = tool.spec().effect;
    let cancel = context.cancel.clone();
    let work = AssertUnwindSafe(async move {
        let origin = tool.origin(&arguments);
        let outcome = tool.run(context, arguments).await;
        Outcome { origin: outcome.origin.or(origin), ..outcome }
    })
    .catch_unwind();
    let stopped = async {
        cancel.cancelled().await;
        tokio::time::sleep(grace).await;
    };
    tokio::select! {
        biased;
        outcome = work => outcome.unwrap_or_else(|panic| panic_outcome(panic.as_ref())),
        () = stopped => Outcome::new(OutcomeKind::Cancelled, cut_short_text("Stopped before it was done.", effect)),
        () = tokio::time::sleep(limit.saturating_add(grace)) => {
            let text = format!("Not done within {} s, and stopped.", limit.as_secs_f32());
            Outcome::new(OutcomeKind::TimedOut, cut_short_text(&text, effect))
        }
    }
}

fn cut_short_text(text: &str, effect: EffectClass) -> String {
    match effect {
        EffectClass::ReadOnly => text.to_owned(),
        EffectClass::Idempotent | EffectClass::Verifiable | EffectClass::Once => {
            format!("{text} It may have taken effect in part or whole: look before you repeat it.")
        }
    }
}

fn panic_outcome(panic: &(dyn std::any::Any + Send)) -> Outcome {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
    Outcome::new(OutcomeKind::InfrastructureError, format!("The tool broke off by a fault of its own: {said}."))
}
