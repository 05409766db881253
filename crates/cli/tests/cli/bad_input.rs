//! Bad input of every kind. In each case the binary prints a sentence that says what to do, exits with the right
//! code, loses nothing and leaves nothing half-written, and the next run works.

mod data_folder;
mod lost_data;
mod models;
mod prompts;
mod servers;
#[cfg(target_os = "linux")]
mod small_disk;
mod tools;
