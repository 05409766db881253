//! What the demo model says of this command line, and of the page.

use windlass_setup::demo::DemoWords;

pub(crate) const WORDS: DemoWords = DemoWords {
    connect: "\
Connect a real model:

    export OPENAI_API_KEY=…    # or ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY
    ollama pull qwen3          # or a model on this machine; Ollama is found where it runs",
    demo: "`windlass demo`",
};

/// On the page.
pub(crate) const PAGE_WORDS: DemoWords = DemoWords {
    connect: "\
Connect a real model: set its key and start the server again, or start a model on this machine, which the server finds by itself.

    export OPENAI_API_KEY=…    # or ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY
    windlass serve",
    demo: "“Watch it do a job” on a new session",
};
