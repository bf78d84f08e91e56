"""Where and how far one node's two results are apart: elements, ULPs, and what is not finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.io.native.tensor_json import number_to_json
from gradstep.core.protocol.messages import ElementPair, NodeDifference
from gradstep.gpu.tensor_distance import comparable, identical, ulp_distance

_WORST = 5
_SAMPLE = 1 << 18
_MASKED = 1024


@np.errstate(over="ignore", invalid="ignore")
def detail_of(
    output: int, left: np.ndarray, right: np.ndarray, reference: np.ndarray | None
) -> NodeDifference | None:
    """None for results that are the same, no numbers, or of two shapes."""
    if not comparable(left, right) or left.dtype != right.dtype or identical(left, right).all():
        return None
    if reference is not None and reference.shape != left.shape:
        reference = None
    lost_left, lost_right = _lost(left), _lost(right)
    return NodeDifference(
        output=output,
        worst=[_pair(at, left, right, reference) for at in _worst(left, right)],
        ulps=_histogram(left, right),
        nonfinite_left=int(np.count_nonzero(lost_left & ~lost_right)),
        nonfinite_right=int(np.count_nonzero(lost_right & ~lost_left)),
        nonfinite_both=int(np.count_nonzero(lost_left & lost_right)),
        mask=_mask(lost_left, lost_right),
    )


def plain(x: Any) -> Any:
    """A number as JSON can carry it: NaN and infinities are words."""
    if isinstance(x, float):
        return number_to_json(x)
    return x if isinstance(x, bool | int | float) else str(x)


def _worst(left: np.ndarray, right: np.ndarray) -> list[tuple[int, ...]]:
    """The places that differ most, the worst first; in pieces, so that memory stays bounded."""
    a, b = left.reshape(-1), right.reshape(-1)
    found: list[tuple[float, int]] = []  # minus how far apart, and where
    for start in range(0, a.size, _SAMPLE):
        x, y = a[start : start + _SAMPLE], b[start : start + _SAMPLE]
        apart = np.where(identical(x, y), -1.0, _apart(x, y))
        worst = np.argsort(-apart, kind="stable")[:_WORST]
        found += [(-float(apart[at]), start + int(at)) for at in worst if apart[at] >= 0]
        found = sorted(found)[:_WORST]
    return [tuple(int(i) for i in np.unravel_index(at, left.shape)) for _, at in found]


def _apart(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """How far, element by element; infinite where one is NaN or infinite."""
    return np.asarray(np.nan_to_num(np.abs(_wide(left) - _wide(right)), nan=np.inf))


def _pair(
    at: tuple[int, ...], left: np.ndarray, right: np.ndarray, reference: np.ndarray | None
) -> ElementPair:
    return ElementPair(
        index=list(at),
        left=plain(left[at].item()),
        right=plain(right[at].item()),
        reference=None if reference is None else plain(reference[at].item()),
    )


def _histogram(left: np.ndarray, right: np.ndarray) -> list[int]:
    """How many are apart by how many representable numbers, in powers of 2."""
    if kind_of(left.dtype) != "f":
        return []
    step = max(1, -(-left.size // _SAMPLE))
    a, b = left.reshape(-1)[::step], right.reshape(-1)[::step]
    both = np.isfinite(a) & np.isfinite(b)
    exponents = np.frexp(ulp_distance(a[both], b[both]))[1]  # 0 for 0, 1 for 1, 2 for 2 and 3…
    return [int(n) for n in np.bincount(exponents)]


def _lost(array: np.ndarray) -> np.ndarray:
    """Which elements are NaN or infinite."""
    if kind_of(array.dtype) not in "fc":
        return np.zeros(array.shape, bool)
    return np.asarray(~np.isfinite(array))


def _mask(left: np.ndarray, right: np.ndarray) -> str:
    a, b = left.reshape(-1)[:_MASKED], right.reshape(-1)[:_MASKED]
    if not (a.any() or b.any()):
        return ""
    return "".join(np.array([*".lrb"])[a + 2 * b])


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if kind_of(array.dtype) == "c" else np.float64)
