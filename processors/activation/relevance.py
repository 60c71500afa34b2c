"""Relevance by integer BM25 (spec 4.3): whole numbers from the first count to the millionth.

Here live the score and the published logarithm. Which units count, what the request wanted
and what was supplied are decided where the problem is formulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from processors.activation.problem import MILLION
from processors.activation.tokens import split_tokens

LOG_BITS: Final = 16
"""Fractional bits of the published logarithm and of every score."""

_MANTISSA_BITS: Final = 62


def measure_relevance(query: str, texts: Sequence[str]) -> tuple[int, ...]:
    """Give each text its relevance to the query: MILLION * bm25 // greatest bm25.

    The texts are the corpus. All are 0 when no text shares a token with the query.
    """
    scores = score_bm25(split_tokens(query), [split_tokens(text) for text in texts])
    best = max(scores, default=0)
    if best == 0:
        return (0,) * len(scores)
    return tuple([MILLION * score // best for score in scores])


def score_bm25(query: Sequence[str], corpus: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Score every document of a corpus by BM25 with k1 = 6/5 and b = 3/4, in 1/65536.

    With N documents of T tokens in all, of which df hold the term, and tf occurrences in a
    document of n tokens, each distinct term of the query adds

        floor(idf * 22*T*tf / (10*T*tf + 3*T + 9*n*N)),   idf = log2((2N + 2) / (2df + 1))

    which is idf * tf*(k1 + 1) / (tf + k1*(1 - b + b*n/(T/N))) in whole numbers.
    """
    terms = dict.fromkeys(query)
    named, none = frozenset(terms), dict[str, int]()
    counts = [
        none if named.isdisjoint(document) else _count_terms(document, terms) for document in corpus
    ]
    holding = dict.fromkeys(terms, 0)
    for count in counts:
        for term in count:
            holding[term] += 1
    documents, total = len(corpus), sum(map(len, corpus))
    weights = {
        term: 22 * total * log2_ratio(2 * documents + 2, 2 * held + 1)
        for term, held in holding.items()
        if held
    }
    scores = []
    for document, count in zip(corpus, counts, strict=True):
        if not count:
            scores.append(0)
            continue
        length = 3 * total + 9 * len(document) * documents
        scores.append(
            sum([weights[t] * tf // (10 * total * tf + length) for t, tf in count.items()])
        )
    return tuple(scores)


def _count_terms(document: Sequence[str], terms: dict[str, None]) -> dict[str, int]:
    count: dict[str, int] = {}
    for token in document:
        if token in terms:
            count[token] = count.get(token, 0) + 1
    return count


def log2_ratio(numerator: int, denominator: int) -> int:
    """Give log2(numerator / denominator) in 1/65536, by this published algorithm.

    1. e = floor(log2(numerator / denominator)), by bit lengths and one comparison.
    2. x = floor(numerator * 2^(62 - e) / denominator), so that 2^62 <= x < 2^63.
    3. Sixteen times: x = floor(x*x / 2^62); if x >= 2^63 the next bit is 1 and x is halved
       (rounded down), else it is 0.

    The answer is e * 65536 + the sixteen bits. Every step is in whole numbers and rounds down,
    so all implementations agree; it is exact to the last of the sixteen bits but where the
    true value lies within 2^-40 of the next one.

    Raises:
        ValueError: an argument is not positive.

    """
    if numerator <= 0 or denominator <= 0:
        raise ValueError(f"log2 of {numerator} / {denominator}: both must be positive")
    whole = numerator.bit_length() - denominator.bit_length()
    if numerator << max(0, -whole) < denominator << max(0, whole):
        whole -= 1
    shift = _MANTISSA_BITS - whole
    mantissa = (numerator << max(0, shift)) // (denominator << max(0, -shift))
    answer = whole
    for _ in range(LOG_BITS):
        mantissa = mantissa * mantissa >> _MANTISSA_BITS
        high = mantissa >> (_MANTISSA_BITS + 1)
        mantissa >>= high
        answer = answer << 1 | high
    return answer
