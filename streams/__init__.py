"""The wiring: the ledger, its two logs, the rows, ownership and services. No rule lives here."""
