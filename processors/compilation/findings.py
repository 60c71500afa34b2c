"""Lint findings as they are recorded with proposals and predicates (spec 2.6); none ever blocks."""

from collections.abc import Container, Iterable

from processors.compilation.draft import Draft, read_catalogue
from processors.predicates.lint import LintFinding, lint
from schemas.catalogue import Catalogue
from schemas.predicate import Predicate
from schemas.row import PredicateRow


def find_doubts(
    draft: Draft, predicate: Predicate, replaces: Container[str] = ()
) -> tuple[str, ...]:
    """Return what is doubtful about a predicate beside the contract that it would join."""
    catalogue = read_catalogue(draft.view)
    if catalogue is None:
        return ()
    rows = [row for _, row in draft.view.scan(PredicateRow) if row.ended_seq is None]
    return list_doubts(predicate, rows=rows, catalogue=catalogue, replaces=replaces)


def list_doubts(
    predicate: Predicate,
    *,
    rows: Iterable[PredicateRow],
    catalogue: Catalogue,
    replaces: Container[str],
) -> tuple[str, ...]:
    """Return what is doubtful about a predicate beside these others in force."""
    ordered = sorted(rows, key=lambda row: (row.seq, row.predicate.predicate_id))
    in_force = [
        row.predicate
        for row in ordered
        if row.predicate.predicate_id != predicate.predicate_id
        and row.predicate.predicate_id not in replaces
    ]
    return tuple(map(_write, lint(predicate, in_force=in_force, catalogue=catalogue)))


def _write(finding: LintFinding) -> str:
    text = f"{finding.kind.value}: {finding.detail}"
    return f"{text}; for example {finding.counterexample}" if finding.counterexample else text
