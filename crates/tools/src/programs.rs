//! What is known of programs that are often run, as data: which of them can be allowed with any arguments, and
//! by which arguments they become something else. A program that is not here is allowed line by line.
//!
//! A subcommand is one word or several (`pr view`; of those after the first any may come between). Of options,
//! `letters` are the short ones, which may be joined (`-uo FILE`); of the others those with two dashes may be
//! abbreviated, those with one are taken whole, and `=` is an assignment (`SHELL=./x`).

/// A program and its arguments.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) names: &'static [&'static str],
    pub(crate) form: Form,
    /// Options that a rule need not spell out wherever they stand. Before a subcommand it must all others.
    pub(crate) harmless: &'static [&'static str],
    /// Options by which it runs other programs, writes where it is told or works in another place, each for one
    /// subcommand or, where that is empty, for any.
    pub(crate) options: &'static [Options],
}

/// What the first argument is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One of many; the program may be allowed with any.
    Arguments,
    /// One of many; the program is allowed line by line.
    Script,
    /// What it is to do.
    Subcommand {
        /// What may be allowed with any arguments.
        allowed: &'static [&'static str],
        /// What runs whatever it is given, or changes what the others do: a rule must spell it out.
        running: &'static [&'static str],
    },
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) of: &'static str,
    pub(crate) letters: &'static str,
    pub(crate) words: &'static [&'static str],
}

/// What is known of the program of that name, without its folder.
pub(crate) fn named(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.names.contains(&name))
}

const fn any(letters: &'static str, words: &'static [&'static str]) -> Options {
    Options { of: "", letters, words }
}

const fn of(subcommand: &'static str, letters: &'static str, words: &'static [&'static str]) -> Options {
    Options { of: subcommand, letters, words }
}

#[rustfmt::skip]
const PROGRAMS: &[Program] = &[
    Program {
        names: &[
            "basename", "cat", "cmp", "comm", "cut", "df", "diff", "dirname", "du", "echo", "egrep", "false", "fgrep",
            "grep", "head", "id", "jq", "ls", "md5sum", "nl", "pwd", "readlink", "realpath", "seq", "sha1sum",
            "sha256sum", "sleep", "stat", "tac", "tail", "tr", "true", "uname", "wc", "which", "whoami",
        ],
        form: Form::Arguments,
        harmless: &[],
        options: &[],
    },
    Program { names: &["date"], form: Form::Arguments, harmless: &[], options: &[any("s", &["--set"])] },
    Program { names: &["file"], form: Form::Arguments, harmless: &[], options: &[any("C", &["--compile"])] },
    Program { names: &["tree"], form: Form::Arguments, harmless: &[], options: &[any("oR", &["--output"])] },
    Program {
        names: &["sort"],
        form: Form::Arguments,
        harmless: &[],
        options: &[any("oT", &["--output", "--compress-program", "--temporary-directory"])],
    },
    Program {
        names: &["rg"],
        form: Form::Arguments,
        harmless: &[],
        options: &[any("z", &["--pre", "--hostname-bin", "--search-zip"])],
    },
    Program {
        names: &["fd", "fdfind"],
        form: Form::Arguments,
        harmless: &[],
        options: &[any("xX", &["--exec", "--exec-batch"])],
    },
    Program {
        names: &["find"],
        form: Form::Script,
        harmless: &[],
        options: &[any(
            "",
            &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"],
        )],
    },
    Program {
        names: &["tar", "bsdtar"],
        form: Form::Script,
        harmless: &[],
        options: &[any(
            "ICFPT",
            &[
                "--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--rmt-command",
                "--info-script", "--new-volume-script", "--directory", "--absolute-names", "--files-from",
            ],
        )],
    },
    Program {
        names: &["make", "gmake"],
        form: Form::Script,
        harmless: &[],
        options: &[any("fCIE", &["--file", "--makefile", "--directory", "--eval", "--include-dir", "="])],
    },
    GIT,
    CARGO,
    Program {
        names: &["rustup"],
        form: Form::Subcommand {
            allowed: &["show", "toolchain list", "target list", "component list"],
            running: &["run", "toolchain link", "set", "override"],
        },
        harmless: &["-q", "--quiet", "-v", "--verbose"],
        options: &[],
    },
    Program {
        names: &["go"],
        form: Form::Subcommand {
            allowed: &["build", "doc", "list", "test", "version", "vet"],
            running: &["env", "generate", "tool"],
        },
        harmless: &[],
        options: &[any(
            "",
            &[
                "-C", "-o", "-exec", "-toolexec", "-vettool", "-overlay", "-modfile", "-compiler", "-ldflags",
                "-gcflags", "-asmflags", "-gccgoflags", "-pkgdir",
            ],
        )],
    },
    Program {
        names: &["npm", "pnpm", "yarn"],
        form: Form::Subcommand {
            allowed: &["ls", "list", "outdated", "why"],
            running: &[
                "x", "exec", "dlx", "explore", "edit", "config", "c", "set", "init", "create", "env", "node", "plugin",
            ],
        },
        harmless: &["-s", "--silent"],
        options: &[any(
            "Cg",
            &[
                "--prefix", "--dir", "--cwd", "--script-shell", "--shell", "--userconfig", "--globalconfig",
                "--node-options", "--git", "--registry", "--global", "--location", "--use-yarnrc", "--config",
            ],
        )],
    },
    Program {
        names: &["pip", "pip3"],
        form: Form::Subcommand { allowed: &["check", "freeze", "list", "show"], running: &["config"] },
        harmless: &["-q", "--quiet", "-v", "--verbose"],
        options: &[any("", &["--python", "--log", "--cache-dir", "--index-url", "--extra-index-url", "--target", "--root"])],
    },
    Program {
        names: &["gh"],
        form: Form::Subcommand {
            allowed: &[
                "issue list", "issue view", "pr checks", "pr diff", "pr list", "pr status", "pr view", "run list",
                "run view", "repo view", "release list", "release view",
            ],
            running: &["alias", "config", "extension", "codespace"],
        },
        harmless: &[],
        options: &[any("w", &["--web", "--hostname"])],
    },
    Program {
        names: &["kubectl", "helm"],
        form: Form::Subcommand { allowed: &["api-resources", "version"], running: &["config", "plugin"] },
        harmless: &[],
        options: &[any("s", &["--kubeconfig", "--server", "--context", "--cluster", "--user", "--as", "--token"])],
    },
    Program {
        names: &["systemctl"],
        form: Form::Subcommand {
            allowed: &["cat", "is-active", "is-enabled", "is-failed", "list-timers", "list-units", "show", "status"],
            running: &["edit", "link", "set-environment", "import-environment"],
        },
        harmless: &["--user", "--no-pager"],
        options: &[any("HM", &["--host", "--machine", "--root", "--image"])],
    },
    Program {
        names: &["apt", "apt-cache", "apt-get"],
        form: Form::Subcommand { allowed: &["list", "policy", "search", "show"], running: &["edit-sources"] },
        harmless: &["-q"],
        options: &[any("oc", &["--option", "--config-file"])],
    },
];

