"""Operands of the text form: paths, literals, sums, counts, differences (spec 2.3).

Grammar::

    operand = term { ("+" | "-") term }
    term    = path | literal | "as_of" | "after" "(" duration ")" | ("sum" | "count") "(" path ")"
    path    = ("slots" | "state" | "unit" | "amended" | variable) { "." NAME | "[" index "]" }
    index   = whole number from 0 | "*" | STRING

The cursor that all readers share lives here too: it counts nodes and depth.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from processors.limits import EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX
from processors.predicates.expression import (
    EVERY,
    ROOTS,
    After,
    AsOf,
    Count,
    Literal,
    Minus,
    Operand,
    Path,
    Plus,
    Step,
    Sum,
    has_every,
)
from processors.predicates.literal_text import LITERAL_NAMES, read_named_literal, read_number
from processors.predicates.tokens import PredicateTextError, Token, refuse
from schemas.value import Elapsed, Period, Value, build_set

_CALLS: Final = ("sum", "count", "exists", "is_null", "attested", "after", "set")
_WORDS: Final = (
    "and", "or", "not", "unless", "all", "any", "none", "in", "not_in", "contains", "excludes",
    "subset_of", "disjoint_from", "eq", "ne", "lt", "le", "gt", "ge", "exact", "folded", "word",
    "true", "false", "null", "as_of", "allow", "when",
)  # fmt: skip
RESERVED: Final = frozenset((*ROOTS, *_CALLS, *_WORDS, *LITERAL_NAMES))
_INDEX_MAX: Final = 9_999_999


@dataclass(slots=True)
class Cursor:
    """Where the reading stands; the only state of a parse."""

    tokens: tuple[Token, ...]
    at: int = 0
    nodes: int = 0
    depth: int = 0
    variables: list[str] = field(default_factory=list)


def peek(cursor: Cursor) -> Token:
    """Return the next token without taking it."""
    return cursor.tokens[cursor.at]


def advance(cursor: Cursor) -> Token:
    """Take the next token; the end token is never passed."""
    token = cursor.tokens[cursor.at]
    if token.kind != "end":
        cursor.at += 1
    return token


def expect(cursor: Cursor, text: str, owner: str) -> None:
    """Take this symbol or word, or refuse."""
    token = advance(cursor)
    if token.kind not in {"symbol", "name"} or token.text != text:
        found = repr(token.text) if token.kind != "end" else "the end"
        refuse(token.position, f"{found} where {owner} needs {text!r}", f"write {text}")


def count_node(cursor: Cursor, token: Token) -> None:
    """Count one node, or refuse an expression that grows too large."""
    cursor.nodes += 1
    if cursor.nodes > EXPRESSION_NODES_MAX:
        refuse(
            token.position,
            f"more than {EXPRESSION_NODES_MAX} parts",
            "split it into several predicates",
        )


@contextmanager
def descend(cursor: Cursor, token: Token) -> Iterator[None]:
    """Go one level deeper, or refuse an expression that is nested too deeply."""
    cursor.depth += 1
    if cursor.depth >= EXPRESSION_DEPTH_MAX:
        refuse(
            token.position,
            f"nested deeper than {EXPRESSION_DEPTH_MAX}",
            "split it into several predicates",
        )
    yield
    cursor.depth -= 1


def read_operand(cursor: Cursor) -> Operand:
    """Return the next operand; sums and differences associate to the left."""
    operand = _read_term(cursor)
    length = 0
    while True:
        token = peek(cursor)
        if token.kind != "symbol" or token.text not in {"+", "-"}:
            return operand
        advance(cursor)
        count_node(cursor, token)
        length += 1
        if cursor.depth + length >= EXPRESSION_DEPTH_MAX:
            refuse(
                token.position,
                f"a sum of more than {EXPRESSION_DEPTH_MAX} parts",
                "sum a list: sum(path)",
            )
        right = _read_term(cursor)
        operand = Plus(operand, right) if token.text == "+" else Minus(operand, right)


def read_path(cursor: Cursor) -> Path:
    """Return the next path; a lone ``[*]`` at the end of a list's path is left out."""
    token = advance(cursor)
    if token.kind != "name" or not (token.text in ROOTS or token.text in cursor.variables):
        found = repr(token.text) if token.kind != "end" else "the end"
        refuse(token.position, f"{found} begins no path", "begin with slots. state. unit. amended.")
    count_node(cursor, token)
    steps: list[Step] = []
    while peek(cursor).kind == "symbol" and peek(cursor).text in {".", "["}:
        steps.append(_read_step(cursor))
        if len(steps) > EXPRESSION_DEPTH_MAX:
            refuse(
                token.position,
                f"a path of more than {EXPRESSION_DEPTH_MAX} steps",
                "name a nearer slot",
            )
    if token.text in ROOTS and (not steps or not isinstance(steps[0], str)):
        refuse(peek(cursor).position, f"{token.text} without a name", f"write {token.text}.price")
    if steps[-1:] == [EVERY] and EVERY not in steps[:-1]:
        steps.pop()
    return Path(token.text, tuple(steps))


