"""How often PyTorch was asked: what a check of the whole device counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Counts:
    """computed: calls of functions that work on tensors; waits: how often the host fetched
    elements, for which a device ends all that it was given before."""

    computed: int = 0
    waits: int = 0


COUNTS = Counts()
