"""Backends: whatever can answer a prompt, behind the one port of ``port``."""
