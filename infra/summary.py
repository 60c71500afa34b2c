"""What a log has come to: counts of its outcomes by act."""

from collections import Counter
from dataclasses import dataclass

from infra.records import read_output
from schemas.row import DeadlineRow
from streams.embedded import Embedded
from streams.row_layout import row_key


@dataclass(frozen=True, slots=True)
class Summary:
    """Totals of a log since its beginning; ``pending`` are turns without outcome."""

    events: int
    commitments: int
    clarify: int
    recontract: int
    abstain: int
    fallback: int
    failures: int
    rejections: int
    pending: int


def summarise(embedded: Embedded) -> Summary:
    """Count the outcomes of everything folded so far."""
    acts: Counter[str] = Counter()
    for output in embedded.outputs("repairs"):
        acts[read_output("repairs", output.record.value or b"").act.value] += 1
    with embedded.reading() as store:
        head = None if store is None else store.head()
        pending = 0 if store is None else sum(1 for _ in store.scan(row_key(b"p", DeadlineRow, "")))
    counts = {} if head is None else {total.topic: total.count for total in head.outputs}
    return Summary(
        events=0 if head is None else head.next_offset,
        commitments=counts.get("commitments", 0),
        clarify=acts["clarify"],
        recontract=acts["recontract"],
        abstain=acts["abstain"],
        fallback=acts["fallback"],
        failures=counts.get("failures", 0),
        rejections=counts.get("rejections", 0),
        pending=pending,
    )
