//! What must be true of a run that was killed around one of its journal writes, worked out from the journal of
//! the same run undisturbed (J2, J3, J4).
//!
//! A call can start once its `CallStarted` is written, and, where its former files are kept, its `SnapshotTaken`
//! too: call that write its *start*. The process dies inside a write, before or after it takes effect, so nothing
//! that the write allows has begun. Hence, for a call that runs alone:
//!
//! | death | the call | took place | after the resume |
//! |---|---|---|---|
//! | before its start | not started | 0 times | runs as if nothing had been |
//! | after its start | in flight | 0 times | settled |
//! | before its `CallFinished` | in flight | once | settled |
//! | after its `CallFinished` | finished | once | not run again |
//!
//! Between start and end of a call only calls beside it are written. Then whether it took place yet is a race,
//! and is looked up on the disk at the moment of death; what follows from it is exact again.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Bench, writes};

/// A way to die: before or after the n-th write of the process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Death {
    pub(crate) side: Side,
    /// From 1.
    pub(crate) write: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl std::fmt::Display for Death {
    /// As `WINDLASS_TEST_DIE` takes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = match self.side {
            Side::Before => "before",
            Side::After => "after",
        };
        write!(f, "{side}:{}", self.write)
    }
}

impl Death {
    /// How many writes are in the journal.
    fn kept(self) -> usize {
        match self.side {
            Side::Before => self.write - 1,
            Side::After => self.write,
        }
    }
}

/// What a preset does with a call cut short that can't be repeated blindly (J4): its row in the table of presets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    RunAgain,
    Interrupt,
    Ask,
    AskOrInterrupt,
}

/// Whether somebody is there when the run is taken up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Person {
    There,
    Away,
}

/// Whether calls of one reply that are not read-only may run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    OneByOne,
    Together,
}

/// What decides a call's fate besides its class: two rows of the preset, and who is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    row: Row,
    person: Person,
    calls: Calls,
}

impl Rules {
    pub(crate) fn of(preset: &str, person: Person) -> Self {
        let (row, calls) = match preset {
            "durable-chat" => (Row::RunAgain, Calls::OneByOne),
            "local-model" | "assistant" => (Row::Interrupt, Calls::OneByOne),
            "task" => (Row::Ask, Calls::OneByOne),
            "operator" => (Row::Ask, Calls::Together),
            "default" => (Row::AskOrInterrupt, Calls::OneByOne),
            other => panic!("no preset {other}"),
        };
        Self { row, person, calls }
    }
}

/// What running a call twice would mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    ReadOnly,
    Idempotent,
    /// It can be asked whether it took place, and knows.
    Verifiable,
    /// It can be asked, and knows only that it did not: a file that is gone may have been moved, or never have
    /// been there.
    VerifiableBefore,
    Once,
}

/// One call of the undisturbed run, and the numbers of the writes that start and finish it, from 1.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// Its id, which is the same in every run: ids derive from position.
    pub(crate) call: String,
    pub(crate) tool: String,
    start: usize,
    finish: usize,
}

impl Course {
    /// As the tools that the matrices call declare it.
    fn class(&self) -> Class {
        match self.tool.as_str() {
            "local.list_directory" | "local.task_completion" | "fake.read" => Class::ReadOnly,
            "local.write_file" | "fake.set" => Class::Idempotent,
            "local.edit_file" => Class::Verifiable,
            "local.move_file" => Class::VerifiableBefore,
            "local.run_command" | "fake.pay" => Class::Once,
            other => panic!("no class is known of {other}"),
        }
    }

    /// Whether each time it takes place leaves a trace of its own. Of a change to a file only the last does.
    fn is_counted(&self) -> bool {
        !["local.write_file", "local.edit_file", "local.move_file"].contains(&self.tool.as_str())
    }

    /// Whether former files are kept before it may run (T9).
    fn keeps_files(&self) -> bool {
        ["local.write_file", "local.edit_file", "local.move_file", "local.run_command"].contains(&self.tool.as_str())
    }

    /// How far it had come when a process died that left these writes.
    fn reached(&self, left: &[Vec<Value>]) -> Reached {
        let has = |kind: &str| left.iter().flatten().any(|record| is_of(record, kind, &self.call));
        if has("CallFinished") {
            Reached::Finished
        } else if has("CallStarted") && (has("SnapshotTaken") || !self.keeps_files()) {
            Reached::InFlight
        } else {
            Reached::NotStarted
        }
    }

    /// Whether the last of these writes is the one that lets it start.
    fn is_started_by_the_last(&self, left: &[Vec<Value>]) -> bool {
        let before = &left[..left.len() - 1];
        self.reached(left) == Reached::InFlight && self.reached(before) == Reached::NotStarted
    }
}

/// How far a call had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    NotStarted,
    InFlight,
    Finished,
}

