"""Large calls in parts that several threads take, each a part of the result that is its own.

Where parts begin depends on shapes alone, never on how many threads there are, and those of a
matrix product are made with one thread, too: so results are the same to the last bit. Products are
split here and not in BLAS, whose threads wait for each other in loops, and whose sums may depend on
how many there are: while a plan with parts runs, BLAS has one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from gradstep.core.thread_pool import run_tasks, thread_count

Call = Callable[[], Any]

# What is worth handing over to another thread, which takes 10 to 20 microseconds: elements of one
# function (an addition of so many takes twice that), and multiplications of a product.
_ELEMENTS = 1 << 18
WORTH_SPLITTING = 2 * _ELEMENTS
_PRODUCTS = 1 << 26
_FEWEST = 256  # rows or columns of a product: fewer, and what is shared is read too often
_PARTS = 16  # at most
_EVEN = {3: 4, 5: 4, 7: 8, 9: 8}
_LOG = logging.getLogger("gradstep.engine")


class Split:
    """One call as several that do not depend on each other."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Call]) -> None:
        self.parts = parts

    def __call__(self) -> None:
        with one_blas_thread():
            run_tasks(self.parts)


def split_call(call: Call) -> Call:
    """`call`, in parts where it is large enough for several threads."""
    if type(call) is not partial or call.keywords.keys() - {"out"}:
        return call
    function, given = call.func, len(call.args) + len(call.keywords)
    rule = _RULES.get(function)
    if rule is None and isinstance(function, np.ufunc) and function.nout == 1:
        rule = _split_elements if not function.signature and given == function.nargs else None
    found = rule(*call.args, **call.keywords) if rule is not None else None
    if found is None:
        return call
    return Split([partial(call.func, *arguments, **named) for arguments, named in found])


Part = tuple[tuple[Any, ...], dict[str, Any]]
Rule = Callable[..., list[Part] | None]


def _split_elements(*arguments: Any, out: Any = None) -> list[Part] | None:
    """Of an elementwise function: along the first axis of the result that has more than one."""
    place = arguments[-1] if out is None else out
    arrays = arguments if out is None else (*arguments, out)
    if not _is_large(place) or not all(isinstance(x, np.ndarray) for x in arrays):
        return None
    if any(_overlaps(x, place) for x in arrays):
        return None
    axis = next(i for i, size in enumerate(place.shape) if size > 1)
    ends = _ends(place.shape[axis], place.size // _ELEMENTS)
    if ends is None or not all(_fits(x, place.shape, axis) for x in arrays):
        return None
    found = []
    for start, stop in pairwise(ends):
        parts = [_cut(x, place.ndim, axis, slice(start, stop)) for x in arrays]
        found.append((tuple(parts), {}) if out is None else (tuple(parts[:-1]), {"out": parts[-1]}))
    return found


def _is_large(place: Any) -> bool:
    """Whether what is written is worth two parts; not where there are Python's objects, whose
    functions no other thread may run meanwhile."""
    large = isinstance(place, np.ndarray) and place.size >= WORTH_SPLITTING
    return large and not place.dtype.hasobject


def _overlaps(x: np.ndarray, place: np.ndarray) -> bool:
    """Whether parts of `x` may lie where other parts of the result are written."""
    if not np.may_share_memory(x, place):
        return False
    same = x.__array_interface__["data"] == place.__array_interface__["data"]
    return not (same and x.shape == place.shape and x.strides == place.strides)


def _fits(x: np.ndarray, shape: tuple[int, ...], axis: int) -> bool:
    """Whether `x` broadcasts to `shape`, and either reaches along `axis` or not at all."""
    own = axis - (len(shape) - x.ndim)
    return x.ndim <= len(shape) and (own < 0 or x.shape[own] in (1, shape[axis]))


def _cut(x: np.ndarray, rank: int, axis: int, part: slice) -> np.ndarray:
    own = axis - (rank - x.ndim)
    if own < 0 or x.shape[own] == 1:
        return x
    return x[(slice(None),) * own + (part,)]


def _split_copy(place: Any, x: Any, *how: Any) -> list[Part] | None:
    found = None if how else _split_elements(x, place)
    return found and [((to, of), {}) for (of, to), _ in found]


def _split_reduction(
    x: Any, axes: Any = None, dtype: Any = None, place: Any = None, keep: bool = False
) -> list[Part] | None:
    """Where the first axis stays: each part has whole results of its own."""
    found = axes if isinstance(axes, tuple) else (axes,)
    plain = isinstance(x, np.ndarray) and isinstance(place, np.ndarray) and x.flags.c_contiguous
    if not plain or not _is_large(x) or None in found or 0 in {axis % x.ndim for axis in found}:
        return None
    ends = _ends(x.shape[0], x.size // _ELEMENTS)
    if ends is None or not place.ndim or place.shape[0] != x.shape[0]:
        return None
    return [((x[a:b], axes, dtype, place[a:b], keep), {}) for a, b in pairwise(ends)]


def _split_product(a: Any, b: Any, place: Any = None, out: Any = None) -> list[Part] | None:
    """Of matrices: rows of the first one, or columns of the second; of many pairs: pairs."""
    place = out if place is None else place
    arrays = (a, b, place)
    if not all(isinstance(x, np.ndarray) and x.dtype == place.dtype for x in arrays):
        return None
    if place.dtype.kind != "f" or place.ndim < 2 or not all(x.ndim == place.ndim for x in arrays):
        return None
    count = place.size * a.shape[-1] // _PRODUCTS
    if place.ndim > 2:
        ends = _ends(place.shape[0], count) if a.shape[0] == b.shape[0] else None
        if ends is None:
            return None
        return [((a[i:j], b[i:j], place[i:j]), {}) for i, j in pairwise(ends)]
    rows, columns = place.shape
    ends = _ends(max(rows, columns), count, max(rows, columns) // _FEWEST)
    if ends is None:
        return None
    if rows >= columns:
        return [((a[i:j], b, place[i:j]), {}) for i, j in pairwise(ends)]
    return [((a, b[:, i:j], place[:, i:j]), {}) for i, j in pairwise(ends)]


_RULES: dict[Any, Rule] = {
    np.copyto: _split_copy,
    np.add.reduce: _split_reduction,
    np.matmul: _split_product,
}


def _ends(size: int, count: int, most: int = _PARTS) -> list[int] | None:
    """Where so many parts, or as many as are sensible, begin and end; None for less than two.
    Where few would leave a thread with one more than another, there is one more or less."""
    count = min(size, _EVEN.get(count, count), most, _PARTS)
    return [size * i // count for i in range(count + 1)] if count > 1 else None


# -- BLAS ----------------------------------------------------------------------------------------


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, products run on the thread that asks for them. Afterwards BLAS has as many threads as
    before."""
    _BLAS.enter()
    try:
        yield
    finally:
        _BLAS.leave()


class _Blas:
    """How many threads the BLAS of NumPy has, while plans run in any number of threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before: list[int] = []

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = [library.get_num_threads() for library in _libraries()]
                self._set([1] * len(self._before))

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._set(self._before)

    def _set(self, counts: Sequence[int]) -> None:
        for library, before, count in zip(_libraries(), self._before, counts, strict=True):
            if before != 1:
                library.set_num_threads(count)


@cache
def _libraries() -> Sequence[Any]:
    """The libraries that NumPy multiplies with, as far as it can be told what to do."""
    from threadpoolctl import ThreadpoolController

    found: Sequence[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    _LOG.debug("BLAS: %s; %d threads here", [x.info() for x in found], thread_count())
    return found


_BLAS = _Blas()
