"""Lexicographic validation (LCV): support, verdicts, the vector nu, S, delta, repair, texts.

Structured candidates come in, exactly one outcome goes out. How predicates are evaluated is
``processors.predicates``; which evidence was activated is ``processors.activation``.
"""
