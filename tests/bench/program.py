"""What the processes run and the driver times: one implementation of one workload.

Imported by the peers' interpreters, too: nothing but NumPy here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

Numbers = Mapping[str, float]


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Program:
    """One implementation, built and ready.

    step:    one training step (or forward and backward pass), as fast as its library does it.
    numbers: what the last step computed, to be compared with the other implementations.
    finish:  waits until what `step` started is done.
    feed:    copies its inputs there again from the host; None where nobody asks for that.
    facts:   what a reader of the timings may want to know.
    """

    step: Callable[[], object]
    numbers: Callable[[], Numbers]
    finish: Callable[[], object] = _nothing
    facts: Mapping[str, str] = field(default_factory=dict)
    feed: Callable[[], object] | None = None


def moved(now: Iterable[object], start: Iterable[np.ndarray]) -> float:
    """How far parameters are from where they started: the Euclidean norm of all the changes."""
    squares = 0.0
    for a, b in zip(now, start, strict=True):
        squares += float(np.sum((_exact(a) - _exact(b)) ** 2))
    return float(np.sqrt(squares))


def norm(x: object) -> float:
    """The Euclidean norm, in float64."""
    return float(np.sqrt(np.sum(_exact(x) ** 2)))


def weighted(x: object) -> float:
    """A sum that elements at other places would change: of each element times a number made of
    its place."""
    flat = _exact(x).ravel()
    return float(np.sum(flat * (1.0 + np.arange(flat.size) % 97 / 97.0)))


def host(x: object) -> object:
    """`x`; a tensor of PyTorch's as it is on the host, wherever it is."""
    return x.cpu() if hasattr(x, "cpu") else x


def _exact(x: object) -> np.ndarray:
    return np.asarray(host(x), np.float64)
