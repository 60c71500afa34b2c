"""An independent read_committed reader: what arrives, and when."""

import threading
import time
from collections import Counter

from confluent_kafka import Consumer, TopicPartition

TOPICS = ("commitments", "repairs", "failures", "packets", "surfaces", "rejections")


class Arrivals:
    """Reads the output topics of one runtime in a thread of its own until it is closed."""

    def __init__(self, bootstrap, prefix, partitions):
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "arrivals",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 100,
                "fetch.error.backoff.ms": 10,
            }
        )
        self._prefix = prefix
        self._consumer.assign(
            [TopicPartition(prefix + t, p, 0) for t in TOPICS for p in range(partitions)]
        )
        self.found = []
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        skip = len(self._prefix)
        while not self._closing.is_set():
            messages = self._consumer.consume(1_000, 0)
            if not messages:
                first = self._consumer.poll(0.1)
                messages = [] if first is None else [first]
            now_ms = time.time() * 1_000
            self.found += [
                (now_ms, m.topic()[skip:], m.key(), m.value()) for m in messages if not m.error()
            ]
        self._consumer.close()

    def await_count(self, count, *, quiet_s, running):
        """Wait for so many, or until nothing came for a while; return how many there are."""
        seen, since = -1, time.monotonic()
        while len(self.found) < count and time.monotonic() - since < quiet_s:
            if len(self.found) != seen:
                seen, since = len(self.found), time.monotonic()
            if not running():
                break
            time.sleep(0.1)
        return len(self.found)

    def close(self):
        """End the reader and return what arrived, as a multiset."""
        self._closing.set()
        self._thread.join()
        return Counter((topic, key, value) for _, topic, key, value in self.found)
