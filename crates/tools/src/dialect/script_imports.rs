//! Imports that a Python script forgot: small models use `os` and `shutil` without importing them, and forget the import again
//! when they correct the script. Only modules of the standard library whose names nobody gives to a variable are added.

/// The modules.
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
    let lacking: Vec<&str> = MODULES.iter().copied().filter(|module| uses(script, module)).collect();
    (!lacking.is_empty()).then(|| format!("import {}\n{script}", lacking.join(", ")))
}

/// Whether a script uses a module, and gives its name to nothing.
fn uses(script: &str, module: &str) -> bool {
    let mut is_used = false;
    for (at, _) in script.match_indices(module) {
        let before = script[..at].chars().next_back();
        let after = script[at + module.len()..].chars().next();
        let is_whole = |letter: Option<char>| !letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        if !is_whole(before) || !is_whole(after) || before == Some('.') {
            continue;
        }
        // Any other place of the name, in a text or not, may be an import or a definition.
        if after != Some('.') {
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
            ("cosmos.os()", None),
        ] {
            let expected = imports.map(|imports| format!("{imports}\n{script}"));
            assert_eq!(with_imports(script), expected, "{script}");
        }
    }
}
