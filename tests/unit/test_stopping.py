"""Laws of the end of a service: on time, whatever its main thread waits for."""

import signal
import subprocess
import sys
import time

BLOCKED = """
from confluent_kafka import Producer
from infra.stopping import stop_in_time
stop_in_time(lambda: print("stopped", flush=True), seconds=1)
producer = Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
producer.produce("events", b"")
print("waits", flush=True)
producer.flush(60)
"""


def test_a_flush_that_waits_for_brokers_does_not_hold_up_the_end() -> None:
    """A signal during a flush of a minute stops the service and ends the process soon after."""
    with subprocess.Popen([sys.executable, "-c", BLOCKED], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b"waits\n" == process.stdout.readline()
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=20)

    assert 75 == process.returncode
    assert said.startswith(b"stopped\n")
    assert time.monotonic() - started < 15
