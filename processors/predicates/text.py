"""The text form of predicates: read whole or refused with position and remedy (spec 2.3).

Grammar, loosest first::

    expression  = disjunction [ "unless" disjunction ]
    disjunction = conjunction { "or" conjunction }
    conjunction = condition { "and" condition }
    condition   = "not" condition | "(" expression ")" | quantified | call | comparison
    quantified  = ("all" | "any" | "none") NAME "in" path ":" disjunction
    call        = "exists" "(" path ")" | "is_null" "(" path ")" | "attested" "(" STRING ")"
    comparison  = operand operator [ "exact" | "folded" | "word" ] operand

Operands are ``operand_text``; every recursion is bounded by ``EXPRESSION_DEPTH_MAX``.
"""

from functools import lru_cache
from typing import Final

from processors.limits import PARSED_MAX
from processors.predicates.expression import (
    COLLECTION_LEFT,
    COLLECTION_RIGHT,
    EXCLUSIONS,
    ORDER_OPERATORS,
    And,
    Attested,
    Comparison,
    Exists,
    Expression,
    IsNull,
    Literal,
    Match,
    Minus,
    Not,
    Operand,
    Operator,
    Or,
    Path,
    Plus,
    Quantified,
    Quantifier,
    Unless,
    default_match,
    has_every,
)
from processors.predicates.operand_text import (
    RESERVED,
    Cursor,
    advance,
    count_node,
    descend,
    expect,
    peek,
    read_operand,
    read_path,
)
from processors.predicates.strings import fold, split_words
from processors.predicates.tokens import PredicateTextError, Token, is_name, refuse, split_tokens
from schemas.value import StringSet

__all__ = ["PredicateTextError", "parse", "parse_rule"]

_OPERATORS: Final = {
    "==": Operator.EQ, "eq": Operator.EQ, "!=": Operator.NE, "ne": Operator.NE,
    "<": Operator.LT, "lt": Operator.LT, "<=": Operator.LE, "le": Operator.LE,
    ">": Operator.GT, "gt": Operator.GT, ">=": Operator.GE, "ge": Operator.GE,
    "in": Operator.IN, "not_in": Operator.NOT_IN, "contains": Operator.CONTAINS,
    "excludes": Operator.EXCLUDES, "subset_of": Operator.SUBSET_OF,
    "disjoint_from": Operator.DISJOINT_FROM,
}  # fmt: skip
_MATCHES: Final = {match.value: match for match in Match}
_QUANTIFIERS: Final = {quantifier.value: quantifier for quantifier in Quantifier}
_MATCHED_OPERATORS: Final = (
    Operator.EQ, Operator.IN, Operator.CONTAINS, Operator.SUBSET_OF, *EXCLUSIONS
)  # fmt: skip


@lru_cache(maxsize=PARSED_MAX)
def parse(text: str) -> Expression:
    """Return the expression of a text; every character must belong to it.

    The last texts are kept parsed: admitting, linting and confirming a predicate all ask for it.

    Raises:
        PredicateTextError: with the position, what is wrong and the remedy.

    """
    cursor = Cursor(split_tokens(text))
    expression = _read_expression(cursor)
    rest = peek(cursor)
    if rest.kind != "end":
        refuse(
            rest.position,
            f"{rest.text!r} is left over after a complete predicate",
            "join conditions with and, or, unless; remove what does not belong",
        )
    return expression


def parse_rule(text: str) -> tuple[Expression, Expression | None]:
    """Return rule and exception of a text that may end in ``unless ...``.

    Raises:
        PredicateTextError: as ``parse``.

    """
    expression = parse(text)
    if isinstance(expression, Unless):
        return expression.rule, expression.exception
    return expression, None


def _read_expression(cursor: Cursor) -> Expression:
    rule = _read_disjunction(cursor)
    token = peek(cursor)
    if token.kind == "name" and token.text == "unless":
        advance(cursor)
        count_node(cursor, token)
        return Unless(rule, _read_disjunction(cursor))
    return rule


def _read_disjunction(cursor: Cursor) -> Expression:
    items = [_read_conjunction(cursor)]
    while _take_word(cursor, "or"):
        items.append(_read_conjunction(cursor))
    if len(items) == 1:
        return items[0]
    flat: list[Expression] = []
    for item in items:
        flat.extend(item.items if isinstance(item, Or) else (item,))
    return Or(tuple(flat))


def _read_conjunction(cursor: Cursor) -> Expression:
    items = [_read_condition(cursor)]
    while _take_word(cursor, "and"):
        items.append(_read_condition(cursor))
    if len(items) == 1:
        return items[0]
    flat: list[Expression] = []
    for item in items:
        flat.extend(item.items if isinstance(item, And) else (item,))
    return And(tuple(flat))


def _take_word(cursor: Cursor, word: str) -> bool:
    token = peek(cursor)
    if token.kind == "name" and token.text == word:
        count_node(cursor, token)
        advance(cursor)
        return True
    return False


def _read_condition(cursor: Cursor) -> Expression:
    token = peek(cursor)
    if token.kind == "symbol" and token.text == "(":
        advance(cursor)
        with descend(cursor, token):
            inner = _read_expression(cursor)
        expect(cursor, ")", f"the bracket opened at character {token.position}")
        return inner
    if token.kind == "name":
        if token.text == "not":
            advance(cursor)
            count_node(cursor, token)
            with descend(cursor, token):
                return Not(_read_condition(cursor))
        if token.text in _QUANTIFIERS:
            return _read_quantified(cursor)
        if token.text in {"exists", "is_null", "attested"}:
            return _read_call(cursor)
    return _read_comparison(cursor)


