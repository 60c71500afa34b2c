"""The same history and reducer in several runtimes on one broker: ``make bench-kafka``.

Example: ``python -m benchmarks.kafka --events 20000 --turns 1000 --only ours,bare-loop --json``.

A row is void unless the outputs and the final rows of the runtime are those of one plain fold.
Exit code 1 when a figure of ours is void or misses its floor.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.kafka_arrivals import TOPICS, Arrivals
from benchmarks.kafka_history import History, fold_plainly
from benchmarks.kafka_process import MODULES, QUIX, Runtime
from benchmarks.kafka_states import read_rows
from infra.broker import open_broker
from infra.provision import TopicSet, apply, plan
from streams.connection import Connection

DEFAULT = ("ours", "bare-loop", "quixstreams-alo", "quixstreams-eo", "faust-table")
FLOORS = {
    ("trivial", "quixstreams-eo"): 1.5,
    ("trivial", "faust-table"): 8.0,
    ("core", "quixstreams-eo"): 1.3,
    ("core", "faust-table"): 4.0,
}
P99_FLOORS_MS = {"at 1,000/s": 120, "at half capacity": 250}
QUIET_S = 90


class Bench:
    """One broker, one home folder, and the sizes that were asked for."""

    def __init__(self, asked, bootstrap, home):
        self.asked, self.bootstrap, self.home = asked, bootstrap, home
        self.partitions = asked.partitions

    def provision(self, names):
        """Create a set of topics, and outputs of other runtimes beside it; return its prefix."""
        prefix = f"b{uuid.uuid4().hex[:8]}."
        connection = Connection(bootstrap_servers=self.bootstrap)
        wanted = TopicSet(prefix=prefix, partitions=self.partitions, replication=1, insync_min=1)
        apply(connection, wanted, plan(connection, wanted))
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        topics = [
            NewTopic(f"{prefix}{name}.{topic}", self.partitions, 1)
            for name in names
            if name != "ours"
            for topic in TOPICS
        ]
        for future in admin.create_topics(topics).values() if topics else ():
            future.result(30)
        return prefix

    def open(self, name, prefix, reducer):
        """Return a runtime that is not started, and the reader of its outputs."""
        runtime = Runtime(
            name, bootstrap=self.bootstrap, prefix=prefix, partitions=self.partitions,
            reducer=reducer, home=self.home,
        )  # fmt: skip
        return runtime, Arrivals(self.bootstrap, runtime.output_prefix, self.partitions)

    def measure_backlog(self, names, reducer):
        """Fold a waiting history with each runtime in turn; return a row for each."""
        history = History.draw(
            events=self.asked.events, turns=self.asked.turns, partitions=self.partitions
        )
        prefix = self.provision(names)
        history.append(self.bootstrap, prefix)
        expected = fold_plainly(self.bootstrap, prefix, self.partitions, reducer)
        for name in names:
            runtime, arrivals = self.open(name, prefix, reducer)
            runtime.start()
            arrivals.await_count(
                expected.outputs.total(), quiet_s=QUIET_S, running=lambda r=runtime: r.running
            )
            ended_at = arrivals.found[-1][0] / 1_000 if arrivals.found else 0.0
            time.sleep(1)
            runtime.stop()
            found, first = arrivals.close(), runtime.first()
            row = compare(expected, found, read_rows(runtime, self.bootstrap, self.partitions))
            if first is None:
                yield row | {"runtime": name, "reducer": reducer, "why": runtime.tail()}
                continue
            events, seconds = len(history.records), ended_at - first["at"]
            yield row | {
                "runtime": name,
                "reducer": reducer,
                "events": events,
                "events_per_s": round(events / seconds),
                "cpu_us_per_event": round((runtime.cpu_s - first["cpu"]) / events * 1e6, 1),
                "peak_mib": round(runtime.peak_mib),
            }

    def measure_latency(self, name, reducer, rate):
        """Append at a steady rate; return milliseconds from append to arrival."""
        warm, count = int(rate * 4), int(rate * self.asked.seconds)
        history = History.draw(
            events=warm + count, turns=(warm + count) // 20, partitions=self.partitions
        )
        prefix = self.provision([name])
        runtime, arrivals = self.open(name, prefix, reducer)
        runtime.start()
        time.sleep(8)
        history.append(self.bootstrap, prefix, per_second=rate)
        time.sleep(8 if name.startswith("quix") else 2)
        runtime.stop()
        arrivals.close()
        waits, begin = [], min(history.stamps.values(), default=0) + 4_000
        for at_ms, topic, _, value in arrivals.found:
            stamp = history.stamp_of(topic, value)
            if stamp is not None and stamp >= begin:
                waits.append(at_ms - stamp)
        if len(waits) < 100:
            return {"p50_ms": None, "p99_ms": None}
        cuts = statistics.quantiles(waits, n=100)
        return {"p50_ms": round(cuts[49], 1), "p99_ms": round(cuts[98], 1)}

    def measure_kills(self, name, reducer, seed):
        """Kill the runtime at random times under load, and empty its folder now and then."""
        chance = random.Random(seed)
        rate = 500
        history = History.draw(events=rate * 60, turns=rate * 3, partitions=self.partitions)
        prefix = self.provision([name])
        runtime, arrivals = self.open(name, prefix, reducer)
        stopped = threading.Event()
        load = threading.Thread(
            target=history.append,
            args=(self.bootstrap, prefix),
            kwargs={"per_second": rate, "stopped": stopped},
        )
        runtime.start()
        load.start()
        time.sleep(6)
        for _ in range(self.asked.kills):
            time.sleep(chance.uniform(1.5, 4))
            runtime.kill()
            if chance.random() < 0.3:
                shutil.rmtree(runtime.folder)
            runtime.start()
        time.sleep(5)
        stopped.set()
        load.join()
        expected = fold_plainly(self.bootstrap, prefix, self.partitions, reducer)
        arrivals.await_count(expected.outputs.total(), quiet_s=40, running=runtime.keep)
        time.sleep(6)
        runtime.stop()
        found = arrivals.close()
        return compare(expected, found, read_rows(runtime, self.bootstrap, self.partitions))


def compare(expected, found, rows):
    """Return counts of what differs, and whether everything is as it must be."""
    extra = found - expected.outputs
    known = sum(n for body, n in extra.items() if body in expected.outputs)
    told = {
        "expected": expected.outputs.total(),
        "lost": (expected.outputs - found).total(),
        "duplicate": known,
        "divergent": extra.total() - known,
        "rows_equal": tuple(rows) == tuple(expected.rows),
    }
    faults = told["lost"] + told["duplicate"] + told["divergent"]
    return told | {"valid": faults == 0 and told["rows_equal"]}


def run(bench, names, show):
    """Run every part and yield what it found."""
    asked, capacity = bench.asked, {}
    reducers = [reducer for reducer in asked.reducers.split(",") if reducer]
    for reducer in reducers:
        for row in bench.measure_backlog(names, reducer):
            capacity[reducer, row["runtime"]] = row.get("events_per_s", 0)
            show("backlog", row)
            yield "backlog", row
    for reducer in reducers:
        for name in asked.latency.split(",") if asked.latency else ():
            rates = {"at 1,000/s": 1_000.0}
            if name == "ours":
                rates["at half capacity"] = capacity.get((reducer, name), 0) / 2
            for what, rate in rates.items():
                if rate:
                    row = bench.measure_latency(name, reducer, rate)
                    row |= {"runtime": name, "reducer": reducer, "load": what, "rate": round(rate)}
                    show("latency", row)
                    yield "latency", row
    for name in names if asked.kills else ():
        for seed in range(asked.seed, asked.seed + asked.runs):
            row = {"runtime": name, "seed": seed, "kills": asked.kills}
            row |= bench.measure_kills(name, asked.killed, seed)
            show("kills", row)
            yield "kills", row


def judge(told):
    """Return the lines of floors and what of them is missed."""
    speeds = {(r["reducer"], r["runtime"]): r for part, r in told if part == "backlog"}
    lines, missed = [], []
    for (reducer, other), floor in FLOORS.items():
        ours, theirs = speeds.get((reducer, "ours")), speeds.get((reducer, other))
        if not ours or not theirs or not theirs.get("events_per_s"):
            continue
        ratio = ours.get("events_per_s", 0) / theirs["events_per_s"]
        void = "" if ours["valid"] and theirs["valid"] else "  void"
        lines.append(f"{reducer}: ours / {other} = {ratio:.2f}x, floor {floor}x{void}")
        if ratio < floor or void:
            missed.append(lines[-1])
    for part, row in told:
        floor = P99_FLOORS_MS.get(row.get("load"))
        if part == "latency" and row["runtime"] == "ours":
            lines.append(f"{row['reducer']}: p99 {row['load']} {row['p99_ms']} ms, floor {floor}")
            if row["p99_ms"] is None or row["p99_ms"] > floor:
                missed.append(lines[-1])
        if part == "kills" and row["runtime"] == "ours" and not row["valid"]:
            missed.append(f"ours after kills: {row}")
    return lines, missed


def parse():
    """Return what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kafka",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--events", type=int, default=200_000, help="of the history")
    parser.add_argument("--turns", type=int, default=10_000, help="among them, two events each")
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--reducers", default="trivial,core", help="trivial, core or both")
    parser.add_argument("--only", default=",".join(DEFAULT), help=f"of {', '.join(MODULES)}")
    parser.add_argument("--latency", default="ours", help="runtimes, or nothing")
    parser.add_argument("--seconds", type=float, default=15, help="of each latency measurement")
    parser.add_argument("--kills", type=int, default=4, help="kill -9 per run; 0: none")
    parser.add_argument("--runs", type=int, default=1, help="runs with kills per runtime")
    parser.add_argument("--killed", default="trivial", help="reducer of those: trivial or core")
    parser.add_argument("--seed", type=int, default=1, help="of the times of the first run's kills")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    asked = parser.parse_args()
    names = [name for name in asked.only.split(",") if name]
    if unknown := sorted({*names, *filter(None, asked.latency.split(","))} - set(MODULES)):
        parser.error(f"{', '.join(unknown)}: there are {', '.join(MODULES)}")
    if unknown := sorted({*asked.reducers.split(","), asked.killed} - {"trivial", "core", ""}):
        parser.error(f"reducer {', '.join(unknown)}: there are trivial and core")
    if any(name.startswith("quix") for name in names) and not QUIX.is_dir():
        parser.error(f"quixstreams is not in {QUIX}: `make bench-kafka` installs it there")
    return asked, names


def main():
    """Run the parts and print their figures."""
    asked, names = parse()

    def show(part, row):
        if not asked.json:
            print(f"{part:8}", "  ".join(f"{k} {v}" for k, v in row.items()), flush=True)

    with open_broker(os.environ) as broker, tempfile.TemporaryDirectory() as home:
        bench = Bench(asked, broker.bootstrap_servers, Path(home))
        told = list(run(bench, names, show))
    lines, missed = judge(told)
    if asked.json:
        print(json.dumps({"rows": [{"part": p} | r for p, r in told], "missed": missed}))
    else:
        print("\n".join(lines))
        print(f"missed: {'; '.join(missed)}" if missed else "every floor is held")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
