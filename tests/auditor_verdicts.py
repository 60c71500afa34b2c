"""The auditor's own verdicts: a tree is walked over one commitment, slowly and literally (2.4).

A verdict is one of four words. What this evaluator does not know how to judge raises
``UnjudgedError``: silence would be taken for agreement.
"""

import unicodedata
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from zoneinfo import ZoneInfo

from schemas.value import Elapsed, Money, RecordValue, StringSet, Timestamp

AND = ("fails", "invalid", "missing", "holds")
OR = ("holds", "invalid", "missing", "fails")
TURN = {"holds": "fails", "fails": "holds"}


class UnjudgedError(Exception):
    """A comparison that this auditor was not taught."""


class NoValueError(Exception):
    """An operand without a value: ``missing`` or ``invalid``."""


@dataclass
class Scope:
    """What a predicate looks at: slots, state, cited (slot, value) pairs, checks, as_of."""

    slots: dict
    state: dict = field(default_factory=dict)
    cited: tuple = ()
    amended: dict | None = None
    checks: dict = field(default_factory=dict)
    as_of_ms: int = 0
    zone: str | None = None
    names: dict = field(default_factory=dict)
    empty: list = field(default_factory=list)


def judge(tree, scope):
    """Return holds, fails, missing or invalid; ``scope.empty`` gets lists that were empty."""
    kind = tree[0]
    if kind == "and":
        return pick(AND, [judge(part, scope) for part in tree[1]])
    if kind == "or":
        return pick(OR, [judge(part, scope) for part in tree[1]])
    if kind == "not":
        return turn(judge(tree[1], scope))
    if kind == "unless":
        rule = judge(tree[1], scope)
        return "holds" if judge(tree[2], scope) == "holds" else rule
    if kind == "attested":
        words = {"pass": "holds", "fail": "fails", "error": "invalid", None: "missing"}
        return words[scope.checks.get(tree[1])]
    try:
        if kind in {"exists", "is_null"}:
            return "holds" if (value_of(tree[1], scope) is None) == (kind == "is_null") else "fails"
        if kind in {"all", "any", "none"}:
            return _judge_items(tree, scope)
        return _compare(tree, scope)
    except NoValueError as error:
        return str(error)


def pick(order, verdicts):
    """Return the strongest of some verdicts; of none the weakest."""
    return next((one for one in order if one in verdicts), order[-1])


def turn(verdict):
    """Return the verdict of the negation."""
    return TURN.get(verdict, verdict)


def value_of(operand, scope):
    """Return the value of an operand; None when it is absent or null."""
    kind = operand[0]
    if kind == "value":
        return operand[1]
    if kind == "as_of":
        return Timestamp(scope.as_of_ms)
    if kind == "path":
        return _follow(operand, scope)
    if kind == "count":
        return len(items_of(operand[1], scope))
    if kind == "sum":
        found = items_of(operand[1], scope)
        total = found[0] if found else 0
        for one in found[1:]:
            total = _add(total, one, 1)
        return total
    left, right = (value_of(part, scope) for part in operand[1:])
    if left is None or right is None:
        raise NoValueError("missing")
    return _add(left, right, 1 if kind == "plus" else -1)


def items_of(operand, scope):
    """Return the items of a list, of a set, or of a path with ``[*]``."""
    if operand[0] == "path" and "*" in operand[2]:
        at = operand[2].index("*")
        rest = operand[2][at + 1 :]
        found = []
        for item in items_of(("path", operand[1], operand[2][:at]), scope):
            inner = Scope({}, names={"_": item})
            path = ("path", "_", rest)
            found += items_of(path, inner) if "*" in rest else [value_of(path, inner)]
        return found
    value = value_of(operand, scope)
    if value is None:
        raise NoValueError("missing")
    if isinstance(value, StringSet):
        return list(value.items)
    if not isinstance(value, tuple):
        raise NoValueError("invalid")
    return list(value)


def _follow(path, scope):
    _, root, steps = path
    if root in scope.names:
        value = scope.names[root]
    elif root == "unit":
        values = [value for name, value in scope.cited if name == steps[0]]
        if any(other != values[0] for other in values):
            raise NoValueError("invalid")
        value, steps = (values[0] if values else None), steps[1:]
    else:
        table = {"slots": scope.slots, "state": scope.state, "amended": scope.amended or {}}[root]
        value, steps = table.get(steps[0]), steps[1:]
    for step in steps:
        if value is None:
            return None
        if isinstance(step, str) and isinstance(value, RecordValue):
            value = dict(value.fields).get(step)
        elif isinstance(step, int) and isinstance(value, tuple):
            value = value[step] if step < len(value) else None
        else:
            raise NoValueError("invalid")
    return value


def _judge_items(tree, scope):
    quantifier, name, domain, body = tree
    found = items_of(domain, scope)
    if not found:
        scope.empty.append(domain)
        return "fails" if quantifier == "any" else "holds"
    verdicts = []
    for item in found:
        scope.names[name] = item
        verdicts.append(judge(body, scope))
        del scope.names[name]
    if quantifier == "any":
        return pick(OR, verdicts)
    return pick(AND, [turn(one) for one in verdicts] if quantifier == "none" else verdicts)


