"""The benchmark's provider contract over HTTP: POST /add, POST /search, DELETE /reset.

On loopback unless told otherwise. Calls are carried out one after another by one thread. Of what
the harness sends, text and user count; its belief id is only carried back.
"""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from aiohttp import web

from infra.evaluation.memory.provider import MemoryProvider, Text

T = TypeVar("T")

BODY_BYTES_MAX: Final = 1_048_576
DEFAULT_LIMIT: Final = 20
LOOPBACK: Final = "127.0.0.1"
PORT: Final = 8_082
MILLION: Final = 1_000_000


class CallError(ValueError):
    """A body is not as it should be; the message names the field and the remedy."""


class MemoryService:
    """The application over one provider."""

    def __init__(self, provider: MemoryProvider) -> None:
        """Serve a provider."""
        self._provider = provider
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memory")

    def build(self) -> web.Application:
        """Return the application with its routes."""
        app = web.Application(client_max_size=BODY_BYTES_MAX, middlewares=[_guard])
        app.router.add_post("/add", self._add)
        app.router.add_post("/search", self._search)
        app.router.add_delete("/reset", self._reset)
        app.router.add_get("/health", _say_ok)
        app.on_cleanup.append(self._close)
        return app

    async def _close(self, _app: web.Application) -> None:
        await self._run(self._provider.close)
        self._thread.shutdown(wait=True)

    async def _add(self, request: web.Request) -> web.Response:
        body = await _read_body(request)
        text, user = _pick_text(body, "text"), _pick_text(body, "user_id")
        metadata = body.get("metadata")
        named = metadata.get("beliefId") if isinstance(metadata, dict) else None
        memory_id = named if isinstance(named, str) else ""
        kept = Text(text=text, user=user, memory_id=memory_id)
        return web.json_response(
            {"ok": True, "id": await self._run(lambda: self._provider.add(kept))}
        )

    async def _search(self, request: web.Request) -> web.Response:
        body = await _read_body(request)
        query, user = _pick_text(body, "query"), _pick_text(body, "user_id")
        limit = body.get("limit", DEFAULT_LIMIT)
        if type(limit) is not int or limit < 0:
            raise CallError("limit: not a whole number from 0 on; leave it out or send one")
        found = await self._run(lambda: self._provider.search(query=query, user=user, limit=limit))
        results = [
            {
                "id": one.memory_id,
                "memory": one.text,
                "score": one.relevance / MILLION,
                "metadata": {"beliefId": one.memory_id},
            }
            for one in found
        ]
        return web.json_response({"results": results})

    async def _reset(self, _request: web.Request) -> web.Response:
        await self._run(self._provider.reset)
        return web.json_response({"ok": True})

    async def _run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


async def _say_ok(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


@web.middleware
async def _guard(request: web.Request, handler: Any) -> web.StreamResponse:
    if "Origin" in request.headers:  # A page in a browser on this machine is no harness.
        told = {"error": "Origin: calls from web pages are not taken; call from a program"}
        return web.json_response(told, status=403)
    try:
        answer: web.StreamResponse = await handler(request)
    except CallError as error:
        return web.json_response({"error": str(error)}, status=400)
    return answer


async def _read_body(request: web.Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.text())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CallError(f"body: no JSON ({error}); send one JSON object") from None
    if not isinstance(body, dict):
        raise CallError("body: no JSON object; send text and user_id in one")
    return body


def _pick_text(body: dict[str, Any], field: str) -> str:
    value = body.get(field)
    if not isinstance(value, str) or (field == "user_id" and not value):
        raise CallError(f"{field}: absent or no text; send it as a string")
    return value
