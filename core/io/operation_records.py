"""Operations as records of the file, and back; a loop's are inside the operation that runs it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from core.errors import GradstepError
from core.graph.loop import Loop, within
from core.graph.model import Graph, Operation, TensorRef, predecessors
from core.io import schema
from core.io.attributes import TensorFiles, TensorSource, read_attribute, write_attribute


def write_graph(graph: Graph, files: TensorFiles) -> list[schema.OperationRecord]:
    """The records of `graph`. Raises GradstepError for what the format cannot hold."""
    return [_operation_record(op, files) for op in graph]


def read_graph(records: list[schema.OperationRecord], source: TensorSource) -> Graph:
    """The inverse of `write_graph`. Raises GradstepError."""
    graph = _graph(records, source)
    counted = Counter(op.name for op in within(graph))
    for name, count in counted.items():
        if count > 1:
            raise _bad(f"two operations are named '{name}'")
    return graph


def _operation_record(op: Operation, files: TensorFiles) -> schema.OperationRecord:
    try:
        attrs = {key: _write(value, files) for key, value in op.attrs.items()}
    except GradstepError as error:
        raise error.at(op.name) from None
    return schema.OperationRecord(
        name=op.name,
        type=op.type,
        inputs=[None if ref is None else str(ref) for ref in op.inputs],
        control_inputs=list(op.control_inputs),
        attrs=attrs,
        device=op.device,
        origin=op.origin,
        phase=op.phase,
    )


def _write(value: Any, files: TensorFiles) -> schema.AttributeRecord:
    if not isinstance(value, Loop):
        return write_attribute(value, files)
    return schema.LoopAttribute(
        operations=write_graph(value.graph, files),
        variables=list(value.variables),
        captures=list(value.captures),
        cond=str(value.cond),
        results=[str(ref) for ref in value.results],
    )


def _graph(records: list[schema.OperationRecord], source: TensorSource) -> Graph:
    operations: dict[str, Operation] = {}
    for record in records:
        if record.name in operations:
            raise _bad(f"two operations are named '{record.name}'")
        try:
            operations[record.name] = _operation(record, source)
        except GradstepError as error:
            raise error.at(record.name) from None
    return Graph(operations)


def _operation(record: schema.OperationRecord, source: TensorSource) -> Operation:
    return Operation(
        name=record.name,
        type=record.type,
        inputs=tuple(None if text is None else TensorRef.parse(text) for text in record.inputs),
        control_inputs=tuple(record.control_inputs),
        attrs={key: _read(value, source) for key, value in record.attrs.items()},
        device=record.device,
        origin=record.origin,
        phase=record.phase,
    )


def _read(record: schema.AttributeRecord, source: TensorSource) -> Any:
    if not isinstance(record, schema.LoopAttribute):
        return read_attribute(record, source)
    loop = Loop(
        graph=_graph(record.operations, source),
        variables=tuple(record.variables),
        captures=tuple(record.captures),
        cond=TensorRef.parse(record.cond),
        results=tuple(TensorRef.parse(text) for text in record.results),
    )
    _check(loop)
    return loop


def _check(loop: Loop) -> None:
    """Raise GradstepError where what a loop says of its graph is not so."""
    graph = loop.graph
    for name in loop.arguments:
        if name not in graph or graph[name].type != "_Arg":
            raise _bad(f"a loop's argument '{name}' is no _Arg among its operations")
    if len({*loop.arguments}) < len(loop.arguments):
        raise _bad("two arguments of a loop are one operation")
    if len(loop.results) != len(loop.variables):
        raise _bad(f"a loop has {len(loop.variables)} variables, but {len(loop.results)} results")
    for ref in (loop.cond, *loop.results):
        if ref.op not in graph:
            raise _bad(f"a loop refers to '{ref}', which is not among its operations")
    for op in graph:
        for name in predecessors(op):
            if name not in graph:
                raise _bad(f"'{op.name}' in a loop takes '{name}', which is not in that loop")


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint="the file is damaged")
