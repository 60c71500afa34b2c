"""The auditor's judgement of one candidate: what applies, what is required, what it cites.

From the specification (2.2, 2.4, 3.3, 3.4, 5.2, 5.3) alone. Requirements that only a search for
conflicts finds (dimensions of a core) are not judged here.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from schemas.catalogue import Scene
from schemas.codec import digest
from schemas.observation import HintKind
from schemas.turn import TurnMode
from schemas.value import RecordValue
from tests.auditor_support import EMPTY, check_support, fixed_by
from tests.auditor_text import UnreadableError, conjuncts, read, slots_read
from tests.auditor_units import is_usable, list_states
from tests.auditor_verdicts import NoValueError, Scope, UnjudgedError, judge


@dataclass
class Judged:
    """What speaks against a candidate, in the auditor's own words."""

    verdicts: dict = field(default_factory=dict)
    unmet: list = field(default_factory=list)
    unsupported: list = field(default_factory=list)
    unjudged: set = field(default_factory=set)
    counts: Counter = field(default_factory=Counter)

    def objections(self):
        """Return everything for which it must not be committed."""
        failed = [f"{name} {one}" for name, one in self.verdicts.items() if one != "holds"]
        return [*failed, *self.unmet, *self.unsupported]

    def is_feasible(self, report):
        """Return whether neither this judgement nor the report finds anything against it."""
        found = report.unsupported or report.unmet or report.violations
        return not (self.objections() or found)

    def compare(self, report):
        """Return where the report's verdicts differ from these."""
        if self.counts["unmerged"]:
            return
        theirs = {one.predicate_id: one.verdict.value for one in report.verdicts}
        if set(theirs) != set(self.verdicts) | self.unjudged:
            yield f"applicable are {sorted(self.verdicts)}, judged were {sorted(theirs)}"
        for name, one in self.verdicts.items():
            if theirs.get(name, one) != one:
                yield f"{name} {one}, but it is reported as {theirs[name]}"
        failed = sum(one != "holds" for one in theirs.values())
        if report.violations != failed:
            yield f"{failed} verdicts do not hold, {report.violations} are reported"


def audit_candidate(frame, candidate, certificate):
    """Return the judgement of one candidate at this moment."""
    judged = Judged()
    slots = merge(frame.story, candidate)
    if slots is None:
        judged.counts["unmerged"] += 1
        judged.unsupported.append("it cannot be merged")
        return judged
    cited = _cite(frame, candidate, certificate, judged)
    declared = {one.name: one for one in frame.catalogue.types}.get(candidate.commitment_type)
    scene = _scene(frame)
    if declared is None or candidate.commitment_type not in scene.commitment_types:
        judged.unsupported.append(f"type {candidate.commitment_type} is none of the scene's")
    scope = _scope(frame, candidate, slots, cited)
    for name, held in sorted(frame.story.contract.items()):
        if _applies(frame, held.predicate, declared):
            _judge_one(judged, name, held, scope)
    if declared is not None:
        _require(frame, judged, declared, scene, slots, cited, scope)
        check_support(frame, judged, candidate, declared, slots, cited)
    return judged


def _scene(frame):
    """Return the turn's scene; one that the catalogue no longer has requires nothing."""
    name = frame.request.payload.scene
    found = [one for one in frame.catalogue.scenes if one.name == name]
    return found[0] if found else Scene(name, (), (), (), (), (), "")


def merge(story, candidate):
    """Return the slots that would be in force, or None when the patch leads nowhere."""
    if candidate.amends is None:
        names = [slot.name for slot in candidate.slots]
        if candidate.patch or len(set(names)) != len(names):
            return None
        return {slot.name: slot.value for slot in candidate.slots}
    kind, slots, version, _ = story.commitments.get(candidate.amends.commitment_id, (0, {}, 0, 0))
    if (kind, version) != (candidate.commitment_type, candidate.amends.version) or candidate.slots:
        return None
    slots = dict(slots)
    for operation in candidate.patch:
        steps = [
            int(index) if index else name
            for name, index in re.findall(r"([^.\[\]]+)(?=[.\[]|$)|\[(\d+)\]", operation.path)
        ]
        try:
            slots = dict(_set(RecordValue(tuple(slots.items())), steps, operation.value).fields)
        except (KeyError, IndexError, TypeError):
            return None
    return slots


def _set(container, steps, value):
    if not steps:
        return value
    step, *rest = steps
    if isinstance(container, RecordValue) and isinstance(step, str):
        table = dict(container.fields)
        table[step] = _set(table[step] if rest else table.get(step), rest, value)
        return RecordValue(tuple(sorted(table.items())))
    if isinstance(container, tuple) and isinstance(step, int):
        items = list(container)
        if step == len(items) and not rest:
            return (*items, value)
        items[step] = _set(items[step], rest, value)
        return tuple(items)
    raise TypeError(step)


