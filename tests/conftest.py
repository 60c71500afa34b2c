"""What holds for every test: how long one takes says nothing about what it states."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