#[rustfmt::skip]
const GIT: Program = Program {
    names: &["git"],
    form: Form::Subcommand {
        allowed: &[
            "add", "blame", "cat-file", "commit", "describe", "diff", "diff-tree", "for-each-ref", "grep", "log",
            "ls-files", "ls-tree", "merge-base", "name-rev", "rev-list", "rev-parse", "shortlog", "show", "show-ref",
            "status",
        ],
        running: &[
            "bisect run", "config", "credential", "daemon", "difftool", "filter-branch", "for-each-repo", "hook",
            "instaweb", "mergetool", "remote-ext", "remote-fd", "send-email", "shell", "submodule foreach",
            "web--browse",
        ],
    },
    harmless: &["-P", "--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"],
    options: &[
        any(
            "",
            &["--output", "--output-directory", "--ext-diff", "--exec", "--upload-pack", "--receive-pack"],
        ),
        of("archive", "o", &[]),
        of("clone", "cu", &["--config", "--template", "--separate-git-dir"]),
        of("format-patch", "o", &[]),
        of("grep", "O", &["--open-files-in-pager"]),
        of("init", "", &["--template", "--separate-git-dir"]),
        of("merge", "s", &["--strategy"]),
        of("pull", "s", &["--strategy"]),
        of("rebase", "xs", &["--strategy"]),
    ],
};

#[rustfmt::skip]
const CARGO: Program = Program {
    names: &["cargo"],
    form: Form::Subcommand {
        allowed: &["bench", "build", "check", "clippy", "doc", "fmt", "metadata", "test", "tree"],
        running: &[],
    },
    harmless: &["-q", "--quiet", "-v", "-vv", "--verbose", "--locked", "--offline", "--frozen", "--target"],
    options: &[
        any("CZ", &["--config", "--manifest-path", "--target-dir", "--artifact-dir", "--out-dir", "--lockfile-path"]),
        of("clippy", "o", &["--emit", "--codegen", "--sysroot"]),
    ],
};
