//! Which tools fit a request (S4): BM25 over the names and descriptions of tools and of their parameters.
//!
//! It is computed in memory from what the model would be sent anyway: no network, no model, no file.

mod words;

use std::collections::HashMap;

use serde_json::Value;
use windlass_vocab::ToolSpec;

use self::words::{Term, read_words, terms};

/// How soon further occurrences of a word count less, and how much a long description is held against a tool: the usual
/// values of BM25.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// What an occurrence counts in each field.
const NAME: f64 = 3.0;
const DESCRIPTION: f64 = 1.0;
const PARAMETER: f64 = 1.0;
const PARAMETER_DESCRIPTION: f64 = 0.5;
/// How deep parameters of parameters are read.
const DEPTH: usize = 4;

/// An index of the words of some tools.
#[derive(Clone, Debug, Default)]
pub struct ToolIndex {
    /// For each term, the tools that have it, and how much.
    postings: HashMap<Term, Vec<(usize, f64)>>,
    /// The length of each tool's text, by the same weights.
    lengths: Vec<f64>,
}

/// A tool that has words of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedTool {
    /// Its place among the indexed tools.
    pub place: usize,
    /// How well it fits; comparable only within one ranking.
    pub score: f64,
}

/// How many words of a request an index can do something with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestWordCounts {
    /// All words.
    pub all: usize,
    /// Those that are too common to tell anything.
    pub common: usize,
    /// Those that a tool has.
    pub known: usize,
}

impl ToolIndex {
    /// Indexes these tools.
    #[must_use]
    pub fn of<'s>(specs: impl IntoIterator<Item = &'s ToolSpec>) -> Self {
        let mut index = Self::default();
        for (place, spec) in specs.into_iter().enumerate() {
            let mut counts = TermCounts::default();
            counts.add(spec.name.as_str(), NAME);
            counts.add(&spec.description, DESCRIPTION);
            counts.add_parameters(&spec.schema.to_value(), DEPTH);
            index.lengths.push(counts.0.values().sum());
            for (term, count) in counts.0 {
                index.postings.entry(term).or_default().push((place, count));
            }
        }
        index
    }

    /// Counts the words of a request.
    #[must_use]
    pub fn words(&self, request: &str) -> RequestWordCounts {
        let mut words = RequestWordCounts::default();
        for word in read_words(request) {
            words.all += word.length;
            if word.terms.is_empty() {
                words.common += word.length;
            } else if word.terms.iter().any(|term| self.postings.contains_key(term)) {
                words.known += word.length;
            }
        }
        words
    }

    /// Returns the tools that have words of `request`, the best first; those that fit equally in their order.
    #[must_use]
    pub fn ranked(&self, request: &str) -> Vec<RankedTool> {
        let total = self.lengths.len() as f64;
        let mean = self.lengths.iter().sum::<f64>() / total.max(1.0);
        let mut scores = vec![0.0; self.lengths.len()];
        let mut wanted = terms(request);
        wanted.sort_unstable();
        wanted.dedup();
        for postings in wanted.iter().filter_map(|term| self.postings.get(term)) {
            let with = postings.len() as f64;
            let rarity = (1.0 + (total - with + 0.5) / (with + 0.5)).ln();
            for &(place, count) in postings {
                let long = 1.0 - LENGTH + LENGTH * self.lengths[place] / mean;
                scores[place] += rarity * count * (SATURATION + 1.0) / (count + SATURATION * long);
            }
        }
        let ranked = scores.into_iter().enumerate().map(|(place, score)| RankedTool { place, score });
        let mut ranked: Vec<RankedTool> = ranked.filter(|tool| tool.score > 0.0).collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        ranked
    }
}

/// How often each term occurs in the texts of a tool, weighted by field.
#[derive(Default)]
struct TermCounts(HashMap<Term, f64>);

impl TermCounts {
    fn add(&mut self, text: &str, weight: f64) {
        for term in terms(text) {
            *self.0.entry(term).or_default() += weight;
        }
    }

    /// Adds the parameters that a schema describes: their names, descriptions and choices.
    fn add_parameters(&mut self, schema: &Value, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for (name, parameter) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.add(name, PARAMETER);
            self.add(parameter.get("description").and_then(Value::as_str).unwrap_or_default(), PARAMETER_DESCRIPTION);
            let choices = parameter.get("enum").and_then(Value::as_array).into_iter().flatten();
            choices.filter_map(Value::as_str).for_each(|choice| self.add(choice, PARAMETER_DESCRIPTION));
            self.add_parameters(parameter, depth);
            if let Some(items) = parameter.get("items") {
                self.add_parameters(items, depth);
            }
        }
    }
}

#[cfg(test)]
mod tests;
