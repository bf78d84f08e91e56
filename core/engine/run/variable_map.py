"""Which variables of one graph are copied to which of another, and what their values must be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Graph, Operation, unknown_name
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.attribute_kinds import attribute


def map_variables(source: Graph, target: Graph, wanted: Sequence[str] = ()) -> dict[str, str]:
    """Variable of `target` -> the variable of `source` whose value it gets.

    wanted: "w", or "w=v" for another name there; "net/", or "net/=other/" for a scope, of which
    what has no counterpart is left out; none: every variable that both have. Raises GradstepError
    for a name that is not there, and where nothing would be copied."""
    if not wanted:
        there = variables(target)
        found = {name: name for name in variables(source) if name in there}
        return found or _nothing("the two have no variable of the same name", "say which: w=v")
    pairs: dict[str, str] = {}
    for text in wanted:
        start, _, end = text.partition("=")
        if start.endswith("/"):
            pairs |= _in_scope(source, target, start, end or start)
        else:
            pairs[_variable(target, end or start)] = _variable(source, start)
    return pairs


def variables(graph: Graph) -> dict[str, Operation]:
    """The variables of `graph` by name, optimizers' slots among them."""
    return {name: graph.operations[name] for name in graph.of_types(VARIABLES)}


def variable_in(graph: Graph, name: str) -> Operation | None:
    """The variable of that name, if there is one."""
    op = graph.operations.get(name)
    return None if op is None or op.type not in VARIABLES else op


def require_fitting(variable: Operation, value: np.ndarray) -> None:
    """Raise GradstepError, in TensorFlow's words for an Assign, where `variable` cannot hold it."""
    dtype = attribute(variable, "dtype", DType)
    shape = attribute(variable, "shape", Shape, UNKNOWN)
    found = DType.of(value.dtype)
    if found is not dtype:
        raise GradstepError(
            f"Input 'value' of 'Assign' Op has type {found.value} that does not match type "
            f"{dtype.value} of argument 'ref'.",
            kind="TypeError",
            node=variable.name,
            hint=f"'{variable.name}' holds {dtype.value}: cast the value, or make it {found.value}",
        )
    if not shape.accepts(value.shape):
        raise GradstepError(
            "Assign requires shapes of both tensors to match. lhs shape= "
            f"{_listed(shape.dims)} rhs shape= {_listed(value.shape)}",
            kind="InvalidArgumentError",
            node=variable.name,
            hint=f"copy from a variable shaped like '{variable.name}'",
        )


def fits(variable: Operation, value: np.ndarray) -> bool:
    """Whether `variable` can hold it."""
    try:
        require_fitting(variable, value)
    except GradstepError:
        return False
    return True


def _in_scope(source: Graph, target: Graph, start: str, end: str) -> dict[str, str]:
    end = end if end.endswith("/") else f"{end}/"
    inside = [name for name in variables(source) if name.startswith(start)]
    if not inside:
        return _nothing(f"there is no variable in scope '{start}'", "its name ends in a slash")
    there = variables(target)
    pairs = {end + name.removeprefix(start): name for name in inside}
    found = {new: old for new, old in pairs.items() if new in there}
    first = next(iter(pairs))
    return found or _nothing(f"'{end}' has no variable like '{first}'", "name another scope")


def _variable(graph: Graph, name: str) -> str:
    there = variables(graph)
    if name in there:
        return name
    if name not in graph:
        raise unknown_name(name, there)
    raise GradstepError(
        f"'{name}' is not a variable, so it holds nothing from run to run",
        kind="ValueError",
        node=name,
        hint="feed it instead",
    )


def _nothing(why: str, hint: str) -> dict[str, str]:
    raise GradstepError(f"nothing is copied: {why}", kind="ValueError", hint=hint)


def _listed(dims: Sequence[int | None] | None) -> str:
    if dims is None:
        return "<unknown>"
    return f"[{','.join('?' if d is None else str(d) for d in dims)}]"
