"""The command for agents of any framework: gateway, a small HTTP endpoint over an embedded log."""

import asyncio
import logging
import os
import time
from ipaddress import ip_address
from typing import Annotated

import typer
from aiohttp import web

from infra.authority import AUTHENTICATED_MODE, OPEN_MODE
from infra.cli.console import CommandError, JsonOption, LogOption, err, open_log, reported
from infra.gateway.embedded_control import EmbeddedControl
from infra.gateway.kafka_control import KafkaControl
from infra.gateway.point import ControlPoint
from infra.gateway.port import ControlError, ControlPort
from infra.gateway.server import LOOPBACK, Gateway
from infra.kafka_settings import KafkaSettings
from infra.keys import configured_keys

PORT = 8377
PORT_MAX = 65_535
HOST_VARIABLE = "COMMITMENTS_GATEWAY_HOST"
PORT_VARIABLE = "COMMITMENTS_GATEWAY_PORT"
TOKEN = "COMMITMENTS_GATEWAY_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_CHARACTERS_MIN = 16


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("gateway")(gateway)


def gateway(
    log: LogOption,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = LOOPBACK,
    port: Annotated[int, typer.Option(min=0, max=PORT_MAX)] = PORT,
    *,
    as_json: JsonOption = False,
) -> None:
    """Serve POST /v1/events and POST /v1/turns for agents, until SIGTERM or SIGINT.

    On loopback by default. Another address needs a token in COMMITMENTS_GATEWAY_TOKEN, and a
    proxy that speaks TLS before it. /v1/openapi.json describes the calls. Over Kafka:
    commitments serve --role gateway.

    With --json an error that keeps it from serving is JSON.

    Example: commitments gateway --log my-log --port 8377
    """
    with reported(as_json=as_json):
        token = read_token(host)
        with open_log(log) as embedded:
            listen(EmbeddedControl(embedded), host=host, port=port, token=token)


def serve_gateway(settings: KafkaSettings) -> int:
    """Serve the same calls over Kafka; COMMITMENTS_GATEWAY_HOST and _PORT say where.

    Raises:
        CommandError: a setting is wrong, or the cluster does not answer.

    """
    host = os.environ.get(HOST_VARIABLE, LOOPBACK)
    port = os.environ.get(PORT_VARIABLE, str(PORT))
    if not (port.isascii() and port.isdecimal() and int(port[:6]) <= PORT_MAX):
        raise CommandError(f"{PORT_VARIABLE}: {port!r} is no port", f"write 0 to {PORT_MAX}")
    token = read_token(host)
    try:
        control = KafkaControl(
            settings.connect(), prefix=settings.prefix, partitions=settings.partitions
        )
        try:
            listen(control, host=host, port=int(port), token=token)
        finally:
            control.close()
    except ControlError as error:
        raise CommandError(error.message, error.remedy) from None
    return 0


def listen(control: ControlPort, *, host: str, port: int, token: str) -> None:
    """Serve a control point until it is asked to stop."""
    authenticated = configured_keys() is not None
    point = ControlPoint(
        control, now_ms=lambda: time.time_ns() // 1_000_000, authenticated=authenticated
    )
    # Broken requests are answered; their tracebacks would fill the log for anyone who likes.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    err.print(AUTHENTICATED_MODE if authenticated else OPEN_MODE)
    app = Gateway(point, token=token, local=is_loopback(host)).build()
    loop = asyncio.new_event_loop()
    web.run_app(app, host=host, port=port, loop=loop, print=_tell, access_log=None)


def read_token(host: str) -> str:
    """Return the token that calls must bring; off loopback there must be one.

    Raises:
        CommandError: none is set, or one that can be guessed.

    """
    token = os.environ.get(TOKEN, "")
    if not token and not is_loopback(host):
        raise CommandError(
            f"--host {host}: others can reach it, and there is no token",
            f"set {TOKEN} to a long random text, or stay on {LOOPBACK}",
        )
    if token and len(token) < TOKEN_CHARACTERS_MIN:
        raise CommandError(f"{TOKEN}: under {TOKEN_CHARACTERS_MIN} characters", "make it longer")
    return token


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _tell(text: str) -> None:
    """Say where it listens; aiohttp's own words, on standard error."""
    err.print(text.splitlines()[0].replace("=", "").strip() if text.strip() else "")
