"""Foreign histories as events: one pure generator per format, nothing else.

An importer reads files and yields events in log order; it appends nothing, decides nothing and
asks the core nothing. What the annotation says should happen is a label beside the events.
"""
