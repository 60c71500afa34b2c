"""The simulated generator: an ideal reader with errors, seeded; never shown without that word.

It reads the lines of ``Shown`` and nothing else. Chance is a digest of (seed, fixture, what is
drawn), so variants that show the same line draw the same error: differences between variants
come from what they show.
"""

import hashlib
from dataclasses import dataclass, replace
from math import log2
from typing import Final

from infra.evaluation.answering import (
    ATTEMPTS_MAX,
    CANDIDATES,
    TEMPERATURE,
    TIMEOUT_MS,
    Answer,
)
from infra.evaluation.domains import DAYS
from infra.evaluation.error_rates import (
    FAIL_ATTEMPT,
    TEXT,
    THINKING_TOKENS,
    TYPED,
    ErrorRates,
)
from infra.evaluation.shown import Line, Shown
from processors.predicates.evaluation import judge
from processors.predicates.scope import Scope
from processors.predicates.verdict import HOLDS
from schemas.candidate import Attempt, Candidate, Decoding, SlotValue
from schemas.predicate import Predicate
from schemas.turn import FailureKind
from schemas.value import RecordValue, Value

_FAILURES: Final = (
    FailureKind.PARSE_FAILURE,
    FailureKind.TIMEOUT,
    FailureKind.NO_OUTPUT,
    FailureKind.BLANK_OUTPUT,
)
_LINES_PLAIN: Final = 16
_BYTES_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was taken in: offers with their lines, rules with theirs, and what is not a rule."""

    offers: tuple[Line, ...]
    rules: tuple[tuple[Line, Predicate], ...]
    hardened: frozenset[str]
    lines: tuple[Line, ...]
    failed: bool


@dataclass(frozen=True, slots=True)
class Simulated:
    """The generator; ``seed`` is all its state."""

    seed: int = 7

    @property
    def name(self) -> str:
        """Backend and model."""
        return "simulated"

    @property
    def simulated(self) -> bool:
        """Answers are drawn."""
        return True

    def answer(self, shown: Shown, *, tokens_max: int) -> Answer:
        """Return up to four candidates, the reader's own choice first."""
        decoding = Decoding(
            "simulated", "simulated", "1", TEMPERATURE, tokens_max, TIMEOUT_MS, self.seed
        )
        attempts: list[Attempt] = []
        failure = FailureKind.UNKNOWN
        for number in range(ATTEMPTS_MAX):
            candidates = self._propose(shown)
            tokens = self._count_tokens(shown, candidates, number)
            if tokens > tokens_max:
                failure = FailureKind.PARTIAL_OUTPUT
            elif self._draw(shown, "fail", number) < FAIL_ATTEMPT:
                pick = self._draw(shown, "failure", number)
                failure = _FAILURES[int(pick * len(_FAILURES))]
            else:
                attempts.append(Attempt("answered", "", 0, tokens))
                return Answer(candidates, None, tuple(attempts), decoding)
            attempts.append(Attempt(failure.value, "simulated", 0, min(tokens, tokens_max)))
        return Answer((), failure, tuple(attempts), decoding)

    def close(self) -> None:
        """Hold nothing."""

    def _propose(self, shown: Shown) -> tuple[Candidate, ...]:
        rates = TYPED if shown.typed else TEXT
        reading = self._read(shown, rates)
        slots = self._fill(shown, rates)
        ranked = _rank_offers(reading, slots, shown)
        fitting = [line for line, fits in ranked if fits]
        others = [line for line, fits in ranked if not fits]
        offers = (fitting + others)[:CANDIDATES]
        commitments = [
            self._commit(shown, reading, rates, line, slots, number)
            for number, line in enumerate(offers)
        ]
        # A second wording of the first choice: the same offer, cited anew.
        if fitting and len(commitments) < CANDIDATES:
            again = self._commit(shown, reading, rates, fitting[0], slots, CANDIDATES)
            commitments.insert(1, again)
        repair = self._choose_repair(shown, reading, rates, slots, fits=bool(fitting))
        if repair:
            stated = _state_repair(shown.scene, repair)
            return (stated, *commitments)[:CANDIDATES]
        return tuple(commitments[:CANDIDATES])

    def _read(self, shown: Shown, rates: ErrorRates) -> _Reading:
        crowd = max(0.0, log2(max(1, len(shown.lines)) / _LINES_PLAIN))
        miss = min(rates.overlook_max, rates.overlook + rates.overlook_per_doubling * crowd)
        seen = [line for line in shown.lines if self._draw(shown, "line", line.key) >= miss]
        gone = {event_id for line in seen for event_id in line.withdrawn}
        seen = [line for line in seen if line.event_id not in gone]
        rules: dict[str, tuple[Line, Predicate]] = {}
        for line in seen:
            if line.rule is not None and shown.scene in line.rule.scenes:
                # The later line replaces the earlier one, as far as both were taken in.
                rules[line.rule.predicate_id] = (line, self._recall(shown, line.rule, rates))
        for rule in shown.contract:
            if shown.scene in rule.scenes and rule.predicate_id not in rules:
                listed = Line("contract:" + rule.predicate_id, "", rule.expression, rule=rule)
                if self._draw(shown, "line", listed.key) >= miss:
                    rules[rule.predicate_id] = (listed, self._recall(shown, rule, rates))
        hardened = {
            line.disliked
            for line in seen
            if line.disliked and self._draw(shown, "harden", line.disliked) < rates.harden
        }
        return _Reading(
            offers=tuple(line for line in seen if line.offer is not None),
            rules=tuple(rules[name] for name in sorted(rules)),
            hardened=frozenset(hardened),
            lines=tuple(seen),
            failed=any(line.failed for line in seen),
        )

    def _recall(self, shown: Shown, rule: Predicate, rates: ErrorRates) -> Predicate:
        if rule.unless is None:
            return rule
        if self._draw(shown, "exception", rule.predicate_id) < rates.lose_exception:
            return replace(rule, unless=None)
        return rule

    def _fill(self, shown: Shown, rates: ErrorRates) -> dict[str, Value]:
        """Return the slots beside the offer, from what was asked; sometimes made up."""
        slots: dict[str, Value] = {
            ask.name: ask.value for ask in shown.asks if not isinstance(ask.value, RecordValue)
        }
        if "day" not in slots and self._draw(shown, "invent", "day") < rates.invent_slot:
            slots["day"] = DAYS[int(self._draw(shown, "day", "") * len(DAYS))]
        if self._draw(shown, "slip", "party") < rates.slip and isinstance(slots.get("party"), int):
            slots["party"] = int(str(slots["party"])) + 1
        return slots

    def _choose_repair(
        self,
        shown: Shown,
        reading: _Reading,
        rates: ErrorRates,
        slots: dict[str, Value],
        *,
        fits: bool,
    ) -> str:
        """Return the act that the reader would rather take than commit, or ""."""
        if reading.failed and self._draw(shown, "heed", "failed") >= rates.push:
            return "recontract"
        if "day" not in slots or not reading.offers:
            return "clarify"
        if fits or self._draw(shown, "push", "") < rates.push:
            return ""
        pick = self._draw(shown, "repair", "")
        return "abstain" if pick < 0.4 else "recontract" if pick < 0.8 else "clarify"

    def _commit(
        self,
        shown: Shown,
        reading: _Reading,
        rates: ErrorRates,
        offer: Line,
        slots: dict[str, Value],
        number: int,
    ) -> Candidate:
        carried = {**slots, "offer": offer.offer}
        text = f"The {offer.offer.get('name') if offer.offer else ''} is arranged."
        if self._draw(shown, "embellish", number) < rates.embellish:
            text += " We guarantee a free upgrade for Saturday."
        claims = [rule.predicate_id for _, rule in reading.rules] if shown.typed else []
        return Candidate(
            commitment_type=shown.scene,
            slots=tuple(SlotValue(name, value) for name, value in sorted(carried.items())),
            amends=None,
            patch=(),
            evidence_ids=self._cite(shown, reading, rates, offer, number),
            claimed_predicates=tuple(claims),
            required_slots=(),
            repair_status="",
            surface_text=text,
        )

    def _cite(
        self, shown: Shown, reading: _Reading, rates: ErrorRates, offer: Line, number: int
    ) -> tuple[str, ...]:
        cited: dict[str, None] = {}
        if self._draw(shown, f"cite-{number}", offer.key) < rates.cite_offer:
            cited[offer.unit_id] = None
        used = {line.key for line, _ in reading.rules}
        for dimension in shown.required:
            units = [line.unit_id for line in reading.lines if dimension in line.dimensions]
            if units and self._draw(shown, f"cite-{number}", dimension) < rates.cite_required:
                # Of several the rule's own, then the last: the newest stands for the dimension.
                own = [line.unit_id for line, _ in reading.rules if dimension in line.dimensions]
                cited[(own or units)[-1]] = None
        for line in reading.lines:
            if line.unit_id and line.offer is None:
                share = _find_share(line, rates, used)
                if self._draw(shown, f"cite-{number}", line.key) < share:
                    cited[line.unit_id] = None
        return tuple(cited)

    def _count_tokens(self, shown: Shown, candidates: tuple[Candidate, ...], number: int) -> int:
        least, usual, most = THINKING_TOKENS
        draw = self._draw(shown, "think", number)
        thought = least + (usual - least) * 2 * draw if draw < 0.5 else 0
        if draw >= 0.5:
            thought = usual + (most - usual) * (2 * draw - 1) ** 4
        body = sum(
            120 + sum(map(len, one.evidence_ids)) + len(one.surface_text) for one in candidates
        )
        return int(thought) + body // _BYTES_PER_TOKEN

    def _draw(self, shown: Shown, what: str, which: object) -> float:
        key = f"{self.seed}\0{shown.fixture_id}\0{what}\0{which}"
        head = hashlib.sha256(key.encode()).digest()[:8]
        return int.from_bytes(head, "big") / 2**64


