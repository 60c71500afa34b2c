"""Evaluation: the paper's protocol over this pipeline, scored against labels kept apart.

Fixtures are histories of events; every variant runs them through a log of its own, and only the
scorer opens the labels. Nothing here decides: decisions are the pipeline's.
"""
