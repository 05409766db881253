//! Random orders of command operations have the same results in every store.

use std::collections::HashMap;

use proptest::prelude::*;
use windlass_store::conformance::sample;
use windlass_store::{
    Addressee, Batch, COMMAND_KEPT_MS, CommandState, Durability, Entry, Head, Lease, MemoryStore, SentCommand,
    SqliteOptions, SqliteStore, Store, TakenCommand, Writer,
};
use windlass_vocab::{CommandId, Control, ControlOutcome, SessionId, Timestamp};

const IDS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Copy, Debug)]
enum ControlStep {
    Send(usize),
    Look,
    Take(usize),
    Settle(usize, u32),
    Withdraw(usize),
    /// The owner releases the session, or the session is claimed if nobody holds it.
    ChangeHands,
    /// Time passes.
    Wait(u64),
}

fn control_step() -> impl Strategy<Value = ControlStep> {
    let which = 0..IDS.len();
    prop_oneof![
        5 => which.clone().prop_map(ControlStep::Send),
        3 => Just(ControlStep::Look),
        6 => which.clone().prop_map(ControlStep::Take),
        4 => (which.clone(), 0..9u32).prop_map(|(id, runs)| ControlStep::Settle(id, runs)),
        2 => which.prop_map(ControlStep::Withdraw),
        1 => Just(ControlStep::ChangeHands),
        2 => (0..900_000u64).prop_map(ControlStep::Wait),
    ]
}

fn session() -> SessionId {
    SessionId(uuid::Uuid::from_u128(1))
}

/// One store, and the results seen from it.
struct Bench<'a> {
    store: &'a dyn Store,
    writer: Writer,
    lease: Option<Lease>,
    now: Timestamp,
    seen: Vec<String>,
    /// How often each command was taken since it was sent.
    taken: HashMap<&'static str, u32>,
    /// When each command expires.
    expires: HashMap<&'static str, Timestamp>,
}

impl<'a> Bench<'a> {
    async fn new(store: &'a dyn Store) -> Self {
        let mut writer = Writer::new(session(), Head::default(), 1);
        let entries = vec![Entry::new(sample::opened("ada", "notes")), Entry::new(sample::lease(1))];
        store.append(writer.seal(Batch { entries, ..Batch::default() }).unwrap()).await.unwrap();
        Self {
            store,
            writer,
            lease: None,
            now: Timestamp(0),
            seen: Vec::new(),
            taken: HashMap::new(),
            expires: HashMap::new(),
        }
    }

    async fn do_it(&mut self, control_step: ControlStep) {
        let id = |which: usize| CommandId::from(IDS[which]);
        let seen = match control_step {
            ControlStep::Send(which) => {
                let expires = self.now.plus_ms(10_000);
                let command = SentCommand { id: id(which), control: Control::Stop {}, at: self.now, expires };
                let sent = self.store.send_command(session(), command).await.unwrap();
                // A command so old that sending removes it is sent as a new one.
                let known = self.expires.get(IDS[which]);
                if sent != Addressee::Nobody && known.is_none_or(|known| known.plus_ms(COMMAND_KEPT_MS) < self.now) {
                    self.expires.insert(IDS[which], expires);
                    self.taken.remove(IDS[which]);
                }
                format!("{sent:?}")
            }
            ControlStep::Look => format!("{:?}", self.store.commands(self.now).await.unwrap()),
            ControlStep::Take(which) => {
                let taken = self.store.take_command(&id(which)).await.unwrap();
                if taken == TakenCommand::Yes {
                    *self.taken.entry(IDS[which]).or_default() += 1;
                }
                format!("{taken:?}")
            }
            ControlStep::Settle(which, runs) => {
                let outcome = ControlOutcome::Stopped { runs, dropped: 0 };
                format!("{:?}", self.store.settle_command(&id(which), outcome).await.unwrap())
            }
            ControlStep::Withdraw(which) => {
                let stood = self.store.withdraw_command(&id(which)).await.unwrap();
                format!("{stood:?}")
            }
            ControlStep::ChangeHands => match self.lease.take() {
                Some(lease) => format!("{lease:?} is given back"),
                None => {
                    let lease = self.store.claim(session()).await.unwrap();
                    let entries = vec![Entry::new(sample::lease(lease.epoch()))];
                    let batch = self.writer.seal(Batch { entries, ..Batch::default() }).unwrap();
                    self.store.append(batch).await.unwrap();
                    self.lease = Some(lease);
                    "claimed".to_owned()
                }
            },
            ControlStep::Wait(ms) => {
                self.now = self.now.plus_ms(ms);
                String::new()
            }
        };
        self.seen.push(seen);
        for which in IDS {
            let state = self.store.command_state(&which.into()).await.unwrap();
            let often = self.taken.entry(which).or_default();
            match state {
                CommandState::Waiting => assert_eq!(*often, 0, "{which} waits and was taken"),
                CommandState::Taken | CommandState::Settled(_) => assert_eq!(*often, 1, "{which} is taken once"),
                CommandState::Gone => {
                    *often = 0;
                    self.expires.remove(which);
                }
            }
            self.seen.push(format!("{state:?}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    // proves J5: of all that try, one takes a command, once; and every store returns the same results
    #[test]
    fn a_command_is_taken_once_whatever_comes_between(control_steps in prop::collection::vec(control_step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let options = SqliteOptions { durability: Durability::Normal, ..SqliteOptions::default() };
            let (memory, sqlite) = (MemoryStore::new(), SqliteStore::open(dir.path(), options).unwrap());
            let mut benches = [Bench::new(&memory).await, Bench::new(&sqlite).await];
            for control_step in control_steps {
                for bench in &mut benches {
                    bench.do_it(control_step).await;
                }
                assert_eq!(benches[0].seen, benches[1].seen);
            }
        });
    }
}

// proves J7: opening a data folder of a version without commands creates their table
#[tokio::test]
async fn a_folder_without_the_table_is_given_one_when_it_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap());
    let database = rusqlite::Connection::open(dir.path().join("windlass.db")).unwrap();
    database.execute_batch("DROP TABLE control").unwrap();
    drop(database);
    let store = SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap();
    let mut bench = Bench::new(&store).await;
    for control_step in [
        ControlStep::ChangeHands,
        ControlStep::Look,
        ControlStep::Send(0),
        ControlStep::Take(0),
        ControlStep::Settle(0, 1),
        ControlStep::Withdraw(0),
    ] {
        bench.do_it(control_step).await;
    }
    let settled = CommandState::Settled(ControlOutcome::Stopped { runs: 1, dropped: 0 });
    assert_eq!(bench.seen[bench.seen.len() - 4], format!("{settled:?}"));
}
