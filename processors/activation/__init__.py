"""Evidence activation (CBEA): which units a turn may read, under two budgets, and why.

Integers in, integers out: problem -> selection, with terms, reasons and a certified bound.
Nothing here knows events, rows, packets or candidates; those shapes stay with their modules.
"""
