"""Lookup tables that are filled from a text file, filled with what is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.native.tensor_json import objects
from gradstep.core.ops.declare.attribute_kinds import attribute

FILLS = ("InitializeTableFromTextFileV2", "InitializeTableFromTextFile")
_LINE, _NUMBER = -2, -1  # of a column: the whole line, and its number

Read = Callable[[str], bytes]


def with_text_tables(graph: Graph, assets: Mapping[str, str], read: Read) -> Graph:
    """`graph`, in which such operations have what they read as constants. assets: operation that
    gives a file's path -> the file's name; read: its bytes, by its name, which raises
    GradstepError. What reads other files stays as it is."""
    if not assets:
        return graph
    made: dict[str, Operation] = {}
    for op in graph:
        if op.name in assets:
            op = _path(op, assets[op.name])
        source = _asset(op, graph, assets) if op.type in FILLS else ""
        for one in _filled(op, graph, read(assets[source])) if source else (op,):
            made[one.name] = one
    return Graph(made)


def _path(op: Operation, name: str) -> Operation:
    """The operation that says where a file is, as a constant."""
    value = Constant(objects([f"assets/{name}".encode()], ()))
    return replace(op, type="Const", inputs=(), attrs={"value": value, "dtype": DType.STRING})


def _asset(op: Operation, graph: Graph, assets: Mapping[str, str]) -> str:
    """Which asset the file is that an operation reads; "" where that is not told."""
    ref = op.inputs[1] if len(op.inputs) > 1 else None
    found = [] if ref is None else sorted(graph.ancestors([ref.op]) & assets.keys())
    return found[0] if len(found) == 1 else ""


def _filled(op: Operation, graph: Graph, text: bytes) -> tuple[Operation, ...]:
    """Its keys, its values, and what fills the table with them."""
    table = _table(graph, op.inputs[0])
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    lines = lines[:-1] if lines and not lines[-1] else lines
    count = attribute(op, "vocab_size", int, -1)
    lines = lines[:count] if count > 0 else lines
    made = []
    for end, column in (("key", "key_index"), ("value", "value_index")):
        dtype = attribute(table, f"{end}_dtype", DType)
        values = _column(op, lines, attribute(op, column, int, _LINE), dtype)
        attrs = {"value": Constant.taking(values), "dtype": dtype}
        made.append(Operation(f"{op.name}/{end}s", "Const", attrs=attrs))
    inputs = (op.inputs[0], *(one.output() for one in made))
    filled = replace(op, type="InitializeTableV2", inputs=inputs, attrs={})
    return (*made, filled)


def _table(graph: Graph, ref: TensorRef | None) -> Operation:
    while ref is not None and graph[ref.op].type == "Identity":
        ref = graph[ref.op].inputs[0]
    return graph[ref.op] if ref is not None else Operation("", "")


def _column(op: Operation, lines: list[str], index: int, dtype: DType) -> np.ndarray:
    delimiter = attribute(op, "delimiter", str, "\t") or "\t"
    try:
        if index == _NUMBER:
            return np.arange(len(lines), dtype=dtype.numpy)
        texts = lines if index == _LINE else [line.split(delimiter)[index] for line in lines]
        if dtype is DType.STRING:
            encoded: list[Any] = [text.encode("utf-8", "surrogateescape") for text in texts]
            return objects(encoded, (len(encoded),))
        return np.array([dtype.numpy.type(text) for text in texts], dtype.numpy)
    except (ValueError, IndexError) as error:
        raise GradstepError(
            f"'{op.name}': the file that fills its table is not as it says ({error!s:.80})",
            kind="FileError",
            node=op.name,
            hint="use another copy of the folder",
        ) from None
