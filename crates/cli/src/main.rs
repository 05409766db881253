//! The binary `windlass`.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Sessions are moved between threads and their batches freed by the writer's; it is made for that (0007).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    windlass_cli::main()
}
