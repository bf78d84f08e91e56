"""How far rounding may carry what a function of elements computes: its first-order error bound.

Beside each number goes a bound of its error, in units of ε, as far as the inputs are exact: the
running error analysis of N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
section 3.3. Where terms cancel the number gets small, and the bound does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradstep.core.autodiff.check.promote_float64 import widen_array, widen_operation
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import lookup

_LIBRARY = 4.0  # ε that a power may be off


def error_bounds(op: Operation, inputs: Sequence[np.ndarray | None]) -> list[np.ndarray]:
    """Of each result, in float64; none where the op is no function of elements, or one of others
    than those below."""
    if not lookup(op.type, op.name).kernel.fused or any(x is None for x in inputs):
        return []
    backend = _Backend()
    try:
        with np.errstate(all="ignore"):
            wide = [widen_array(x) for x in inputs if x is not None]
            run_op(backend, widen_operation(op), wide)
    except GradstepError:
        return []
    return backend.errors.bounds


class _Rounded:
    """value: float64, or what a comparison gives; error: the bound."""

    __array_ufunc__ = None  # operators of NumPy's arrays leave it to those here

    def __init__(self, value: Any, error: Any = 0.0) -> None:
        self.value, self.error = value, error

    @property
    def dtype(self) -> np.dtype:
        return np.asarray(self.value).dtype


def _of(x: Any) -> _Rounded:
    return x if isinstance(x, _Rounded) else _Rounded(x)


def _sum(value: Any, *operands: _Rounded) -> _Rounded:
    return _Rounded(value, sum(x.error for x in operands) + np.abs(value))


def _multiply(a: _Rounded, b: _Rounded) -> _Rounded:
    value = a.value * b.value
    return _Rounded(value, np.abs(a.value) * b.error + np.abs(b.value) * a.error + np.abs(value))


def _divide(a: _Rounded, b: _Rounded) -> _Rounded:
    value = a.value / b.value
    carried = (a.error + np.abs(value) * b.error) / np.abs(b.value)
    return _Rounded(value, carried + np.abs(value))


def _power(a: _Rounded, b: _Rounded) -> _Rounded:
    value = np.power(a.value, b.value)
    slopes = np.abs(b.value / a.value) * a.error, np.abs(np.log(np.abs(a.value))) * b.error
    carried = sum(np.where(np.isfinite(x), x, 0.0) for x in slopes)
    return _Rounded(value, np.abs(value) * (carried + _LIBRARY))


def _square_root(x: _Rounded) -> _Rounded:
    value = np.sqrt(x.value)
    size = np.abs(value)
    carried = np.where(size > 0, x.error / (2 * size), np.sqrt(x.error))
    return _Rounded(value, carried + size)


def _largest(function: Callable[..., Any]) -> Callable[..., _Rounded]:
    """Of a function that gives one of its operands, or its negative."""

    def call(*operands: _Rounded) -> _Rounded:
        errors = [np.asarray(x.error) for x in operands]
        value = function(*(x.value for x in operands))
        return _Rounded(value, np.max(np.broadcast_arrays(*errors, value * 0.0)[:-1], axis=0))

    return call


def _compare(function: Callable[..., Any]) -> Callable[..., _Rounded]:
    return lambda a, b: _Rounded(function(a.value, b.value))


def _where(condition: _Rounded, a: _Rounded, b: _Rounded) -> _Rounded:
    pairs = ((a.value, b.value), (a.error, b.error))
    return _Rounded(*(np.where(condition.value, *pair) for pair in pairs))


_FUNCTIONS: dict[str, Callable[..., _Rounded]] = {
    "add": lambda a, b: _sum(a.value + b.value, a, b),
    "subtract": lambda a, b: _sum(a.value - b.value, a, b),
    "multiply": _multiply,
    "true_divide": _divide,
    "square": lambda x: _multiply(x, x),
    "sqrt": _square_root,
    "power": _power,
    "where": _where,
    "zeros_like": lambda x: _Rounded(np.zeros_like(x.value)),
    "sign": lambda x: _Rounded(np.sign(x.value)),
    **{name: _largest(getattr(np, name)) for name in "negative abs clip maximum minimum".split()},
    **{
        name: _compare(getattr(np, name))
        for name in "less less_equal greater greater_equal equal not_equal".split()
    },
}


def _operator(name: str, function: str) -> None:
    call = _FUNCTIONS[function]

    def forward(self: _Rounded, *others: Any) -> _Rounded:
        return call(self, *map(_of, others))

    def backward(self: _Rounded, other: Any) -> _Rounded:
        return call(_of(other), self)

    setattr(_Rounded, f"__{name}__", forward)
    setattr(_Rounded, f"__r{name}__", backward)


for _pair in (
    "add:add sub:subtract mul:multiply truediv:true_divide pow:power neg:negative abs:abs "
    "lt:less le:less_equal gt:greater ge:greater_equal"
).split():
    _operator(*_pair.split(":"))


class _Errors:
    """An array namespace, NumPy's but for functions of elements: these give their values, and put
    down the bounds."""

    def __init__(self) -> None:
        self.bounds: list[np.ndarray] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def fused(
        self, function: Callable[..., Any], *arrays: Any, out: Any = None, **more: Any
    ) -> Any:
        found = function(_Elements(), *map(_of, arrays), **more)
        results = found if isinstance(found, tuple) else (found,)
        self.bounds = [np.broadcast_to(x.error, np.shape(x.value)) for x in results]
        values = tuple(np.asarray(x.value) for x in results)
        return values if isinstance(found, tuple) else values[0]


class _Elements:
    """The namespace that a function of elements is given."""

    def __getattr__(self, name: str) -> Any:
        if name not in _FUNCTIONS:
            raise GradstepError(f"no error bound of {name}", kind="UnimplementedError")
        return lambda *operands: _FUNCTIONS[name](*map(_of, operands))


@dataclass(frozen=True)
class _Backend(NumpyBackend):
    errors: _Errors = field(default_factory=_Errors)

    @property
    def xp(self) -> Any:
        return self.errors
