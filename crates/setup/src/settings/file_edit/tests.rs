use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{SettingsWrite, SettingsWriteError, add_rule, allow, changed_text};

fn with_rule(text: &str, rule: &str, path: &Path) -> Result<Option<String>, SettingsWriteError> {
    changed_text(text, path, |document| add_rule(document, rule, path))
}

fn with(text: &str, rule: &str) -> String {
    with_rule(text, rule, Path::new("f")).expect("sound").expect("not known yet")
}

// proves T8: comments and order kept
#[test]
fn a_rule_is_added_and_everything_else_stays_as_it_is() {
    let cases = [
        ("", "[permissions]\nallow = [\"r\"]\n"),
        ("# mine\nmodel = 'x' # this one\n", "# mine\nmodel = 'x' # this one\n\n[permissions]\nallow = [\"r\"]\n"),
        ("# mine\n", "# mine\n\n[permissions]\nallow = [\"r\"]\n"),
        ("# mine\n\n", "# mine\n\n[permissions]\nallow = [\"r\"]\n"),
        ("# mine", "# mine\n\n[permissions]\nallow = [\"r\"]\n"),
        ("# a\r\n# b\r\n", "# a\r\n# b\r\n\r\n[permissions]\r\nallow = [\"r\"]\r\n"),
        (
            "[policy]\n\n# [permissions]\n# mode = 'x'\n",
            "[policy]\n\n# [permissions]\n# mode = 'x'\n\n[permissions]\nallow = [\"r\"]\n",
        ),
        (
            "[a.b]\n[policy]\n[a.c] # last\n# end\n",
            "[a.b]\n[policy]\n[a.c] # last\n# end\n\n[permissions]\nallow = [\"r\"]\n",
        ),
        (
            "[permissions] # asked\nmode = \"strict\" # always\n# the end\n",
            "[permissions] # asked\nmode = \"strict\" # always\nallow = [\"r\"]\n# the end\n",
        ),
        ("[permissions]\nallow = []\n", "[permissions]\nallow = [\"r\"]\n"),
        ("[permissions]\nallow = [ 'a', 'b' ] # two\n", "[permissions]\nallow = [ 'a', 'b', \"r\" ] # two\n"),
        ("[permissions]\nallow = [\"a\"]\n\n[policy]\n", "[permissions]\nallow = [\"a\", \"r\"]\n\n[policy]\n"),
        (
            "[permissions]\nallow = [\n    \"a\", # first\n    \"b\", # second\n]\ndeny = [\"c\"]\n",
            "[permissions]\nallow = [\n    \"a\", # first\n    \"b\", # second\n    \"r\",\n]\ndeny = [\"c\"]\n",
        ),
        (
            "[permissions]\nallow = [\n  \"a\",\n  \"b\" # second\n]\n",
            "[permissions]\nallow = [\n  \"a\",\n  \"b\", # second\n  \"r\",\n]\n",
        ),
        ("permissions.allow = [\"a\"]\nmodel = 'x'\n", "permissions.allow = [\"a\", \"r\"]\nmodel = 'x'\n"),
        ("permissions = { mode = \"strict\" }\n", "permissions = { mode = \"strict\" , allow = [\"r\"] }\n"),
        ("model = 'x'\r\n[permissions]\r\n", "model = 'x'\r\n[permissions]\r\nallow = [\"r\"]\r\n"),
    ];
    for (before, after) in cases {
        assert_eq!(with(before, "r"), after, "{before}");
    }
}

// proves T8: whatever the rule and the layout, reading the file back returns the rule
#[test]
fn any_rule_reads_back_as_it_was() {
    for rule in ["run_command(echo \"a\" 'b' \\* \u{7} \n)", "hub.put", "fetch_url(https://docs.rs/*)", "x('''\"\"\"')"]
    {
        for text in ["", "[permissions]\nallow = [\n  'a', # x\n]\n", "[permissions]\nallow = ['a']\n"] {
            let table: toml::Table = with(text, rule).parse().expect("sound");
            let rules = table["permissions"]["allow"].as_array().expect("a list").clone();
            assert_eq!(rules.last().and_then(toml::Value::as_str), Some(rule), "{text}");
            assert!(with_rule(&with(text, rule), rule, Path::new("f")).expect("sound").is_none());
        }
    }
}

// proves T8: the file is created if absent, readable by its owner only; symlinks and modes are kept
#[test]
fn the_file_is_made_replaced_and_reached_through_a_link() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("config/windlass/windlass.toml");
    assert_eq!(allow("run_command(git *)", Some(&file)).expect("written"), SettingsWrite::Written);
    assert_eq!(allow("run_command(git *)", Some(&file)).expect("there"), SettingsWrite::Known);
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o7777;
    assert_eq!((mode(&file), mode(file.parent().expect("a folder"))), (0o600, 0o700));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("changed");
    let link = dir.path().join("link.toml");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    assert_eq!(allow("hub.put", Some(&link)).expect("written"), SettingsWrite::Written);
    assert!(link.symlink_metadata().expect("there").is_symlink());
    assert_eq!(mode(&file), 0o644);
    let text = fs::read_to_string(&file).expect("read");
    assert_eq!(text, "[permissions]\nallow = [\"run_command(git *)\", \"hub.put\"]\n");
    let left: Vec<_> = fs::read_dir(file.parent().expect("a folder")).expect("read").collect();
    assert_eq!(left.len(), 1, "nothing is left behind");
}

// proves T8: a file that can't be changed is left as it is
#[test]
fn what_can_not_be_written_is_left_alone_and_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("windlass.toml");
    for (text, said) in [
        ("[permissions\n", "not sound TOML"),
        ("[permissions]\nallow = 'a'\n", "is not a list"),
        ("permissions = 3\n", "is not a table"),
        ("modle = 'x'\n", "unknown key \"modle\""),
    ] {
        fs::write(&file, text).expect("written");
        let error = allow("r", Some(&file)).expect_err("refused").to_string();
        assert!(error.contains(said) && error.contains("windlass.toml"), "{error}");
        assert_eq!(fs::read_to_string(&file).expect("read"), text);
    }
    fs::write(&file, "").expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("changed");
    assert!(matches!(allow("r", Some(&file)), Err(SettingsWriteError::ReadOnly(_))));
    assert!(matches!(allow("r", None), Err(SettingsWriteError::NoPlace)));
    assert!(matches!(allow("run_command(x ⟦secret:KEY⟧)", Some(&file)), Err(SettingsWriteError::Secret)));
    fs::create_dir(dir.path().join("folder.toml")).expect("a folder");
    assert!(allow("r", Some(&dir.path().join("folder.toml"))).is_err());
}

// proves T8: concurrent edits are not lost
#[test]
fn rules_written_at_the_same_time_are_all_there() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("windlass.toml");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let file = &file;
            scope.spawn(move || allow(&format!("run_command(x{number})"), Some(file)).expect("written"));
        }
    });
    let text = fs::read_to_string(&file).expect("read");
    assert_eq!(text.matches("run_command(x").count(), 8, "{text}");
}
