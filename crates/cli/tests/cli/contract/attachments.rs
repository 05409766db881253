//! Files attached on the command line: what the model is sent, what is kept, and what is refused (C9).

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

/// The header of a PNG of 2 × 1 pixels, padded to this size, and the start of its base64.
fn png(bytes: usize) -> Vec<u8> {
    let mut content = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &[0, 0, 0, 2, 0, 0, 0, 1, 8, 2, 0, 0, 0]].concat();
    content.resize(bytes.max(content.len()), 0);
    content
}

const BASE64: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIA";

/// A bench whose model is configured to see images.
fn seeing(script: Script) -> Bench {
    let bench = Bench::new(script);
    let config = bench.dir.path().join(".config/windlass");
    fs::create_dir_all(&config).expect("a folder");
    fs::write(config.join("windlass.toml"), "[models.scripted]\nimages = true\n").expect("written");
    bench
}

fn write(bench: &Bench, name: &str, content: &[u8]) -> String {
    let path = bench.dir.path().join(name);
    fs::write(&path, content).expect("written");
    path.display().to_string()
}

/// The messages of a request that are not for one turn only.
fn messages(bench: &Bench, request: usize) -> Vec<Value> {
    let body = bench.server.requests()[request].body.clone();
    let is_lasting = |message: &&Value| !message["content"].as_str().is_some_and(|text| text.starts_with("<reminder>"));
    body["messages"].as_array().expect("messages").iter().filter(is_lasting).cloned().collect()
}

