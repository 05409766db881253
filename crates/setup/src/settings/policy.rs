//! Resolves the policy of a run: preset, then the user's file, then the project's, then variables and flags.
//!
//! An untrusted project may only tighten it (X2). Each row of `windlass_vocab::Policy` defines which direction is
//! tighter; a value that would loosen a row is dropped and reported.

use windlass_machine::{PRESETS, preset};
use windlass_vocab::{Planning, Policy, PolicyPatch};

use super::error::SettingsError;
use super::file::SettingsFile;
use super::ignored_setting::IgnoredSetting;
use super::nearest;
use super::origin::{SettingOrigin, Sourced};
use super::sources::Sources;

/// The preset of a run for which nothing says another.
const USUAL_PRESET: &str = "default";

/// Returns the policy of a new run, and the dropped values of a project's file that would loosen it.
pub(super) fn policy(sources: &Sources) -> Result<(Policy, Vec<IgnoredSetting>), SettingsError> {
    let Sources { flags, project, user, .. } = sources;
    let trusted = project.as_ref().filter(|_| sources.trusts_project());
    let untrusted = project.as_ref().filter(|_| trusted.is_none());
    let own = chosen_preset(sources)?.unwrap_or_else(|| Sourced::new(USUAL_PRESET.to_owned(), SettingOrigin::Default));
    let own = named_preset(own)?.value;
    let in_files = [user.as_ref(), trusted].into_iter().flatten();
    let mut policy = in_files.fold(own, |policy, file| policy.with(&file.settings.policy));
    let over = over_files(sources)?;
    let mut left_out = Vec::new();
    if let Some(file) = untrusted {
        let mut tightening = TightenedPolicy { file, policy, left_out: &mut left_out };
        if let (None, Some(theirs)) = (preset_over_files(sources)?, named_in(untrusted)) {
            tightening.preset(&named_preset(theirs)?);
        }
        tightening.rows(&over);
        policy = tightening.policy;
    }
    let policy = policy.with(&over);
    Ok((if flags.plan { planning(policy)? } else { policy }, left_out))
}

/// Returns the preset that a person names.
pub(super) fn chosen_preset(sources: &Sources) -> Result<Option<Sourced<String>>, SettingsError> {
    let trusted = sources.project.as_ref().filter(|_| sources.trusts_project());
    let in_files = || named_in(trusted).or_else(|| named_in(sources.user.as_ref()));
    Ok(preset_over_files(sources)?.or_else(in_files))
}

/// Returns the preset that a flag or a variable names.
fn preset_over_files(sources: &Sources) -> Result<Option<Sourced<String>>, SettingsError> {
    match Sourced::flag("preset", sources.flags.preset.clone()) {
        Some(flag) => Ok(Some(flag)),
        None => sources.env.text("WINDLASS_PRESET"),
    }
}

fn named_in(file: Option<&SettingsFile>) -> Option<Sourced<String>> {
    file.and_then(|file| file.sourced(&file.settings.preset))
}

/// Returns the policy of a run that a plan was asked for (S3). One that never plans can't be asked to.
fn planning(policy: Policy) -> Result<Policy, SettingsError> {
    let Some(asked) = Sourced::flag("plan", Some(policy.planning)) else { return Ok(policy) };
    let preset = &policy.preset;
    let planning = asked.try_map(|planning| match planning {
        Planning::Optional | Planning::Always => Ok(Planning::Always),
        Planning::No => Err(format!(
            "the preset {preset:?} or the settings say planning = \"no\"; set it to \"optional\" to plan when asked for"
        )),
    })?;
    Ok(Policy { planning: planning.value, ..policy })
}

/// Returns the preset of this name.
fn named_preset(name: Sourced<String>) -> Result<Sourced<Policy>, SettingsError> {
    name.try_map(|name| {
        let unknown = || format!("there is no preset {name:?}; {}", nearest(&name, &PRESETS));
        preset(&name).ok_or_else(unknown)
    })
}

/// Returns the rows that variables and flags set.
fn over_files(sources: &Sources) -> Result<PolicyPatch, SettingsError> {
    let Sources { flags, env, .. } = sources;
    let turns = env.parsed("WINDLASS_MAX_TURNS", |text| match text.parse::<u32>() {
        Ok(turns) if turns > 0 => Ok(turns),
        Ok(_) | Err(_) => Err(format!("{text:?} is not a number of turns; write it like 20")),
    })?;
    let turn_cap = flags.max_turns.or(turns.map(|turns| turns.value));
    let dialects = Some(flags.dialects.clone()).filter(|dialects| !dialects.is_empty());
    let tags = (!flags.tags.is_empty()).then(|| flags.tags.iter().cloned().collect());
    let run_cost_limit = flags.max_cost.map(Some);
    let run_token_limit = flags.max_run_tokens.map(Some);
    Ok(PolicyPatch { turn_cap, dialects, tags, run_cost_limit, run_token_limit, ..PolicyPatch::default() })
}

