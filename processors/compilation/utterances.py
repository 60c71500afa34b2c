"""Where a user's plain utterances stand: their seqs, in blocks, so that finding the oldest reads
no event (spec 6.2).

The head keeps the places of the block that is being filled; a block moves to its TextsRow when
the first utterance of a later one comes. Places below ``oldest_text_seq`` have left.
"""

from typing import Final

from processors.compilation.draft import Draft
from processors.limits import TEXT_BLOCK
from schemas.row import TextsRow, render_seq

_PLACES: Final = tuple(bytes((place,)) for place in range(TEXT_BLOCK))


def note_text(draft: Draft, seq: int) -> None:
    """Note that the newest event is a plain utterance."""
    block, place = divmod(seq, TEXT_BLOCK)
    filling, places = read_filling(draft)
    if block != filling:
        if places:
            draft.changes[TextsRow, render_seq(filling)] = TextsRow(places)
        places = b""
    draft.filling = block, places + _PLACES[place]


def forget_text(draft: Draft, seq: int) -> None:
    """Note that a plain utterance was taken back."""
    block, place = divmod(seq, TEXT_BLOCK)
    left = read_block(draft, block).replace(_PLACES[place], b"")
    if block == read_filling(draft)[0]:
        draft.filling = block, left
    else:
        draft.changes[TextsRow, render_seq(block)] = TextsRow(left) if left else None


def take_oldest(draft: Draft, count: int) -> list[int]:
    """Return the seqs of at most so many of the oldest utterances before this event.

    They count as gone: the search begins behind the last that left, and whole blocks go with it.
    """
    found: list[int] = []
    block, place = divmod(draft.head.oldest_text_seq, TEXT_BLOCK)
    filling = read_filling(draft)[0]
    while len(found) < count and block <= filling:
        first = block * TEXT_BLOCK
        places = read_block(draft, block)
        ahead = [first + other for other in places if other >= place]
        found += [seq for seq in ahead if seq < draft.arrival.seq][: count - len(found)]
        if places and block < filling and (not ahead or ahead[-1] in found[-1:]):
            draft.changes[TextsRow, render_seq(block)] = None
        block, place = block + 1, 0
    return found


def read_filling(draft: Draft) -> tuple[int, bytes]:
    """Return the block that is being filled, and the places of its utterances."""
    return draft.filling or (draft.head.text_block, draft.head.text_places)


def read_block(draft: Draft, block: int) -> bytes:
    """Return the places of a block's utterances, ascending."""
    filling, places = read_filling(draft)
    if block == filling:
        return places
    row = draft.view.get(TextsRow, render_seq(block))
    return b"" if row is None else row.places
