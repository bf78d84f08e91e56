"""What a document's functions are used for: called by operations, or to build gradients.

A gradient written in NumPy is used for both: the gradient function builds a PyFunc, which calls
it on the arrays when it runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.ops.build.tensor import OpView, Tensor, call, call_many
from gradstep.core.program.user_code import Function


def in_role(
    code: Mapping[str, CodeItem], functions: Mapping[str, Function], role: CodeKind
) -> dict[str, Function]:
    """Those of `functions` that serve as PYFUNC or as GRADIENT, by name. Others than those of
    `code` may be among them: of a document that was made smaller those of the whole one."""
    found: dict[str, Function] = {}
    for name, item in code.items():
        if name not in functions:
            continue
        function = functions[name]
        if item.kind is role:
            found[name] = function
        elif item.kind is CodeKind.NUMPY_GRADIENT:
            found[name] = _filling(function) if role is CodeKind.PYFUNC else _calling(name)
    return found


def _calling(name: str) -> Callable[..., list[Tensor | None]]:
    """A gradient function that leaves the work to the Python function `name`: it gets the
    gradient of every output, then every input, and gives one gradient for each input."""

    def gradient(op: OpView, *grads: Tensor | None) -> list[Tensor | None]:
        inputs = op.inputs
        pairs = zip(op.outputs, grads, strict=True)
        given = [call("ZerosLike", y) if g is None else g for y, g in pairs]
        results = call_many(
            "PyFunc",
            *given,
            *inputs,
            token=name,
            Tin=tuple(x.dtype for x in (*given, *inputs)),
            Tout=tuple(x.dtype for x in inputs),
            shapes=tuple(x.shape for x in inputs),
        )
        pairs_back = zip(inputs, results, strict=True)
        return [g if x.dtype.is_differentiable else None for x, g in pairs_back]

    return gradient


def _filling(function: Function) -> Function:
    """`function` with zeros where it returns None: the graph around it is built already."""

    @functools.wraps(function)
    def filled(*arrays: np.ndarray) -> Any:
        result = function(*arrays)
        if not isinstance(result, list | tuple):
            return result
        inputs = arrays[len(arrays) - len(result) :]
        return [np.zeros_like(x) if g is None else g for g, x in zip(result, inputs, strict=False)]

    return filled
