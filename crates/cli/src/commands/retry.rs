//! `windlass retry`: starts a new run on the history of a failed one, within the same limits, counted anew.

use std::path::PathBuf;

use windlass_setup::agent;
use windlass_setup::last_run::{LastRun, last_run};
use windlass_setup::models::{DEMO, ModelFallback, ModelPreference};
use windlass_setup::settings::Env;
use windlass_setup::store;
use windlass_vocab::Policy;

use super::block_on::block_on;
use super::prepared_run::PreparedRun;
use super::{follow, prepared_run, session};
use crate::args::{RetryArgs, RuleFlags, flags};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::quoted;

pub(super) fn retry(data_dir: Option<PathBuf>, args: &RetryArgs, env: Env) -> CommandResult {
    let flags = flags(data_dir, &args.rules, &args.common);
    let mut sources = prepared_run::gather(flags, env)?;
    let place = prepared_run::place(&sources)?;
    block_on(async {
        let store = store::open(&place)?;
        let row = session::by_key_or_last(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        let nothing = |why| CommandError::new(Exit::Usage, format!("nothing to retry in session `{}`: {why}", row.key));
        // Opening the session would continue the open run. A process that works on it is reported first.
        if row.status.is_open() {
            store.claim(row.session).await.map_err(|error| CommandError::of_store(error, Some(&row.key)))?;
            return Err(nothing("a run is still open; use `windlass resume`"));
        }
        let place = session::in_named_session_folder(place, &row, args.common.workspace.as_deref())?;
        let last = last_run(store.as_ref(), Some(&row)).await?;
        sources.flags.session_agent = last.as_ref().and_then(|last| last.agent.clone());
        let mut prepared_run = PreparedRun::prepare(sources, &args.common, place)?;
        if let Some(last) = &last {
            let kept = keep_limits(&mut prepared_run.setup.settings.policy, &last.policy, &args.rules);
            if !kept.is_empty() {
                prepared_run.view.notice(&format!("the run keeps its limits: {}", kept.join(", ")));
            }
        }
        let named = last.as_ref().and_then(LastRun::model_flags);
        let begun = last.and_then(|last| last.model);
        let was_demo = begun.as_ref().is_some_and(|begun| begun.model.as_str() == DEMO);
        let otherwise = if was_demo { ModelFallback::Demo } else { ModelFallback::Refuse };
        let before = begun.as_ref().map(|begun| begun.model.clone());
        let preference = ModelPreference::new(begun, otherwise);
        let model = prepared_run.choose_again(("retry", &row.key), preference, named).await?;
        prepared_run.print_loosened();
        prepared_run.print_script_notice(&model);
        let agent = agent::build(&prepared_run.setup, store, &model)?;
        let Some((session, mut events, run)) = agent.open_to_retry(row.session).await? else {
            return Err(nothing("its last run did not end badly"));
        };
        let now = prepared_run.setup.settings.first_name().unwrap_or(&model);
        if let Some(before) = before.filter(|before| before != now && !was_demo) {
            prepared_run.view.notice(&format!("the run began with {before}; {now} tries it again"));
        }
        follow::until_nothing_waits(&mut prepared_run, &agent, session, &mut events, run).await
    })
}

/// Keeps the limits of the run that is retried where they are tighter than those of today's settings and no flag gives
/// another. They may only get tighter, because the run may have been imported (X6). Returns the kept limits, as they are
/// typed.
fn keep_limits(today: &mut Policy, run: &Policy, given: &RuleFlags) -> Vec<String> {
    let mut kept = Vec::new();
    if given.max_turns.is_none() && given.preset.is_none() && run.turn_cap < today.turn_cap {
        today.turn_cap = run.turn_cap;
        kept.push(format!("--max-turns {}", run.turn_cap));
    }
    if let Some(limit) = tighter(given.max_cost, run.run_cost_limit, today.run_cost_limit) {
        today.run_cost_limit = Some(limit);
        kept.push(format!("--max-cost {limit}"));
    }
    if let Some(limit) = tighter(given.max_run_tokens, run.run_token_limit, today.run_token_limit) {
        today.run_token_limit = Some(limit);
        kept.push(format!("--max-run-tokens {limit}"));
    }
    if given.tags.is_empty() && today.tags.is_empty() && !run.tags.is_empty() {
        today.tags.clone_from(&run.tags);
        kept.extend(run.tags.iter().map(|tag| format!("--tag {}", quoted(tag))));
    }
    kept
}

/// Returns the limit of the run, if no other was given and it is tighter than today's.
fn tighter<T: Copy + Ord>(given: Option<T>, run: Option<T>, today: Option<T>) -> Option<T> {
    run.filter(|run| given.is_none() && today.is_none_or(|today| *run < today))
}

#[cfg(test)]
mod tests {
    use windlass_vocab::Policy;

    use super::keep_limits;
    use crate::args::RuleFlags;

    fn policy(turn_cap: u32, cost: Option<&str>) -> Policy {
        let run_cost_limit = cost.map(|amount| amount.parse().expect("an amount"));
        Policy { turn_cap, run_cost_limit, ..windlass_machine::preset("default").expect("a preset") }
    }

    // proves M7, X6: a retry is held to the tighter limit, and a flag given now counts more
    #[test]
    fn limits_are_kept_where_they_are_tighter_and_no_flag_gives_another() {
        let none = RuleFlags::default();
        let given = RuleFlags { max_cost: Some("2".parse().expect("an amount")), ..RuleFlags::default() };
        let preset = RuleFlags { preset: Some("task".into()), ..RuleFlags::default() };
        let ten_cents = policy(7, Some("0.10"));
        for (today, given, kept) in [
            (policy(50, None), &none, &["--max-turns 7", "--max-cost 0.10"][..]),
            (policy(50, Some("5")), &none, &["--max-turns 7", "--max-cost 0.10"]),
            (policy(5, Some("0.05")), &none, &[]),
            (policy(50, None), &given, &["--max-turns 7"]),
            (policy(50, None), &preset, &["--max-cost 0.10"]),
        ] {
            let mut policy = today.clone();
            assert_eq!(keep_limits(&mut policy, &ten_cents, given), kept);
            let cost = if kept.contains(&"--max-cost 0.10") { ten_cents.run_cost_limit } else { today.run_cost_limit };
            assert_eq!(policy.run_cost_limit, cost);
        }
    }
}
