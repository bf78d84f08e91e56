"""Operations as records of the file, and back; a loop's are inside the operation that runs it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import LOOP, Loop, require_sound, within
from gradstep.core.graph.model import Graph, Operation, SharedAttrs, TensorRef
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
    graph = _Reader(source).graph(records)
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


class _Reader:
    """Makes operations of records. What many of them say alike, names of others above all, is one
    object, as a JSON reader makes every text anew."""

    def __init__(self, source: TensorSource) -> None:
        self._source = source
        self._texts: dict[str, str] = {}
        self._refs: dict[str, TensorRef] = {}
        self._attrs = SharedAttrs()

    def graph(self, records: list[file_schema.OperationRecord]) -> Graph:
        operations: dict[str, Operation] = {}
        for record in records:
            if record.name in operations:
                raise _bad(f"two operations are named '{record.name}'")
            try:
                op = self._operation(record)
            except GradstepError as error:
                raise error.at(record.name) from None
            operations[op.name] = op
        return Graph(operations)

    def _operation(self, record: file_schema.OperationRecord) -> Operation:
        op = Operation(
            name=self._text(record.name),
            type=self._text(record.type),
            inputs=tuple([None if text is None else self._ref(text) for text in record.inputs]),
            control_inputs=tuple(map(self._text, record.control_inputs)),
            attrs=self._attrs.one({key: self._read(key, x) for key, x in record.attrs.items()}),
            device=self._text(record.device),
            origin=self._text(record.origin),
            phase=record.phase,
        )
        require_sound(op)
        return op

    def _text(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def _ref(self, text: str) -> TensorRef:
        found = self._refs.get(text)
        if found is None:
            op, index = TensorRef.parse(text)
            found = self._refs[text] = TensorRef(self._text(op), index)
        return found

    def _read(self, key: str, record: file_schema.AttributeRecord) -> Any:
        if isinstance(record, file_schema.LoopAttribute) and key != LOOP:
            raise _bad(f"attribute '{key}' is a loop, which only '{LOOP}' can be")
        if not isinstance(record, file_schema.LoopAttribute):
            return read_attribute(record, self._source)
        return Loop(
            graph=self.graph(record.operations),
            variables=tuple(record.variables),
            captures=tuple(record.captures),
            cond=self._ref(record.cond),
            results=tuple(map(self._ref, record.results)),
        )


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint="the file is damaged")
