"""What stands on the topics of an encrypted log in place of an event or an output (spec 7.5).

Only the tenant, pseudonyms and ciphertext; the keys are outside the log.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SealedEvent:
    """An event under the data key that ``reference`` names; ``pseudonym`` stands for its user."""

    tenant: str
    pseudonym: bytes
    reference: bytes
    sealed: bytes


@dataclass(frozen=True, slots=True)
class SealedOutput:
    """The framed record of an output topic under the data key that ``reference`` names."""

    tenant: str
    reference: bytes
    sealed: bytes
