"""Backfill: what a history would have come to under other settings, as tables (spec 7.2)."""
