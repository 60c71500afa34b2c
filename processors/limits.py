"""Every bound by name, with its reason; relations are asserted on import."""

from typing import Final

EVENT_BYTES_MAX: Final = 262_144  # Spec 6.2; an event over it is rejected unread.
OUTPUT_BYTES_MAX: Final = 900_000  # Spec 6.2; under Kafka's default message size.
UNITS_MAX: Final = 20_000  # Per user; the oldest plain utterances leave first.
HINTS_MAX: Final = 20_000  # Statements of hints per user; as many as units.
PROPOSALS_MAX: Final = 4_096  # Open per user; what a turn reads stays bounded.
PREDICATES_MAX: Final = 512  # In force per user.
PENDING_TURNS_MAX: Final = 64  # Per user.
CANDIDATES_MAX: Final = 64  # Per answer; equal digests count once.
PACKETS_PER_TURN_MAX: Final = 2  # Spec 5.4.
QUESTIONS_PER_EPISODE_MAX: Final = 8  # Spec 5.9.
SWAPS_MAX: Final = 64  # Spec 4.2, in result mode.
COVER_NODES_MAX: Final = 300  # Settled every seeded instance; about 2 ms at the worst.
RESTARTS_MAX: Final = 64  # Of greedy in result mode, as many as swaps ...
RESTART_VISITS_MAX: Final = 2_400  # ... and units visited by them: about 2 ms.
RESTARTS_MIN: Final = 8  # Fewer find nothing; many units leave greedy little to win.
RESERVE_EXACT_MAX: Final = 65_536  # Tail budget packed exactly: one bit per cost unit.
BOUND_STEPS_TURN: Final = 3  # Subgradient steps of the certificate: tighter, not truer ...
BOUND_STEPS_RESULT: Final = 12  # ... at some 0.1 ms a step with 500 units ...
BOUND_VISITS_MAX: Final = 1_000  # ... and never more units visited than this.
TOKEN_CACHE_MAX: Final = 65_536  # Texts whose tokens are kept: three users' units.
LEFT_OUT_MAX: Final = 32  # Units not taken that a packet names.
SEEN_EVENTS_MIN: Final = 4_096  # Spec 1.4: the window of event ids ...
SEEN_WINDOW_MS: Final = 7 * 86_400_000  # ... or this long, whichever is longer ...
SEEN_EVENTS_MAX: Final = 65_536  # ... but never more than this.
AMENDABLE_MAX: Final = 16  # Commitments that one packet shows; the newest.
ORDER_BLOCK: Final = 32  # Event ids per OrderRow; bounds the head row.
TEXT_BLOCK: Final = 32  # Seqs in a row that one TextsRow speaks of; a place is one byte.
AHEAD_MS_MAX: Final = 300_000  # Spec 1.5: five minutes before the append timestamp.
DEADLINE_AT_MS_MAX: Final = 10**16 - 1  # Sixteen digits in the id of a DeadlineRow.
IDENTIFIER_CHARACTERS_MAX: Final = 512  # Event, user, turn and predicate ids.
EXPRESSION_NODES_MAX: Final = 256  # Spec 2.3; bounds the cost of every evaluation.
EXPRESSION_DEPTH_MAX: Final = 16  # Spec 2.3; bounds every recursion over an expression.
EXPRESSION_STRING_MAX: Final = 1_000  # Characters of one string or name.
EXPRESSION_TEXT_MAX: Final = 65_536  # A full tree of ordinary strings, far below any event.
EXPRESSION_TOKENS_MAX: Final = 4_096  # Sixteen for each node.
EVALUATION_STEPS_MAX: Final = 100_000  # List items looked at by one predicate; about 50 ms.
PARSED_MAX: Final = 1_024  # Texts kept parsed: two full contracts.
COMPILED_MAX: Final = 16_384  # Texts kept compiled: thirty-two full contracts.
FOLDED_MAX: Final = 65_536  # Folded strings kept; ingredients, names and places repeat.
CONFLICT_WORK_MAX: Final = 100_000  # Atoms looked at for one group; about a quarter second.

assert EXPRESSION_TOKENS_MAX == 16 * EXPRESSION_NODES_MAX
assert COMPILED_MAX >= 32 * PREDICATES_MAX
assert EXPRESSION_TEXT_MAX < EVENT_BYTES_MAX
assert SEEN_EVENTS_MIN % ORDER_BLOCK == 0
assert SEEN_EVENTS_MIN < SEEN_EVENTS_MAX
assert EVENT_BYTES_MAX < OUTPUT_BYTES_MAX
