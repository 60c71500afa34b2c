"""Rows in memory as the core's view of them, for tests of the fold."""

from dataclasses import dataclass, field

from schemas.row import KIND_OF, PARTITION_KINDS


class Rows:
    """Rows of users and of the partition in dictionaries; ``view`` is one user's."""

    def __init__(self):
        self.tables = {}

    def view(self, tenant="acme", user="ada"):
        return RowView(self, tenant, user)

    def table(self, record, tenant, user):
        owner = ("", "") if KIND_OF[record] in PARTITION_KINDS else (tenant, user)
        return self.tables.setdefault((*owner, record), {})

    def apply(self, tenant, user, changes):
        for (record, row_id), row in changes.items():
            table = self.table(record, tenant, user)
            if row is None:
                table.pop(row_id, None)
            else:
                table[row_id] = row

    def snapshot(self):
        """Return every row, for comparing two ways to the same state."""
        return {
            (*key[:2], key[2].__name__, row_id): row
            for key, table in self.tables.items()
            for row_id, row in table.items()
        }


@dataclass(frozen=True)
class RowView:
    """A ``processors.view.View`` over ``Rows`` that notes what is read."""

    rows: Rows
    tenant: str
    user: str
    reads: list = field(default_factory=list)

    def get(self, record, row_id):
        self.reads.append((record, row_id))
        return self.rows.table(record, self.tenant, self.user).get(row_id)

    def scan(self, record, prefix=""):
        self.reads.append((record, f"{prefix}*"))
        table = self.rows.table(record, self.tenant, self.user)
        return sorted((row_id, row) for row_id, row in table.items() if row_id.startswith(prefix))
