"""How many examples a property is tried on whose one example takes as long as many of others."""

from __future__ import annotations

from hypothesis import settings

_OF = 40  # the examples of a property where nothing is said: of the profile "dev"


def share(examples: int) -> int:
    """So many with the profile "dev", and as the profiles go with the others; at least two."""
    return max(2, examples * settings.default.max_examples // _OF)
