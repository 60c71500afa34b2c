"""The command line: one file for each group of commands; no rule and no wiring lives here."""
