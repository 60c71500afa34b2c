"""The fold: what an event does to contract, state and evidence; and reading them back for a turn.

Admission comes first and may reject; folding never fails. How evidence is chosen is
``activation``, what may be committed is ``validation``, and the order is ``decision``.
"""