def _read_quantified(cursor: Cursor) -> Expression:
    quantifier = _QUANTIFIERS[advance(cursor).text]
    token = advance(cursor)
    count_node(cursor, token)
    if token.kind != "name" or not is_name(token.text):
        refuse(token.position, "no name for the item", "write all d in slots.days: ...")
    if token.text in RESERVED or token.text in cursor.variables:
        refuse(token.position, f"{token.text} is taken", "choose another name for the item")
    expect(cursor, "in", "a quantifier")
    domain = read_path(cursor)
    expect(cursor, ":", "a quantifier")
    cursor.variables.append(token.text)
    with descend(cursor, token):
        body = _read_disjunction(cursor)
    cursor.variables.pop()
    return Quantified(quantifier, token.text, domain, body)


def _read_call(cursor: Cursor) -> Expression:
    token = advance(cursor)
    count_node(cursor, token)
    expect(cursor, "(", token.text)
    if token.text == "attested":
        name = advance(cursor)
        if name.kind != "string" or not name.text:
            refuse(name.position, "no name of a check", 'write attested("policy-7")')
        expect(cursor, ")", token.text)
        return Attested(name.text)
    path = read_path(cursor)
    if has_every(path):
        refuse(token.position, f"{token.text} of several values", "write any d in ...: exists(d.x)")
    expect(cursor, ")", token.text)
    return Exists(path) if token.text == "exists" else IsNull(path)


def _read_comparison(cursor: Cursor) -> Expression:
    start = peek(cursor)
    left = read_operand(cursor)
    token = advance(cursor)
    operator = _OPERATORS.get(token.text) if token.kind in {"name", "symbol"} else None
    if operator is None:
        if token.text == "not" and peek(cursor).text == "in":
            refuse(token.position, "not in as two words", "write not_in")
        refuse(
            token.position,
            f"{token.text or 'the end'!r} where a comparison is expected",
            "write == != < <= > >= in not_in contains excludes subset_of disjoint_from",
        )
    count_node(cursor, token)
    match = _read_match(cursor, operator)
    at = peek(cursor)
    right = read_operand(cursor)
    comparison = Comparison(operator, left, right, match)
    _check_collections(comparison, start=start, at=at)
    _check_literals(comparison, at)
    return comparison


def _read_match(cursor: Cursor, operator: Operator) -> Match:
    token = peek(cursor)
    if token.kind != "name" or token.text not in _MATCHES:
        return default_match(operator)
    if operator not in _MATCHED_OPERATORS:
        refuse(token.position, f"{token.text} with {operator}", "order compares no strings")
    advance(cursor)
    return _MATCHES[token.text]


def _check_collections(comparison: Comparison, *, start: Token, at: Token) -> None:
    operator = comparison.operator
    if operator in COLLECTION_LEFT:
        if not isinstance(comparison.left, Path):
            refuse(start.position, f"{operator} needs a list on its left", "name a slot's list")
    elif _is_several(comparison.left):
        refuse(start.position, "[*] with a single comparison", "write all d in ...: d.x == ...")
    if operator in COLLECTION_RIGHT:
        if not (isinstance(comparison.right, Path) or _is_collection(comparison.right)):
            refuse(at.position, f"{operator} needs a list", 'write ["phone", "post"] or a path')
    elif _is_several(comparison.right):
        refuse(at.position, "[*] with a single comparison", "write all d in ...: d.x == ...")
    elif operator in COLLECTION_LEFT and _is_collection(comparison.right):
        refuse(at.position, f"{operator} needs one item", "for several: disjoint_from, subset_of")
    if operator in {Operator.IN, Operator.NOT_IN} and _is_collection(comparison.left):
        refuse(start.position, f"a list before {operator}", "write subset_of or disjoint_from")


def _is_several(operand: Operand) -> bool:
    if isinstance(operand, Plus | Minus):
        return _is_several(operand.left) or _is_several(operand.right)
    return isinstance(operand, Path) and has_every(operand)


def _is_collection(operand: Operand) -> bool:
    return isinstance(operand, Literal) and isinstance(operand.value, tuple | StringSet)


def _check_literals(comparison: Comparison, at: Token) -> None:
    for operand in (comparison.left, comparison.right):
        if not isinstance(operand, Literal):
            continue
        value = operand.value
        if comparison.operator in ORDER_OPERATORS and (
            isinstance(value, str | bool | tuple | StringSet)
        ):
            refuse(at.position, "an order of strings, truth values or lists", "use == or in")
        items = value.items if isinstance(value, StringSet) else value
        for item in items if isinstance(items, tuple) else (items,):
            if isinstance(item, str):
                _check_string(item, comparison.match, at)


def _check_string(text: str, match: Match, at: Token) -> None:
    """Refuse a string that could never be compared: nothing of it would be left (R14)."""
    if match is Match.FOLDED and fold(text) is None:
        refuse(
            at.position,
            f"{text!r} has unknown characters or mixes scripts, or nothing is left once folded",
            "write it in one script, or compare exact",
        )
    if match is Match.WORD and not split_words(text):
        refuse(at.position, f"{text!r} holds no known word", "write a word, or compare exact")
