"""Any server that speaks the OpenAI chat completions API, over HTTP.

The answer's JSON schema is sent where the server takes one, else as the parameters of a tool,
else only in the prompt. A call ends in time whatever the server does, and every error has a
name. Asking again is the generator's affair.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any, Final

import httpx

from infra.backends.port import BackendError, BackendTimeoutError, Call, Reply

REPLY_BYTES_MAX: Final = 2_000_000
WAIT_MS_MAX: Final = 30_000
WAIT_MS_DEFAULT: Final = 500
CONNECT_S: Final = 10.0
TOOL: Final = "propose"
_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_ABOUT_FORM: Final = re.compile(r"response_format|json_schema|schema|grammar|tool", re.IGNORECASE)


class Form(StrEnum):
    """How the schema of the answer is sent."""

    SCHEMA = "schema"
    TOOL = "tool"
    PLAIN = "plain"
    GUIDANCE = "guidance"


_SIMPLER: Final = {Form.SCHEMA: Form.TOOL, Form.GUIDANCE: Form.SCHEMA, Form.TOOL: Form.PLAIN}


class OpenAIBackend:
    """One server and one model; a form that the server refuses is given up for good."""

    def __init__(
        self,
        url: str,
        *,
        model: str = "",
        api_key: str = "",
        form: Form = Form.SCHEMA,
        kind: str = "openai",
    ) -> None:
        """Name the server by its base URL, with or without ``/v1``."""
        base = url.rstrip("/")
        self._url = (
            f"{base}/chat/completions" if base.endswith("/v1") else (f"{base}/v1/chat/completions")
        )
        # Loading certificates takes longer than a call; a plain address needs none.
        self._verify = httpx.create_ssl_context() if base.startswith("https:") else False
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._asked_model = model
        self._form = form
        self.kind = kind
        self.model = model
        self.server_version = ""

    def answer(self, call: Call) -> Reply:
        """Answer within the call's time, measured from its first byte to the reply's last."""
        body = self._build_body(call)
        try:
            status, headers, data = asyncio.run(self._post(body, call.timeout_ms / 1_000))
        except TimeoutError:
            raise BackendTimeoutError(
                f"no whole reply in {call.timeout_ms} ms", again=False
            ) from None
        except httpx.HTTPError as error:
            detail = f"{type(error).__name__}: {error}"[:200]
            raise BackendError(detail, again=True, wait_ms=WAIT_MS_DEFAULT) from None
        if status != 200:
            raise self._judge_status(status, headers, data, structured=call.schema is not None)
        return self._read(data)

    def close(self) -> None:
        """Hold nothing between calls."""

    def _build_body(self, call: Call) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": [asdict(message) for message in call.messages],
            "temperature": call.temperature / 1_000_000,
            "max_tokens": call.tokens_max,
            "stream": False,
        }
        if self._asked_model:
            body["model"] = self._asked_model
        if call.seed is not None:
            body["seed"] = call.seed
        return body if call.schema is None else body | self._constrain(call.schema)

    def _constrain(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        match self._form:
            case Form.SCHEMA:
                named = {"name": TOOL, "schema": schema}
                return {"response_format": {"type": "json_schema", "json_schema": named}}
            case Form.TOOL:
                function = {"name": TOOL, "description": "Propose.", "parameters": schema}
                return {
                    "tools": [{"type": "function", "function": function}],
                    "tool_choice": {"type": "function", "function": {"name": TOOL}},
                    "parallel_tool_calls": False,
                }
            case Form.GUIDANCE:
                # Without white space between tokens a small model cannot loop in it.
                whole = {**schema, "x-guidance": {"whitespace_flexible": False}}
                return {"grammar": "%llguidance {}\nstart: %json " + json.dumps(whole)}
            case Form.PLAIN:
                return {}

    async def _post(
        self, body: Mapping[str, Any], limit_s: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        async with asyncio.timeout(limit_s):
            timeout = httpx.Timeout(limit_s, connect=min(CONNECT_S, limit_s))
            async with (
                httpx.AsyncClient(timeout=timeout, trust_env=False, verify=self._verify) as client,
                client.stream("POST", self._url, json=body, headers=self._headers) as response,
            ):
                data = bytearray()
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > REPLY_BYTES_MAX:
                        detail = f"a reply of more than {REPLY_BYTES_MAX} bytes"
                        raise BackendError(detail, again=True)
                return response.status_code, response.headers, bytes(data)

    def _judge_status(
        self, status: int, headers: Mapping[str, str], data: bytes, *, structured: bool
    ) -> BackendError:
        said = data[:200].decode("utf-8", "replace")
        if structured and status in {400, 404, 422, 500, 501} and _ABOUT_FORM.search(said):
            simpler = _SIMPLER.get(self._form)
            if simpler is not None:
                detail = f"HTTP {status}: the form {self._form.value} was refused"
                self._form = simpler
                return BackendError(f"{detail}; {simpler.value} from here on", again=True)
        waits = _read_wait(headers.get("retry-after", ""))
        return BackendError(f"HTTP {status}: {said}", again=status in _AGAIN, wait_ms=waits)

    def _read(self, data: bytes) -> Reply:
        """Return the reply of a body; one that is not in the API's shape is an error."""
        try:
            body = json.loads(data)
            choice = body["choices"][0]
            message = choice["message"]
            text = message.get("content")
            calls = message.get("tool_calls") or ()
            if calls:
                # Two calls are two objects, which the grammar of answers refuses.
                text = "\n".join(call["function"]["arguments"] for call in calls)
            reason = "refusal" if message.get("refusal") else choice.get("finish_reason")
            usage = body.get("usage") or {}
            self.model = str(body.get("model") or self.model)[-120:]
            self.server_version = str(body.get("system_fingerprint") or "")[:120]
            if not isinstance(text, str | None) or not isinstance(reason, str | None):
                raise TypeError("content")
            return Reply(
                text=text,
                finish_reason=reason,
                tokens_in=_read_count(usage.get("prompt_tokens")),
                tokens_out=_read_count(usage.get("completion_tokens")),
            )
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            said = data[:100].decode("utf-8", "replace")
            raise BackendError(
                f"a reply that is no chat completion: {said!r}",
                again=True,
                wait_ms=WAIT_MS_DEFAULT,
            ) from None


def _read_count(data: Any) -> int | None:
    return data if type(data) is int and 0 <= data < 2**31 else None


def _read_wait(seconds: str) -> int:
    if not seconds.isascii() or not seconds.isdigit():
        return WAIT_MS_DEFAULT
    return min(WAIT_MS_MAX, 1_000 * int(seconds[:6]))
