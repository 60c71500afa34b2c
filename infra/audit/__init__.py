"""Audit: replay a history and compare, explain a decision. Reads logs; never writes one."""
