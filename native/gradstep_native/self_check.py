"""Whether tables compute what this NumPy computes: its loops may have another layout one day."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gradstep_native._table import Table, add_rows

_ODD = np.array([0.0, -0.0, 1.5, -2.25, 1e-40, 3e38, np.inf, np.nan])
Bound = tuple[partial[Any], np.ndarray]  # a call, and where its result goes


def find_difference() -> str:
    """What a table computes otherwise than NumPy, in words; empty: nothing."""
    with np.errstate(all="ignore"):
        return next(_differences(), "")


def _differences() -> Iterator[str]:
    for call, out in _calls():
        out[...] = 0
        call()
        want = out.tobytes()
        out[...] = 0
        table = _bound_on_zeros(call)
        table.run()
        if table.native and out.tobytes() != want:
            yield f"{call.func} of {out.dtype} is not what NumPy {np.__version__} gives"
    for values in (np.resize(odd, (40, 9)) for odd in (_ODD[:6].astype(np.float32), _ODD[:6])):
        places = np.arange(40) % 7
        found, want = np.zeros((2, 7, 9), values.dtype)
        np.add.at(want, places, values)
        if not add_rows(found, values, places) or found.tobytes() != want.tobytes():
            yield f"rows of {values.dtype} are not added as by NumPy {np.__version__}"
    if Table([partial(np.add, np.ones(1), np.ones(1), np.ones(1))]).native == 0:
        yield f"no loop of NumPy {np.__version__} was found"


def _bound_on_zeros(call: partial[Any]) -> Table:
    """The table of a call, made while its arrays held something else: no row may remember that."""
    arrays = [x for x in call.args if isinstance(x, np.ndarray)]
    kept = [x.copy() for x in arrays]
    for x in arrays:
        x[...] = 0
    table = Table([call])
    for x, value in zip(arrays, kept, strict=True):
        x[...] = value
    return table


def _calls() -> Iterator[Bound]:
    """Every kind of row: small and large, contiguous and not, with numbers of all kinds."""
    for dtype in (np.float32, np.float64, np.int32, np.int64):
        odd = _ODD[:4] if np.dtype(dtype).kind == "i" else _ODD
        x = np.resize(odd, (9, 41)).astype(dtype)
        y = (np.arange(x.size) % 7 - 3).reshape(x.shape).astype(dtype)
        yield from _elementwise(x, y)
        yield from _reductions(y)
        square = y[:, :9].copy()
        for a, b in ((y, y.T), (square.T, square), (square, y)):
            yield _with_out(np.matmul, a, b)
        out = np.empty_like(x)
        yield partial(np.copyto, out, x), out
        yield partial(np.copyto, out, y.T.copy().T), out
        yield partial(np.copyto, out, y, "same_kind", x > 0), out
        yield partial(np.multiply, y, x > 0, out), out
        yield partial(out.fill, 1), out


def _elementwise(x: np.ndarray, y: np.ndarray) -> Iterator[Bound]:
    row, number = y[0], y[3, 3].reshape(())
    functions: list[Any] = [np.add, np.multiply, np.maximum, np.greater]
    for function in functions:
        for other in (y, row, number, y[:, :1], y[::-1]):
            yield _with_out(function, x, other)
    if x.dtype.kind == "f":
        for function in (np.exp, np.tanh, np.log, np.sqrt, np.isnan):
            yield from (_with_out(function, each) for each in (x, x.T, x[::2, ::3]))


def _reductions(y: np.ndarray) -> Iterator[Bound]:
    minus = -np.zeros_like(y)
    for function in (np.add, np.maximum):
        for x in (y, y.T, y[::2, ::3], minus):
            for axis in (0, 1, (0, 1)):
                out = np.asarray(function.reduce(x, axis, x.dtype)).copy()
                yield partial(function.reduce, x, axis, x.dtype, out), out


def _with_out(function: Callable[..., Any], *inputs: np.ndarray) -> Bound:
    out = np.asarray(function(*inputs)).copy()
    return partial(function, *inputs, out=out), out
