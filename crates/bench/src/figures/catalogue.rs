//! The pre-filter of tools on a public catalogue (S4): how often the tools that a request needs are among the fifteen that
//! fit best, of catalogues of 67 and of 300 tools, and how long that takes.
//!
//! The catalogue is the Berkeley Function-Calling Leaderboard's, which `cargo xtask bench` fetches: every function that a
//! single-turn request of it comes with, in the order of the files, cut into catalogues of one size. Each request counts
//! in the catalogues that have functions it needs. The last catalogue is filled up with functions from before it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use windlass_tools::ToolIndex;
use windlass_vocab::{EffectClass, Json, ToolSpec};

use super::setup::Setup;
use crate::pace::median;
use crate::table::{Mark, Measurement};

/// The variable with the folder of the data.
const FOLDER: &str = "WINDLASS_BFCL";
/// How many tools are offered.
const OFFERED: usize = 15;
/// The sizes of catalogues, and the least part of the needed tools that must be offered.
const SIZES: [(usize, f64); 2] = [(67, 99.0), (300, 97.0)];
const MOST_MS: f64 = 1.0;
/// Requests that experts wrote, and those that users sent in: some of these are in other languages, or need a tool that
/// does not say what it does.
const WRITTEN: &[&str] = &["simple_python", "multiple", "parallel", "parallel_multiple"];
const SENT_IN: &[&str] = &["live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"];

/// A request, and the functions that it needs.
struct LabelledRequest {
    text: String,
    needs: BTreeSet<String>,
}

/// The functions and requests of some files.
#[derive(Default)]
struct PublicCatalogue {
    specs: Vec<ToolSpec>,
    requests: Vec<LabelledRequest>,
}

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        let why = format!("not measured: {FOLDER} names no folder");
        return Ok(vec![Measurement::noted("needed tools of a public catalogue among those offered", why)]);
    };
    let written = PublicCatalogue::read(&folder, WRITTEN)?;
    let mut lines = Vec::new();
    for (size, least) in SIZES {
        let (right, needed) = written.recall(size);
        lines.push(recall_line(&format!("written requests, {OFFERED} of {size}"), right, needed, Some(least)));
    }
    let all = PublicCatalogue::read(&folder, &[WRITTEN, SENT_IN].concat())?;
    for (size, _) in SIZES {
        let (right, needed) = all.recall(size);
        lines.push(recall_line(&format!("those that users sent in as well, {OFFERED} of {size}"), right, needed, None));
    }
    for (size, _) in SIZES {
        let taken = written.time(size, setup.rounds(5));
        lines.push(Measurement::at_most(&format!("ranking {size} tools"), MOST_MS, taken.as_secs_f64() * 1e3, "ms"));
    }
    Ok(lines)
}

fn recall_line(figure: &str, right: usize, needed: usize, least: Option<f64>) -> Measurement {
    let percent = 100.0 * right as f64 / needed.max(1) as f64;
    let figure = format!("needed tools among those offered: {figure}");
    let noted = Measurement::noted(&figure, format!("{percent:.2} % ({right} of {needed})"));
    let Some(least) = least else { return noted };
    let mark = if percent >= least { Mark::Met } else { Mark::Missed };
    Measurement { target: format!("≥ {least} %"), mark, ..noted }
}

impl PublicCatalogue {
    fn read(folder: &Path, files: &[&str]) -> Result<Self> {
        let mut catalogue = Self::default();
        let mut known = HashSet::new();
        for file in files {
            let name = format!("BFCL_v4_{file}.json");
            let answers = lines(&folder.join("possible_answer").join(&name))?;
            let answers: BTreeMap<&str, &Value> =
                answers.iter().filter_map(|answer| Some((answer["id"].as_str()?, &answer["ground_truth"]))).collect();
            for question in lines(&folder.join(&name))? {
                catalogue.add(&question, &answers, &mut known);
            }
        }
        ensure!(!catalogue.requests.is_empty(), "{} has no requests", folder.display());
        Ok(catalogue)
    }

