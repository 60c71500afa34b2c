"""The rules, pure and value to value: fold, activate (CBEA), validate (LCV), decide.

No clock, randomness, float, input, output or logging; the linter proves it.
"""
