"""Operations as records of the file, and back; a loop's are inside the operation that runs it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import LOOP, Loop, require_sound, within
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.io.native import file_schema
from gradstep.core.io.native.attribute_records import (
    TensorFiles,
    TensorSource,
    read_attribute,
    write_attribute,
)


def write_graph(graph: Graph, files: TensorFiles) -> list[file_schema.OperationRecord]:
    """The records of `graph`. Raises GradstepError for what the format cannot hold."""
    return [_operation_record(op, files) for op in graph]


def read_graph(records: list[file_schema.OperationRecord], source: TensorSource) -> Graph:
    """The inverse of `write_graph`. Raises GradstepError."""
    graph = _graph(records, source)
    counted = Counter(op.name for op in within(graph))
    for name, count in counted.items():
        if count > 1:
            raise _bad(f"two operations are named '{name}'")
    return graph


def _operation_record(op: Operation, files: TensorFiles) -> file_schema.OperationRecord:
    try:
        attrs = {key: _write(value, files) for key, value in op.attrs.items()}
    except GradstepError as error:
        raise error.at(op.name) from None
    return file_schema.OperationRecord(
        name=op.name,
        type=op.type,
        inputs=[None if ref is None else str(ref) for ref in op.inputs],
        control_inputs=list(op.control_inputs),
        attrs=attrs,
        device=op.device,
        origin=op.origin,
        phase=op.phase,
    )


def _write(value: Any, files: TensorFiles) -> file_schema.AttributeRecord:
    if not isinstance(value, Loop):
        return write_attribute(value, files)
    return file_schema.LoopAttribute(
        operations=write_graph(value.graph, files),
        variables=list(value.variables),
        captures=list(value.captures),
        cond=str(value.cond),
        results=[str(ref) for ref in value.results],
    )


def _graph(records: list[file_schema.OperationRecord], source: TensorSource) -> Graph:
    operations: dict[str, Operation] = {}
    for record in records:
        if record.name in operations:
            raise _bad(f"two operations are named '{record.name}'")
        try:
            operations[record.name] = _operation(record, source)
        except GradstepError as error:
            raise error.at(record.name) from None
    return Graph(operations)


def _operation(record: file_schema.OperationRecord, source: TensorSource) -> Operation:
    op = Operation(
        name=record.name,
        type=record.type,
        inputs=tuple(None if text is None else TensorRef.parse(text) for text in record.inputs),
        control_inputs=tuple(record.control_inputs),
        attrs={key: _read(key, value, source) for key, value in record.attrs.items()},
        device=record.device,
        origin=record.origin,
        phase=record.phase,
    )
    require_sound(op)
    return op


def _read(key: str, record: file_schema.AttributeRecord, source: TensorSource) -> Any:
    if isinstance(record, file_schema.LoopAttribute) and key != LOOP:
        raise _bad(f"attribute '{key}' is a loop, which only '{LOOP}' can be")
    if not isinstance(record, file_schema.LoopAttribute):
        return read_attribute(record, source)
    return Loop(
        graph=_graph(record.operations, source),
        variables=tuple(record.variables),
        captures=tuple(record.captures),
        cond=TensorRef.parse(record.cond),
        results=tuple(TensorRef.parse(text) for text in record.results),
    )


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint="the file is damaged")