/// A policy that a project may only tighten.
struct TightenedPolicy<'a> {
    file: &'a SettingsFile,
    policy: Policy,
    left_out: &'a mut Vec<IgnoredSetting>,
}

impl TightenedPolicy<'_> {
    /// Takes a preset as a whole or not at all: half a preset would be a combination nobody intended.
    fn preset(&mut self, theirs: &Sourced<Policy>) {
        let name = theirs.value.preset.clone();
        let (policy, looser) = self.policy.clone().tightened(&theirs.value.as_patch());
        if looser.is_empty() {
            self.policy = Policy { preset: name, ..policy };
        } else {
            let what = format!("the preset {name:?}, which loosens {}", looser.join(", "));
            self.left_out.push(IgnoredSetting { origin: theirs.origin.clone(), what, value: None });
        }
    }

    /// Takes rows one by one, except those that a flag or a variable sets anyway.
    fn rows(&mut self, over: &PolicyPatch) {
        let mut patch = self.file.settings.policy.clone();
        patch.turn_cap = patch.turn_cap.filter(|_| over.turn_cap.is_none());
        patch.dialects = patch.dialects.filter(|_| over.dialects.is_none());
        patch.tags = patch.tags.filter(|_| over.tags.is_none());
        patch.run_cost_limit = patch.run_cost_limit.filter(|_| over.run_cost_limit.is_none());
        patch.run_token_limit = patch.run_token_limit.filter(|_| over.run_token_limit.is_none());
        let (policy, looser) = self.policy.clone().tightened(&patch);
        self.policy = policy;
        // A row may be written as a table of its own; the notice displays it as one value.
        let rows = serde_json::to_value(&self.file.settings.policy).unwrap_or_default();
        for row in looser {
            let what = format!("`{row}`, which may only be tightened");
            let value = rows.get(row).map(ToString::to_string);
            self.left_out.push(IgnoredSetting { origin: self.file.origin_of_row(row), what, value });
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_machine::PRESETS;
    use windlass_vocab::{Guard, Planning, UnfinishedCall};

    use super::super::tests::SettingsFixture;

    // proves X2: an untrusted project only ever tightens, row by row
    #[test]
    fn every_row_goes_one_way_until_the_project_is_trusted() {
        for (row, tighter, looser) in [
            ("turn_cap", "3", "4000"),
            ("at_cap", "'fail'", "'wrap_up'"),
            (
                "retry",
                "{ tries = 1, first_wait_ms = 900, ceiling_ms = 1000 }",
                "{ tries = 99, first_wait_ms = 1, ceiling_ms = 1 }",
            ),
            ("dialects", "['native']", "['native', 'bracket']"),
            ("tools", "['built_in']", "['built_in', 'mcp', 'ending']"),
            ("parallel", "'off'", "'on'"),
            ("stream_idle", "{ first_ms = 1, next_ms = 1 }", "{ first_ms = 999999999, next_ms = 1 }"),
            (
                "guards",
                "['repeated_read', 'repeated_change', 'failed_tool', 'error_turns', 'five_errors', 'cycle']",
                "['cycle']",
            ),
            ("result_cap", "{ chars = 10, rest = 'drop' }", "{ chars = 9000000, rest = 'keep' }"),
            ("unfinished_call", "'interrupt'", "'run_again'"),
            ("nudges", "[]", "['empty', 'cut_off', 'no_tool_call']"),
            ("approval_wait_ms", "1000", "999999999"),
            ("tool_timeout_ms", "1000", "999999999"),
            ("output_corrections", "0", "99"),
            ("tags", "['web']", "[]"),
            ("hidden", "['run_command', 'fetch_url']", "[]"),
            ("retry_after_limit_ms", "5", "999999999"),
            ("server_wait_ms", "1", "999999"),
            ("outside_text", "'ask'", "'ignore'"),
            ("titles", "'off'", "'model'"),
            ("run_cost_limit", "'0.10'", "'500'"),
            ("run_token_limit", "10", "500000"),
            ("run_time_limit_ms", "10", "500000"),
            ("session_cost_limit", "0", "500"),
            ("session_token_limit", "10", "500000"),
            ("day_cost_limit", "0.25", "500.5"),
            ("day_token_limit", "10", "500000"),
            ("agent_cost_limit", "0.25", "500.5"),
            ("agent_token_limit", "10", "500000"),
            ("retrieve", "'off'", "'workspace'"),
            ("overview", "'off'", "'on'"),
            ("unasked_changes", "'ask'", "'allow'"),
            ("router", "'off'", "'model'"),
            ("planning", "'no'", "'always'"),
        ] {
            // The person's values lie between the tighter and the looser ones of the project.
            let user = "[policy]\nat_cap = 'fail'\nplanning = 'optional'\ntags = ['web']\nhidden = ['run_command']\n\
                        run_cost_limit = 1\nsession_cost_limit = 1\nday_cost_limit = 1\nrun_token_limit = 99\n\
                        run_time_limit_ms = 99\nsession_token_limit = 99\nday_token_limit = 99\n\
                        agent_cost_limit = 1\nagent_token_limit = 99\nretrieve = 'own'\n\
                        overview = 'text_calls'\nunasked_changes = 'ask'\n";
            let given =
                |value: &str| SettingsFixture::usable().user(user).project(&format!("[policy]\n\n{row} = {value}"));
            let own = SettingsFixture::usable().user(user).settings().policy;
            let value = |given: &SettingsFixture, row: &str| {
                serde_json::to_value(given.settings().policy).expect("JSON")[row].clone()
            };
            let theirs = |text: &str| given(text).trusted();
            let (tight, loose) = (given(tighter), given(looser));
            assert_eq!(tight.settings().notices, [], "{row}");
            assert_eq!(value(&tight, row), value(&theirs(tighter), row), "{row} is tightened");
            assert_eq!(loose.settings().policy, own, "{row} is not loosened");
            let [told] = &loose.settings().notices[..] else { panic!("{row}: {:?}", loose.settings().notices) };
            assert!(told.to_string().starts_with("/p/windlass.toml:3:1: ") && told.to_string().contains(row), "{told}");
            assert_ne!(
                value(&theirs(looser), row),
                serde_json::to_value(&own).expect("JSON")[row],
                "{row} when trusted"
            );
        }
    }

    // proves X2: a row without a tighter direction keeps the person's value
    #[test]
    fn what_is_neither_tighter_nor_looser_stays_the_persons() {
        for (row, value) in [("ends_by", "'ending_tool'"), ("steering", "'queue'"), ("history", "'pruned'")] {
            let given = SettingsFixture::usable().project(&format!("[policy]\n{row} = {value}"));
            assert_eq!(given.settings().policy, SettingsFixture::usable().settings().policy, "{row}");
            assert_eq!(given.settings().notices.len(), 1, "{row}");
        }
        let free = SettingsFixture::usable()
            .project("[policy]\nreasoning = 'high'\nsampling = { max_tokens = { fixed = 9 } }\ntools_offered = 0");
        assert_eq!(free.settings().notices, [], "how a model speaks allows nothing");
    }

    // proves X2
    #[test]
    fn a_preset_that_loosens_anything_is_not_taken() {
        for name in PRESETS.into_iter().filter(|name| *name != "default") {
            let given = SettingsFixture::usable().project(&format!("preset = '{name}'"));
            let settings = given.settings();
            assert_eq!(settings.policy.preset, "default", "{name}");
            assert!(settings.notices[0].to_string().contains(&format!("the preset {name:?}, which loosens")), "{name}");
            assert_eq!(given.trusted().settings().policy.preset, name);
        }
        let same = SettingsFixture::usable().user("preset = 'task'").project("preset = 'task'").settings();
        assert_eq!((same.policy.preset.as_str(), same.notices.len()), ("task", 0));
        let flagged =
            SettingsFixture::usable().project("preset = 'task'").flags(|flags| flags.preset = Some("assistant".into()));
        assert_eq!((flagged.settings().policy.preset.as_str(), flagged.settings().notices.len()), ("assistant", 0));
    }

    // proves S3
    #[test]
    fn a_plan_is_made_when_asked_for_unless_the_rules_say_never() {
        let planning = |given: SettingsFixture| given.settings().policy.planning;
        let asked = |given: SettingsFixture| given.flags(|flags| flags.plan = true);
        assert_eq!(planning(SettingsFixture::usable()), Planning::Optional);
        assert_eq!(planning(asked(SettingsFixture::usable())), Planning::Always);
        assert_eq!(planning(SettingsFixture::usable().user("[policy]\nplanning = 'always'")), Planning::Always);
        let refused = asked(SettingsFixture::usable().user("preset = 'task'")).error();
        assert!(refused.starts_with("plan: ") && refused.contains("planning = \"no\""), "{refused}");
    }

    #[test]
    fn a_row_that_a_flag_sets_is_not_looked_at() {
        let given =
            SettingsFixture::usable().project("[policy]\nturn_cap = 4000").flags(|flags| flags.max_turns = Some(9));
        assert_eq!((given.settings().policy.turn_cap, given.settings().notices.len()), (9, 0));
    }

    // proves X2: the rows an attack would use, in one file
    #[test]
    fn a_cloned_project_raises_no_limit() {
        let project =
            "[policy]\nturn_cap = 100000\nguards = []\nunfinished_call = 'run_again'\napproval_wait_ms = 86400000";
        let settings = SettingsFixture::usable().project(project).settings();
        let own = SettingsFixture::usable().settings().policy;
        assert_eq!(settings.policy, own);
        assert!(settings.policy.guards.contains(&Guard::Cycle));
        assert_ne!(settings.policy.unfinished_call, UnfinishedCall::RunAgain);
        let [told] = &settings.notices[..] else { panic!("{:?}", settings.notices) };
        for row in ["turn_cap", "guards", "unfinished_call", "approval_wait_ms"] {
            assert!(told.to_string().contains(&format!("`{row}`, which may only be tightened")), "{row}: {told}");
        }
    }
}
