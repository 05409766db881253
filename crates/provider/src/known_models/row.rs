//! A row of the table, and how it is built so that most fit on a line.

use crate::ability::{Ability, EffortLevel, ReasoningControl, WireKind};
use crate::server_kind::ServerKind;
use windlass_vocab::{Dialect, ListPrices, LongInputPrices, NanoMoney, Prices};

/// What is known of a model at a seller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownModel {
    /// Who serves it at these prices. Open weights that people run themselves are Ollama's.
    pub seller: ServerKind,
    /// Its id there.
    pub id: &'static str,
    /// Which other ids the row is for.
    pub scope: IdScope,
    /// The size of its context window in tokens: what is sent and received together.
    pub window: Option<u64>,
    /// The most tokens it takes, where that is less than the window.
    pub max_input: Option<u64>,
    /// The most tokens it can write in one reply.
    pub max_output: Option<u64>,
    /// Its prices.
    pub prices: Option<ListPrices>,
    /// Its wires, where they are not all of its seller's; the preferred one first.
    pub wires: Option<&'static [WireKind]>,
    /// Whether it calls tools by the wire's own means.
    pub native_calls: Ability,
    /// Whether one reply may contain several calls.
    pub parallel_calls: Ability,
    /// Whether it takes images.
    pub images: Ability,
    /// Whether an answer can be held to a JSON schema.
    pub json_schema: Ability,
    /// How its reasoning is controlled.
    pub reasoning: ReasoningControl,
    /// Whether it accepts a temperature.
    pub temperature: Ability,
    /// The dialect it writes calls in best, where that is not the wire's own format.
    pub dialect: Option<Dialect>,
}

/// Which ids a row is for, besides its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdScope {
    /// None.
    Exact,
    /// The id with a date or a short version number, or with `-latest`: `gpt-4.1-mini-2025-04-14`,
    /// `claude-sonnet-4-5@20250929`. Dots and hyphens are the same, because sellers differ: `claude-sonnet-4.5`.
    Snapshots,
    /// The id with a tag or a size, as servers of open weights name them: `qwen3:8b`, `Qwen3-32B`, `llama-3.1-8b`.
    Sizes,
}

impl KnownModel {
    /// Returns how many tokens of its window a conversation may fill. Some models have a part of their window for replies
    /// alone, and refuse a request that is longer than the rest.
    #[must_use]
    pub fn usable_window(&self) -> Option<u64> {
        self.window.map(|window| self.max_input.map_or(window, |most| window.min(most)))
    }

    /// Whether it reasons for long without sending anything. A model whose reasoning can only be switched sends it as
    /// it comes, and Claude reasons only when it is asked to.
    pub(crate) fn silent_reasoning(&self) -> Ability {
        match self.reasoning {
            ReasoningControl::NoReasoning => Ability::No,
            ReasoningControl::Fixed | ReasoningControl::Levels(_) | ReasoningControl::Budget { .. }
                if self.seller != ServerKind::Anthropic =>
            {
                Ability::Yes
            }
            ReasoningControl::Unknown
            | ReasoningControl::Switch
            | ReasoningControl::Fixed
            | ReasoningControl::Levels(_)
            | ReasoningControl::Budget { .. } => Ability::Unknown,
        }
    }
}

/// The levels of most models.
pub(super) const LOW_TO_HIGH: ReasoningControl =
    ReasoningControl::Levels(&[EffortLevel::Low, EffortLevel::Medium, EffortLevel::High]);
pub(super) const MINIMAL_TO_HIGH: ReasoningControl =
    ReasoningControl::Levels(&[EffortLevel::Minimal, EffortLevel::Low, EffortLevel::Medium, EffortLevel::High]);

/// Returns the price in millionths of a dollar for a million tokens: 2.50 dollars are `2_500_000`.
const fn micro_dollars(price: i64) -> NanoMoney {
    NanoMoney(price * 1_000)
}

impl KnownModel {
    /// Returns a row of which nothing but the id is known.
    pub(super) const fn named(seller: ServerKind, id: &'static str, scope: IdScope) -> Self {
        Self {
            seller,
            id,
            scope,
            window: None,
            max_input: None,
            max_output: None,
            prices: None,
            wires: None,
            native_calls: Ability::Unknown,
            parallel_calls: Ability::Unknown,
            images: Ability::Unknown,
            json_schema: Ability::Unknown,
            reasoning: ReasoningControl::Unknown,
            temperature: Ability::Unknown,
            dialect: None,
        }
    }

    pub(super) const fn window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    pub(super) const fn max_input(mut self, tokens: u64) -> Self {
        self.max_input = Some(tokens);
        self
    }

    pub(super) const fn max_output(mut self, tokens: u64) -> Self {
        self.max_output = Some(tokens);
        self
    }

    /// Sets the prices for a million tokens sent and received, in millionths of a dollar.
    pub(super) const fn priced(mut self, input: i64, output: i64) -> Self {
        let usual =
            Prices { input: micro_dollars(input), output: micro_dollars(output), cached: None, cache_written: None };
        self.prices = Some(ListPrices { usual, long: None });
        self
    }

    /// Sets the price for tokens read from the cache.
    pub(super) const fn cached(mut self, price: i64) -> Self {
        if let Some(list) = &mut self.prices {
            list.usual.cached = Some(micro_dollars(price));
        }
        self
    }

    /// Sets the price for tokens written to the cache.
    pub(super) const fn written(mut self, price: i64) -> Self {
        if let Some(list) = &mut self.prices {
            list.usual.cache_written = Some(micro_dollars(price));
        }
        self
    }

    /// Sets the prices of calls that send more than `above` tokens: everything sent costs twice as much, and what is
    /// received `output`. All sellers with such prices have them so.
    pub(super) const fn long_input(mut self, above: u64, output: i64) -> Self {
        if let Some(list) = &mut self.prices {
            let Prices { input, cached, cache_written, .. } = list.usual;
            let prices = Prices {
                input: twice(input),
                output: micro_dollars(output),
                cached: twice_if_any(cached),
                cache_written: twice_if_any(cache_written),
            };
            list.long = Some(LongInputPrices { above, prices });
        }
        self
    }

    pub(super) const fn wires(mut self, wires: &'static [WireKind]) -> Self {
        self.wires = Some(wires);
        self
    }

    pub(super) const fn calls(mut self, native: Ability, parallel: Ability) -> Self {
        self.native_calls = native;
        self.parallel_calls = parallel;
        self
    }

    pub(super) const fn images(mut self, ability: Ability) -> Self {
        self.images = ability;
        self
    }

    pub(super) const fn json_schema(mut self, ability: Ability) -> Self {
        self.json_schema = ability;
        self
    }

    pub(super) const fn reasoning(mut self, control: ReasoningControl) -> Self {
        self.reasoning = control;
        self
    }

    pub(super) const fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    pub(super) const fn temperature(mut self, ability: Ability) -> Self {
        self.temperature = ability;
        self
    }
}

const fn twice(price: NanoMoney) -> NanoMoney {
    NanoMoney(price.0 * 2)
}

const fn twice_if_any(price: Option<NanoMoney>) -> Option<NanoMoney> {
    match price {
        Some(price) => Some(twice(price)),
        None => None,
    }
}
