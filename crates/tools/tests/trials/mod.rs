//! The list of tests of a program that is its own guard and so has no harness of its own.

/// Makes `trials()` of these functions. One with a name in parentheses depends on that function: if it
/// returns a reason, the test is ignored and the reason printed.
macro_rules! trials {
    ($($name:ident $(($need:ident))?,)*) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$({
                let lack: Option<String> = None $(.or_else($need))?;
                if let Some(reason) = &lack {
                    eprintln!("ignored: {}: {reason}", stringify!($name));
                }
                libtest_mimic::Trial::test(stringify!($name), || { $name(); Ok(()) }).with_ignored_flag(lack.is_some())
            },)*]
        }
    };
}
