"""Strategies: bound calls of NumPy's functions on arrays of every layout, in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

SIZE = 640  # elements of each memory: some vectors of every processor's, and what is left over
TYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "bool", "complex64")
BINARY = (
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.power, np.floor_divide,
    np.remainder, np.arctan2, np.greater, np.equal, np.logical_and, np.fmax, np.hypot,
)  # fmt: skip
UNARY = (
    np.exp, np.tanh, np.log, np.sqrt, np.negative, np.absolute, np.sign, np.square, np.isnan,
    np.logical_not, np.sin, np.reciprocal, np.floor, np.log1p, np.expm1,
)  # fmt: skip
_ODD = [0.0, -0.0, 1.0, -1.5, 2.25, 7.0, 1e-42, 3e38, np.inf, -np.inf, np.nan, 0.1]

_SHAPES = ((), (1,), (5,), (300,), (3, 4), (4, 1), (9, 33), (100, 3), (5, 3, 20), (0,), (1, 1))

Call = Callable[[], Any]


@dataclass(frozen=True)
class Calls:
    """calls: bound to views of `memory`; start: what that holds at first."""

    calls: list[Call]
    memory: list[np.ndarray]
    start: list[np.ndarray]

    def after(self, run: Callable[[], None]) -> list[np.ndarray]:
        """What the memory holds after `run`, from the start on."""
        self.restore()
        with np.errstate(all="ignore"):
            run()
        return [m.copy() for m in self.memory]

    def restore(self) -> None:
        for memory, start in zip(self.memory, self.start, strict=True):
            memory[...] = start

    def wipe(self) -> None:
        for memory in self.memory:
            memory[...] = 1


@st.composite
def views(draw: st.DrawFn, memory: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A view of that shape: contiguous in either order, with gaps, backwards, with axes that stand
    still; or a number."""
    if draw(st.integers(0, 5)) == 0:
        return memory[draw(st.integers(0, SIZE - 1)) :][:1].reshape(())
    order = draw(st.permutations(range(len(shape))))
    steps, step = [0] * len(shape), draw(st.sampled_from([1, 1, 1, 2]))
    for axis in order if draw(st.integers(0, 2)) == 0 else reversed(range(len(shape))):
        steps[axis] = step * draw(st.sampled_from([1, 1, 1, 1, -1]))
        step *= shape[axis]
    if shape and draw(st.integers(0, 4)) == 0:
        steps[draw(st.integers(0, len(shape) - 1))] = 0
    low = sum(min(0, (n - 1) * s) for n, s in zip(shape, steps, strict=True))
    high = sum(max(0, (n - 1) * s) for n, s in zip(shape, steps, strict=True))
    at = draw(st.sampled_from([-low, -low, SIZE - 1 - high, (SIZE - high - low) // 2]))
    return as_strided(memory[at:], shape, [s * memory.itemsize for s in steps])


@st.composite
def _bound(draw: st.DrawFn, memory: Sequence[np.ndarray], flags: np.ndarray) -> Call:
    shape = draw(st.sampled_from(_SHAPES))
    same = memory[draw(st.integers(0, len(memory) - 1))]
    x, y, out = (draw(views(same, shape)) for _ in range(3))
    if draw(st.booleans()):
        out = draw(st.sampled_from([x, y]))  # in place
    if out.shape != shape:
        out = same[: int(np.prod(shape))].reshape(shape)
    kind = draw(st.sampled_from(["binary", "binary", "unary", "unary", "reduce", "matmul", "copy"]))
    if kind in ("binary", "unary"):
        function = draw(st.sampled_from(BINARY if kind == "binary" else UNARY))
        if function is np.multiply and draw(st.booleans()):
            y = draw(views(flags, shape))  # a mask
        tests = function in (np.greater, np.equal, np.logical_and, np.isnan, np.logical_not)
        to = flags[: int(np.prod(shape))].reshape(shape) if tests else out
        return partial(function, *([x, y] if kind == "binary" else [x]), out=to)
    if kind == "reduce":
        return draw(_reductions(x, same))
    if kind == "matmul":
        return draw(_products(same))
    if draw(st.integers(0, 3)) == 0:
        return partial(out.fill, draw(st.sampled_from([0, 1, 2.5, np.nan, True, "no"])))
    mask = flags[: int(np.prod(shape))].reshape(shape)
    other = memory[draw(st.integers(0, len(memory) - 1))]
    source = draw(views(other, shape))
    ways = [(), (), ("same_kind", mask)]
    return partial(np.copyto, out, source, *draw(st.sampled_from(ways)))


@st.composite
def _reductions(draw: st.DrawFn, x: np.ndarray, memory: np.ndarray) -> Call:
    function = draw(st.sampled_from([np.add, np.maximum, np.minimum]))
    keep = draw(st.booleans())
    axes = tuple(draw(st.sets(st.integers(0, max(x.ndim - 1, 0)), max_size=x.ndim)))
    axis = axes if draw(st.booleans()) else (draw(st.sampled_from([0, -1])) if x.ndim else ())
    gone = {a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))}
    shape = [1 if i in gone else n for i, n in enumerate(x.shape) if keep or i not in gone]
    out = memory[-int(np.prod(shape)) :][: int(np.prod(shape))].reshape(shape)
    return partial(function.reduce, x, axis, draw(st.sampled_from([x.dtype, None])), out, keep)


@st.composite
def _products(draw: st.DrawFn, memory: np.ndarray) -> Call:
    m, n, p = (draw(st.integers(1, 4)) for _ in range(3))
    several = draw(st.sampled_from([(), (), (2,), (1, 2)]))
    a = draw(views(memory, (*several, m, n)))
    b = draw(views(memory, draw(st.sampled_from([(n, p), (*several, n, p)]))))
    shape = (*several, m, p)
    return partial(np.matmul, a, b, memory[: int(np.prod(shape))].reshape(shape))


@st.composite
def calls(draw: st.DrawFn) -> Calls:
    """A few, on memories of one or two element types."""
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=2))
    numbers = np.random.default_rng(draw(st.integers(0, 99)))
    memory = [_filled(np.dtype(t), numbers) for t in types]
    flags = numbers.integers(0, 2, SIZE).astype(bool)
    bound = draw(st.lists(_bound(memory, flags), min_size=1, max_size=6))
    every = [*memory, flags]
    return Calls(bound, every, [m.copy() for m in every])


def _filled(dtype: np.dtype, numbers: np.random.Generator) -> np.ndarray:
    with np.errstate(all="ignore"):
        some = numbers.choice(_ODD[:6] if dtype.kind in "iub" else _ODD, SIZE)
        return np.abs(some).astype(dtype) if dtype.kind == "u" else some.astype(dtype)
