use std::collections::BTreeSet;

use windlass_vocab::{NanoMoney, Usage};

use super::{IdScope, KnownModel, TABLE, TABLE_DATE, known_model, known_models, list_prices};
use crate::ability::{Ability, ReasoningControl};
use crate::server_kind::ServerKind;
use windlass_vocab::{ListPrices, Prices};

#[test]
fn every_model_of_a_seller_stands_once_and_in_order() {
    let mut seen = BTreeSet::new();
    for row in known_models() {
        assert!(seen.insert((row.seller, row.id.to_ascii_lowercase())), "{:?} {}", row.seller, row.id);
    }
    for part in TABLE {
        for pair in part.windows(2).filter(|pair| pair[0].seller == pair[1].seller) {
            assert!(pair[0].id < pair[1].id, "{} stands before {}", pair[0].id, pair[1].id);
        }
        let sellers: Vec<ServerKind> = part.iter().map(|row| row.seller).collect();
        let changes = sellers.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(changes + 1, sellers.iter().collect::<BTreeSet<_>>().len(), "a seller's rows stand together");
    }
    assert!((80..=260).contains(&known_models().count()), "{}", known_models().count());
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let date: Vec<&str> = TABLE_DATE.split('-').collect();
    assert!(date.len() == 3 && date.iter().all(|part| digits(part)), "{TABLE_DATE}");
}

#[test]
fn every_row_is_found_by_its_own_id() {
    for row in known_models() {
        assert_eq!(known_model(row.seller, row.id), Some(row), "{:?} {}", row.seller, row.id);
    }
}

/// Checks prices against each other: a wrong digit hardly passes.
fn check_prices(id: &str, Prices { input, output, cached, cache_written }: Prices) {
    const DOLLAR: i64 = 1_000_000_000;
    assert!((40_000_000..=150 * DOLLAR).contains(&input.0), "{id}: {input:?}");
    assert!(output >= input && output.0 <= 15 * input.0, "{id}: {output:?} beside {input:?}");
    assert!(cached.is_none_or(|cached| cached.0 > 0 && cached.0 * 2 <= input.0), "{id}: {cached:?} beside {input:?}");
    assert!(cache_written.is_none_or(|written| written.0 >= input.0 && written.0 <= input.0 * 2), "{id}");
}

#[test]
fn every_window_and_price_is_plausible() {
    for row in known_models() {
        let KnownModel { id, window, max_input, max_output, prices, .. } = *row;
        assert!(window.is_none_or(|window| (2_048..=2_000_000).contains(&window)), "{id}: {window:?}");
        for part in [max_input, max_output].into_iter().flatten() {
            assert!(part > 0 && window.is_some_and(|window| part < window), "{id}: {part}");
        }
        let Some(list) = prices.filter(|_| !row.seller.is_own_software()) else { continue };
        check_prices(id, list.usual);
        if let Some(long) = list.long {
            check_prices(id, long.prices);
            assert!(window.is_some_and(|window| long.above < window), "{id}");
            assert!(long.prices.input > list.usual.input && long.prices.output > list.usual.output, "{id}");
        }
    }
}

#[test]
fn levels_of_reasoning_ascend_and_are_never_empty() {
    for row in known_models() {
        if let ReasoningControl::Levels(levels) = row.reasoning {
            assert!(!levels.is_empty() && levels.is_sorted(), "{}", row.id);
        }
    }
}

