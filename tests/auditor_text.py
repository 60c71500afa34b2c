"""The auditor's own reading of predicate texts: one regular expression and one recursive descent.

Written from the specification (2.3) alone; shares nothing with the processors. A tree is nested
tuples whose first item says what it is. What cannot be read raises ``UnreadableError``.
"""

import json
import re
from datetime import date, datetime, time
from decimal import Decimal

from schemas.value import Elapsed, Money, Period, StringSet, Timestamp

_TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)'
    r"|(?P<symbol>==|!=|<=|>=|[<>()\[\],:.+*-]))",
    re.ASCII,
)
_SIGNS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
COMPARISONS = (
    "eq", "ne", "lt", "le", "gt", "ge", "in", "not_in", "contains", "excludes", "subset_of",
    "disjoint_from",
)  # fmt: skip


class UnreadableError(Exception):
    """A text that the auditor cannot read whole."""


def read(text):
    """Return the tree of a whole text."""
    reader = _Reader(text)
    tree = reader.whole()
    if reader.tokens:
        raise UnreadableError(reader.tokens[0])
    return tree


def slots_read(tree):
    """Return the names of the commitment's slots that a tree reads."""
    if isinstance(tree, tuple):
        if tree[:1] == ("path",) and tree[1] == "slots":
            return {tree[2][0]}
        return {name for part in tree for name in slots_read(part)}
    return set()


def conjuncts(tree):
    """Return what a rule demands as a whole: itself, or the members of its conjunction."""
    if tree[0] == "and":
        return [one for part in tree[1] for one in conjuncts(part)]
    if tree[0] == "unless":
        return conjuncts(tree[1])
    return [tree]


class _Reader:
    def __init__(self, text):
        self.tokens = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise UnreadableError(text[at:])
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()

    def peek(self):
        return self.tokens[0] if self.tokens else ("end", "")

    def take(self, *wanted):
        """Take the next token if its text is one of these; None takes any."""
        kind, text = self.peek()
        if kind == "end" or (wanted and (kind == "string" or text not in wanted)):
            return None
        self.tokens.pop(0)
        return text

    def need(self, text):
        if self.take(text) is None:
            raise UnreadableError((text, self.peek()))

    def whole(self):
        rule = self.either()
        if self.take("unless"):
            return ("unless", rule, self.either())
        return rule

    def either(self):
        parts = [self.both()]
        while self.take("or"):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else ("or", tuple(parts))

    def both(self):
        parts = [self.condition()]
        while self.take("and"):
            parts.append(self.condition())
        return parts[0] if len(parts) == 1 else ("and", tuple(parts))

    def condition(self):
        if self.take("("):
            inner = self.whole()
            self.need(")")
            return inner
        if self.take("not"):
            return ("not", self.condition())
        quantifier = self.take("all", "any", "none")
        if quantifier:
            name = self.take()
            self.need("in")
            domain = self.path(self.take())
            self.need(":")
            return (quantifier, name, domain, self.either())
        call = self.take("exists", "is_null", "attested")
        if call:
            self.need("(")
            inside = json.loads(self.take()) if call == "attested" else self.path(self.take())
            self.need(")")
            return (call, inside)
        return self.comparison()

    def comparison(self):
        left = self.operand()
        word = self.take(*_SIGNS, *COMPARISONS)
        if word is None:
            raise UnreadableError(self.peek())
        operator = _SIGNS.get(word, word)
        match = self.take("exact", "folded", "word")
        excludes = operator in {"ne", "not_in", "excludes", "disjoint_from"}
        return (operator, match or ("folded" if excludes else "exact"), left, self.operand())

    def operand(self):
        value = self.term()
        while sign := self.take("+", "-"):
            value = ("plus" if sign == "+" else "minus", value, self.term())
        return value

    def term(self):
        kind, text = self.peek()
        if kind == "string":
            return ("value", json.loads(self.take()))
        if kind == "number" or text == "-":
            sign = self.take("-") or ""
            digits = self.take()
            return ("value", Decimal(sign + digits) if "." in digits else int(sign + digits))
        if text == "[":
            self.take()
            return ("value", tuple(self.items("]")))
        return self.named(self.take())

    def items(self, closing):
        found = []
        while not self.take(closing):
            found.append(self.term()[1])
            self.take(",")
        return found

    def named(self, name):
        if name in {"true", "false"}:
            return ("value", name == "true")
        if name == "as_of":
            return ("as_of",)
        if name in {"sum", "count"}:
            self.need("(")
            path = self.path(self.take())
            self.need(")")
            return (name, path)
        if name == "set":
            self.need("(")
            return ("value", StringSet(tuple(sorted(set(self.items(")"))))))
        if name in _LITERALS:
            self.need("(")
            inside = self.term()[1]
            self.need(")")
            return ("value", _LITERALS[name](inside))
        return self.path(name)

    def path(self, root):
        if root is None or not root.isidentifier():
            raise UnreadableError(root)
        steps = []
        while True:
            if self.take("."):
                steps.append(self.take())
            elif self.take("["):
                kind, text = self.peek()
                self.take()
                self.need("]")
                steps.append(json.loads(text) if kind != "symbol" else "*")
            else:
                return ("path", root, tuple(steps))


def _money(text):
    amount, _, currency = text.partition(" ")
    return Money(Decimal(amount), currency)


def _instant(at):
    if isinstance(at, int):
        return Timestamp(at)
    return Timestamp(round(datetime.fromisoformat(at).timestamp() * 1_000))


def _period(text):
    parts = {unit: int(number) for number, unit in re.findall(r"(-?\d+)([YMWD])", text)}
    months = 12 * parts.get("Y", 0) + parts.get("M", 0)
    return Period(months, 7 * parts.get("W", 0) + parts.get("D", 0))


def _elapsed(text):
    if isinstance(text, int):
        return Elapsed(text)
    parts = {unit: Decimal(number) for number, unit in re.findall(r"([\d.]+)([HMS])", text)}
    hours = parts.get("H", 0) * 3_600 + parts.get("M", 0) * 60 + parts.get("S", 0)
    return Elapsed(int(hours * 1_000))


_LITERALS = {
    "money": _money,
    "decimal": Decimal,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "local": datetime.fromisoformat,
    "timestamp": _instant,
    "period": _period,
    "elapsed": _elapsed,
}
