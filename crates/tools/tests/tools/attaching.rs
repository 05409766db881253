//! Files that a person attaches: what they hold decides how they are sent (C9).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use windlass_tools::{AttachError, attached_file};
use windlass_vocab::AttachedFile;

/// The header of a PNG of 640 × 480 pixels.
fn png() -> Vec<u8> {
    [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &640u32.to_be_bytes(), &480u32.to_be_bytes(), b"\x08\x02\0\0\0"].concat()
}

// proves C9
#[test]
fn the_content_of_a_file_decides_how_it_is_attached() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("photo.txt"), png()).unwrap();
    fs::write(path("notes.md"), "é\n").unwrap();
    fs::write(path("latin.txt"), b"caf\xe9").unwrap();
    let AttachedFile::Image(image) = attached_file(&path("photo.txt"), None).unwrap() else { panic!("an image") };
    assert_eq!((image.name.as_str(), image.width, image.height), ("photo.txt", 640, 480));
    let AttachedFile::Text(text) = attached_file(&path("notes.md"), None).unwrap() else { panic!("a text") };
    assert_eq!((text.name.as_str(), text.bytes, text.text.as_str()), ("notes.md", 3, "é\n"));
    let AttachedFile::Text(text) = attached_file(&path("latin.txt"), None).unwrap() else { panic!("a text") };
    assert_eq!(text.text, "caf\u{fffd}");
}

// proves C9
#[test]
fn what_can_not_be_attached_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("folder.png")).unwrap();
    fs::write(path("words.png"), "just words").unwrap();
    fs::write(path("cut.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    fs::write(path("program"), b"\x7fELF\x02\x01\x01\0").unwrap();
    fs::write(path("empty.txt"), "").unwrap();
    fs::write(path("a.pdf"), "%PDF-1.4\n").unwrap();
    // Sparse: 200 MB that take no room.
    fs::write(path("huge.png"), png()).unwrap();
    fs::File::options().write(true).open(path("huge.png")).unwrap().set_len(200_000_000).unwrap();
    fs::write(path("huge.txt"), "words").unwrap();
    fs::File::options().write(true).open(path("huge.txt")).unwrap().set_len(11_000_000).unwrap();
    let made = std::process::Command::new("mkfifo").arg(path("pipe")).status();
    for (name, sentence) in [
        ("none.png", "there is no such file"),
        ("words.png/none", "there is no such file"),
        ("folder.png", "it is a folder, and only files can be attached"),
        ("words.png", "its name says that it is an image, but its content is not one of PNG, JPEG, GIF or WebP"),
        ("cut.png", "it begins like a PNG image, but is damaged: it has no width and height"),
        ("huge.png", "it has 200.0 MB, and images of at most 20.0 MB can be attached"),
        ("program", "it is an ELF program; images, PDF documents and text can be attached"),
        ("empty.txt", "it is empty"),
        ("a.pdf", "it is a PDF document, and there is no program to read it with; attach its text instead"),
        ("pipe", "it is not a regular file"),
    ] {
        if name == "pipe" && !made.as_ref().is_ok_and(std::process::ExitStatus::success) {
            continue;
        }
        let refused = attached_file(&path(name), None).map(|file| file.description());
        assert_eq!(refused.map_err(|error| error.to_string()), Err(sentence.to_owned()), "{name}");
    }
    // Behind its first words it is empty, which is binary data.
    assert!(matches!(
        attached_file(&path("huge.txt"), None),
        Err(AttachError::Binary(_) | AttachError::TooLarge { .. })
    ));
    fs::set_permissions(path("empty.txt"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(path("empty.txt")).is_err() {
        assert_eq!(attached_file(&path("empty.txt"), None), Err(AttachError::Unreadable("permission denied".into())));
    }
}
