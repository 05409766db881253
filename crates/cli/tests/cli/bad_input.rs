//! Everything that can be wrong with what comes in. Each time: a sentence that says what to do, the
//! right exit code, nothing lost or half-written, and the next run works.

mod data_folder;
mod lost_data;
mod prompts;
mod servers;
#[cfg(target_os = "linux")]
mod small_disk;
mod tools;
