//! Imports that a Python script forgot: small models use `os` and `shutil` without importing them, and forget the import again
//! when they correct the script. Added are the modules of the list below, unless the script gives the name to something.

use serde_json::Value;
use windlass_vocab::{Json, Repair};

use super::python_command::python_script;

/// The modules that are imported where they lack.
const MODULES: &[&str] = &[
    "collections",
    "csv",
    "datetime",
    "glob",
    "itertools",
    "json",
    "math",
    "os",
    "pathlib",
    "random",
    "re",
    "shutil",
    "statistics",
    "subprocess",
    "sys",
    "textwrap",
];

/// Returns the script with the imports that it lacks in front of it; `None` where it lacks none.
pub(super) fn with_imports(script: &str) -> Option<String> {
    // Nothing may stand before such an import.
    if script.contains("__future__") {
        return None;
    }
    let lacking: Vec<&str> = MODULES.iter().copied().filter(|module| lacks_import(script, module)).collect();
    (!lacking.is_empty()).then(|| format!("import {}\n{script}", lacking.join(", ")))
}

/// Returns what was mended in a call that was written so.
pub(crate) fn repair_of(arguments: &Json, written: &str) -> Repair {
    let arguments = arguments.to_value();
    let script = arguments.get("command").and_then(Value::as_str).and_then(python_script);
    match script {
        Some(script) if script.ends_with(written) => Repair::Imports,
        Some(_) => Repair::FileText,
        None => Repair::Syntax,
    }
}

/// Whether a script uses a module, and neither imports it nor gives its name to something.
fn lacks_import(script: &str, module: &str) -> bool {
    let mut is_used = false;
    for (at, _) in script.match_indices(module) {
        let before = script[..at].chars().next_back();
        let after = script[at + module.len()..].chars().next();
        let is_whole = |letter: Option<char>| !letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        if !is_whole(before) || !is_whole(after) || before == Some('.') {
            continue;
        }
        // Any other place of the name, in a text or not, may be an import or a definition.
        let line = script[..at].rsplit('\n').next().unwrap_or_default().trim();
        if after != Some('.') || matches!(line, "from" | "import") {
            return false;
        }
        is_used |= !is_in_text(script, at);
    }
    is_used
}

/// Whether this place of a script is in a comment or a text of its line.
fn is_in_text(script: &str, at: usize) -> bool {
    let line = script[..at].rsplit('\n').next().unwrap_or_default();
    line.contains('#') || line.matches('"').count() % 2 == 1 || line.matches('\'').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::with_imports;

    // proves T4: what the script lacks is added once, and nothing to one that is whole
    #[test]
    fn a_script_gets_the_imports_that_it_lacks() {
        for (script, imports) in [
            ("os.makedirs('a')\nshutil.move('b', 'a')", Some("import os, shutil")),
            ("import os\nos.makedirs('a')\nshutil.move('b', 'a')", Some("import shutil")),
            ("import os, json\nprint(json.dumps(os.listdir('.')))", None),
            ("from pathlib import Path\nPath('a').touch()", None),
            ("from os import path\nprint(os.name)", None),
            ("import numpy as re\nre.x()", None),
            ("re = open('a')\nre.read()", None),
            ("def f(os):\n    return os.name", None),
            ("print('use os.path here')", None),
            ("# os.remove is not needed\nprint(1)", None),
            ("self.os.x()", None),
            ("from os.path import join\nimport collections.abc\njoin(os.sep, collections.abc)", None),
            ("from __future__ import annotations\nos.remove('a')", None),
            ("cosmos.os()", None),
        ] {
            let expected = imports.map(|imports| format!("{imports}\n{script}"));
            assert_eq!(with_imports(script), expected, "{script}");
        }
    }
}
