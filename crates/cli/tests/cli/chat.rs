//! The chat on the real binary: what a person sees and types at a terminal, and what a script gets
//! without one.

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
