"""Cotangents by which a wrong rule can be told from a right one.

What a rule returns is held to differences as well as these can tell. A cotangent of 1e-15, behind
units that are saturated, is less than that, and so is 0: whatever a rule makes of it is right.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.graph.number_kinds import kind_of

_LEAST = 1e-7  # less of a cotangent, and differences tell nothing of what is made of it
_SHARE = 1e-5  # and less of the largest one
_FROM, _TO = 0.3, 1.0  # of the numbers in its place, which no gradient is clipped at

Cotangents = Mapping[int, np.ndarray]  # by output


def largest(cotangents: Cotangents) -> float:
    """The magnitude of the largest element; NaN where one is NaN."""
    parts = (np.max(np.abs(each), initial=0.0) for each in cotangents.values())
    return float(np.max([float(part) for part in parts], initial=0.0))


def vanishes(cotangents: Cotangents) -> bool:
    """Whether all of it is too small to tell anything."""
    return largest(cotangents) < _LEAST


def find_telling(cotangents: Cotangents) -> Cotangents:
    """The same, and where it is too small numbers of its own size, by chance, but each time the
    same: of order one, where all of it is too small. The very same where all of it tells, or holds
    what is no number."""
    size = largest(cotangents)
    if not np.isfinite(size) or not _is_small(cotangents, size):
        return cotangents
    size = 1.0 if size < _LEAST else size
    rng = np.random.default_rng(0)
    return {index: _filled(each, size, rng) for index, each in cotangents.items()}


def _is_small(cotangents: Cotangents, size: float) -> bool:
    return any(bool(_too_small(each, size).any()) for each in cotangents.values())


def _too_small(cotangent: np.ndarray, size: float) -> np.ndarray:
    return np.asarray(np.abs(cotangent) < max(_LEAST, _SHARE * size))


def _filled(cotangent: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    numbers = size * _drawn(cotangent, rng)
    small = _too_small(cotangent, size)
    return np.where(small, numbers.astype(cotangent.dtype), cotangent)


def _drawn(like: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    signs = rng.choice([-1.0, 1.0], like.shape)
    numbers = np.asarray(signs * rng.uniform(_FROM, _TO, like.shape))
    return numbers * (0.6 + 0.8j) if kind_of(like.dtype) == "c" else numbers
