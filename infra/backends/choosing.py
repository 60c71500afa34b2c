"""Which backend a setting names: simulated[:SEED], recorded:FILE, openai:URL or local.

The API key comes from the environment and is shown nowhere.
"""

from pathlib import Path
from typing import Final

from httpx import URL, InvalidURL

from infra.backends.local import LocalBackend, ModelMissingError
from infra.backends.openai import Form, OpenAIBackend
from infra.backends.port import Backend
from infra.backends.recorded import RecordedBackend, Recorder, RecordingError
from infra.backends.simulated import SimulatedBackend

FORMS: Final = "simulated[:SEED], recorded:FILE, openai:URL or local"


class BackendChoiceError(Exception):
    """A setting names no backend that can be used; the message says why and what to write."""


def choose_backend(
    name: str,
    *,
    model: str = "",
    api_key: str = "",
    form: Form = Form.SCHEMA,
    threads: int | None = None,
    record: Path | None = None,
    resume: bool = False,
) -> Backend:
    """Return the backend of a setting; with ``record`` all that it says is written there.

    With ``resume`` what stands there already is said again, and the backend is asked for the rest.

    Raises:
        BackendChoiceError: the setting, its file or the local model is not as it should be.

    """
    kind, _, rest = name.partition(":")
    try:
        backend = _build(kind, rest, model=model, api_key=api_key, form=form, threads=threads)
        held = RecordedBackend(record) if resume and record and record.exists() else None
    except (ModelMissingError, RecordingError) as error:
        raise BackendChoiceError(str(error)) from None
    except OSError as error:
        raise BackendChoiceError(f"{rest}: {error.strerror}") from None
    except InvalidURL as error:
        raise BackendChoiceError(f"{rest}: no address: {error}; write http://HOST:PORT") from None
    if backend is None:
        raise BackendChoiceError(f"{name!r} names no backend; write {FORMS}")
    if record is None:
        return backend
    return Recorder(backend, record, held)


def _build(
    kind: str, rest: str, *, model: str, api_key: str, form: Form, threads: int | None
) -> Backend | None:
    if kind == "simulated" and (not rest or (rest.isascii() and rest.isdigit())):
        return SimulatedBackend(int(rest[:9] or 0))
    if kind == "recorded" and rest:
        return RecordedBackend(Path(rest))
    if kind == "openai" and rest.startswith(("http://", "https://")):
        return OpenAIBackend(str(URL(rest)), model=model, api_key=api_key, form=form)
    if kind == "local" and not rest:
        return LocalBackend(threads=threads)
    return None
