"""Laws of the text form: round trip, whole reading, and refusal of everything else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.limits import EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX
from processors.predicates.rendering import render
from processors.predicates.text import PredicateTextError, parse
from tests.predicate_trees import draw_expressions


def read(text):
    """Return the expression of a text, or the error that refuses it."""
    try:
        return parse(text)
    except PredicateTextError as error:
        return error


def is_proper(error, text):
    """Return whether an error names a place in the text, what is wrong, and the remedy."""
    return 0 <= error.position <= len(text) and error.detail != "" and error.remedy != ""


@settings(max_examples=300, deadline=None)
@given(draw_expressions())
def test_canonical_text_is_stable(expression):
    """Reading a canonical text and writing it again gives the same characters."""
    text = render(expression)
    found = read(text)

    if isinstance(found, PredicateTextError):
        # A random tree may say what no text may, such as an order of strings.
        assert is_proper(found, text)
    else:
        assert text == render(found)
        assert repr(expression) == repr(found)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    """Arbitrary characters are a predicate or an error with position and remedy."""
    found = read(text)

    assert not isinstance(found, PredicateTextError) or is_proper(found, text)


@settings(max_examples=300, deadline=None)
@given(draw_expressions(depth=2), st.data())
def test_a_damaged_text_is_read_or_refused(expression, data):
    """A text with one place cut out or doubled is a predicate or an error, never a crash."""
    text = render(expression)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 8)))
    for damaged in (text[:start] + text[end:], text[:end] + text[start:]):
        found = read(damaged)

        assert not isinstance(found, PredicateTextError) or is_proper(found, damaged)


@settings(max_examples=150, deadline=None)
@given(draw_expressions(depth=2), st.sampled_from((" extra", " ==", ")", "\n\nallow", ' "x"')))
def test_nothing_may_be_left_over(expression, rest):
    """A complete predicate followed by anything else is refused."""
    assert isinstance(read(render(expression) + rest), PredicateTextError)


@pytest.mark.parametrize("opening", ["(", "not ", "all d in slots.a: ", "[", "set("])
def test_nesting_is_bounded(opening):
    """A hostile nesting is refused before it can exhaust anything."""
    text = opening * 30_000

    with pytest.raises(PredicateTextError):
        parse(text[:65_000])


def test_depth_has_a_limit():
    """One level below the limit is read, the limit itself is refused."""
    inner = "slots.a == 1"

    assert inner == render(
        parse("(" * (EXPRESSION_DEPTH_MAX - 1) + inner + ")" * (EXPRESSION_DEPTH_MAX - 1))
    )
    with pytest.raises(PredicateTextError, match="nested deeper"):
        parse("(" * EXPRESSION_DEPTH_MAX + inner + ")" * EXPRESSION_DEPTH_MAX)


def test_size_has_a_limit():
    """An expression of too many parts is refused, whatever parts they are."""
    long_list = ", ".join(str(number) for number in range(EXPRESSION_NODES_MAX))

    with pytest.raises(PredicateTextError, match="parts"):
        parse(f"slots.a in [{long_list}]")
    with pytest.raises(PredicateTextError, match="parts"):
        parse(" and ".join(["slots.a == 1"] * (EXPRESSION_NODES_MAX // 3)))
