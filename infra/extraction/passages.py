"""Which part of a text is the user's own statement: clauses with their places in the text.

Quotations, pasted documents, forged roles and texts whose letters cannot be trusted are left
out here, before anything is looked for; offsets are those of the text as it was sent.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

CHARACTERS_MAX: Final = 8_000
"""A longer text is a document; to read a part of it could cut an exception off its rule."""

_ROLE: Final = re.compile(
    r"^[ \t]*[\[(<*#]*(assistant|system|user|human|tool|bot|ai|agent|developer|function|model)"
    r"[\])>*]*[ \t]*[:>].*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_FORWARDED: Final = re.compile(
    r"^[ \t]*(-{2,}[ \t]*(original|forwarded) message|on .{3,80} wrote:|from:[ \t]).*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_FENCE: Final = re.compile(r"```.*?(```|\Z)", re.DOTALL)
_TAGGED: Final = re.compile(
    r"<([a-z][a-z0-9_-]{0,30})(?:\s[^<>]*)?>.*?(</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_QUOTED_LINE: Final = re.compile(r"^[ \t]*[>|].*$", re.MULTILINE)
_QUOTED: Final = re.compile(r'"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]')
_BRACED: Final = re.compile(r"\{.*\}", re.DOTALL)
_BREAK: Final = re.compile(
    r"(?<![ap]\.m)[.!?](?=\s|$)|[;\n]|\s[-\u2013\u2014]\s|(?:,\s*|\s)but\b|,\s*(?=(?:and\s+)?"
    r"(?:i|we|my|our|he|she|they|please|can|could|then)\b)|,?\s(?:and|so)\s(?=i\b|i'|we\b|my\b)",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(
    r"(?:and |so |then |or |oh,? |okay,? )*(?:(?:is|are|was|were)(?! there\b)|does|do (?:i|they)|"
    r"did|has|have i|can i|what|which|when|where|who|whose|why|how (?:many|much|long|old)|am i)\b"
    r"|.*\b(?:tell me|know|ask|wondering) (?:if|whether|what|when|where|how|which)\b",
    re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(
    r"(?:and |or |even )?(?:if|suppose|supposing|imagine|assuming|in case|whether|should)\b",
    re.IGNORECASE,
)
_BIDI: Final = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: ``text`` is lower case and begins at ``start`` of the utterance.

    ``asked``: a question about facts; ``supposed``: a condition. Neither states anything.
    ``questioned``: it ends in a question mark, and may still be a request.
    """

    start: int
    text: str
    asked: bool
    supposed: bool
    questioned: bool = False


def split_clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses that are the user's own words, in order; () for what cannot be trusted."""
    own = read_own(text)
    clauses = []
    start = 0
    for mark in (*_BREAK.finditer(own), None):
        end = len(own) if mark is None else mark.start()
        body = own[start:end]
        stripped = body.strip()
        if stripped:
            questioned = mark is not None and mark[0] == "?"
            clauses.append(
                Clause(
                    start=start + len(body) - len(body.lstrip()),
                    text=stripped,
                    asked=_ASKED.match(stripped) is not None and (questioned or mark is None),
                    questioned=questioned,
                    supposed=_SUPPOSED.match(stripped) is not None,
                )
            )
        start = end if mark is None else mark.end()
    return tuple(clauses)


def read_own(text: str) -> str:
    """Return the user's own words in lower case, all else blank; "" for what is not trusted."""
    if len(text) > CHARACTERS_MAX or not is_readable(text):
        return ""
    return _hide_foreign(lower(text))


def is_readable(text: str) -> bool:
    """Return whether letters are what they look like: no hidden, turned or mixed ones.

    A hidden character inside "never" would turn a rule into its opposite.
    """
    for place, char in enumerate(text):
        if char in _BIDI:
            return False
        kind = unicodedata.category(char)
        if kind == "Cc" and char not in "\t\n\r":
            return False
        around = text[max(0, place - 1) : place] + text[place + 1 : place + 2]
        if kind == "Cf" and any(near.isalnum() for near in around):
            return False
    return not any(_mixes_scripts(word) for word in re.findall(r"\w+", text))


def lower(text: str) -> str:
    """Return lower case of the same length, so that offsets stay what they were."""
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def _mixes_scripts(word: str) -> bool:
    if word.isascii():
        return False
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in word if char.isalpha()}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})


def _hide_foreign(text: str) -> str:
    for pattern in (_ROLE, _FORWARDED, _FENCE, _TAGGED, _BRACED, _QUOTED_LINE, _QUOTED):
        text = pattern.sub(lambda found: " " * len(found[0]), text)
    return text.replace("\u2019", "'")