def _cite(frame, candidate, certificate, judged):
    """Return (dimensions, slot, value) of what is cited; what may not be is an objection."""
    story, request = frame.story, frame.request.payload
    found = []
    for unit_id in dict.fromkeys(candidate.evidence_ids):
        seq, _, rest = unit_id.partition("#")
        if unit_id not in certificate.evidence_ids:
            judged.unsupported.append(f"{unit_id} is not in Z*")
            continue
        if rest.startswith("p:"):
            held = story.contract.get(rest[2:])
            if held is None or str(held.seq) != seq:
                judged.unsupported.append(f"{unit_id} is not in force")
                continue
            fixed = fixed_by(held.predicate)
            dimensions = {*held.predicate.dimensions, *_slots_of(held.predicate)}
            found.append((tuple(dimensions), *fixed))
            continue
        usable = is_usable(
            unit_id, story.units, withdrawn=story.withdrawn, as_of_ms=frame.as_of_ms,
            scopes=request.scopes, sets=frame.catalogue.set_slots,
        )  # fmt: skip
        if not usable:
            judged.unsupported.append(f"{unit_id} is not in E_t")
            continue
        unit = story.units[unit_id]
        found.append((unit.dimensions, unit.slot, unit.value))
    return found


def _scope(frame, candidate, slots, cited):
    story = frame.story
    named = digest(candidate)
    amended = candidate.amends and story.commitments.get(candidate.amends.commitment_id)
    return Scope(
        slots=slots,
        state=list_states(story.units, withdrawn=story.withdrawn, as_of_ms=frame.as_of_ms),
        cited=tuple((slot, value) for _, slot, value in cited if slot is not None),
        amended=amended[1] if amended else None,
        checks={check: found for (one, check), found in story.checks.items() if one == named},
        as_of_ms=frame.as_of_ms,
    )


def _applies(frame, predicate, declared):
    request = frame.request.payload
    starts, ends = predicate.valid_from_ms, predicate.valid_to_ms
    if (starts or -(2**63)) > frame.as_of_ms or (ends is not None and frame.as_of_ms >= ends):
        return False
    if predicate.subject not in {"", frame.story.user, *request.participants}:
        return False
    spared = set(declared.not_affected_by) if declared else set()
    if predicate.dimensions and set(predicate.dimensions) <= spared:
        return False
    if predicate.scenes:
        return request.scene in predicate.scenes
    if declared is None:
        return True
    names = slots_read(read(predicate.expression))
    return not names or any(slot.name in names for slot in declared.slots)


def _judge_one(judged, name, held, scope):
    tree = read(held.predicate.expression)
    if held.predicate.unless is not None:
        tree = ("unless", tree, read(held.predicate.unless))
    scope.zone, scope.empty = held.zone, []
    try:
        verdict = judge(tree, scope)
    except UnjudgedError:
        judged.counts["unjudged"] += 1
        judged.unjudged.add(name)
        return
    judged.counts[f"verdict {verdict}"] += 1
    judged.verdicts[name] = verdict
    if verdict == "holds" and scope.empty and tree[0] in {"all", "none"}:
        judged.unmet.append(f"{name} holds over an empty list")


def _require(frame, judged, declared, scene, slots, cited, scope):
    story, request = frame.story, frame.request.payload
    for name in {*scene.required_slots, *declared.required_slots}:
        if slots.get(name) in EMPTY:
            judged.unmet.append(f"slot {name}")
    spared = set(declared.not_affected_by)
    wanted = {*scene.required_dimensions, *request.wanted_dimensions}
    for held in story.contract.values():
        if _applies(frame, held.predicate, declared):
            wanted |= set(held.predicate.dimensions) - spared
    for dimension, blocks, _ in story.obligations.values():
        if request.mode is TurnMode.RESULT or {scene.name, declared.name} & set(blocks):
            wanted |= {dimension} - spared
    held = {one for dimensions, _, _ in cited for one in dimensions}
    judged.unmet += [f"dimension {one}" for one in sorted(wanted - held)]
    if declared.confirm_carried:
        for name, value in slots.items():
            if value not in EMPTY and not _is_fixed(frame, declared, name, scope):
                judged.unmet.append(f"confirmed {name}")
    _resolve(frame, judged, declared, scope)


def _is_fixed(frame, declared, name, scope):
    for held in frame.story.contract.values():
        if not _applies(frame, held.predicate, declared):
            continue
        for part in conjuncts(read(held.predicate.expression)):
            sides = part[2:] if part[0] == "eq" else ()
            if ("path", "slots", (name,)) in sides and any(one[0] == "value" for one in sides):
                scope.zone = held.zone
                if judge(part, scope) == "holds":
                    return True
    return False


def _resolve(frame, judged, declared, scope):
    held = {name for one in frame.story.contract.values() for name in _slots_of(one.predicate)}
    subjects = {"", frame.story.user, *frame.request.payload.participants}
    for predicate, kind, _ in frame.story.open.values():
        if kind is not HintKind.CONSTRAINT or predicate.subject not in subjects:
            continue
        if set(_slots_of(predicate)) <= held or not _applies(frame, predicate, declared):
            continue
        tree = read(predicate.expression)
        if predicate.unless is not None:
            tree = ("unless", tree, read(predicate.unless))
        try:
            if judge(tree, scope) != "holds":
                judged.unmet.append(f"resolve {predicate.predicate_id}")
        except (UnjudgedError, NoValueError):
            judged.counts["unjudged"] += 1


def _slots_of(predicate):
    try:
        names = slots_read(read(predicate.expression))
        return names | (slots_read(read(predicate.unless)) if predicate.unless else set())
    except UnreadableError:
        return set()
