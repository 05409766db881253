//! The plan, whole, as the model last set it.

use windlass_vocab::PlanItem;

/// Returns the plan as text; nothing where there is none.
pub(super) fn section(plan: &[PlanItem]) -> Option<String> {
    if plan.is_empty() {
        return None;
    }
    let steps: Vec<String> = plan.iter().map(ToString::to_string).collect();
    Some(format!("Your plan:\n{}", steps.join("\n")))
}
