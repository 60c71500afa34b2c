"""Fold events through the core and let the independent auditor hear all that comes of them.

By hand over real dialogues: ``python -m tests.audited_fold sgd FOLDER...`` (or ``tau FOLDER``)
prints what was judged, with denominators, and every finding.
"""

import hashlib
import sys
from pathlib import Path

from infra.importers.sgd import CANDIDATES, import_sgd
from infra.importers.tau import import_tau
from processors import decision
from processors.compilation.draft import owner_of
from processors.view import Stamp
from schemas.codec import encode
from schemas.row import ProposalRow
from tests.auditor import Auditor
from tests.conversation import Rows


def audit_events(events):
    """Return the auditor after it has heard these events, folded in order."""
    auditor, shared, users = Auditor(), {}, {}
    for number, event in enumerate(events):
        owner = owner_of(event)
        view = users.setdefault(owner, Rows(*owner, {}, shared))
        body = encode(event)
        stamp = Stamp(
            hashlib.sha256(body).digest(), event.occurred_at_ms, 0, number, len(body), "open"
        )
        hear(auditor, event, decision.step(view, event, stamp), view)
    return auditor


def hear(auditor, event, step, view=None):
    """Let the auditor hear one step, with the proposals that it publishes."""
    if view is not None:
        view.apply(step.changes)
    published = [
        row
        for (record, _), row in step.changes.items()
        if record is ProposalRow and row is not None
    ]
    auditor.hear(event, step.fate, step.outputs, published)


def audit_conversation(told):
    """Return the auditor after it has heard a conversation."""
    auditor = Auditor()
    for event, step in told.told:
        hear(auditor, event, step)
    return auditor


def main(kind, *folders):
    """Audit real dialogues and print what was found; 1 when there is a finding."""
    paths = [Path(folder) for folder in folders]
    events = import_tau(*paths) if kind == "tau" else import_sgd(paths, frozenset(CANDIDATES))
    auditor = audit_events(events)
    for name, count in sorted(auditor.counts.items()):
        print(f"{count:9} {name}")
    for finding in auditor.findings[:50]:
        print(finding)
    print(f"{len(auditor.findings)} findings")
    return int(bool(auditor.findings))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
