"""Evaluation on recorded data: imported histories through the pipeline, held against annotation.

Sources become events on a log of their own, the log is folded, and its outcomes are joined to
labels by turn. Nothing here decides, and no label is ever an event.
"""
