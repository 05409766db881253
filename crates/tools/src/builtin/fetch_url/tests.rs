//! Tests with a fake network and a local server: names resolve as a test defines, and every connection reaches the
//! server.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windlass_vocab::{Outcome, OutcomeKind, Remedy, ReplyCall, SessionId, ToolSource, Verdict};

use super::{FetchConsent, FetchSettings, FetchUrl, HostConnector, LARGEST, fetch_url};
use crate::{BoxFuture, CallContext, Commands, Mode, Permissions, Registry, Tool, Workspace, builtins};

const PUBLIC: &str = "93.184.216.34";

/// The server's response for a path: raw bytes, and then no end if `hang` is set.
#[derive(Clone)]
struct CannedResponse {
    bytes: Vec<u8>,
    hang: bool,
}

fn page(head: &str, body: &[u8]) -> CannedResponse {
    let head = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", body.len());
    CannedResponse { bytes: [head.as_bytes(), body].concat(), hang: false }
}

fn html(body: &str) -> CannedResponse {
    page("200 OK\r\nContent-Type: text/html; charset=utf-8", body.as_bytes())
}

fn redirect(to: &str) -> CannedResponse {
    page(&format!("302 Found\r\nLocation: {to}"), b"")
}

#[derive(Default)]
struct FakeWorld {
    pages: HashMap<String, CannedResponse>,
    /// The addresses of each name, one entry per lookup; the last one repeats.
    names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    connected: Mutex<Vec<SocketAddr>>,
}

impl FakeWorld {
    fn of(pages: &[(&str, CannedResponse)]) -> Self {
        let pages = pages.iter().map(|(path, page)| ((*path).to_owned(), page.clone())).collect();
        let world = Self { pages, ..Self::default() };
        world.name("site.test", &[&[PUBLIC]])
    }

    fn name(self, host: &str, lookups: &[&[&str]]) -> Self {
        let lookups = lookups.iter().map(|ips| ips.iter().map(|ip| ip.parse().unwrap()).collect()).collect();
        self.names.lock().unwrap().insert(host.to_owned(), lookups);
        self
    }
}

struct FakeConnector(Arc<FakeWorld>);

impl HostConnector for FakeConnector {
    fn resolve(&self, host: String, _: u16) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut names = self.0.names.lock().unwrap();
        let found =
            names.get_mut(&host).map(|lookups| if lookups.len() > 1 { lookups.remove(0) } else { lookups[0].clone() });
        Box::pin(std::future::ready(found.ok_or_else(|| io::Error::other("no such name"))))
    }

    fn connect(&self, to: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        let world = Arc::clone(&self.0);
        world.connected.lock().unwrap().push(to);
        Box::pin(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let here = listener.local_addr()?;
            tokio::spawn(async move { serve(listener, &world).await });
            TcpStream::connect(here).await
        })
    }
}

async fn serve(listener: TcpListener, world: &FakeWorld) -> io::Result<()> {
    let (mut stream, _) = listener.accept().await?;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default();
    let page = world
        .pages
        .get(path)
        .cloned()
        .unwrap_or_else(|| page("404 Not Found\r\nContent-Type: text/plain", b"no such page"));
    stream.write_all(&page.bytes).await?;
    if page.hang {
        std::future::pending::<()>().await;
    }
    Ok(())
}

fn context() -> CallContext {
    CallContext::detached(SessionId(uuid::Uuid::nil()))
}

struct FetchResult {
    outcome: Outcome,
    connected: Vec<String>,
}

fn fetch_with(world: FakeWorld, fetching: FetchSettings, url: &str) -> FetchResult {
    let world = Arc::new(world);
    let mut tool = FetchUrl::new(fetching, Arc::new(FakeConnector(Arc::clone(&world))));
    tool.time = Duration::from_millis(if url.contains("slow") { 200 } else { 20_000 });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(tool.run(context(), json!({"url": url})));
    let connected = world.connected.lock().unwrap().iter().map(ToString::to_string).collect();
    FetchResult { outcome, connected }
}

fn fetch(world: FakeWorld, url: &str) -> FetchResult {
    fetch_with(world, FetchSettings::default(), url)
}

fn rules(mode: Mode, allow: &[&str], deny: &[&str]) -> FetchSettings {
    let parse = |rules: &[&str]| rules.iter().map(|rule| rule.parse().unwrap()).collect();
    let permissions = Permissions { mode, allow: parse(allow), deny: parse(deny), ..Permissions::default() };
    FetchSettings { permissions, ..FetchSettings::default() }
}