    fn add(&mut self, question: &Value, answers: &BTreeMap<&str, &Value>, known: &mut HashSet<String>) {
        let functions = question["function"].as_array().into_iter().flatten();
        let specs =
            functions.filter(|function| function["name"].as_str().is_some_and(|name| known.insert(name.into())));
        self.specs.extend(specs.map(spec));
        let turns = question["question"].as_array().into_iter().flatten().filter_map(Value::as_array).flatten();
        let text: Vec<&str> = turns
            .filter(|message| message["role"] == "user")
            .filter_map(|message| message["content"].as_str())
            .collect();
        let calls = question["id"].as_str().and_then(|id| answers.get(id)).and_then(|calls| calls.as_array());
        let needs = calls.into_iter().flatten().filter_map(Value::as_object).flat_map(|call| call.keys().cloned());
        self.requests.push(LabelledRequest { text: text.join(" "), needs: needs.collect() });
    }

    /// Returns how many of the needed tools are offered, and how many are needed.
    fn recall(&self, size: usize) -> (usize, usize) {
        let (mut right, mut needed) = (0, 0);
        for (start, own) in self.specs.chunks(size).enumerate().map(|(number, own)| (number * size, own)) {
            let catalogue = &self.specs[start.min(self.specs.len().saturating_sub(size))..start + own.len()];
            let index = ToolIndex::of(catalogue);
            let own: HashSet<&str> = own.iter().map(|spec| spec.name.as_str()).collect();
            for request in &self.requests {
                let here: Vec<&String> = request.needs.iter().filter(|name| own.contains(name.as_str())).collect();
                if here.is_empty() {
                    continue;
                }
                let ranked = index.ranked(&request.text).into_iter().take(OFFERED);
                let offered: HashSet<&str> = ranked.map(|tool| catalogue[tool.place].name.as_str()).collect();
                needed += here.len();
                right += here.iter().filter(|name| offered.contains(name.as_str())).count();
            }
        }
        (right, needed)
    }

    /// Returns the mean time to rank the first catalogue for a request: the median of some rounds over all requests.
    fn time(&self, size: usize, rounds: usize) -> Duration {
        let index = ToolIndex::of(self.specs.iter().take(size));
        let mut times: Vec<Duration> = (0..rounds)
            .map(|_| {
                let begun = Instant::now();
                for request in &self.requests {
                    std::hint::black_box(index.ranked(std::hint::black_box(&request.text)));
                }
                begun.elapsed() / u32::try_from(self.requests.len()).unwrap_or(u32::MAX)
            })
            .collect();
        median(&mut times)
    }
}

fn spec(function: &Value) -> ToolSpec {
    let text = |key: &str| function[key].as_str().unwrap_or_default();
    ToolSpec {
        name: text("name").into(),
        wire_name: String::new(),
        description: text("description").into(),
        schema: Json::from(&function["parameters"]),
        effect: EffectClass::Once,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: BTreeSet::new(),
    }
}

/// Returns the JSON objects of a file, one in each line.
fn lines(path: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} can't be read", path.display()))?;
    let parsed = text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str);
    parsed.collect::<Result<_, _>>().with_context(|| format!("{} is no list of JSON objects", path.display()))
}

#[cfg(test)]
mod tests {
    use super::PublicCatalogue;

    #[test]
    fn a_needed_function_counts_where_it_is_among_the_best() {
        let folder = tempfile::tempdir().unwrap();
        let tool = |name: &str, about: &str| {
            format!(r#"{{"name":"{name}","description":"{about}","parameters":{{"type":"dict","properties":{{}}}}}}"#)
        };
        let asked = |id: &str, text: &str, tools: &str| {
            format!(r#"{{"id":"{id}","question":[[{{"role":"user","content":"{text}"}}]],"function":[{tools}]}}"#)
        };
        let tools = [tool("play", "Play a song"), tool("rain", "Weather of a place")].join(",");
        let questions = [asked("a", "Play my favourite song", &tools), asked("b", "xyzzy", &tools)].join("\n");
        std::fs::write(folder.path().join("BFCL_v4_x.json"), questions).unwrap();
        std::fs::create_dir(folder.path().join("possible_answer")).unwrap();
        let answers =
            "{\"id\":\"a\",\"ground_truth\":[{\"play\":{}}]}\n{\"id\":\"b\",\"ground_truth\":[{\"rain\":{}}]}";
        std::fs::write(folder.path().join("possible_answer/BFCL_v4_x.json"), answers).unwrap();
        let catalogue = PublicCatalogue::read(folder.path(), &["x"]).unwrap();
        assert_eq!((catalogue.specs.len(), catalogue.recall(2), catalogue.recall(1)), (2, (1, 2), (1, 2)));
        assert!(!catalogue.time(2, 1).is_zero());
    }
}