def _read_step(cursor: Cursor) -> Step:
    opening = advance(cursor)
    token = advance(cursor)
    if opening.text == ".":
        if token.kind != "name":
            refuse(token.position, "no name after a dot", 'write .price, or ["unit price"]')
        return token.text
    step: Step
    if token.kind == "integer" and int(token.text) <= _INDEX_MAX:
        step = int(token.text)
    elif token.kind == "string" and token.text:
        step = token.text
    elif token.text == "*" and token.kind == "symbol":
        step = EVERY
    else:
        refuse(token.position, "no index in square brackets", 'write [0], [*] or ["unit price"]')
    expect(cursor, "]", "an index")
    return step


def _read_term(cursor: Cursor) -> Operand:
    token = peek(cursor)
    if token.kind == "name" and (token.text in ROOTS or token.text in cursor.variables):
        return read_path(cursor)
    advance(cursor)
    count_node(cursor, token)
    if token.kind == "string":
        return Literal(token.text)
    if token.kind in {"integer", "decimal"}:
        return Literal(read_number(token, sign=""))
    if token.kind == "symbol":
        return _read_symbol(cursor, token)
    if token.kind == "name":
        return _read_named(cursor, token)
    raise PredicateTextError(
        token.position, "the end where a value is expected", "add what it is compared with"
    )


def _read_symbol(cursor: Cursor, token: Token) -> Operand:
    if token.text == "-" and peek(cursor).kind in {"integer", "decimal"}:
        return Literal(read_number(advance(cursor), sign="-"))
    if token.text == "[":
        return Literal(_read_items(cursor, token, closing="]"))
    if token.text == "(":
        refuse(token.position, "a bracket around a value", "brackets group conditions only")
    raise PredicateTextError(
        token.position, f"{token.text!r} where a value is expected", "write a path or a literal"
    )


def _read_named(cursor: Cursor, token: Token) -> Operand:
    if token.text in {"true", "false"}:
        return Literal(token.text == "true")
    if token.text == "as_of":
        return AsOf()
    if token.text == "null":
        refuse(token.position, "null is compared with nothing", "write is_null(path), exists(path)")
    if token.text in {"sum", "count"}:
        return _read_aggregate(cursor, token)
    if token.text == "after":
        return _read_after(cursor, token)
    if token.text == "set":
        expect(cursor, "(", "set")
        items = _read_items(cursor, token, closing=")")
        if not all(isinstance(item, str) for item in items):
            refuse(token.position, "a set of something else than strings", "write a list: [1, 2]")
        return Literal(build_set(*(item for item in items if isinstance(item, str))))
    if token.text in LITERAL_NAMES:
        return Literal(_read_call_literal(cursor, token))
    raise PredicateTextError(
        token.position,
        f"{token.text!r} is no path and no value",
        f'write slots.{token.text}, or put text into double quotes: "{token.text}"',
    )


def _read_call_literal(cursor: Cursor, token: Token) -> Value:
    expect(cursor, "(", token.text)
    sign = ""
    if peek(cursor).text == "-" and peek(cursor).kind == "symbol":
        advance(cursor)
        sign = "-"
    value = read_named_literal(token, advance(cursor), sign=sign)
    expect(cursor, ")", token.text)
    return value


def _read_aggregate(cursor: Cursor, token: Token) -> Operand:
    expect(cursor, "(", token.text)
    path = read_path(cursor)
    expect(cursor, ")", token.text)
    return Sum(path) if token.text == "sum" else Count(path)


def _read_after(cursor: Cursor, token: Token) -> Operand:
    expect(cursor, "(", "after")
    argument = advance(cursor)
    if argument.kind == "string":
        name = "elapsed" if "T" in argument.text else "period"
        duration = read_named_literal(Token("name", name, token.position), argument, sign="")
    elif argument.kind == "name" and argument.text in {"period", "elapsed"}:
        duration = _read_call_literal(cursor, argument)
    else:
        refuse(argument.position, "no duration", 'write after("P30D") or after("PT720H")')
    expect(cursor, ")", "after")
    assert isinstance(duration, Period | Elapsed)
    return After(duration)


def _read_items(cursor: Cursor, opening: Token, *, closing: str) -> tuple[Value, ...]:
    items: list[Value] = []
    if peek(cursor).text == closing and peek(cursor).kind == "symbol":
        advance(cursor)
        return ()
    while True:
        token = peek(cursor)
        operand = _read_term(cursor)
        if not isinstance(operand, Literal) or isinstance(operand.value, tuple):
            refuse(token.position, "a list holds literals only", 'write ["phone", "post"]')
        items.append(operand.value)
        token = advance(cursor)
        if token.kind == "symbol" and token.text == closing:
            break
        if token.kind != "symbol" or token.text != ",":
            refuse(
                token.position, "a list without end", f"separate with , and close with {closing}"
            )
    kinds = {type(item).__name__.replace("Decimal", "int") for item in items}
    if len(kinds) > 1 or "StringSet" in kinds:
        refuse(opening.position, "a list of several types", "compare with one type at a time")
    return tuple(items)


__all__ = [
    "RESERVED",
    "Cursor",
    "advance",
    "count_node",
    "descend",
    "expect",
    "has_every",
    "peek",
    "read_operand",
    "read_path",
]