def _compare(tree, scope):
    operator, match, left, right = tree
    if operator in {"contains", "excludes"}:
        items, wanted = items_of(left, scope), value_of(right, scope)
        if wanted is None:
            raise NoValueError("missing")
        found = pick(OR, [_equal(item, wanted, match, scope) for item in items])
        return found if operator == "contains" else turn(found)
    if operator in {"subset_of", "disjoint_from"}:
        items, listed = items_of(left, scope), items_of(right, scope)
        verdicts = [pick(OR, [_equal(a, b, match, scope) for b in listed]) for a in items]
        turned = [turn(one) for one in verdicts]
        return pick(AND, verdicts if operator == "subset_of" else turned)
    first = value_of(left, scope)
    if operator in {"in", "not_in"}:
        if first is None:
            raise NoValueError("missing")
        found = pick(OR, [_equal(first, item, match, scope) for item in items_of(right, scope)])
        return found if operator == "in" else turn(found)
    second = value_of(right, scope)
    if first is None or second is None:
        raise NoValueError("missing")
    if operator in {"eq", "ne"}:
        found = _equal(first, second, match, scope)
        return found if operator == "eq" else turn(found)
    pair = _align(first, second, scope)
    if pair is None:
        raise NoValueError("invalid")
    low, high = pair
    truth = {"lt": low < high, "le": low <= high, "gt": low > high, "ge": low >= high}[operator]
    return "holds" if truth else "fails"


def _equal(left, right, match, scope):
    if left is None or right is None:
        return "missing"
    if isinstance(left, str) and isinstance(right, str):
        return _equal_texts(left, right, match)
    if isinstance(left, bool) or isinstance(right, bool):
        same = left is right if isinstance(left, bool) and isinstance(right, bool) else None
        return "invalid" if same is None else "holds" if same else "fails"
    if isinstance(left, StringSet) and isinstance(right, StringSet):
        return "holds" if left == right else "fails"
    if isinstance(left, tuple) and isinstance(right, tuple):
        if len(left) != len(right):
            return "fails"
        pairs = zip(left, right, strict=True)
        return pick(AND, [_equal(a, b, match, scope) for a, b in pairs])
    if isinstance(left, RecordValue) and isinstance(right, RecordValue):
        if [name for name, _ in left.fields] != [name for name, _ in right.fields]:
            return "fails"
        pairs = zip(left.fields, right.fields, strict=True)
        return pick(AND, [_equal(a[1], b[1], match, scope) for a, b in pairs])
    pair = _align(left, right, scope)
    if pair is None:
        return "invalid"
    return "holds" if pair[0] == pair[1] else "fails"


def _equal_texts(left, right, match):
    if match == "exact":
        return "holds" if _nfc(left) == _nfc(right) else "fails"
    if not (left.isascii() and right.isascii() and (left + right).replace(" ", "a").isprintable()):
        raise UnjudgedError((left, right))
    left, right = left.casefold(), right.casefold()
    if match == "folded":
        return "holds" if left == right else "fails"
    words = [f" {''.join(c if c.isalnum() else ' ' for c in text)} " for text in (left, right)]
    held, wanted = (f" {' '.join(text.split())} " for text in words)
    return "holds" if wanted in held else "fails"


def _nfc(text):
    return unicodedata.normalize("NFC", text)


def _align(left, right, scope):
    """Return two comparable things, or None where types have nothing to do with each other."""
    numbers = (int, Decimal)
    if type(left) in numbers and type(right) in numbers:
        return left, right
    if isinstance(left, Money) and isinstance(right, Money):
        if "" in {left.currency, right.currency}:
            return None
        if left.currency != right.currency:
            raise UnjudgedError("exchange rates")
        return left.amount, right.amount
    if type(left) is type(right) and type(left) in {date, time, datetime}:
        return left, right
    if isinstance(left, Timestamp | Elapsed) and type(left) is type(right):
        return (left, right)
    if isinstance(left, Timestamp) and isinstance(right, date):
        pair = _align(right, left, scope)
        return pair[1], pair[0]
    if isinstance(right, Timestamp) and isinstance(left, date):
        if scope.zone is None:
            raise NoValueError("missing")
        local = datetime.fromtimestamp(right.at_ms / 1_000, _zone(scope.zone)).replace(tzinfo=None)
        return (left, local) if isinstance(left, datetime) else (left, local.date())
    return None


def _zone(name):
    if name[:1] not in "+-":
        return ZoneInfo(name)
    return datetime.fromisoformat(f"2000-01-01T00:00{name}").tzinfo


def _add(left, right, sign):
    numbers = (int, Decimal)
    if type(left) in numbers and type(right) in numbers:
        return left + sign * right
    if isinstance(left, Money) and isinstance(right, Money) and left.currency == right.currency:
        return Money(left.amount + sign * right.amount, left.currency)
    if isinstance(left, Timestamp) and isinstance(right, Timestamp) and sign < 0:
        return Elapsed(left.at_ms - right.at_ms)
    if isinstance(left, Timestamp) and isinstance(right, Elapsed):
        return Timestamp(left.at_ms + sign * right.duration_ms)
    if None in (left, right):
        raise NoValueError("missing")
    if isinstance(left, str | bool) or isinstance(right, str | bool):
        raise NoValueError("invalid")
    raise UnjudgedError((left, right))