// proves C9, W2
#[test]
fn an_attached_image_is_sent_kept_by_its_hash_and_named_to_the_person() {
    let bench = seeing(Script::of([ScriptStep::say("A notice.")]));
    let path = write(&bench, "notes.png", &png(60_000));
    let ran = bench.run(&["run", "what is it?", "--attach", &path, "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "A notice.\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("attached notes.png, 2 × 1, 60 kB"), "{}", ran.stderr);
    let content = messages(&bench, 0).pop().expect("a message")["content"].clone();
    assert_eq!(content[0]["text"], "what is it?\n[image notes.png, 2 × 1, 60 kB]");
    assert!(content[1]["image_url"]["url"].as_str().is_some_and(|url| url.starts_with(BASE64)), "{content}");
    let journal = bench.journal("s");
    let accepted = journal.iter().find(|record| record["kind"] == "MessageAccepted").expect("a message");
    assert_eq!(accepted["body"]["attachments"][0]["kind"], "image");
    assert!(journal.iter().all(|record| !record.to_string().contains("iVBORw0")), "an image is in a record");
    let shown = bench.run(&["sessions", "show", "s"]);
    assert!(shown.stdout.contains("[attached notes.png, 2 × 1, 60 kB]"), "{}", shown.stdout);
    bench.assert_whole("an image");
}

// proves C9
#[test]
fn a_model_that_is_not_known_to_see_gets_a_sentence_and_the_person_is_told() {
    let bench = Bench::new(Script::of([ScriptStep::say("I can't see it.")]));
    let path = write(&bench, "notes.png", &png(100));
    let ran = bench.run(&["run", "what is it?", "--attach", &path]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("scripted is not known to see images"), "{}", ran.stderr);
    let last = messages(&bench, 0).pop().expect("a message");
    assert_eq!(last["content"], "what is it?\n[image notes.png, 2 × 1, 100 bytes: this model can't see images]");
}

// proves C9, J3, M6: a process that takes a run up sends the images of the one before, byte for byte
#[test]
fn a_run_that_was_killed_goes_on_with_the_same_images() {
    let read = ScriptStep::call("read_file", json!({"path": "chart.png"}));
    let bench = seeing(Script::of([read, ScriptStep::say("Done.")]));
    let path = write(&bench, "notes.png", &png(40_000));
    fs::write(bench.workspace().join("chart.png"), png(50_000)).expect("written");
    let line = ["run", "compare them", "--attach", &path, "--session", "s", "--message-id", "1"];
    let died = bench.run_with(&line, &[("WINDLASS_TEST_DIE", "after:5")]);
    assert_eq!(died.code, -9, "{}", died.stderr);
    let before = bench.server.count();
    // The file is not needed again.
    fs::remove_file(&path).expect("removed");
    let ran = bench.run(&line);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done.\n"), "{}", ran.stderr);
    let (first, last) = (messages(&bench, 0), messages(&bench, bench.server.count() - 1));
    assert!(before > 0 && last.len() > first.len(), "{before} requests");
    assert_eq!(last[..first.len()], first[..]);
    let text = Value::from(last).to_string();
    assert_eq!(text.matches(BASE64).count(), 2, "one image is attached, one was read");
    assert_eq!(bench.records("s", "MessageAccepted"), 1);
    bench.assert_whole("a killed run");
}

// proves C9, T6
#[test]
fn a_long_text_is_cut_and_the_rest_is_read_by_its_id() {
    let text: String = (0..3_000).map(|line| format!("line {line}\n")).collect();
    let id = &windlass_store::hash_of(text.as_bytes()).to_string()[..12];
    let read = ScriptStep::call("read_file", json!({"path": format!("attached:{id}"), "offset": 1_500, "limit": 2}));
    let bench = Bench::new(Script::of([read, ScriptStep::say("Read.")]));
    let path = write(&bench, "notes.txt", text.as_bytes());
    let ran = bench.run(&["run", "read on", "--attach", &path]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let sent = messages(&bench, 0).pop().expect("a message")["content"].as_str().expect("text").to_owned();
    assert!(sent.starts_with("read on\n\n<attachment name=\"notes.txt\">\nline 0\n"), "{sent}");
    assert!(sent.contains(&format!("read_file, path \"attached:{id}\"")) && sent.len() < 17_000, "{}", sent.len());
    let result = bench.last_request("tool").pop().expect("a result");
    assert!(result.starts_with("line 1499\nline 1500\n"), "{result}");
    bench.assert_whole("a long text");
}

/// A PDF document whose page has this content.
fn pdf(entries: &str, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let head = format!(
        "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n\
         3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 5 0 R/Resources<</Font<</F1 4 0 R>>>>>>\nendobj\n\
         4 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>\nendobj\n\
         5 0 obj\n<</Length {length}{entries}>>\nstream\n"
    );
    [head.as_bytes(), content, b"\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n"].concat()
}

// proves C9
#[test]
fn a_pdf_is_sent_as_its_text() {
    let bench = Bench::new(Script::of([ScriptStep::say("Noted.")]));
    let path = write(&bench, "letter.pdf", &pdf("", b"BT /F1 9 Tf (Dear captain,) Tj 0 -12 Td (all is well.) Tj ET"));
    let ran = bench.run(&["run", "read it", "--attach", &path]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("attached letter.pdf, "), "{}", ran.stderr);
    let sent = messages(&bench, 0).pop().expect("a message")["content"].clone();
    assert_eq!(sent, "read it\n\n<attachment name=\"letter.pdf\">\nDear captain,\nall is well.\n</attachment>");
}

// proves C9: a document made to fill the memory ends in a sentence
#[test]
fn a_pdf_bomb_is_refused_with_a_sentence() {
    let bench = Bench::new(Script::of([]));
    // 20 MB, of which each two bytes become 128.
    let bomb = write(&bench, "bomb.pdf", &pdf("/Filter/RunLengthDecode", &[0x81, b' '].repeat(10_000_000)));
    let ran = bench.run(&["run", "read it", "--attach", &bomb]);
    assert_eq!((ran.code, bench.server.count()), (2, 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("takes too much memory or time to read"), "{}", ran.stderr);
    bench.assert_nothing_survives("a bomb");
}

/// Makes each kind of file that can't be attached; returns its path and a part of the sentence.
fn bad_files(bench: &Bench) -> Vec<(String, &'static str)> {
    let huge = write(bench, "huge.png", &png(29));
    fs::File::options().write(true).open(&huge).and_then(|file| file.set_len(200_000_000)).expect("sparse");
    let folder = bench.dir.path().join("folder");
    fs::create_dir(&folder).expect("a folder");
    let missing = bench.dir.path().join("none.png").display().to_string();
    vec![
        (write(bench, "words.png", b"words"), "its name says that it is an image"),
        (write(bench, "cut.png", b"\x89PNG\r\n\x1a\n"), "begins like a PNG image, but is damaged"),
        (huge, "it has 200.0 MB, and images of at most 20.0 MB can be attached"),
        (missing, "there is no such file"),
        (folder.display().to_string(), "it is a folder"),
        (write(bench, "program", b"\x7fELF\x02\x01\x01\0"), "it is an ELF program"),
        (write(bench, "empty", b""), "it is empty"),
        (write(bench, "cut.pdf", b"%PDF-1.4\n1 0 obj"), "it is a damaged PDF document"),
        (write(bench, "scan.pdf", &pdf("", b"")), "it is a PDF document without text"),
    ]
}

// proves C9: exit code 2 and a sentence, before anything is sent or written down
#[test]
fn a_file_that_can_not_be_attached_is_refused_before_anything_is_sent() {
    let bench = seeing(Script::of([ScriptStep::say("Aye.")]));
    let good = write(&bench, "good.png", &png(29));
    for (path, sentence) in bad_files(&bench) {
        let ran = bench.run(&["run", "look", "--attach", &good, "--attach", &path]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{path}: {}", ran.stderr);
        let name = Path::new(&path).file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(ran.stderr.contains(name) && ran.stderr.contains(sentence), "{path}: {}", ran.stderr);
    }
    assert_eq!(bench.server.count(), 0);
    assert_eq!(bench.keys(), Vec::<String>::new(), "nothing is begun");
    let ran = bench.run(&["run", "look", "--attach", &good]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
}
