"""The text form: what is read, how it is written back, and what is refused with which words."""

import pytest

from processors.predicates.rendering import render
from processors.predicates.text import PredicateTextError, parse, parse_rule


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("slots.amount<=450.00", "slots.amount <= 450.00"),
        ("slots.amount le 450.00", "slots.amount <= 450.00"),
        ('slots.price <= money("100.00 EUR")', 'slots.price <= money("100.00 EUR")'),
        ('slots.ingredients excludes folded "x"', 'slots.ingredients excludes "x"'),
        ('slots.ingredients excludes word "x"', 'slots.ingredients excludes word "x"'),
        ('slots.name eq exact "A"', 'slots.name == "A"'),
        ('slots.name ne exact "A"', 'slots.name != exact "A"'),
        ('slots.tags == set("b", "a", "b")', 'slots.tags == set("a", "b")'),
        ('slots["unit price"] > 0', 'slots["unit price"] > 0'),
        ('slots["price"] > 0', "slots.price > 0"),
        ('slots.days[*] contains "x"', 'slots.days contains "x"'),
        ("slots.days[0].n == -5", "slots.days[0].n == -5"),
        ('all d in slots.days[*]: d.tags contains "v"', 'all d in slots.days: d.tags contains "v"'),
        ("sum(slots.items[*].price) <= 3.30", "sum(slots.items[*].price) <= 3.30"),
        ("slots.a == 1 and slots.b == 2 or slots.c == 3",
         "(slots.a == 1 and slots.b == 2) or slots.c == 3"),
        ("(slots.a == 1 and slots.b == 2) and slots.c == 3",
         "slots.a == 1 and slots.b == 2 and slots.c == 3"),
        ("not (slots.a == 1)", "not slots.a == 1"),
        ("slots.a == 1 unless slots.b == 2 or slots.c == 3",
         "slots.a == 1 unless (slots.b == 2 or slots.c == 3)"),
        ('slots.at >= as_of + period("P1Y2M3D")', 'slots.at >= as_of + period("P14M3D")'),
        ('slots.at >= after("PT1H30M")', "slots.at >= after(elapsed(5400000))"),
        ('slots.at >= timestamp("2026-11-09T09:00:00+01:00")',
         "slots.at >= timestamp(1794211200000)"),
        ('slots.n == decimal("450")', 'slots.n == decimal("450")'),
        ("slots.n == -0.0", "slots.n == 0.0"),
        ('slots.name == "jalapen\u0303o"', 'slots.name == "jalapeño"'),
        ('slots.name == "a\u202eb"', 'slots.name == "a\\u202eb"'),
        ('slots.name == "\\ud83e\\udd5c"', 'slots.name == "🥜"'),
        ('attested("policy-7")', 'attested("policy-7")'),
        ("unit.price == amended.price", "unit.price == amended.price"),
        ('state.home_city in ["A", "B"]', 'state.home_city in ["A", "B"]'),
    ],
)  # fmt: skip
def test_a_text_has_one_canonical_form(text, canonical):
    """However it is written, a predicate is confirmed in one form, and that form is stable."""
    assert canonical == render(parse(text))
    assert canonical == render(parse(canonical))


def test_an_exception_can_be_taken_apart():
    """A rule written with its exception in one text is split into both."""
    rule, exception = parse_rule("slots.a == 1 unless slots.b == 2")

    assert exception is not None
    assert ("slots.a == 1", "slots.b == 2") == (render(rule), render(exception))
    assert parse_rule("slots.a == 1")[1] is None


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", 0, "the end where a value is expected"),
        ("slots.a", 7, "a comparison is expected"),
        ("slots.a == null", 11, "is_null(path)"),
        ("slots.a = 1", 8, "write =="),
        ("slots.a == 'x'", 11, "double quotes"),
        ("slots.a == x", 11, 'double quotes: "x"'),
        ("amount <= 5", 0, "slots.amount"),
        ("slots <= 5", 6, "slots.price"),
        ('slots.price <= money("100")', 21, "without currency"),
        ("slots.a <= 1e3", 12, "1000, not 1e3"),
        ("slots.a <= 007", 11, "leading zero"),
        ("slots.a <= 9223372036854775808", 11, 'decimal("9223372036854775808")'),
        ('slots.a < "b"', 10, "order of strings"),
        ("slots.a == 1 && slots.b == 2", 13, "and, or, not"),
        ("slots.a == 1 slots.b == 2", 13, "left over"),
        ("(slots.a == 1", 13, "character 0 needs ')'"),
        ('slots.a not in ["x"]', 8, "not_in"),
        ("slots.a in 5", 11, "needs a list"),
        ('slots.a contains ["x"]', 17, "one item"),
        ('["x"] == slots.a[*].b', 9, "all d in"),
        ("slots.days[*].n <= 3", 0, "all d in"),
        ('slots.a in ["x", 1]', 11, "several types"),
        ("all slots in slots.days: slots.n == 1", 4, "is taken"),
        ("all d in slots.days: all d in d.x: d == 1", 25, "is taken"),
        ("d.n == 1", 0, "no path and no value"),
        ('slots.a == "open', 11, "without end"),
        ('slots.a == "\\ud800"', 11, "surrogate"),
        ('slots.a == "\\x"', 12, "escape"),
        ("slots.a == 1 # why", 13, "means nothing here"),
        ('slots.a == date("2026-02-30")', 16, 'date("2026-03-01")'),
        ('slots.a == timestamp("2026-03-01T11:30")', 21, "+01:00"),
        ('attested("")', 9, "name of a check"),
        ('slots.a excludes "pe\u0430nut"', 17, "mixes scripts"),
        ('slots.a excludes word "--"', 22, "no known word"),
    ],
)
def test_a_refusal_names_place_and_remedy(text, position, words):
    """What is no predicate is refused at the character that is wrong, in words for people."""
    with pytest.raises(PredicateTextError) as refused:
        parse(text)

    assert position == refused.value.position
    assert words in f"{refused.value.detail}; {refused.value.remedy}"
    assert str(refused.value).startswith(f"at character {position}: ")
