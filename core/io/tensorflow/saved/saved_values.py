"""The values of a graph's variables, out of the checkpoint that was saved with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.tensorflow.object_names import object_names
from gradstep.core.io.tensorflow.saved.saved_places import SavedPlace
from gradstep.core.io.tensorflow.saved.trained_variables import shared_name
from gradstep.core.io.tensorflow.slice_tables import SliceTables, is_slice_table
from gradstep.core.io.tensorflow.tensor_bundle import INDEX, TensorBundle
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.attribute_kinds import attribute


@dataclass(frozen=True)
class SavedValues:
    """By variable. missing: variables that have none."""

    values: Mapping[str, Constant]
    missing: tuple[str, ...] = ()


def has_checkpoint(prefix: str) -> bool:
    """Whether there are files that begin so, and are one."""
    return Path(f"{prefix}{INDEX}").is_file() or is_slice_table(prefix)


def saved_values(
    graph: Graph, places: Mapping[str, SavedPlace], prefix: str, budget: Budget
) -> SavedValues:
    """Of the variables in `graph`, from the checkpoint whose files begin with `prefix`. places:
    where the graph itself says that they are; others are looked for by their names. Raises
    GradstepError: FileError, also where a part of the checkpoint is not there."""
    kind = TensorBundle if Path(f"{prefix}{INDEX}").is_file() else SliceTables
    held = kind(prefix, budget)
    called = {**{name: name for name in held.names}, **object_names(held)}
    keys, values = {*called.values()}, dict[str, Constant]()
    missing = []
    for name in graph.of_types(VARIABLES):
        op = graph[name]
        place = places.get(name) or _named(op, called)
        if place is None or place.key not in keys:
            missing.append(name)
            continue
        array = _part(held.read(place.key), place, held.path)
        values[name] = Constant.taking(_fitting(op, array, held.path))
    return SavedValues(values, tuple(missing))


def _named(op: Operation, called: Mapping[str, str]) -> SavedPlace | None:
    key = next((called[name] for name in (op.name, shared_name(op)) if name in called), None)
    return None if key is None else SavedPlace(key, "")


def _part(array: np.ndarray, place: SavedPlace, path: str) -> np.ndarray:
    """Of a tensor, the part that a variable is, a copy of its own where it is not all of it."""
    if not place.slice:
        return array
    *sizes, part = place.slice.split()
    cuts = tuple(_cut(text) for text in part.split(":"))
    if tuple(map(str, array.shape)) != tuple(sizes) or len(cuts) != array.ndim:
        raise GradstepError(
            f"{path}: '{place.key}' is of the shape {list(array.shape)}, and the graph takes "
            f"'{place.slice}' of it",
            kind="FileError",
            hint="put the checkpoint beside it that was saved with this graph",
        )
    return np.ascontiguousarray(array[cuts])


def _cut(text: str) -> slice:
    start, comma, length = text.partition(",")
    if not comma or not (start.isdecimal() and length.isdecimal()):
        return slice(None)  # "-" is all of it
    return slice(int(start), int(start) + int(length))


def _fitting(op: Operation, array: np.ndarray, path: str) -> np.ndarray:
    """Raises GradstepError for the value of another variable."""
    dtype = attribute(op, "dtype", DType)
    shape = attribute(op, "shape", Shape, UNKNOWN)
    if dtype.numpy != array.dtype or not shape.accepts(array.shape):
        raise GradstepError(
            f"{path}: '{op.name}' is {dtype.value}{shape} in the graph, and "
            f"{array.dtype.name}{list(array.shape)} there",
            kind="FileError",
            hint="put the checkpoint beside it that was saved with this graph",
        )
    return array


def said_of(saved: SavedValues, checkpoint: str) -> Iterator[str]:
    """What people are told, a sentence each. checkpoint: what it is called."""
    count = len(saved.values)
    if count:
        have = f"{count} variables have" if count > 1 else "One variable has"
        yield f"{have} the values of {checkpoint}."
    if saved.missing:
        names = ", ".join(saved.missing[:5]) + ("…" if saved.missing[5:] else "")
        yield f"No value was saved of {names}."
