"""A llama.cpp server as a process of its own: ``python -m infra.backends.llama_server MODEL``.

It listens on the loopback address, prints that address as one JSON line, and ends when its
standard input does, so it never outlives who started it. A crash of the engine stays here.
"""

import argparse
import json
import os
import sys
from pathlib import Path

CONTEXT_DEFAULT = 8_192


def main() -> None:
    """Serve one model until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--context", type=int, default=CONTEXT_DEFAULT)
    parser.add_argument("--port", type=int, default=0)  # 0: any that is free.
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    import xllamacpp  # noqa: PLC0415 - an optional dependency, needed by this process alone

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = {Path(options.model).stem}  # Its answers name it without this machine.
    params.n_ctx = options.context
    params.n_parallel = 1
    params.port = options.port
    params.ui = False
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = options.threads
        threads.poll = 0  # Waiting threads leave the machine to others.
    server = xllamacpp.Server(params)
    sys.stdout.write(json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # The engine's threads hold nothing that must be written.


if __name__ == "__main__":
    main()
