"""The canonical text of an expression: ``render(parse(text))`` is stable and readable.

The same expression always gives the same characters, so its digest can be confirmed. Invisible
characters in strings are written as escapes, so that people see what they confirm.
"""

import json
import unicodedata
from datetime import date, datetime, time
from decimal import Decimal
from typing import Final

from processors.predicates.expression import (
    EVERY,
    After,
    And,
    AsOf,
    Attested,
    Comparison,
    Count,
    Exists,
    Expression,
    IsNull,
    Literal,
    Minus,
    Not,
    Operand,
    Or,
    Path,
    Plus,
    Quantified,
    Sum,
    Unless,
    default_match,
)
from processors.predicates.tokens import is_name
from schemas.value import Elapsed, Money, Period, StringSet, Timestamp, Value
from schemas.value_json import render_decimal, render_local, render_period, render_time

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})


def render(expression: Expression) -> str:
    """Return the canonical text; parsing it gives an expression of the same text."""
    match expression:
        case Unless(rule=rule, exception=exception):
            return f"{_group(rule)} unless {_group(exception)}"
        case Or(items=items):
            return " or ".join(_group(item) for item in items)
        case And(items=items):
            return " and ".join(_group(item) for item in items)
        case Not(item=item):
            return f"not {_group(item)}"
        case Quantified(quantifier=quantifier, variable=variable, domain=domain, body=body):
            text = render(body) if not isinstance(body, Unless) else _group(body)
            return f"{quantifier} {variable} in {render_path(domain)}: {text}"
        case Exists(path=path):
            return f"exists({render_path(path)})"
        case IsNull(path=path):
            return f"is_null({render_path(path)})"
        case Attested(check=check):
            return f"attested({render_string(check)})"
        case Comparison(operator=operator, left=left, right=right, match=match):
            word = "" if match is default_match(operator) else f"{match} "
            return f"{render_operand(left)} {operator} {word}{render_operand(right)}"


def _group(item: Expression) -> str:
    # Brackets around every mixture: a reader need not know which word binds tighter.
    text = render(item)
    return f"({text})" if isinstance(item, And | Or | Unless | Quantified) else text


def render_operand(operand: Operand) -> str:
    """Return the canonical text of one operand."""
    match operand:
        case Literal(value=value):
            return render_literal(value)
        case Path():
            return render_path(operand)
        case AsOf():
            return "as_of"
        case After(duration=duration):
            return f"after({render_literal(duration)})"
        case Sum(path=path):
            return f"sum({render_path(path)})"
        case Count(path=path):
            return f"count({render_path(path)})"
        case Plus(left=left, right=right):
            return f"{render_operand(left)} + {render_operand(right)}"
        case Minus(left=left, right=right):
            return f"{render_operand(left)} - {render_operand(right)}"


def render_path(path: Path) -> str:
    """Return the canonical text of a path."""
    parts = [path.root]
    for step in path.steps:
        if step is EVERY:
            parts.append("[*]")
        elif isinstance(step, int):
            parts.append(f"[{step}]")
        else:
            assert isinstance(step, str)
            parts.append(f".{step}" if is_name(step) else f"[{render_string(step)}]")
    return "".join(parts)


def render_literal(value: Value) -> str:
    """Return the canonical text of a literal; its type can be read from it."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return render_string(value)
        case Decimal():
            digits = render_decimal(value)
            return digits if "." in digits else f'decimal("{digits}")'
        case Money():
            return f'money("{render_decimal(value.amount)} {value.currency}")'
        case datetime():
            return f'local("{render_local(value)}")'
        case date():
            return f'date("{value.isoformat()}")'
        case time():
            return f'time("{render_time(value)}")'
        case Timestamp():
            return f"timestamp({value.at_ms})"
        case Elapsed():
            return f"elapsed({value.duration_ms})"
        case Period():
            return f'period("{render_period(value)}")'
        case StringSet():
            return f"set({', '.join(render_string(item) for item in value.items)})"
        case tuple():
            return f"[{', '.join(render_literal(item) for item in value)}]"
    raise TypeError(f"no literal: {type(value).__name__}")


def render_string(text: str) -> str:
    """Return a quoted string, what cannot be seen written as escapes."""
    if text.isascii():
        return json.dumps(text)
    return '"' + "".join(_render_character(character) for character in text) + '"'


def _render_character(character: str) -> str:
    if character != " " and unicodedata.category(character) in _INVISIBLE:
        return json.dumps(character)[1:-1]
    return json.dumps(character, ensure_ascii=False)[1:-1]