#[track_caller]
fn assert_told(fetched: &FetchResult, kind: OutcomeKind, parts: &[&str]) {
    let Outcome { kind: got, text, .. } = &fetched.outcome;
    assert_eq!(*got, kind, "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

// proves T10: the result names the URL, the status and the content type
#[test]
fn a_page_comes_back_as_text_with_its_address_status_and_type() {
    let world = FakeWorld::of(&[("/a?b=1", html("<title>T</title><h1>Hi</h1><p>See <a href=/c>c</a>"))]);
    let fetched = fetch(world, "HTTP://Site.Test.:80/a?b=1#part");
    let want = "http://site.test/a?b=1 (200, text/html; charset=utf-8, 50 bytes)\nTitle: T\n\n# Hi\n\nSee \
                [c](http://site.test/c)";
    assert_eq!(fetched.outcome.text, want);
    assert_eq!(fetched.connected, ["93.184.216.34:80"]);
}

// proves T10: private addresses are refused after the name was resolved, and nothing is connected to
#[test]
fn a_name_that_means_a_private_address_is_refused() {
    for ip in ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00::1"] {
        for ips in [&[ip][..], &[PUBLIC, ip]] {
            let fetched = fetch(FakeWorld::of(&[]).name("inside.test", &[ips]), "http://inside.test:8080/");
            assert_told(&fetched, OutcomeKind::Denied, &["inside.test", "unless a person has allowed it"]);
            let host = "inside.test:8080".to_owned();
            assert_eq!(fetched.outcome.remedy, Some(Remedy::FetchPrivate { host }), "{ip}");
            assert!(fetched.connected.is_empty(), "{ip}");
        }
    }
    for url in
        ["http://127.0.0.1/", "http://0x7f.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://2130706433/"]
    {
        let fetched = fetch(FakeWorld::of(&[]), url);
        assert_told(&fetched, OutcomeKind::Denied, &["this machine"]);
        assert!(fetched.connected.is_empty(), "{url}");
    }
}

// proves T10: a name that resolves to another address the second time
#[test]
fn a_name_is_looked_up_once_for_a_connection_and_judged_each_time() {
    let world = FakeWorld::of(&[("/", redirect("/again"))]).name("two.test", &[&[PUBLIC], &["127.0.0.1"]]);
    let fetched = fetch(world, "http://two.test/");
    assert_told(&fetched, OutcomeKind::Denied, &["two.test", "(127.0.0.1)", "this machine"]);
    assert_eq!(fetched.connected, ["93.184.216.34:80"]);
}

// proves T10: on every redirect
#[test]
fn a_redirect_into_a_private_network_is_refused() {
    for to in ["http://127.0.0.1/", "http://169.254.169.254/latest/", "//[::1]/", "http://inside.test/"] {
        let world = FakeWorld::of(&[("/", redirect(to))]).name("inside.test", &[&["10.0.0.1"]]);
        // This mode follows redirects to other hosts without asking.
        let fetched = fetch_with(world, rules(Mode::Bypass, &[], &[]), "http://site.test/");
        assert!(matches!(fetched.outcome.remedy, Some(Remedy::FetchPrivate { .. })), "{:?}", fetched.outcome);
        assert_eq!(fetched.connected, ["93.184.216.34:80"], "{to}");
    }
}

// proves T8, T10: no approval is requested for a call that would be refused anyway
#[test]
fn an_address_that_is_plainly_private_is_refused_before_anybody_is_asked() {
    let checked = |private: &[&str], mode: Mode, url: &str| {
        let private = private.iter().map(|host| host.parse().unwrap()).collect();
        let mut registry = Registry::new();
        registry.add(fetch_url(FetchSettings { private, ..FetchSettings::default() })).unwrap();
        let offer = registry.offer(&[ToolSource::BuiltIn].into_iter().collect());
        let arguments = json!({"url": url}).to_string();
        let call = ReplyCall { name: "fetch_url".into(), arguments, ..ReplyCall::default() };
        let permissions = Permissions { mode, ..Permissions::default() };
        let mut calls = [offer.prepare(&call, &permissions, &[])];
        offer.refuse_certain_failures(&mut calls, &permissions, &[]);
        calls[0].verdict.clone()
    };
    for url in ["", "example.org/x", "ftp://example.org/", "http://", "https://\u{27e6}secret:a\u{27e7}.example/"] {
        let verdict = checked(&[], Mode::Default, url);
        assert!(matches!(&verdict, Verdict::Invalid { remedy: None, .. }), "{url}: {verdict:?}");
    }
    let hosts = ["127.0.0.1:8080", "[::1]:8080", "192.168.0.1", "localhost:3000", "a.localhost", "0x7f000001", "127.1"];
    for host in hosts {
        for mode in [Mode::Default, Mode::Strict] {
            let verdict = checked(&[], mode, &format!("http://{host}/x"));
            let Verdict::Invalid { reason, remedy } = verdict else { panic!("{host}: {verdict:?}") };
            assert!(reason.contains("Do without it") && !reason.contains("--"), "{reason}");
            assert!(matches!(remedy, Some(Remedy::FetchPrivate { .. })), "{remedy:?}");
        }
        let allowed = host.split(':').next().filter(|name| !name.starts_with(['[', '0']) && *name != "127.1");
        if let Some(allowed) = allowed {
            assert_eq!(checked(&[allowed], Mode::Default, &format!("http://{host}/x")), Verdict::Ask, "{host}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut registry = Registry::new();
    let workspace = Arc::new(Workspace::open(folder.path()).unwrap());
    for tool in builtins(workspace, Commands::new(None, folder.path().join("locks"))) {
        registry.add(tool).unwrap();
    }
    registry.add(fetch_url(FetchSettings::default())).unwrap();
    let offer = registry.offer(&[ToolSource::BuiltIn].into_iter().collect());
    let strict = Permissions { mode: Mode::Strict, ..Permissions::default() };
    let mut calls =
        [("write_file", json!({"path": "x", "content": "x"})), ("fetch_url", json!({"url": "http://127.0.0.1/"}))].map(
            |(name, arguments)| {
                let call = ReplyCall { name: name.into(), arguments: arguments.to_string(), ..ReplyCall::default() };
                offer.prepare(&call, &strict, &[])
            },
        );
    offer.refuse_certain_failures(&mut calls, &strict, &[]);
    assert!(matches!(calls[1].verdict, Verdict::Invalid { .. }), "whatever comes before it: {:?}", calls[1].verdict);
    for host in ["example.org", PUBLIC, "localhost.example.org", "notlocalhost"] {
        assert_eq!(checked(&[], Mode::Default, &format!("http://{host}/x")), Verdict::Ask, "{host}");
    }
}

// proves T10: private addresses unless allowed
#[test]
fn a_private_host_that_was_named_is_fetched_from() {
    for (hosts, url, kind) in [
        (&["localhost"][..], "http://localhost:3000/", OutcomeKind::Ok),
        (&["localhost:3000"], "http://localhost:3000/", OutcomeKind::Ok),
        (&["localhost:3001"], "http://localhost:3000/", OutcomeKind::Denied),
        (&["127.0.0.1"], "http://localhost:3000/", OutcomeKind::Denied),
        (&["10.0.0.1"], "http://127.0.0.1/", OutcomeKind::Denied),
        (&["*"], "http://127.0.0.1/", OutcomeKind::Ok),
    ] {
        let private = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let world = FakeWorld::of(&[("/", html("here"))]).name("localhost", &[&["127.0.0.1", "::1"]]);
        let fetched = fetch_with(world, FetchSettings { private, ..FetchSettings::default() }, url);
        assert_eq!(fetched.outcome.kind, kind, "{hosts:?} {url}: {}", fetched.outcome.text);
    }
}

// proves X4, T8: approval of one host does not cover another
#[test]
fn a_redirect_to_another_host_is_followed_only_where_a_rule_allows_it() {
    let world = || {
        FakeWorld::of(&[("/", redirect("http://other.test/page")), ("/page", html("there"))])
            .name("other.test", &[&["8.8.8.8"]])
    };
    let fetched = fetch(world(), "http://site.test/");
    assert_told(&fetched, OutcomeKind::ToolError, &["another host", "http://other.test/page"]);
    assert_eq!(fetched.connected.len(), 1);
    let allowed = rules(Mode::Default, &["fetch_url(http://other.test/*)"], &[]);
    let fetched = fetch_with(world(), allowed, "http://site.test/");
    assert_told(&fetched, OutcomeKind::Ok, &["http://other.test/page (200", "there"]);
    let denied = rules(Mode::Bypass, &[], &["fetch_url(other.test)"]);
    let fetched = fetch_with(world(), denied, "http://site.test/");
    assert_told(&fetched, OutcomeKind::Denied, &["fetch_url(other.test)"]);
    assert_eq!(fetched.connected.len(), 1);
}

// proves T8, X4: every hop is checked against the rules, those that allow as well as those that deny or ask
#[test]
fn a_redirect_within_a_host_is_judged_by_the_rules_again() {
    let world = || FakeWorld::of(&[("/a/1", redirect("/a/2")), ("/a/2", redirect("/b")), ("/b", html("there"))]);
    let url = "http://site.test/a/1";
    let fetched = fetch(world(), url);
    assert_told(&fetched, OutcomeKind::Ok, &["there"]);
    let narrow = rules(Mode::Default, &["fetch_url(http://site.test/a/*)"], &[]);
    let fetched = fetch_with(world(), narrow, url);
    assert_told(&fetched, OutcomeKind::ToolError, &["where nobody agreed to go yet", "http://site.test/b"]);
    assert_eq!(fetched.connected.len(), 2, "what the rule allows is followed, and nothing else is asked for");
    for mode in [Mode::Default, Mode::Bypass] {
        let fetched = fetch_with(world(), rules(mode, &["fetch_url"], &["fetch_url(http://site.test/b)"]), url);
        assert_told(&fetched, OutcomeKind::Denied, &["http://site.test/b"]);
        assert_eq!(fetched.connected.len(), 2);
    }
    let mut asking = rules(Mode::Default, &[], &[]);
    asking.permissions.ask = vec!["fetch_url(http://site.test/b)".parse().unwrap()];
    let fetched = fetch_with(world(), asking, url);
    assert_told(&fetched, OutcomeKind::ToolError, &["where nobody agreed to go yet"]);
}

// proves T8, T10: a person approved the host they saw, a rule covers what it matches, and the two don't add up
#[test]
fn a_redirect_does_not_leave_by_two_hops_what_was_agreed_to() {
    let out = redirect("http://other.test/docs/1");
    let world = FakeWorld::of(&[("/", out), ("/docs/1", redirect("/else")), ("/else", html("there"))])
        .name("other.test", &[&["8.8.8.8"]]);
    let docs = rules(Mode::Default, &["fetch_url(http://other.test/docs/*)"], &[]);
    let fetched = fetch_with(world, docs, "http://site.test/");
    assert_told(&fetched, OutcomeKind::ToolError, &["where nobody agreed to go yet", "http://other.test/else"]);
    assert_eq!(fetched.connected.len(), 2);
}

// proves T10
#[test]
fn redirects_come_to_an_end_and_never_lose_encryption_or_carry_a_password() {
    let fetched = fetch(FakeWorld::of(&[("/", redirect("/"))]), "http://site.test/");
    assert_told(&fetched, OutcomeKind::ToolError, &["more than 10"]);
    assert_eq!(fetched.connected.len(), 11);
    for to in ["http://user:pw@site.test/", "file:///etc/passwd", "javascript:x"] {
        let fetched = fetch(FakeWorld::of(&[("/", redirect(to))]), "http://site.test/");
        assert_told(&fetched, OutcomeKind::ToolError, &["redirects, and"]);
    }
    let tool = FetchUrl::new(rules(Mode::Bypass, &[], &[]), Arc::new(FakeConnector(Arc::default())));
    let from = crate::address::Address::parse("https://site.test/").unwrap();
    assert!(tool.follow(&from, "http://site.test/", &FetchConsent::Person(from.clone())).is_err());
    assert!(tool.follow(&from, "/x", &FetchConsent::Person(from.clone())).is_ok());
}

// proves T10: size limits, compressed or not
#[test]
fn a_body_is_read_up_to_a_limit_and_the_rest_is_said_to_be_missing() {
    let packed = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let gzip = "200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip";
    let small = fetch(FakeWorld::of(&[("/", page(gzip, &packed(b"hello")))]), "http://site.test/");
    assert_told(&small, OutcomeKind::Ok, &["5 bytes", "hello"]);
    let zeros = vec![b'0'; 64 << 20];
    for huge in [page(gzip, &packed(&zeros)), page("200 OK\r\nContent-Type: text/plain", &zeros[..LARGEST + 1])] {
        let fetched = fetch(FakeWorld::of(&[("/", huge)]), "http://site.test/");
        assert_told(&fetched, OutcomeKind::Ok, &["4,194,304 bytes)\n[only its beginning"]);
        assert!(fetched.outcome.text.len() < LARGEST + 1_000);
    }
    let broken = fetch(FakeWorld::of(&[("/", page(gzip, b"no gzip at all, but long enough"))]), "http://site.test/");
    assert_told(&broken, OutcomeKind::InfrastructureError, &["can't be unpacked"]);
    let other = page("200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: br", b"x");
    assert_told(&fetch(FakeWorld::of(&[("/", other)]), "http://site.test/"), OutcomeKind::ToolError, &["`br`"]);
}

// proves T10, T5: time limits
#[test]
fn a_server_that_does_not_come_to_an_end_is_given_up() {
    let slow =
        CannedResponse { bytes: b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nbegun".to_vec(), hang: true };
    let silent = CannedResponse { bytes: Vec::new(), hang: true };
    for page in [slow, silent] {
        let fetched = fetch(FakeWorld::of(&[("/slow", page)]), "http://site.test/slow");
        assert_told(&fetched, OutcomeKind::TimedOut, &["within 0.2 s"]);
    }
}

// proves T5: any response of a server becomes an outcome
#[test]
fn nonsense_for_an_answer_is_an_infrastructure_error() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    for bytes in [&b""[..], b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", long.as_bytes()] {
        let page = CannedResponse { bytes: bytes.to_vec(), hang: false };
        assert_told(
            &fetch(FakeWorld::of(&[("/", page)]), "http://site.test/"),
            OutcomeKind::InfrastructureError,
            &["broke off"],
        );
    }
    assert_told(&fetch(FakeWorld::of(&[]), "http://no.test/"), OutcomeKind::NotFound, &["There is no host `no.test`"]);
}

// proves T10: only text is returned, and the type of anything else is reported
#[test]
fn what_is_not_text_is_refused_with_its_type_and_size() {
    for (kind, body, outcome, part) in [
        ("Content-Type: image/png", &b"\x89PNG"[..], OutcomeKind::ToolError, "image/png, 4 bytes)"),
        ("Content-Type: application/pdf", b"%PDF-1", OutcomeKind::ToolError, "application/pdf, 6 bytes)"),
        ("X: y", b"a\0b", OutcomeKind::ToolError, "no type, 3 bytes)"),
        ("X: y", b"plain", OutcomeKind::Ok, "plain"),
        ("X: y", b"<!DOCTYPE html><p>a<p>b", OutcomeKind::Ok, "a\n\nb"),
        ("Content-Type: application/json", b"{\"a\": 1}", OutcomeKind::Ok, "{\"a\": 1}"),
        ("Content-Type: application/ld+json; charset=utf-8", b"{}", OutcomeKind::Ok, "{}"),
        ("Content-Type: text/plain; charset=ISO-8859-1", b"gr\xfc\xdfe", OutcomeKind::Ok, "grüße"),
        ("Content-Type: text/markdown", b"# <b>", OutcomeKind::Ok, "# <b>"),
    ] {
        let fetched = fetch(FakeWorld::of(&[("/", page(&format!("200 OK\r\n{kind}"), body))]), "http://site.test/");
        assert_told(&fetched, outcome, &[part]);
    }
}

// proves T5: an error response is a tool error that includes the server's text
#[test]
fn an_error_page_is_an_error_with_a_bit_of_the_page() {
    let fetched = fetch(FakeWorld::of(&[]), "http://site.test/nowhere");
    assert_told(&fetched, OutcomeKind::NotFound, &["http://site.test/nowhere (404", "404 Not Found.\nno such page"]);
    let long = page("500 Oops\r\nContent-Type: text/html", "<p>word ".repeat(10_000).as_bytes());
    let fetched = fetch(FakeWorld::of(&[("/", long)]), "http://site.test/");
    assert_told(&fetched, OutcomeKind::ToolError, &["500 Internal Server Error.\nword"]);
    assert!(fetched.outcome.text.chars().count() < 1_200);
}

// proves X1
#[test]
fn a_placeholder_in_an_address_is_refused() {
    let fetched = fetch(FakeWorld::of(&[]), "http://site.test/?key=⟦secret:KEY⟧");
    assert_told(&fetched, OutcomeKind::ToolError, &["placeholder"]);
}
