"""Which test states the right value of which public fault report; none may be missing.

A report is told where its fault would show: to the grammar of answers, the language of rules, the
whole core, the ledger or the codec. Several tests may name one report; here stands the main place.
"""

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
PLACES = {
    "reports_memory": "R01 R02 R04 R05 R07 R08 R10 R11 R13",
    "reports_turns": "R14 R16 R17 R19 R20 R22 R23 R25 R26",
    "reports_generation": "R28 R29 R31 R32 R34 R35 R37 R38 R40 R41 R43 R44",
    "reports_streaming": "R46 R47 R49 R50 R52",
    "reports_rebuilding": "R16 R53 R55 R56 R58 R59",
    "reports_schemas": "R61 R62 R64 R65 R67 R68",
    "reports_rules": "R70 R73 R74 R76 R77 R80 R82 R83",
    "lcv_check_reports": "R70 R71 R79 R80",
    "lcv_reports": "R02 R19 R26 R34 R37 R38 R40",
    "predicate_reports": "R14 R19 R23 R26 R34 R70 R71 R76 R77 R79 R80 R82",
    "predicate_report_numbers": "R73 R74 R83",
    "activation_reports": "R17 R22",
}
REPORTS = (
    "R01", "R02", "R04", "R05", "R07", "R08", "R10", "R11", "R13", "R14", "R16", "R17",
    "R19", "R20", "R22", "R23", "R25", "R26", "R28", "R29", "R31", "R32", "R34", "R35",
    "R37", "R38", "R40", "R41", "R43", "R44", "R46", "R47", "R49", "R50", "R52", "R53",
    "R55", "R56", "R58", "R59", "R61", "R62", "R64", "R65", "R67", "R68", "R70", "R71",
    "R73", "R74", "R76", "R77", "R79", "R80", "R82", "R83",
)  # fmt: skip
LATER: dict[str, str] = {}


def read_tests(place):
    """Return the tests of a module: what each says of itself, and how it is marked."""
    tree = ast.parse((FOLDER / f"test_{place}.py").read_text("utf-8"))
    return {
        node.name: (
            f"{node.name} {ast.get_docstring(node)}",
            [ast.unparse(one) for one in node.decorator_list],
        )
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


TESTS = {place: read_tests(place) for place in PLACES}


def names(report, text):
    """Return whether a test's name or docstring names a report."""
    return bool(re.search(rf"\b{report}\b|test_{report.lower()}_", text))


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_is_stated_where_the_index_says(report):
    """Each of the 56 has a test in each place that the index names."""
    places = [place for place, listed in PLACES.items() if report in listed.split()]

    assert places
    for place in places:
        assert [name for name, (text, _) in TESTS[place].items() if names(report, text)], place


def test_the_index_is_whole():
    """56 reports, and no other id in the index."""
    listed = {report for line in PLACES.values() for report in line.split()}

    assert 56 == len(REPORTS) == len(set(REPORTS))
    assert set(REPORTS) == listed


def test_nothing_is_skipped_and_what_must_wait_says_for_what():
    """A test that is expected to fail names the capability; every report has one that passes."""
    waiting = {}
    for tests in TESTS.values():
        for text, marks in tests.values():
            assert not [mark for mark in marks if "skip" in mark]
            for mark in marks:
                if "xfail" in mark:
                    (report,) = [one for one in REPORTS if names(one, text)]
                    assert "strict=True" in mark
                    waiting[report] = re.search(r"reason='([^']+)'", mark)[1]

    assert LATER == waiting
    for report in LATER:
        assert [
            text
            for tests in TESTS.values()
            for text, marks in tests.values()
            if names(report, text) and not any("xfail" in mark for mark in marks)
        ]
