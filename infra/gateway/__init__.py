"""The gateway: the control point as functions and as a small HTTP endpoint, for any agent.

Events and candidates go in, a commitment or a repair act comes out. No rule lives here.
"""
