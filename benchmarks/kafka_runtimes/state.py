"""The digest of all rows of a runtime, as the head rows of the ledger state it."""

import json
import sys

from streams.row_digest import sum_rows


def digest_rows(rows):
    """Return count and digest of the rows of {(partition, key): value}."""
    parts = {part for part, _ in rows}
    total, count = 0, 0
    for part in sorted(parts):
        found = sum_rows(sorted((k, v) for (p, k), v in rows.items() if p == part))
        total += int.from_bytes(found.digest, "big")
        count += found.count
    return count, (total % 2**256).to_bytes(32, "big").hex()


def tell_rows(rows):
    """Print count and digest for whoever started this process."""
    sys.stdout.write(f"rows {json.dumps(digest_rows(rows))}\n")
    sys.stdout.flush()