def _find_share(line: Line, rates: ErrorRates, used: set[str]) -> float:
    if line.personal:
        return rates.cite_personal
    if line.key in used:
        return rates.cite_rule
    if line.tail_witness or line.owed:
        return rates.cite_marked
    return rates.cite_guess if line.dimensions and line.rule is None else 0.0


def _rank_offers(
    reading: _Reading, slots: dict[str, Value], shown: Shown
) -> list[tuple[Line, bool]]:
    """Return offers, those that seem right first, asked-for ones before others, then by price."""
    wanted = [ask.value for ask in shown.asks if isinstance(ask.value, RecordValue)]

    def rank(line: Line) -> tuple[bool, bool, int, str]:
        assert line.offer is not None, "an offer's line carries it"
        price = line.offer.get("price")
        return (
            not _seems_right(line.offer, reading, slots),
            line.offer not in wanted,
            price if isinstance(price, int) else 0,
            line.key,
        )

    ordered = sorted(reading.offers, key=rank)
    return [(line, not rank(line)[0]) for line in ordered]


def _seems_right(offer: RecordValue, reading: _Reading, slots: dict[str, Value]) -> bool:
    features = offer.get("features")
    if isinstance(features, tuple) and any(one in reading.hardened for one in features):
        return False
    scope = Scope(slots={**slots, "offer": offer})
    return all(judge(rule, scope).verdict is HOLDS for _, rule in reading.rules)


def _state_repair(scene: str, act: str) -> Candidate:
    return Candidate(scene, (), None, (), (), (), (), act, "")