/// How often each call took place, by its id; a call of which that can't be seen is missing.
pub(crate) type Seen = BTreeMap<String, usize>;

/// What became of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// How often it took place, where that can be seen.
    times: Option<usize>,
    /// The outcomes on record: one.
    outcomes: Vec<String>,
    /// How it was settled, one after another; nothing where it was not cut short.
    settled: Vec<String>,
}

impl Fate {
    /// J4: the class decides first, then the row. Whoever is asked has the call run again.
    fn after(reached: Reached, class: Class, times: usize, rules: Rules) -> Self {
        let once = match (rules.row, rules.person) {
            (Row::RunAgain, _) => Self::of(times + 1, "ok", &["run_again"]),
            (Row::Interrupt, _) | (Row::AskOrInterrupt, Person::Away) => Self::of(times, "interrupted", &["interrupt"]),
            (Row::Ask, _) | (Row::AskOrInterrupt, Person::There) => Self::of(times + 1, "ok", &["ask", "run_again"]),
        };
        match (reached, class) {
            (Reached::Finished, _) => Self::of(times, "ok", &[]),
            (Reached::NotStarted, _) => Self::of(times + 1, "ok", &[]),
            (Reached::InFlight, Class::ReadOnly | Class::Idempotent) => Self::of(times + 1, "ok", &["run_again"]),
            (Reached::InFlight, Class::Verifiable | Class::VerifiableBefore) if times == 0 => {
                Self::of(1, "ok", &["verify", "run_again"])
            }
            (Reached::InFlight, Class::Verifiable) => Self::of(times, "ok", &["verify"]),
            // Run again, it finds nothing to do.
            (Reached::InFlight, Class::VerifiableBefore) => {
                let outcomes = if once.outcomes == ["ok"] { vec!["not_found".to_owned()] } else { once.outcomes };
                let settled = [vec!["verify".to_owned()], once.settled].concat();
                Self { times: Some(times), outcomes, settled }
            }
            (Reached::InFlight, Class::Once) => once,
        }
    }

    fn of(times: usize, outcome: &str, settled: &[&str]) -> Self {
        let settled = settled.iter().map(|word| (*word).to_owned()).collect();
        Self { times: Some(times), outcomes: vec![outcome.to_owned()], settled }
    }
}

/// What became of all calls, by their ids.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fates(BTreeMap<String, Fate>);

impl Fates {
    /// What the journal of a run and the disk say.
    pub(crate) fn read(journal: &[Value], seen: &Seen) -> Self {
        let requested = journal.iter().filter(|record| record["kind"] == "CallRequested");
        let fate = |requested: &Value| {
            let call = text(&requested["body"]["call"]);
            let of_call = |kind: &str, field: &str| -> Vec<String> {
                let records = journal.iter().filter(|record| is_of(record, kind, &call));
                records.map(|record| text(&record["body"][field])).collect()
            };
            let outcomes = of_call("CallFinished", "outcome");
            let fate =
                Fate { times: seen.get(&call).copied(), outcomes, settled: of_call("CallSettled", "settlement") };
            (call, fate)
        };
        Self(requested.map(fate).collect())
    }

    /// How many questions what became of a call are asked.
    pub(crate) fn questions(&self) -> usize {
        self.0.values().flat_map(|fate| &fate.settled).filter(|settled| *settled == "ask").count()
    }
}

/// The writes of a run that nobody disturbed, each with its records.
pub(crate) struct Undisturbed {
    writes: Vec<Vec<Value>>,
    courses: Vec<Course>,
    rules: Rules,
    requests: usize,
}

impl Undisturbed {
    pub(crate) fn of(bench: &Bench, rules: Rules) -> Self {
        let writes = writes(bench.journal("s"));
        Self { courses: courses(&writes), writes, rules, requests: bench.server.count() }
    }

    /// Every way to die around a write.
    pub(crate) fn deaths(&self) -> Vec<Death> {
        let around = |write| [Side::Before, Side::After].map(|side| Death { side, write });
        (1..=self.writes.len()).flat_map(around).collect()
    }

    /// The calls.
    pub(crate) fn courses(&self) -> &[Course] {
        &self.courses
    }

    /// The writes of the process that died so, out of the journal of the run when it had ended at last.
    fn left(&self, death: Death, journal: &[Value], context: &str) -> Vec<Vec<Value>> {
        let mut left = writes(journal.to_vec());
        // A session that was not there when the process died was made by the next one.
        let first = (death.kept() > 0).then_some(1);
        left.retain(|write| write[0]["epoch"].as_u64() == first);
        self.assert_left(death, &left, context);
        left
    }

