"""What is left of an erased user and of an erased event: position and chain, nothing said.

Both follow from what stands in the clear on the log, so that a history without the keys leads to
the same (spec 7.5). When they apply is the driver's business.
"""

from dataclasses import replace

from processors.compilation.draft import HEAD_ID, NEW_HEAD
from processors.compilation.window import extend_recent, split_recent
from processors.limits import ORDER_BLOCK
from processors.pending import name_deadline
from processors.view import Changes, View
from schemas.identity import extend_chain
from schemas.row import (
    KIND_OF,
    PARTITION_KINDS,
    DeadlineRow,
    OrderRow,
    PendingRow,
    UserHead,
    render_seq,
)


def purge_user(view: View) -> Changes:
    """Return the changes that leave of a user the head alone: its seq and its digest chain.

    Also the ids of events go: an erased one cannot be sent again, since its key is gone.
    """
    head = view.get(UserHead, HEAD_ID)
    changes: Changes = {}
    for turn_id, pending in view.scan(PendingRow):
        deadline = DeadlineRow(pending.request.tenant, pending.request.user, turn_id)
        changes[DeadlineRow, name_deadline(deadline, at_ms=pending.deadline_at_ms)] = None
    for record, kind in KIND_OF.items():
        if kind not in PARTITION_KINDS and record is not UserHead:
            for row_id, _ in view.scan(record):
                changes[record, row_id] = None
    if head is not None:
        changes[UserHead, HEAD_ID] = replace(
            NEW_HEAD,
            seq=head.seq,
            chain=head.chain,
            oldest_text_seq=head.seq + 1,
            recent_ids="\0" * max(0, head.seq % ORDER_BLOCK - 1),
            oldest_order=head.seq // ORDER_BLOCK * ORDER_BLOCK + 1,
            erased_seq=head.seq,
        )
    return changes


def pass_erased(view: View, *, seq: int, digest: bytes) -> Changes:
    """Return the changes of an accepted event that nobody can read any more.

    What it did is unknown; the user is halted, so that no turn rests on the rest, until the
    erasure of the whole user is folded or an operator's UserRefolded releases them.
    """
    head = view.get(UserHead, HEAD_ID) or NEW_HEAD
    recent = extend_recent(head.recent_ids, "", seq)
    changes: Changes = {}
    if seq % ORDER_BLOCK == 0:
        block = OrderRow(split_recent(recent), head.effective_ms)
        changes[OrderRow, render_seq(seq - ORDER_BLOCK + 1)] = block
        recent = ""
    changes[UserHead, HEAD_ID] = replace(
        head,
        seq=seq,
        chain=extend_chain(head.chain, digest),
        recent_ids=recent,
        halted=True,
    )
    return changes
