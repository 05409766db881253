//! The chat on the real binary: with a terminal, what a person sees and types; without one, what a script reads and
//! writes.

#[cfg(target_os = "linux")]
mod attaching;
#[cfg(target_os = "linux")]
mod commands;
#[cfg(target_os = "linux")]
mod first;
mod forms;
#[cfg(target_os = "linux")]
mod leaving;
mod lines;
#[cfg(target_os = "linux")]
mod questions;
#[cfg(target_os = "linux")]
mod talking;
