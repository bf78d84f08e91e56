"""The variables of a graph as a checkpoint has them, by their names; and what did not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradstep.core.data.named_tensors import NamedTensors, open_tensors
from gradstep.core.data.value_text import fit_value
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.variable_store import require_initial
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Constant, Graph, Operation
from gradstep.core.graph.suggestions import instead
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.tensorflow.partitioned_variables import find_parts, part_slices, whole_names
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.attribute_kinds import attribute

_LISTED = 5  # names


@dataclass(frozen=True)
class Restored:
    """path: of what was read. values: of variables, by name. missing: variables that it lacks.
    misfits: why others could not be taken, a line each. unused: its tensors that are of no
    variable."""

    path: str
    values: dict[str, Constant]
    missing: tuple[str, ...]
    misfits: tuple[str, ...]
    unused: tuple[str, ...]

    def notes(self) -> Iterator[str]:
        """What did not fit, a line each, for people."""
        name = Path(self.path).name
        for misfit in self.misfits:
            yield f"{misfit}; it is as before"
        if self.missing:
            count = f"{len(self.missing)} variables are" if self.missing[1:] else "one variable is"
            yield f"{count} not in {name}, and as before: {_some(self.missing)}"
        if self.unused:
            count = f"{len(self.unused)} tensors" if self.unused[1:] else "one tensor"
            belong = "belong" if self.unused[1:] else "belongs"
            yield f"{count} of {name} {belong} to no variable here: {_some(self.unused)}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def restore_variables(graph: Graph, path: Path, budget: Budget) -> Restored:
    """The values of `graph`'s variables out of a checkpoint, or a file of tensors by name. Raises
    GradstepError: FileError, also where nothing of it fits; OverBudgetError."""
    variables = {op.name: op for op in graph if op.type in VARIABLES}
    if not variables:
        raise GradstepError(
            f"the document has no variable that could take a value of {path}",
            kind="ValueError",
            hint="open the graph that was trained",
        )
    with open_tensors(path, budget) as tensors:
        return _restored(graph, variables, tensors)


def _restored(graph: Graph, variables: dict[str, Operation], tensors: NamedTensors) -> Restored:
    there = {*tensors.names}
    chosen = {name: found for name, op in variables.items() if (found := _named(op, there))}
    parts = find_parts((name for name in variables if name not in chosen), there)
    values: dict[str, Constant] = {}
    misfits = []
    for name, array in (*_wholes(chosen, tensors), *_parts(graph, parts, tensors)):
        try:
            values[name] = Constant.taking(_fitted(graph, variables[name], array))
        except GradstepError as error:
            misfits.append(error.message)
    chosen |= {name: whole for whole, names in parts.items() for name in names}
    missing = tuple(name for name in variables if name not in chosen)
    if not values:
        why = misfits[0] if misfits else f"it has no tensor named '{missing[0]}'"
        hint = "" if misfits else instead(missing[0], tensors.names)
        raise GradstepError(f"{tensors.path} fits no variable: {why}", kind="FileError", hint=hint)
    unused = tuple(sorted(there - whole_names(chosen) - {*chosen.values()}))
    return Restored(tensors.path, values, missing, tuple(misfits), unused)


def _wholes(chosen: dict[str, str], tensors: NamedTensors) -> Iterator[tuple[str, np.ndarray]]:
    return ((name, tensors.read(found)) for name, found in chosen.items())


def _parts(
    graph: Graph, parts: dict[str, list[str]], tensors: NamedTensors
) -> Iterator[tuple[str, np.ndarray]]:
    """Those of each variable that the graph has in parts; the whole where they are none of it,
    which fits none of them then."""
    for whole, names in parts.items():
        array = tensors.read(whole)
        places = part_slices(array.shape, [_sizes(graph[name]) for name in names])
        for number, name in enumerate(names):
            yield name, array if places is None else array[places[number]]


def _sizes(op: Operation) -> tuple[int, ...]:
    """Of a variable's declared shape; none where it declares none."""
    shape = attribute(op, "shape", Shape, UNKNOWN)
    return shape.static() if shape.is_static else ()


def _named(op: Operation, there: set[str]) -> str:
    """What a variable is called in a file; "" where it is not there."""
    return next((name for name in (op.name, storage_name(op)) if name in there), "")


def _fitted(graph: Graph, op: Operation, array: np.ndarray) -> np.ndarray:
    """The value in the variable's own element type. Raises GradstepError where it has none so."""
    dtype: DType = require_initial(graph, op.name, array)
    return fit_value(array, TensorType(dtype, Shape(array.shape)))
