"""Tokens and relevance: any text, whole numbers, the published formula (spec 4.3)."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.activation.problem import MILLION
from processors.activation.relevance import log2_ratio, measure_relevance, score_bm25
from processors.activation.tokens import fold_text, split_tokens

WORDS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), max_size=12)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Convert 14 inches!", ("convert", "14", "inches")),
        ("", ()),
        ("  \t\n --- ", ()),
        ("don't", ("don", "t")),
        ("STRASSE straße", ("strasse", "strasse")),
        ("ﬁne ½\u210bello", ("fine", "1", "2hello")),
        ("zero\u200bwidth so\u00adft", ("zerowidth", "soft")),
        ("e\u0301te\u0301", ("été",)),
        ("東京タワー", ("東京", "京タ", "タワ", "ワー")),
        ("東", ("東",)),
        ("go東京go", ("go", "東京", "go")),
        ("서울역", ("서울", "울역")),
        ("नमस्ते दुनिया", ("नमस्ते", "दुनिया")),
        ("a_b.c@d", ("a", "b", "c", "d")),
        ("1,234.50", ("1", "234", "50")),
    ],
)
def test_a_text_splits_into_folded_tokens(text, tokens):
    """Words are folded runs of letters, marks and digits; Han, Kana, Hangul give bigrams."""
    assert tokens == split_tokens(text)


@given(st.text())
def test_any_text_has_tokens_and_folding_is_stable(text):
    """Folding twice changes nothing, tokens are never empty and hold no separator."""
    assert fold_text(text) == fold_text(fold_text(text))
    assert all(token and not any(map(str.isspace, token)) for token in split_tokens(text))
    assert split_tokens(text) == split_tokens(text.replace("\u200b", ""))


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_is_the_long_way(text):
    """ASCII text has the tokens that it has beside a character that is not ASCII."""
    assert (*split_tokens(text), "é") == split_tokens(text + " é")


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_the_published_logarithm_is_the_logarithm(numerator, denominator):
    """log2_ratio rounds log2 down to sixteen bits, and agrees with exact powers."""
    error = math.log2(numerator / denominator) - log2_ratio(numerator, denominator) / 65_536

    assert -1e-9 <= error < 1 / 65_536 + 1e-9
    assert 65_536 * 7 == log2_ratio(numerator << 7, numerator)
    assert -65_536 * 7 == log2_ratio(denominator, denominator << 7)


def test_published_values_of_the_logarithm():
    """The values that another implementation must reproduce."""
    assert [0, 103_872, 68_199, -103_873, 1_310_720] == [
        log2_ratio(*pair) for pair in ((1, 1), (3, 1), (72, 35), (1, 3), (1 << 20, 1))
    ]
    with pytest.raises(ValueError, match="must be positive"):
        log2_ratio(0, 1)


@given(st.lists(st.sampled_from("abcdefg"), max_size=5), WORDS)
def test_bm25_is_the_textbook_formula(query, corpus):
    """Scores are those of the fraction formula with k1 = 6/5 and b = 3/4, rounded down."""
    k1, b, total = Fraction(6, 5), Fraction(3, 4), sum(map(len, corpus))
    expected = []
    for document in corpus:
        score = 0
        for term in dict.fromkeys(query):
            tf = document.count(term)
            if tf:
                held = sum(term in other for other in corpus)
                idf = log2_ratio(2 * len(corpus) + 2, 2 * held + 1)
                length = Fraction(len(document) * len(corpus), total)
                score += math.floor(idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length)))
        expected.append(score)

    assert tuple(expected) == score_bm25(query, corpus)


def test_the_best_text_has_relevance_one_and_strangers_none():
    """Relevance is a share of the best score; without a shared token all are 0."""
    texts = ("I like green tea", "14 inches of rain", "inches to centimetres, please")

    measured = measure_relevance("Convert 14 inches to centimetres.", texts)

    assert (0, MILLION) == (measured[0], max(measured))
    assert 0 < measured[1] < MILLION == measured[2]
    assert (0, 0, 0) == measure_relevance("quantum", texts)
    assert () == measure_relevance("quantum", ())
    assert (0, 0) == measure_relevance("", ("", "..."))
