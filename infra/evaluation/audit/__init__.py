"""The blinded audit: decisions of several variants judged by a model that knows none of them.

Cases are drawn and shuffled by a seed, sheets name no variant, and what the judge says is held
against the scorer before anyone believes it.
"""
