"""Control records: what an operator puts in force for a whole partition (spec 1.7)."""

from dataclasses import dataclass

from schemas.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class Weights:
    """The five weights of J_t (spec 4); fixed priors (1, 2, 2, 1, 1)."""

    relevance: int
    coverage: int
    tail: int
    debt: int
    over: int


@dataclass(frozen=True, slots=True)
class PrincipalRights:
    """Rights of one operator."""

    principal_id: str
    confirm: bool
    operate: bool


@dataclass(frozen=True, slots=True)
class Genesis:
    """The first record of a partition: rules, catalogue, weights, budgets, rights, partitions."""

    ruleset: int
    catalogue: Catalogue
    weights: Weights
    budget_main: int
    budget_tail: int
    selector: str
    partitions: int
    rights: tuple[PrincipalRights, ...]
    authenticated: bool
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class RulesetActivated:
    """From here on decisions are made under this ruleset."""

    ruleset: int


@dataclass(frozen=True, slots=True)
class CatalogueActivated:
    """From here on turns are decided under this catalogue."""

    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class HistoryAttested:
    """An operator vouches for incomplete histories; None widens it to all users or tenants."""

    tenant: str | None
    user: str | None


@dataclass(frozen=True, slots=True)
class UserRefolded:
    """Releases a user halted by a core fault, after a rebuild."""

    tenant: str
    user: str


@dataclass(frozen=True, slots=True)
class ErasureCompleted:
    """The key store's receipt for an erasure."""

    tenant: str
    user: str
    event_ids: tuple[str, ...]
    receipt: str
