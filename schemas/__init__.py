"""The words: records, their published Avro schemas, the one codec, content-derived ids, topics.

Shapes and bytes live here; no rule does. Anything that decides belongs to ``processors``.
"""
