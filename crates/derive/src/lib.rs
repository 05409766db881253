//! Declares a tool by the type of its arguments.
//!
//! `#[derive(ToolArgs)]` generates the tool's declaration for the model: its name (the type's, in snake case), its
//! description (the type's doc comment), and the settings in `#[tool(…)]`:
//!
//! | word | means |
//! |---|---|
//! | `name = "server.tool"` | another name |
//! | `description = "…"` | another description than the doc comment |
//! | `read_only`, `idempotent`, `verifiable` | the effect of running it twice; without one it runs at most once |
//! | `timeout_ms = 5000` | timeout of a call |
//! | `repeatable` | a poll: repeated calls are exempt from the progress guards |
//! | `ask_first` | a person is asked before it runs |
//! | `tags("web", "reading")` | its purpose: a run may be offered only the tools with certain tags |
//!
//! Programs use the macro as `windlass::ToolArgs`, whose documentation has examples.

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