    /// The dead process left exactly the writes it had made (J2): the first ones of this run. Where calls run
    /// together their results come in any order, and what there is of each call is compared.
    fn assert_left(&self, death: Death, left: &[Vec<Value>], context: &str) {
        assert_eq!(left.len(), death.kept(), "{context}: so many writes were left");
        match self.rules.calls {
            Calls::OneByOne => assert_eq!(shapes(left), shapes(&self.writes[..death.kept()]), "{context}: left behind"),
            Calls::Together => {
                for course in &self.courses {
                    let of_call = |writes: &[Vec<Value>]| -> Vec<Shape> {
                        shapes(writes).into_iter().flatten().filter(|shape| shape.call == course.call).collect()
                    };
                    let (left, whole) = (of_call(left), of_call(&self.writes));
                    assert!(whole.starts_with(&left), "{context}: left behind {left:?}, not the start of {whole:?}");
                }
            }
        }
    }

    /// What must become of each call after a death: `seen` is what had taken place when the process was dead. Of
    /// the journal only what the dead process wrote is looked at.
    pub(crate) fn fates(&self, death: Death, journal: &[Value], seen: &Seen, context: &str) -> Fates {
        let left = self.left(death, journal, context);
        let fate = |course: &Course| {
            let at_death = seen.get(&course.call).copied();
            let known = self.took_place(course, death, &left);
            if let (Some(at_death), Some(known)) = (at_death, known) {
                let Course { call, tool, .. } = course;
                assert_eq!(at_death, known, "{context}: how often {tool} {call} had taken place at the death");
            }
            let times = at_death.or(known).unwrap_or_default();
            let fate = Fate::after(course.reached(&left), course.class(), times, self.rules);
            let most = if course.is_counted() { usize::MAX } else { 1 };
            let times = fate.times.filter(|_| at_death.is_some()).map(|times| times.min(most));
            (course.call.clone(), Fate { times, ..fate })
        };
        Fates(self.courses.iter().map(fate).collect())
    }

    /// How often a call had taken place at a death, where the order of writes tells.
    fn took_place(&self, course: &Course, death: Death, left: &[Vec<Value>]) -> Option<usize> {
        match (course.reached(left), death.side) {
            (Reached::NotStarted, _) => Some(0),
            (Reached::Finished, _) => Some(1),
            (Reached::InFlight, Side::After) if course.is_started_by_the_last(left) => Some(0),
            (Reached::InFlight, Side::Before) if death.write == course.finish && !self.has_company(course) => Some(1),
            (Reached::InFlight, _) => {
                assert!(self.has_company(course), "nothing is written while {course:?} runs alone");
                None
            }
        }
    }

    /// Whether another call of the same reply may run beside it. The last number of an id is its place there.
    fn has_company(&self, course: &Course) -> bool {
        let reply = |course: &Course| course.call.rsplit_once('.').map(|(reply, _)| reply.to_owned());
        let siblings = self.courses.iter().filter(|other| reply(other) == reply(course)).count();
        self.rules.calls == Calls::Together && siblings > 1
    }

    /// How often the model must have been asked: once more where its answer was not written any more.
    pub(crate) fn requests_after(&self, death: Death) -> usize {
        let replied = self.writes[death.write - 1].iter().any(|record| record["kind"] == "ModelReplied");
        self.requests + usize::from(replied && death.side == Side::Before)
    }

    /// Whether a record of this kind is in the journal that a death leaves.
    pub(crate) fn has_left(&self, death: Death, kind: &str) -> bool {
        self.writes[..death.kept()].iter().flatten().any(|record| record["kind"] == kind)
    }
}

/// The calls of a run, with the writes that start and finish them.
fn courses(writes: &[Vec<Value>]) -> Vec<Course> {
    let mut courses: Vec<Course> = Vec::new();
    for (number, write) in (1..).zip(writes) {
        for record in write {
            let call = text(&record["body"]["call"]);
            let known = courses.iter_mut().find(|course| course.call == call);
            match (record["kind"].as_str(), known) {
                (Some("CallRequested"), None) => {
                    courses.push(Course { call, tool: text(&record["body"]["tool"]), start: 0, finish: 0 });
                }
                (Some("CallStarted" | "SnapshotTaken"), Some(course)) => course.start = number,
                (Some("CallFinished"), Some(course)) => course.finish = number,
                _ => {}
            }
        }
    }
    assert!(courses.iter().all(|course| 0 < course.start && course.start < course.finish), "{courses:?}");
    courses
}

/// What must agree between a record of one run and the same of another.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    kind: String,
    call: String,
    outcome: String,
}

fn shapes(writes: &[Vec<Value>]) -> Vec<Vec<Shape>> {
    let shape = |record: &Value| {
        let body = &record["body"];
        Shape { kind: text(&record["kind"]), call: text(&body["call"]), outcome: text(&body["outcome"]) }
    };
    writes.iter().map(|write| write.iter().map(shape).collect()).collect()
}

fn is_of(record: &Value, kind: &str, call: &str) -> bool {
    record["kind"] == kind && record["body"]["call"] == call
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
