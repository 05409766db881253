//! A tool from the type of its arguments.
//!
//! `#[derive(ToolArgs)]` writes down what the model is told of a tool: its name (the type's, in snake
//! case), what it does (the type's doc comment), and what `#[tool(…)]` says beside it:
//!
//! | word | means |
//! |---|---|
//! | `name = "server.tool"` | another name |
//! | `description = "…"` | another description than the doc comment |
//! | `read_only`, `idempotent`, `verifiable` | what running it twice would mean; without one it runs once |
//! | `timeout_ms = 5000` | how long it may take |
//! | `repeatable` | a poll: exempt from the progress guards |
//! | `ask_first` | a person is asked before it runs |
//! | `tags("web", "reading")` | what it is for: a run may offer the tools of some tags alone |
//!
//! The macro is used as `windlass::ToolArgs`, and documented there by example.

#![deny(missing_docs)]

mod declared;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Declares a tool by the type of its arguments. See the crate's first page for the words of `#[tool(…)]`.
#[proc_macro_derive(ToolArgs, attributes(tool))]
pub fn tool_args(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    declared::implementation(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
