"""Extraction: what a user's own words may mean, as proposals; nothing here confirms anything.

Pure functions from one utterance and the catalogue to events: no clock, no network, no state.
Reading a log is ``runs``; everything else is words, spans and values.
"""
