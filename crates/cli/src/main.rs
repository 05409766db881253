//! The binary `windlass`.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Sessions move between threads and the writer thread frees their batches; mimalloc is made for that (0007).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    windlass_cli::main()
}
