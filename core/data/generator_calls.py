"""Calls of generators as they are written: `normal(0, 0.1, seed=7)`, checked and made."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradstep.core.data.generators import GENERATORS, Generator, Target, wrong_call
from gradstep.core.data.literal_values import plain
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.suggestions import instead
from gradstep.core.io.disk.memory_budget import Budget


def generator_name(node: ast.expr) -> str:
    """The name of what an expression calls, as a generator is called; "" for another expression."""
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return node.func.id if call else ""  # type: ignore[attr-defined]


def generate(node: ast.Call, kind: TensorType, name: str, budget: Budget) -> np.ndarray:
    """What the call of a generator makes for `name`, of the element type of `kind`. Raises
    GradstepError (UsageError) for a call that means nothing, or makes too much."""
    called = generator_name(node)
    if called not in GENERATORS:
        raise wrong_call(f"there is no generator '{called}'", instead(called, GENERATORS))
    if not kind.dtype.is_castable:
        raise wrong_call(f"{called} makes numbers, and '{name}' holds {kind.dtype.value}", "")
    generator = GENERATORS[called]
    args, named = _arguments(node, called)
    shape = named.pop("shape", None) if generator.takes_shape else None
    if generator.takes_shape and args and isinstance(args[0], list):
        shape, args = args[0], args[1:]
    bound = _bind(generator, called, args, named)
    with np.errstate(all="ignore"):
        return generator.make(Target(kind, name, budget, shape), **bound)


def _arguments(node: ast.Call, called: str) -> tuple[list[Any], dict[str, Any]]:
    try:
        args = [plain(arg) for arg in node.args]
        return args, {keyword.arg or "**": plain(keyword.value) for keyword in node.keywords}
    except (ValueError, RecursionError):
        raise wrong_call(
            f"an argument of {called} is no number", f"write it out: {signature(called)}"
        ) from None


def _bind(
    generator: Generator, called: str, args: list[Any], named: dict[str, Any]
) -> dict[str, Any]:
    """The arguments by name. Raises GradstepError for too many, missing, unknown or odd ones."""
    parameters = generator.parameters
    if len(args) > len(parameters):
        raise wrong_call(f"{called} was given {len(args)} arguments", f"write {signature(called)}")
    given = dict(zip(parameters, args, strict=False))
    for name, value in named.items():
        if name not in parameters:
            hint = instead(name, parameters) or f"write {signature(called)}"
            raise wrong_call(f"{called} takes no '{name}'", hint)
        if name in given:
            raise wrong_call(f"{called} was given '{name}' twice", f"write {signature(called)}")
        given[name] = value
    for name, parameter in parameters.items():
        if name not in given and parameter.default is parameter.empty:
            raise wrong_call(f"{called} needs '{name}'", f"write {signature(called)}")
    for name, value in given.items():
        _require_kind(called, name, value, str(parameters[name].annotation))
    return given


_WANTED: dict[str, tuple[tuple[type, ...], str]] = {
    "float": ((int, float), "a number"),
    "int": ((int,), "a whole number"),
    "int | None": ((int,), "a whole number"),
    "float | None": ((int, float), "a number"),
    "str": ((str,), "a word in quotes"),
}


def _require_kind(called: str, name: str, value: Any, annotation: str) -> None:
    types, wanted = _WANTED[annotation]
    if isinstance(value, bool) or not isinstance(value, types):
        raise wrong_call(f"'{name}' of {called} is {value!r:.40}, and not {wanted}", "")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise wrong_call(f"'{name}' of {called} is beyond 64 bits", "write a smaller number")


def signature(called: str) -> str:
    """`normal(mean=0.0, stddev=1.0, seed=None)`."""
    written = (str(p.replace(annotation=p.empty)) for p in GENERATORS[called].parameters.values())
    return f"{called}({', '.join(written)})"
