"""A ledger worker with the core itself; arguments as counting_worker.py."""

import sys

from streams.core_reducer import CoreReducer
from tests.broker.counting_worker import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:7], lambda partition: CoreReducer(partition=partition)))
