//! What the demo model says of this command line.

use windlass_setup::demo::DemoWords;

pub(crate) const WORDS: DemoWords = DemoWords {
    connect: "\
Connect a real model:

    export OPENAI_API_KEY=…    # or ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY
    ollama pull qwen3          # or a model on this machine; Ollama is found where it runs",
    demo: "`windlass demo`",
};
