//! How models did in the file jobs of `cargo xtask jobs`, one row for each setting that was measured.
//!
//! The dialect with which a model did best is used for it where a person chose none; its preset is only suggested, since a
//! preset changes how runs end and what is asked, and so are scripts, since a person has to allow commands for them.
//!
//! To add a measurement, paste the row that `cargo xtask jobs` prints into `rows.rs`, in place of the one with the same
//! setting if there is one.

mod rows;

use std::cmp::Ordering;
use std::sync::LazyLock;

use super::id_match::{AskedId, comparable};
use super::row::IdScope;
use crate::server_kind::ServerKind;
use windlass_vocab::Dialect;

/// How a model did with one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredModel {
    /// Its id with its size, as Ollama writes it. Other servers' names for the same model are found by it.
    pub id: &'static str,
    /// The quantization of the file that was measured.
    pub weights: &'static str,
    /// The day of the measurement: `2026-01-31`.
    pub date: &'static str,
    /// The version of the program that was measured.
    pub version: &'static str,
    /// The preset.
    pub preset: &'static str,
    /// The dialect of its calls.
    pub dialect: Dialect,
    /// Whether its replies were held to the schema of one call.
    pub constrained: bool,
    /// Jobs that need tools.
    pub needs_tools: JobTally,
    /// Questions that the files answer.
    pub questions: JobTally,
    /// Talk, where no tool may be called.
    pub talk: JobTally,
    /// Jobs that are unclear or must not be done, where nothing may change.
    pub refusals: JobTally,
    /// Tries of all kinds in which a file changed though nobody asked for it.
    pub unasked_changes: JobTally,
}

/// How many of the tries were so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobTally {
    /// Those that were.
    pub count: u32,
    /// All.
    pub tries: u32,
}

impl JobTally {
    /// Returns so many of so many.
    #[must_use]
    pub const fn of(count: u32, tries: u32) -> Self {
        Self { count, tries }
    }

    /// Compares the shares, without rounding.
    fn compare(self, other: Self) -> Ordering {
        let part = |one: Self, other: Self| u64::from(one.count) * u64::from(other.tries);
        part(self, other).cmp(&part(other, self))
    }
}

/// The measurements with their ids as they are compared.
static COMPARABLE: LazyLock<Vec<(String, &'static MeasuredModel)>> =
    LazyLock::new(|| measured_models().map(|row| (comparable(row.id), row)).collect());

/// Returns all measurements.
pub fn measured_models() -> impl Iterator<Item = &'static MeasuredModel> {
    rows::ROWS.iter()
}

/// Returns the measurements of a model that has this id on a server of this kind.
#[must_use]
pub fn measurements(server: ServerKind, id: &str) -> Vec<&'static MeasuredModel> {
    let asked = AskedId::new(server, id);
    // Weights before they learned to follow instructions are another model.
    if asked.has_part("base") {
        return Vec::new();
    }
    let rows = COMPARABLE.iter().filter(|(id, _)| asked.matches(id, IdScope::Sizes)).map(|(_, row)| *row);
    let rows: Vec<_> = rows.collect();
    let longest = rows.iter().map(|row| row.id.len()).max().unwrap_or_default();
    rows.into_iter().filter(|row| row.id.len() == longest).collect()
}

/// Returns the measurement with the setting in which a model did most of the jobs that need tools, scripts aside; `None` if it
/// was not measured, or did none of them.
#[must_use]
pub fn best_measurement(server: ServerKind, id: &str) -> Option<&'static MeasuredModel> {
    best(&without_scripts(measurements(server, id)))
}

/// Returns how a model did with scripts, if that was measured.
fn with_scripts(server: ServerKind, id: &str) -> Option<&'static MeasuredModel> {
    let mut rows = measurements(server, id);
    rows.retain(|row| row.dialect == Dialect::Script);
    best(&rows)
}

/// Returns the measurement to show for a model that writes calls in this dialect: with scripts if it writes them, else with
/// the best setting.
#[must_use]
pub fn measurement_in_use(server: ServerKind, id: &str, dialect: Option<Dialect>) -> Option<&'static MeasuredModel> {
    let scripts = with_scripts(server, id).filter(|_| dialect == Some(Dialect::Script));
    scripts.or_else(|| best_measurement(server, id))
}

/// Returns how a model did with scripts, if it did more of the jobs that need tools than with any calls, and does not write
/// scripts already.
#[must_use]
pub fn better_with_scripts(server: ServerKind, id: &str, dialect: Option<Dialect>) -> Option<&'static MeasuredModel> {
    let best = best(&measurements(server, id)).filter(|_| dialect != Some(Dialect::Script));
    best.filter(|best| best.dialect == Dialect::Script)
}

fn without_scripts(mut rows: Vec<&'static MeasuredModel>) -> Vec<&'static MeasuredModel> {
    rows.retain(|row| row.dialect != Dialect::Script);
    rows
}

/// A constrained setting must be better than the others to be best: it costs the server time.
fn best(rows: &[&'static MeasuredModel]) -> Option<&'static MeasuredModel> {
    let able = rows.iter().copied().filter(|row| row.needs_tools.count > 0);
    able.reduce(|best, row| match row.needs_tools.compare(best.needs_tools) {
        Ordering::Greater => row,
        Ordering::Equal if best.constrained && !row.constrained => row,
        Ordering::Equal | Ordering::Less => best,
    })
}

/// A preset with which a model did more of the jobs that need tools than with the one in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BetterPreset {
    /// How it did with that preset.
    pub better: &'static MeasuredModel,
    /// How it did with the preset in use, where that was measured.
    pub in_use: Option<&'static MeasuredModel>,
}

/// Returns a preset that a model does better with than with this one, if it writes calls in the dialect that was measured.
#[must_use]
pub fn better_preset(server: ServerKind, id: &str, preset: &str, dialect: Dialect) -> Option<BetterPreset> {
    better(&without_scripts(measurements(server, id)), preset, dialect)
}

fn better(rows: &[&'static MeasuredModel], preset: &str, dialect: Dialect) -> Option<BetterPreset> {
    let better = best(rows).filter(|best| best.preset != preset && best.dialect == dialect)?;
    let of_preset: Vec<_> = rows.iter().copied().filter(|row| (row.preset, row.dialect) == (preset, dialect)).collect();
    let most = |one: &'static MeasuredModel, other: &'static MeasuredModel| {
        if other.needs_tools.compare(one.needs_tools) == Ordering::Greater { other } else { one }
    };
    let in_use = of_preset.into_iter().reduce(most);
    let is_better = |row: &MeasuredModel| better.needs_tools.compare(row.needs_tools) == Ordering::Greater;
    in_use.is_none_or(is_better).then_some(BetterPreset { better, in_use })
}

#[cfg(test)]
mod tests;
