"""Strings and instants: the rules that need tables of characters and of zones."""

from datetime import UTC, date, datetime, timedelta

import pytest

from processors.predicates.instants import (
    UNIVERSAL,
    add_period,
    find_zone,
    shift_date,
    to_instant,
    to_local,
)
from processors.predicates.strings import contains_words, equal_exact, fold, split_words
from schemas.value import Period


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Straße", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("ﬁsh", "fish"),
        ("ＡＢＣ１", "abc1"),  # noqa: RUF001 - full-width letters
        ("a\u00adb\u2060c\ufe0f", "abc"),
        ("🥜\ufe0f", "🥜"),
        ("Łódź", "łódź"),
        ("日本語テキスト", "日本語テキスト"),
        ("Tシャツ", "tシャツ"),
        ("μ-opioid", "μ-opioid"),
        ("", ""),
        ("a\tb", "a\tb"),
        ("p\u0430ypal", None),
        ("αlpha", None),  # noqa: RUF001 - a Greek letter
        ("a\x00b", None),
        ("a\ufffdb", None),
        ("\U000e0080", None),
        ("\u200b", None),
    ],
)
def test_folding_removes_what_people_do_not_see(text, folded):
    """Width, case and invisible characters go; unknown characters and mixed scripts stop it."""
    assert folded == fold(text)


def test_folding_twice_changes_nothing():
    """The folded form is its own folded form."""
    for code in range(0x20, 0x2FFF):
        once = fold(chr(code))
        assert once is None or once == fold(once)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Peanut-oil, 2%", ("peanut", "oil", "2")),
        ("落花生油", ("落", "花", "生", "油")),
        ("땅콩 버터", ("땅콩", "버터")),
        ("don't", ("don", "t")),
        ("a🥜b", ("a", "🥜", "b")),
        ("p\u0430ypal", None),
    ],
)
def test_words_are_runs_of_letters(text, words):
    """Tokens are runs of letters and digits; signs and unspaced scripts stand alone."""
    assert words == split_words(text)


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("peanut oil", "peanut", True),
        ("peanut oil", "PEANUT OIL", True),
        ("peanut and oil", "peanut oil", False),
        ("peanuts", "peanut", False),
        ("落花生油", "落花生", True),
        ("", "peanut", False),
        ("p\u0435anut", "peanut", None),
    ],
)
def test_a_word_is_found_whole(text, wanted, expected):
    """A word matches whole tokens in a row, never a part of one."""
    assert expected is contains_words(text, wanted)


def test_exact_means_the_composed_form():
    """Composed and decomposed accents are the same string; case and width are not."""
    assert equal_exact("e\u0301", "é")
    assert not equal_exact("E", "e")


BERLIN = find_zone("Europe/Berlin")


@pytest.mark.parametrize(
    ("local", "instant"),
    [
        (datetime(2026, 3, 29, 1, 59), datetime(2026, 3, 29, 0, 59, tzinfo=UTC)),  # noqa: DTZ001
        (datetime(2026, 3, 29, 2, 30), datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),  # noqa: DTZ001
        (datetime(2026, 3, 29, 3, 0), datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),  # noqa: DTZ001
        (datetime(2026, 10, 25, 2, 30), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),  # noqa: DTZ001
    ],
)
def test_skipped_times_lie_later_and_double_times_earlier(local, instant):
    """A skipped local time keeps the offset before the change; a double one is the first."""
    milliseconds = (instant - UNIVERSAL) // timedelta(milliseconds=1)

    assert milliseconds == to_instant(local, BERLIN)


@pytest.mark.parametrize(
    ("day", "period", "expected"),
    [
        (date(2026, 1, 31), Period(1, 0), date(2026, 2, 28)),
        (date(2024, 1, 31), Period(1, 0), date(2024, 2, 29)),
        (date(2026, 3, 31), Period(-1, 0), date(2026, 2, 28)),
        (date(2026, 1, 31), Period(1, 1), date(2026, 3, 1)),
        (date(2024, 2, 29), Period(12, 0), date(2025, 2, 28)),
        (date(2026, 12, 15), Period(1, 20), date(2027, 2, 4)),
    ],
)
def test_a_month_ends_on_its_last_day(day, period, expected):
    """Months come first and end on the last day they have; then the days are added."""
    assert expected == shift_date(day, period)


def test_no_duration_is_no_move():
    """A duration of nothing leaves even the second of two equal local times where it is."""
    second = to_instant(datetime(2026, 10, 25, 2, 30), BERLIN) + 3_600_000  # noqa: DTZ001

    assert datetime(2026, 10, 25, 2, 30) == to_local(second, BERLIN)  # noqa: DTZ001
    assert second == add_period(second, Period(0, 0), BERLIN)


@pytest.mark.parametrize(
    "name",
    ["", "Europe", "Europe/", "../../etc/passwd", "/etc/localtime", "Europe/Atlantis", "zones",
     "+25:00", "+2:00", "+02:60", "x" * 100, "Europe\\Berlin", "tzdata.zi", "+\uff112:00"],
)  # fmt: skip
def test_an_unknown_zone_is_none(name):
    """Only names in the zone tables of the package and plain offsets are zones."""
    assert find_zone(name) is None


@pytest.mark.parametrize("name", ["UTC", "America/Argentina/Buenos_Aires", "-03:30", "Etc/GMT+5"])
def test_known_zones_are_found(name):
    """Names of the tables and fixed offsets are zones."""
    assert find_zone(name) is not None
