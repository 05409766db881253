//! `cargo xtask events`: writes the TypeScript types in docs/events.d.ts from the tables of docs/events.md. `tidy`
//! compares the two; the tests here compare the page with what the program serialises.

mod page;
mod page_type;
#[cfg(test)]
mod tests;
mod typescript;

use std::path::Path;

use self::page::EventsPage;
pub(crate) use self::page::PageError;

/// The page that lists the events.
pub(crate) const PAGE: &str = "docs/events.md";

/// The types made from it.
pub(crate) const TYPES: &str = "docs/events.d.ts";

pub(crate) fn run(root: &Path) -> Result<(), String> {
    let page = std::fs::read_to_string(root.join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let types = types(&page).map_err(|error| format!("{PAGE}:{}: {}", error.line, error.what))?;
    std::fs::write(root.join(TYPES), types).map_err(|error| format!("{TYPES}: {error}"))
}

/// The TypeScript types of the events on a page.
pub(crate) fn types(page: &str) -> Result<String, PageError> {
    EventsPage::read(page).map(|page| typescript::declarations(&page))
}
