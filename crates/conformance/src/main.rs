//! `windlass-conformance URL`: the client, as run by the suite. `windlass-conformance guard`: the guard of the
//! servers that this crate's tests start.

use std::process::ExitCode;

fn main() -> ExitCode {
    let word = std::env::args().next_back().unwrap_or_default();
    if word == windlass_conformance::GUARD {
        return windlass_tools::guard::run();
    }
    match windlass_conformance::play(&word) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error:#}", windlass_conformance::NAME);
            ExitCode::FAILURE
        }
    }
}
