"""CuPy's sums and extremes of many elements, parted so that the whole card works on them.

CuPy gives a block of threads to each result, and to results side by side one block together: a sum
of everything is made by one block, one of the rows of a batch by few. CUB, which CuPy otherwise
has for that, takes the host several times as long for few elements, and leaves axes in front to
the same kernels.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

NAMES = ("sum", "prod", "max", "min", "any", "all")
SETTING = "CUPY_ACCELERATORS"
_MANY = 1 << 14  # elements of an array from which it pays
_LONG = 1 << 9  # elements of a result that are left to one block
_RESULTS = {True: 1 << 11, False: 1 << 16}  # at a time: of rows, which are a block each; of columns

Stage = tuple[tuple[int, ...], int]


def reductions(module: Any) -> dict[str, Callable[..., Any]]:
    """Those of NAMES, in CuPy's own place; CUB is left off unless it was asked for."""
    core: Any = getattr(module, "_core", None)
    if hasattr(core, "set_reduction_accelerators") and SETTING not in os.environ:
        core.set_reduction_accelerators([])
        core.set_routine_accelerators([])
    return {name: _staged(getattr(module, name)) for name in NAMES}


def _staged(plain: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(
        x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        typed = {} if dtype is None else {"dtype": dtype}
        steps = _steps(x, axis, out)
        if not steps:
            return plain(x, axis=axis, out=out, keepdims=keepdims, **typed)
        left = _left(x.shape, _axes(axis, x.ndim), keepdims)
        for shape, along in steps[:-1]:
            x = plain(x.reshape(shape), axis=along, **typed)
        shape, along = steps[-1]
        place = None if out is None else out.reshape((*shape[:along], *shape[along + 1 :]))
        found = plain(x.reshape(shape), axis=along, out=place, **typed)
        return found.reshape(left) if out is None else out

    return reduce


def _steps(x: Any, axis: Any, out: Any) -> Sequence[Stage]:
    """No steps where the plain call does as well. Halves are rounded once, at the end."""
    if x.size < _MANY or not x.flags.c_contiguous or x.dtype.char == "e":
        return ()
    if out is not None and not out.flags.c_contiguous:
        return ()
    return stages(x.shape, _axes(axis, x.ndim))


def _axes(axis: Any, rank: int) -> frozenset[int]:
    if axis is None:
        return frozenset(range(rank))
    return frozenset(a % rank for a in (axis if isinstance(axis, tuple) else (axis,)))


def _left(shape: tuple[int, ...], axes: frozenset[int], keepdims: bool) -> tuple[int, ...]:
    """The shape of the result."""
    if keepdims:
        return tuple(1 if at in axes else n for at, n in enumerate(shape))
    return tuple(n for at, n in enumerate(shape) if at not in axes)


@lru_cache(1024)
def stages(shape: tuple[int, ...], axes: frozenset[int]) -> tuple[Stage, ...]:
    """The steps of a reduction: to which shape, of the same elements in the same order, what there
    is is brought, and along which axis it is reduced then."""
    found: list[Stage] = []
    sizes, gone = _merged(shape, axes)
    while any(gone):
        at = max(i for i, is_gone in enumerate(gone) if is_gone)
        before, size, after = math.prod(sizes[:at]), sizes[at], math.prod(sizes[at + 1 :])
        parts = _parts(size, before * after, is_row=after == 1)
        if parts > 1:
            found.append(((before, parts, size // parts, after), 2))
        found.append(((before, parts if parts > 1 else size, after), 1))
        sizes, gone = _merged(
            sizes[:at] + sizes[at + 1 :], [i for i, g in enumerate(gone[:at]) if g]
        )
    return tuple(found)


def _merged(shape: Sequence[int], axes: Iterable[int]) -> tuple[list[int], list[bool]]:
    """Sizes, and which of them go: those of one kind beside each other are one."""
    sizes: list[int] = []
    gone: list[bool] = []
    for at, size in enumerate(shape):
        if size == 1:
            continue
        if gone and gone[-1] == (at in axes):
            sizes[-1] *= size
        else:
            sizes.append(size)
            gone.append(at in axes)
    return sizes, gone


def _parts(size: int, results: int, is_row: bool) -> int:
    """In how many parts a sum of so many elements is made first, beside so many others: a divisor
    of its size, 1 where there are results enough, or none fits."""
    most = min(size // _LONG, _RESULTS[is_row] // max(results, 1))
    return max((n for n in range(1, most + 1) if size % n == 0), default=1)
