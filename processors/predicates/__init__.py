"""The predicate language: text, expressions, four-valued evaluation, lint and conflict (spec 2)."""