// proves M2: dated, prefixed and tagged ids find their row, and no other does
#[test]
fn an_id_finds_the_longest_row_that_it_is_a_form_of() {
    use ServerKind::{Anthropic, Fireworks, Groq, HuggingFace, Mistral, Ollama, OpenAi, OpenRouter, Other, Together};
    for (server, asked, found) in [
        (OpenAi, "gpt-4.1-mini", Some("gpt-4.1-mini")),
        (OpenAi, "gpt-4.1-mini-2025-04-14", Some("gpt-4.1-mini")),
        (OpenAi, "GPT-4.1-Mini", Some("gpt-4.1-mini")),
        (OpenAi, "gpt-4o-2024-11-20", Some("gpt-4o")),
        (OpenAi, "gpt-4o-2024-05-13", Some("gpt-4o-2024-05-13")),
        (OpenAi, "gpt-4-0613", Some("gpt-4")),
        (OpenAi, "gpt-5-chat-latest", Some("gpt-5-chat")),
        (OpenAi, "gpt-4-1106-preview", None),
        (OpenAi, "gpt-4-32k", None),
        (OpenAi, "gpt-4.7", None),
        (OpenAi, "gpt-4.7-2027-01-01", None),
        (OpenAi, "gpt-4o-audio-preview", None),
        (OpenAi, "gpt-5.5-unheard", None),
        (OpenAi, "o3", Some("o3")),
        (OpenAi, "o3-deep-research", None),
        (Other, "openai/gpt-4.1", Some("gpt-4.1")),
        (OpenRouter, "anthropic/claude-sonnet-4.5", Some("claude-sonnet-4-5")),
        (OpenRouter, "openai/gpt-4o:online", Some("gpt-4o")),
        (Anthropic, "claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
        (Anthropic, "claude-sonnet-4-5@20250929", Some("claude-sonnet-4-5")),
        (Anthropic, "claude-opus-4-20250514", Some("claude-opus-4")),
        (Anthropic, "claude-opus-4-9", None),
        (Anthropic, "claude-3-5-sonnet-latest", Some("claude-3-5-sonnet")),
        (Mistral, "mistral-large-latest", Some("mistral-large-latest")),
        (Mistral, "mistral-large-2402", None),
        (Groq, "openai/gpt-oss-120b", Some("openai/gpt-oss-120b")),
        (Fireworks, "accounts/fireworks/models/gpt-oss-120b", Some("accounts/fireworks/models/gpt-oss-120b")),
        (HuggingFace, "meta-llama/Llama-3.3-70B-Instruct:groq", Some("llama3.3")),
        (Together, "Qwen/Qwen2.5-7B-Instruct-Turbo", Some("qwen2.5")),
        (Ollama, "qwen3", Some("qwen3")),
        (Ollama, "qwen3:8b-q4_K_M", Some("qwen3")),
        (Ollama, "qwen3-coder:30b", Some("qwen3-coder")),
        (Ollama, "gemma3:1b-it-qat", Some("gemma3:1b")),
        (Ollama, "gemma3:12b", Some("gemma3")),
        (Ollama, "hf.co/google/gemma-3-1b-it-GGUF:Q4_K_M", Some("gemma3:1b")),
        (Other, "Qwen/Qwen3-32B", Some("qwen/qwen3-32b")),
        (Other, "Qwen/Qwen3-8B", Some("qwen3")),
        (Other, "meta-llama/Llama-3.1-8B-Instruct", Some("llama3.1")),
        (Other, "llama-3.9-8b", None),
        (Ollama, "qwen3-embedding:8b", None),
        (Ollama, "llama3.2", Some("llama3.2")),
        (Ollama, "my-own", None),
        (Other, "", None),
        (Other, "/", None),
    ] {
        assert_eq!(known_model(server, asked).map(|row| row.id), found, "{server:?} {asked}");
    }
}

#[test]
fn a_servers_own_row_comes_before_those_of_others() {
    let on = |server| known_model(server, "openai/gpt-oss-120b").map(|row| (row.seller, row.scope));
    assert_eq!(on(ServerKind::Groq), Some((ServerKind::Groq, IdScope::Exact)));
    assert_eq!(on(ServerKind::Together), Some((ServerKind::Together, IdScope::Exact)));
    assert_eq!(on(ServerKind::Ollama), Some((ServerKind::Ollama, IdScope::Sizes)));
}

/// Returns the cost of a call in millionths of a dollar.
fn cost(server: ServerKind, id: &str, input: u64, cached: u64, output: u64) -> Option<i64> {
    let usage = Usage { input, cached, output, ..Usage::default() };
    let NanoMoney(nano) = list_prices(server, id)?.cost_of_call(&usage);
    Some(nano / 1_000)
}

// proves M7: costs by hand-computed examples
#[test]
fn a_call_costs_what_the_sellers_list_says() {
    use ServerKind::{Anthropic, DeepSeek, Gemini, Groq, OpenAi, OpenRouter};
    for (server, id, [input, cached, output], micro_dollars) in [
        // 6,000 × 0.40 + 4,000 × 0.10 + 1,000 × 1.60
        (OpenAi, "gpt-4.1-mini", [10_000, 4_000, 1_000], 2_400 + 400 + 1_600),
        // 100,000 × 3 + 900,000 × 0.30 + 2,000 × 15
        (Anthropic, "claude-sonnet-4-6", [1_000_000, 900_000, 2_000], 300_000 + 270_000 + 30_000),
        (OpenRouter, "anthropic/claude-sonnet-4.6", [1_000_000, 900_000, 2_000], 600_000),
        // Up to 200,000 tokens 1.25 and 10, above that 2.50 and 15 for all of them.
        (Gemini, "gemini-2.5-pro", [200_000, 0, 100], 250_000 + 1_000),
        (Gemini, "gemini-2.5-pro", [200_001, 0, 0], 500_002),
        (Gemini, "gemini-2.5-pro", [400_000, 100_000, 100], 750_000 + 25_000 + 1_500),
        // 1,000,000 × 0.0028
        (DeepSeek, "deepseek-v4-flash", [1_000_000, 1_000_000, 0], 2_800),
        (Groq, "openai/gpt-oss-20b", [2_000, 2_000, 0], 75),
    ] {
        assert_eq!(cost(server, id, input, cached, output), Some(micro_dollars), "{id}");
    }
}

// proves M7: no price is guessed
#[test]
fn prices_are_the_servers_own_or_unknown() {
    for (server, id, prices) in [
        (ServerKind::Ollama, "qwen3:8b", Some(ListPrices::FREE)),
        (ServerKind::Ollama, "unheard-of", Some(ListPrices::FREE)),
        (ServerKind::LlamaCpp, "any.gguf", Some(ListPrices::FREE)),
        (ServerKind::Ollama, "gpt-oss:120b-cloud", None),
        (ServerKind::Ollama, "kimi-k2.6:cloud", None),
        (ServerKind::Other, "gpt-4.1", None),
        (ServerKind::Other, "qwen3:8b", None),
        (ServerKind::OpenAi, "unheard-of", None),
        (ServerKind::OpenRouter, "qwen/qwen3-32b", None),
        (ServerKind::OpenRouter, "qwen/qwen3-32b:free", Some(ListPrices::FREE)),
        (ServerKind::OpenRouter, "openai/gpt-4o:online", None),
        (ServerKind::Nvidia, "openai/gpt-oss-120b", None),
        (ServerKind::DeepSeek, "deepseek-chat", None),
    ] {
        assert_eq!(list_prices(server, id), prices, "{server:?} {id}");
    }
}

#[test]
fn rows_say_what_a_model_can_do() {
    let of = |server, id: &str| *known_model(server, id).expect("a row");
    let claude = of(ServerKind::Anthropic, "claude-opus-4-8");
    assert_eq!((claude.temperature, claude.images, claude.window), (Ability::No, Ability::Yes, Some(1_000_000)));
    let gpt = of(ServerKind::OpenAi, "gpt-5-mini");
    assert_eq!((gpt.window, gpt.max_input, gpt.max_output), (Some(400_000), Some(272_000), Some(128_000)));
    assert_eq!(of(ServerKind::Ollama, "gemma3:4b").native_calls, Ability::No);
    assert_eq!(of(ServerKind::Perplexity, "sonar").native_calls, Ability::No);
}
