"""The HTTP endpoint: small, on loopback by default, with a clear word for every mistake.

Calls are carried out one after another by one thread; a caller that finds the queue full is
told to come back. No traceback and no file name ever leaves.
"""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Any, Final

import structlog
from aiohttp import web

from infra.gateway.forms import FormError
from infra.gateway.openapi import describe_api
from infra.gateway.point import Answer, ControlPoint
from infra.gateway.port import ControlError

BODY_BYTES_MAX: Final = 1_048_576
WAITING_MAX: Final = 64
READ_SECONDS_MAX: Final = 15
LOOPBACK: Final = "127.0.0.1"
_STATUS: Final = {"decided": 200, "told": 200, "pending": 202, "rejected": 422}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Gateway:
    """The application over one control point; ``token`` "" asks for none."""

    def __init__(self, point: ControlPoint, *, token: str = "", local: bool = True) -> None:
        """Serve a control point; ``local`` refuses calls that name another host."""
        self._point = point
        self._token = token
        self._local = local
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gateway")
        self._waiting = 0
        self._log = structlog.get_logger("gateway")

    def build(self) -> web.Application:
        """Return the application with its routes."""
        app = web.Application(client_max_size=BODY_BYTES_MAX, middlewares=[self._guard])
        app.router.add_post("/v1/events", self._post_events)
        app.router.add_post("/v1/turns", self._post_turn)
        app.router.add_post("/v1/turns/{turn_id}/candidates", self._post_candidates)
        app.router.add_get("/v1/turns/{turn_id}", self._get_turn)
        app.router.add_get("/v1/users/{user}", self._get_user)
        app.router.add_get("/v1/openapi.json", self._get_api)
        app.router.add_get("/v1/health", self._get_health)
        app.on_cleanup.append(self._close)
        return app

    async def _close(self, _app: web.Application) -> None:
        self._thread.shutdown(wait=True)

    async def _post_events(self, request: web.Request) -> web.Response:
        body = await _read_body(request)
        return await self._run(lambda: self._point.post_events(body))

    async def _post_turn(self, request: web.Request) -> web.Response:
        body = await _read_body(request)
        return await self._run(lambda: self._point.post_turn(body))

    async def _post_candidates(self, request: web.Request) -> web.Response:
        body = await _read_body(request)
        turn_id = request.match_info["turn_id"]
        return await self._run(lambda: self._point.post_candidates(turn_id, body))

    async def _get_turn(self, request: web.Request) -> web.Response:
        tenant, user = _read_query(request, "tenant", "default"), _read_query(request, "user", "")
        turn_id = request.match_info["turn_id"]
        return await self._run(lambda: self._point.get_turn(tenant, user, turn_id))

    async def _get_user(self, request: web.Request) -> web.Response:
        tenant, user = _read_query(request, "tenant", "default"), request.match_info["user"]
        return await self._run(lambda: self._point.get_standing(tenant, user))

    async def _get_api(self, _request: web.Request) -> web.Response:
        return web.json_response(describe_api())

    async def _get_health(self, _request: web.Request) -> web.Response:
        mode = "authenticated" if self._point.authenticated else "open"
        return web.json_response({"status": "ok", "principals": mode})

    async def _run(self, call: Callable[[], Answer | None]) -> web.Response:
        if self._waiting >= WAITING_MAX:
            response = _fail(503, "", "too many calls wait", "call again in a second")
            response.headers["Retry-After"] = "1"
            return response
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            answer = await asyncio.shield(loop.run_in_executor(self._thread, call))
        finally:
            self._waiting -= 1
        if answer is None:
            return _fail(404, "turn_id", "no such turn of this user", "see tenant and user")
        return web.json_response(answer.body, status=_STATUS[answer.status])

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = self._refuse(request)
        if refusal is not None:
            return refusal
        try:
            return await handler(request)
        except FormError as error:
            return _fail(400, error.field, error.message, error.remedy)
        except ControlError as error:
            return _fail(503, "", error.message, error.remedy)
        except web.HTTPRequestEntityTooLarge:
            return _fail(413, "body", f"over {BODY_BYTES_MAX} bytes", "send fewer events at once")
        except web.HTTPException as error:
            response = _fail(error.status, "", error.reason, "see /v1/openapi.json")
            if "Allow" in error.headers:
                response.headers["Allow"] = error.headers["Allow"]
            return response
        except Exception:
            self._log.exception("call_failed", path=request.path)
            return _fail(500, "", "this is a fault of the gateway; its log says more", "")

    def _refuse(self, request: web.Request) -> web.Response | None:
        """Refuse what a web page in a browser could send, other hosts, and wrong tokens."""
        if "Origin" in request.headers:
            return _fail(403, "Origin", "calls from web pages are not taken", "call from an agent")
        if self._local and not _is_loopback(request.host):
            return _fail(403, "Host", "this gateway serves this machine only", "name 127.0.0.1")
        if self._token:
            sent = request.headers.get("Authorization", "").encode("utf-8", "replace")
            if not hmac.compare_digest(sent, f"Bearer {self._token}".encode()):
                return _fail(401, "Authorization", "not the token", "send Bearer and the token")
        return None


async def _read_body(request: web.Request) -> str:
    if request.content_type != "application/json":
        raise FormError("Content-Type", "not application/json", "send JSON and say so")
    try:
        data = await asyncio.wait_for(request.read(), READ_SECONDS_MAX)
        return data.decode("utf-8")
    except TimeoutError:
        raise FormError("body", f"not there after {READ_SECONDS_MAX} s") from None
    except UnicodeDecodeError as error:
        raise FormError("body", f"not UTF-8 at byte {error.start}") from None


def _read_query(request: web.Request, name: str, default: str) -> str:
    value = request.query.get(name, default)
    if not value:
        raise FormError(name, "absent", f"add ?{name}=...")
    return value


def _is_loopback(host: str) -> bool:
    name = host.rsplit(":", 1)[0].strip("[]") if not host.endswith("]") else host.strip("[]")
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _fail(status: int, field: str, message: str, remedy: str) -> web.Response:
    error: dict[str, Any] = {"field": field, "message": message, "remedy": remedy}
    return web.json_response({"error": error}, status=status)
