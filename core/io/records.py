"""A document as the records of its file, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from core.autodiff.request import GradientRequest, Override
from core.debug.breakpoints import Breakpoint
from core.errors import GradstepError
from core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from core.io import schema, tensor_json
from core.io.attributes import (
    TensorFiles,
    TensorSource,
    read_attribute,
    read_tensor,
    write_attribute,
)
from core.io.document import CodeItem, Document, Optimizer, View


class Members(TensorSource, Protocol):
    """Where the parts of a document that are files of their own are read from."""

    def text(self, name: str) -> str: ...


@dataclass(frozen=True)
class Written:
    """A document taken apart: two records, and the members they refer to by name."""

    document: schema.DocumentRecord
    view: schema.ViewRecord
    members: Mapping[str, bytes]


def take_apart(document: Document) -> Written:
    """The records of `document`. Raises GradstepError for what the format cannot hold."""
    files = TensorFiles()
    code, sources = _code_records(document.code.values())
    record = schema.DocumentRecord(
        version=schema.VERSION,
        operations=[_operation_record(op, files) for op in document.graph],
        request=_request_record(document.request),
        initial={name: files.record(value) for name, value in document.initial.items()},
        feeds={name: files.record(value) for name, value in document.feeds.items()},
        optimizer=_optimizer_record(document.optimizer),
        code=code,
        breakpoints=[_breakpoint_record(b) for b in document.breakpoints],
        init=document.init,
        fetches=[str(ref) for ref in document.fetches],
        targets=list(document.targets),
        title=document.title,
        note=document.note,
    )
    return Written(record, _view_record(document.view), {**files.members, **sources})


def put_together(
    record: schema.DocumentRecord, view: schema.ViewRecord, members: Members
) -> Document:
    """The inverse of `take_apart`. Raises GradstepError."""
    return Document(
        graph=_graph(record.operations, members),
        request=_request(record.request),
        initial=_tensors(record.initial, members),
        feeds=_tensors(record.feeds, members),
        optimizer=_optimizer(record.optimizer),
        code={c.name: CodeItem(c.name, c.kind, members.text(c.file)) for c in record.code},
        breakpoints=tuple(_breakpoint(b) for b in record.breakpoints),
        init=record.init,
        fetches=_refs(record.fetches),
        targets=tuple(record.targets),
        title=record.title,
        note=record.note,
        view=View(positions=dict(view.positions), collapsed=frozenset(view.collapsed)),
    )


# -- to records --------------------------------------------------------------------------------


def _operation_record(op: Operation, files: TensorFiles) -> schema.OperationRecord:
    try:
        attrs = {key: write_attribute(value, files) for key, value in op.attrs.items()}
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


def _request_record(request: GradientRequest) -> schema.RequestRecord:
    return schema.RequestRecord(
        of=[str(ref) for ref in request.of],
        wrt=[str(ref) for ref in request.wrt],
        stops=sorted(str(ref) for ref in request.stops),
        stopped_edges=sorted(str(edge) for edge in request.stopped_edges),
        overrides=[
            schema.OverrideRecord(
                gradient=o.gradient, target=o.target, kind=o.kind, enabled=o.enabled
            )
            for o in request.overrides
        ],
        unconnected_zero=request.unconnected_zero,
        grad_ys=[None if ref is None else str(ref) for ref in request.grad_ys],
        gate=request.gate,
    )


def _optimizer_record(optimizer: Optimizer | None) -> schema.OptimizerRecord | None:
    if optimizer is None:
        return None
    hyper = {k: tensor_json.number_to_json(float(v)) for k, v in optimizer.hyper.items()}
    return schema.OptimizerRecord(type=optimizer.type, hyper=hyper)


def _code_records(
    items: Iterable[CodeItem],
) -> tuple[list[schema.CodeRecord], dict[str, bytes]]:
    records: list[schema.CodeRecord] = []
    sources: dict[str, bytes] = {}
    for item in sorted(items, key=lambda item: item.name):
        file = _code_file(item.name, sources)
        sources[file] = item.source.encode()
        records.append(schema.CodeRecord(name=item.name, kind=item.kind, file=file))
    return records, sources


def _code_file(name: str, taken: Iterable[str]) -> str:
    """A member name that people recognise and every file system can hold."""
    used = {other.lower() for other in taken}
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "code"
    file, count = f"code/{stem}.py", 1
    while file.lower() in used:
        count += 1
        file = f"code/{stem}_{count}.py"
    return file


def _breakpoint_record(b: Breakpoint) -> schema.BreakpointRecord:
    return schema.BreakpointRecord(
        target=b.target,
        kind=b.kind,
        condition=b.condition,
        hits=b.hits,
        exempt=sorted(b.exempt),
        enabled=b.enabled,
    )


def _view_record(view: View) -> schema.ViewRecord:
    # A position that is not a number places nothing: the layout will.
    positions = {n: (float(x), float(y)) for n, (x, y) in view.positions.items() if isfinite(x + y)}
    return schema.ViewRecord(
        version=schema.VERSION, positions=positions, collapsed=sorted(view.collapsed)
    )


# -- from records ------------------------------------------------------------------------------


def _graph(records: list[schema.OperationRecord], members: Members) -> Graph:
    operations: dict[str, Operation] = {}
    for record in records:
        if record.name in operations:
            raise _bad(f"two operations are named '{record.name}'")
        try:
            operations[record.name] = _operation(record, members)
        except GradstepError as error:
            raise error.at(record.name) from None
    return Graph(operations)


def _operation(record: schema.OperationRecord, members: Members) -> Operation:
    return Operation(
        name=record.name,
        type=record.type,
        inputs=tuple(None if text is None else TensorRef.parse(text) for text in record.inputs),
        control_inputs=tuple(record.control_inputs),
        attrs={key: read_attribute(value, members) for key, value in record.attrs.items()},
        device=record.device,
        origin=record.origin,
        phase=record.phase,
    )


def _request(record: schema.RequestRecord) -> GradientRequest:
    return GradientRequest(
        of=_refs(record.of),
        wrt=_refs(record.wrt),
        stops=frozenset(_refs(record.stops)),
        stopped_edges=frozenset(Edge.parse(text) for text in record.stopped_edges),
        overrides=tuple(
            Override(o.gradient, o.target, o.kind, o.enabled) for o in record.overrides
        ),
        unconnected_zero=record.unconnected_zero,
        grad_ys=tuple(None if t is None else TensorRef.parse(t) for t in record.grad_ys),
        gate=record.gate,
    )


def _tensors(
    records: Mapping[str, schema.TensorRecord], members: Members
) -> Mapping[str, Constant]:
    return {name: _tensor(name, record, members) for name, record in records.items()}


def _tensor(name: str, record: schema.TensorRecord, members: Members) -> Constant:
    try:
        return read_tensor(record, members)
    except GradstepError as error:
        raise error.at(name) from None


def _optimizer(record: schema.OptimizerRecord | None) -> Optimizer | None:
    if record is None:
        return None
    try:
        hyper = {k: tensor_json.number_from_json(v) for k, v in record.hyper.items()}
    except ValueError as error:
        raise _bad(f"optimizer: {error}") from None
    return Optimizer(record.type, hyper)


def _breakpoint(b: schema.BreakpointRecord) -> Breakpoint:
    return Breakpoint(b.target, b.kind, b.condition, b.hits, frozenset(b.exempt), b.enabled)


def _refs(names: list[str]) -> tuple[TensorRef, ...]:
    return tuple(TensorRef.parse(name) for name in names)


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint="the file is damaged")
