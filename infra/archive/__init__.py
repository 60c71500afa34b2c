"""Archives: a log and what was decided on it, as files that anyone can check and replay."""
