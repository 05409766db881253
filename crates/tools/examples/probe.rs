use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::*;
use windlass_tools::*;
use windlass_vocab::*;
struct N;
impl SpilledResults for N {
    fn read(&self, _: CallId) -> BoxFuture<'_, Option<String>> {
        Box::pin(async { None })
    }
}
fn rss() -> String {
    std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .filter(|l| l.starts_with("VmRSS") || l.starts_with("RssAnon"))
        .collect::<Vec<_>>()
        .join(" ")
}
fn main() {
    if std::env::args().nth(1).as_deref() == Some("guard") {
        guard::run();
        return;
    }
    println!("{}", rss());
    let t = Instant::now();
    let mut r = Registry::new();
    let ws = Arc::new(Workspace::open("/tmp/probe").unwrap());
    for tool in builtins(
        ws,
        Commands::new(
            Some(GuardProgram { program: std::env::current_exe().unwrap(), args: vec!["guard".into()] }),
            "/tmp/probe-locks".into(),
        ),
    )
    .into_iter()
    .chain(ending_tools())
    {
        r.add(tool).unwrap();
    }
    let o = r.offer(&BTreeSet::from([ToolSource::BuiltIn, ToolSource::Ending]));
    println!("registry {:?} {}", t.elapsed(), rss());
    let t = Instant::now();
    let c = ReplyCall { name: "read_file".into(), arguments: "{\"path\":\"x\"}".into(), provider_id: None };
    for _ in 0..100 {
        let _ = o.prepare(&c, &Permissions::default(), &[]);
    }
    println!("prepare {:?}", t.elapsed() / 100);
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (cmd, n) in [("ls -l /proc/self/fd; grep -E 'VmRSS|Threads' /proc/$PPID/status", 1), ("true", 50)] {
        let t = Instant::now();
        let mut last = String::new();
        for i in 0..n {
            let s = SessionId(uuid::Uuid::nil());
            let call = CallId { run: RunId(1), turn: TurnId(1), index: i };
            let cx = CallContext {
                session: s,
                call,
                effect_id: call.effect_id(s),
                cancel: Default::default(),
                progress: Arc::new(|_| {}),
                spilled: Arc::new(N),
            };
            last = rt
                .block_on(async {
                    o.run(
                        &"local.run_command".into(),
                        cx,
                        &Json::parse(&serde_json::json!({"command":cmd}).to_string()).unwrap(),
                        Duration::from_secs(9),
                    )
                    .await
                })
                .text;
        }
        println!("{cmd}: {:?} each\n{last}", t.elapsed() / n);
    }
}
