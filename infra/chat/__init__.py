"""A conversation in the terminal: what is said, and beside it what it does to the contract.

This is an edge that holds the user's own channel, so a plain "yes" to the question just shown
counts as an answer here and nowhere else.
"""
