//! Derives what must be true of a run that was killed around one of its journal writes from the journal of the same
//! run undisturbed (J2, J3, J4).
//!
//! A call can start once its `CallStarted` is written, and, if its former files are kept, its `SnapshotTaken` too:
//! call that write its *start*. The process is killed inside a write, before or after it takes effect, so nothing
//! that the write allows has begun. Hence, for a call that runs alone:
//!
//! | death | the call | took place | after the resume |
//! |---|---|---|---|
//! | before its start | not started | 0 times | runs normally |
//! | after its start | in flight | 0 times | settled |
//! | before its `CallFinished` | in flight | once | settled |
//! | after its `CallFinished` | finished | once | not run again |
//!
//! Between the start and the end of a call only concurrent calls write. Then it is a race whether the call took
//! place already, and the disk is read right after the kill; what follows from that is exact again.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Bench, writes};

/// A point at which the process is killed: before or after its n-th write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Death {
    pub(crate) side: Side,
    /// The number of the write, from 1.
    pub(crate) write: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl std::fmt::Display for Death {
    /// In the format of `WINDLASS_TEST_DIE`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = match self.side {
            Side::Before => "before",
            Side::After => "after",
        };
        write!(f, "{side}:{}", self.write)
    }
}

impl Death {
    /// How many writes the journal has after the kill.
    fn kept(self) -> usize {
        match self.side {
            Side::Before => self.write - 1,
            Side::After => self.write,
        }
    }
}

/// What a preset does with an interrupted call that can't be repeated blindly (J4): its row in the table of presets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    RunAgain,
    Interrupt,
    Ask,
    AskOrInterrupt,
}

/// Whether a person is present when the run is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Person {
    There,
    Away,
}

/// Whether calls of one reply that are not read-only may run concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    OneByOne,
    Together,
}

/// What decides a call's fate besides its class: two rows of the preset, and whether a person is present.
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

/// What running a call twice would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    ReadOnly,
    Idempotent,
    /// The tool can verify whether the call took place.
    Verifiable,
    /// The tool can verify only that the call did not take place: a missing file may have been moved, or may never
    /// have existed.
    VerifiableBefore,
    /// The tool can verify only that the call did not take place: added lines may have been there before. Repeated, they
    /// are there twice.
    VerifiableBeforeOnce,
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
    /// The class that the tools called by the matrices declare.
    fn class(&self) -> Class {
        match self.tool.as_str() {
            "local.list_directory" | "local.task_completion" | "fake.read" => Class::ReadOnly,
            "local.write_file" | "fake.set" => Class::Idempotent,
            "local.edit_file" | "local.delete_file" => Class::Verifiable,
            "local.append_file" => Class::VerifiableBeforeOnce,
            "local.move_file" => Class::VerifiableBefore,
            "local.run_command" | "fake.pay" => Class::Once,
            other => panic!("no class is known of {other}"),
        }
    }

    /// Whether every execution leaves a trace of its own. Of changes to a file only the last one does.
    fn is_counted(&self) -> bool {
        !["local.write_file", "local.edit_file", "local.move_file", "local.delete_file"].contains(&self.tool.as_str())
    }

    /// Whether former files are kept before the call may run (T9).
    fn keeps_files(&self) -> bool {
        self.tool == "local.run_command" || self.tool.starts_with("local.") && self.tool.ends_with("_file")
    }

    /// How far the call had come when the process that left these writes was killed.
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

    /// Whether the last of these writes is the one that lets the call start.
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

/// How often each call took place, by its id, without the calls that leave no trace.
pub(crate) type Seen = BTreeMap<String, usize>;

/// What became of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// How often the call took place, if that can be observed.
    times: Option<usize>,
    /// The recorded outcomes; there must be one.
    outcomes: Vec<String>,
    /// How the call was settled, step by step; empty if it was not interrupted.
    settled: Vec<String>,
}

impl Fate {
    /// J4: the class decides first, then the row. A person who is asked has the call run again.
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
            (Reached::InFlight, Class::Verifiable | Class::VerifiableBefore | Class::VerifiableBeforeOnce)
                if times == 0 =>
            {
                Self::of(1, "ok", &["verify", "run_again"])
            }
            (Reached::InFlight, Class::VerifiableBeforeOnce) => {
                Self { settled: [vec!["verify".to_owned()], once.settled].concat(), ..once }
            }
            (Reached::InFlight, Class::Verifiable) => Self::of(times, "ok", &["verify"]),
            // The repeated call finds no file to move.
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
    /// Reads the fates from the journal of a run and the observed counts.
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

    /// How many questions about the fate of a call were asked.
    pub(crate) fn questions(&self) -> usize {
        self.0.values().flat_map(|fate| &fate.settled).filter(|settled| *settled == "ask").count()
    }
}

/// The writes of an undisturbed run, each with its records.
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

    /// Every point around a write at which the process can be killed.
    pub(crate) fn deaths(&self) -> Vec<Death> {
        let around = |write| [Side::Before, Side::After].map(|side| Death { side, write });
        (1..=self.writes.len()).flat_map(around).collect()
    }

    /// The calls of the run.
    pub(crate) fn courses(&self) -> &[Course] {
        &self.courses
    }

    /// The writes of the killed process, taken from the journal of the completed run.
    fn left(&self, death: Death, journal: &[Value], context: &str) -> Vec<Vec<Value>> {
        let mut left = writes(journal.to_vec());
        // If the killed process had not created the session, the next process created it.
        let first = (death.kept() > 0).then_some(1);
        left.retain(|write| write[0]["epoch"].as_u64() == first);
        self.assert_left(death, &left, context);
        left
    }

    /// Asserts that the killed process left exactly the writes it had made (J2): the first ones of this run. If calls
    /// run concurrently their results come in any order, so the records are compared call by call.
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

    /// What must become of each call after a kill: `seen` is what had taken place when the process was dead. Uses only
    /// those records of the journal that the killed process wrote.
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

    /// How often a call had taken place at a kill, if the order of writes determines it.
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

    /// Whether another call of the same reply may run concurrently. The last number of an id is its place in the reply.
    fn has_company(&self, course: &Course) -> bool {
        let reply = |course: &Course| course.call.rsplit_once('.').map(|(reply, _)| reply.to_owned());
        let siblings = self.courses.iter().filter(|other| reply(other) == reply(course)).count();
        self.rules.calls == Calls::Together && siblings > 1
    }

    /// How often the model must have been asked: once more if its reply was lost with the process.
    pub(crate) fn requests_after(&self, death: Death) -> usize {
        let replied = self.writes[death.write - 1].iter().any(|record| record["kind"] == "ModelReplied");
        self.requests + usize::from(replied && death.side == Side::Before)
    }

    /// Whether the journal has a record of this kind after a kill.
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

/// The parts of a record that must be equal in two runs.
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
