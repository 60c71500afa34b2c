"""Health, readiness and Prometheus metrics of one worker over HTTP; loopback unless told.

Reads the worker's lanes, changes nothing, and shows no tenant, user or content.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from streams.lane import Lane, Phase

READY_LAG_S: Final = 30.0
"""A partition with waiting input and no commit for so long makes the worker not ready."""

Lanes = Callable[[], Sequence[Lane]]


class LaneCollector(Collector):
    """Turns the lanes into metrics at each scrape."""

    def __init__(self, lanes: Lanes) -> None:
        """Read these lanes."""
        self._lanes = lanes

    def collect(self) -> Iterable[Metric]:
        """Yield every metric of the worker."""
        lanes = self._lanes()
        yield self._gauge(
            "commitments_partition_folding", "1 while the partition's ledger folds.", lanes,
            lambda lane: float(lane.phase is Phase.FOLDING),
        )  # fmt: skip
        yield self._gauge(
            "commitments_next_offset", "Offset of the next event to fold.", lanes,
            lambda lane: float(lane.next_offset),
        )  # fmt: skip
        yield self._gauge(
            "commitments_input_waiting", "Records read and not yet folded.", lanes,
            lambda lane: float(lane.log.buffered) if lane.log is not None else 0.0,
        )  # fmt: skip
        yield self._gauge(
            "commitments_seconds_since_commit", "Seconds since the last commit.", lanes,
            lambda lane: max(0.0, time.monotonic() - lane.committed_at_ns / 1e9),
        )  # fmt: skip
        yield self._gauge(
            "commitments_rows", "Rows of the partition.", lanes,
            lambda lane: float(lane.ledger.head.row_count) if lane.ledger else 0.0,
        )  # fmt: skip
        yield self._counter("commitments_events", "Events folded.", lanes, lambda x: x.events)
        yield self._counter("commitments_batches", "Batches committed.", lanes, lambda x: x.batches)
        yield self._counter("commitments_fencings", "Times fenced.", lanes, lambda x: x.fencings)
        yield self._counter(
            "commitments_failures", "Failures in a row.", lanes, lambda x: x.failures
        )
        yield self._outputs(lanes)

    def _gauge(
        self, name: str, about: str, lanes: Sequence[Lane], read: Callable[[Lane], float]
    ) -> Metric:
        metric = GaugeMetricFamily(name, about, labels=["partition"])
        for lane in lanes:
            metric.add_metric([str(lane.partition)], read(lane))
        return metric

    def _counter(
        self, name: str, about: str, lanes: Sequence[Lane], read: Callable[[Lane], int]
    ) -> Metric:
        metric = CounterMetricFamily(name, about, labels=["partition"])
        for lane in lanes:
            metric.add_metric([str(lane.partition)], float(read(lane)))
        return metric

    def _outputs(self, lanes: Sequence[Lane]) -> Metric:
        """Return the outputs since the log began, by topic: the operating point at a glance."""
        metric = CounterMetricFamily(
            "commitments_outputs", "Outputs by topic.", labels=["partition", "topic"]
        )
        for lane in lanes:
            ledger = lane.ledger
            for total in ledger.head.outputs if ledger is not None else ():
                metric.add_metric([str(lane.partition), total.topic], float(total.count))
        return metric


def describe_health(lanes: Sequence[Lane]) -> dict[str, Any]:
    """Return what each partition does, and whether the worker is ready."""
    now = time.monotonic()
    partitions = [
        {
            "partition": lane.partition,
            "phase": lane.phase.value,
            "next_offset": lane.next_offset,
            "reason": lane.reason if lane.phase is Phase.STOPPED else "",
            "late": lane.has_input and now - lane.committed_at_ns / 1e9 > READY_LAG_S,
        }
        for lane in lanes
    ]
    ready = all(part["phase"] == Phase.FOLDING.value and not part["late"] for part in partitions)
    return {"ready": ready, "partitions": partitions}


def build_app(lanes: Lanes) -> web.Application:
    """Return the endpoints: /healthz (the process answers), /readyz (503 until ready), /metrics."""
    registry = CollectorRegistry()
    registry.register(LaneCollector(lanes))

    async def live(_request: web.Request) -> web.Response:
        return web.json_response({"alive": True})

    async def ready(_request: web.Request) -> web.Response:
        health = describe_health(lanes())
        return web.json_response(health, status=200 if health["ready"] else 503)

    async def metrics(_request: web.Request) -> web.Response:
        body = generate_latest(registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.add_routes(
        [web.get("/healthz", live), web.get("/readyz", ready), web.get("/metrics", metrics)]
    )
    return app


async def start_endpoints(lanes: Lanes, *, host: str, port: int) -> web.AppRunner:
    """Listen and return what ends it; the caller awaits its ``cleanup``."""
    runner = web.AppRunner(build_app(lanes), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner
