"""PrecisionMemBench over this pipeline: beliefs as evidence, cases as turns, peers behind LCV.

Beliefs enter as events, what a case retrieves is the Z* of a turn, and a peer's recorded
retrieval is a candidate that cites units. Cases are judged as the public harness judges them.
"""
