"""`tf` as a gradient function sees it: TensorFlow 1's names for the ops that Gradstep has.

Each function adds operations to the graph of its tensors; numbers and arrays become constants, and
a function of constants alone (`tf.zeros`) works wherever a graph is being differentiated. Functions
that are one op are named by the op's record; those of several ops are in the modules here, such as
`tf_losses.py`, in tables called `FUNCTIONS`, which are found by themselves.
"""

# VALUES is the table of what is no function. A name with a dot, `linalg.diag`, is for that place
# alone, where `diag` is another function than in `tf`. The modules' names are none of TensorFlow's:
# a module `math` here would hide `tf.math`.

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call
from gradstep.core.ops.declare.definition import OpDef
from gradstep.core.ops.declare.table import all_ops

_PLACES = (
    *("nn", "math", "linalg", "random", "image", "dtypes", "bitwise", "debugging"),
    *("layers", "losses", "initializers", "nn.rnn_cell", "train"),
)


def _plain(own_name: str, definition: OpDef) -> Callable[..., Tensor]:
    names = [spec.name for spec in definition.inputs]

    def function(*inputs: TensorLike, name: str | None = None, **named: TensorLike) -> Tensor:
        rest = [named.pop(n) for n in names[len(inputs) :] if n in named]
        if named:
            raise TypeError(
                f"{own_name}() got an unexpected argument '{next(iter(named))}'; it takes "
                f"{', '.join(names)}"
            )
        return call(definition.type, *inputs, *rest, name=name)

    function.__name__ = own_name
    function.__doc__ = f"The op {definition.type}."
    return function


class _Namespace:
    """`tf.nn`, `tf.math`…: other ways to the same functions."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return _attribute(name, self._name)


def _functions() -> Iterator[tuple[str, Any]]:
    for definition in all_ops():
        for name in definition.python:
            yield name, _plain(name, definition)
    yield from own_functions().items()


def own_functions() -> dict[str, Callable[..., Any]]:
    """By name, the functions that are more than an op with its inputs in order."""
    return _tables("FUNCTIONS")


def _tables(name: str) -> dict[str, Any]:
    """What the modules here have in their tables of that name, in one."""
    modules = pkgutil.iter_modules(__path__, f"{__name__}.")
    found = [getattr(importlib.import_module(module.name), name, {}) for module in modules]
    return {key: value for table in found for key, value in table.items()}


# In a table and not in this module's own names: `range` and `abs` would hide Python's. Made when
# first asked for: the catalogue is imported by then.
@cache
def _names() -> dict[str, Any]:
    names = {dtype.value: dtype for dtype in DType} | _tables("VALUES") | dict(_functions())
    return names | {place: _Namespace(f"tf.{place}") for place in _PLACES}


def _attribute(name: str, place: str) -> Any:
    names = _names()
    for own in (f"{place.removeprefix('tf.')}.{name}", name):
        if own in names:
            return names[own]
    meant = did_you_mean(f"{place}.{word}" for word in near(name, __dir__()))
    raise AttributeError(f"{place} has no '{name}'" + (f"; {meant}" if meant else ""))


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # what tools ask any module for; there is none to suggest
        raise AttributeError(f"tf has no '{name}'")
    return _attribute(name, "tf")


def __dir__() -> list[str]:
    return sorted(name for name in _names() if "." not in name)
