//! The table of well-known models: window, longest reply, list prices and abilities, one row each, as of
//! [`TABLE_DATE`]. The configuration overrides it, and what is not certain is absent from it.
//!
//! A row belongs to a seller, because the same model has different prices and limits at different servers.
//! [`known_model`] looks among the rows of the server first, then among all others: what a model can do hardly depends
//! on who serves it. Prices are taken from another seller's row only where [`list_prices`] says so.
//!
//! Which ids a row is for, its [`IdScope`] says. A vendor's prefix (`openai/gpt-4.1`) and the case of letters are
//! ignored, and of several rows that match the one with the longest id counts.

mod anthropic;
mod gemini;
mod hosted;
mod id_match;
pub mod measured;
mod mistral;
mod open_weights;
mod openai;
mod qwen;
mod row;
pub mod suggested;
mod xai_deepseek;

use std::sync::LazyLock;

pub use crate::known_models::row::{IdScope, KnownModel};
use crate::server_kind::ServerKind;
use windlass_vocab::{Dialect, ListPrices};

/// The day the figures were gathered.
pub const TABLE_DATE: &str = "2026-08-08";

/// The rows: those of the makers of models first, so that of two equal ids in different places the maker's counts.
static TABLE: [&[KnownModel]; 8] = [
    openai::MODELS,
    anthropic::MODELS,
    gemini::MODELS,
    mistral::MODELS,
    xai_deepseek::MODELS,
    qwen::MODELS,
    hosted::MODELS,
    open_weights::MODELS,
];

/// The rows with their ids as they are compared.
static COMPARABLE: LazyLock<Vec<(String, &'static KnownModel)>> =
    LazyLock::new(|| known_models().map(|row| (id_match::comparable(row.id), row)).collect());

/// Returns the rows that are for an id.
fn matching(asked: &id_match::AskedId) -> impl Iterator<Item = &'static KnownModel> {
    COMPARABLE.iter().filter(move |(id, row)| asked.matches(id, row.scope)).map(|(_, row)| *row)
}

/// Returns all rows.
pub fn known_models() -> impl Iterator<Item = &'static KnownModel> {
    TABLE.into_iter().flatten()
}

/// Returns the row for a model of this id on a server of this kind.
#[must_use]
pub fn known_model(server: ServerKind, id: &str) -> Option<&'static KnownModel> {
    let asked = id_match::AskedId::new(server, id);
    let rows: Vec<&'static KnownModel> = matching(&asked).collect();
    let longest = |own: &dyn Fn(&KnownModel) -> bool| {
        let fit = rows.iter().copied().filter(|row| own(row));
        // The first of several with the same length.
        fit.reduce(|best, row| if row.id.len() > best.id.len() { row } else { best })
    };
    longest(&|row| row.seller == server).or_else(|| longest(&|row| row.seller != server))
}

/// Returns what a model's tokens cost on a server of this kind: the price in the server's own row; nothing on software
/// that people run themselves; on OpenRouter the maker's price, where only the maker sells the model.
#[must_use]
pub fn list_prices(server: ServerKind, id: &str) -> Option<ListPrices> {
    let asked = id_match::AskedId::new(server, id);
    if server.is_own_software() {
        return (!asked.is_in_the_cloud()).then_some(ListPrices::FREE);
    }
    if let (ServerKind::OpenRouter, Some(variant)) = (server, asked.variant()) {
        // Another variant may be served by somebody else, or with a search that costs extra.
        return (variant == "free").then_some(ListPrices::FREE);
    }
    let row = known_model(server, id)?;
    let forwards = server == ServerKind::OpenRouter && is_sold_by_maker_only(row.seller);
    if row.seller == server || forwards { row.prices } else { None }
}

/// Returns the dialect in which a model writes calls best: that of its best measurement, else that of its row; `None` where
/// neither says one.
#[must_use]
pub fn best_dialect(server: ServerKind, id: &str) -> Option<Dialect> {
    let measured = measured::best_measurement(server, id).map(|best| best.dialect);
    measured.or_else(|| known_model(server, id)?.dialect)
}

/// Returns who sells a model under this id, the makers of models first. An id with a vendor's prefix tells nobody: several
/// sellers write ids so.
pub fn sellers(id: &str) -> impl Iterator<Item = ServerKind> {
    let asked = (!id.contains('/')).then(|| id_match::AskedId::new(ServerKind::Other, id));
    let rows: Vec<_> = asked.iter().flat_map(matching).filter(|row| !row.id.contains('/')).collect();
    rows.into_iter().map(|row| row.seller)
}

/// Whether nobody but this maker, and those who pay it, sell its models.
#[must_use]
pub fn is_sold_by_maker_only(seller: ServerKind) -> bool {
    matches!(seller, ServerKind::OpenAi | ServerKind::Anthropic | ServerKind::Gemini | ServerKind::Xai)
}

#[cfg(test)]
mod tests;
