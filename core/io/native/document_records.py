"""A document as the records of its file, and back."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from gradstep.core.autodiff.recognition.answered_request import ImportedGradients
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.document.document import CodeItem, Document, Optimizer, View
from gradstep.core.document.kept_branch import require_tree
from gradstep.core.document.node_positions import held
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.io.native import file_schema, tensor_json
from gradstep.core.io.native.attribute_records import (
    TensorFiles,
    TensorSource,
    read_base64,
    read_tensor,
)
from gradstep.core.io.native.branch_records import read_branch, write_branch
from gradstep.core.io.native.dataset_records import read_dataset, write_dataset
from gradstep.core.io.native.expectation_records import read_expectation, write_expectation
from gradstep.core.io.native.operation_records import read_graph, write_graph
from gradstep.core.io.native.recorded_records import read_recorded, write_recorded
from gradstep.core.io.native.thread_records import read_thread, write_thread


class Members(TensorSource, Protocol):
    """Where the parts of a document that are files of their own are read from."""

    def text(self, name: str) -> str: ...


@dataclass(frozen=True)
class Written:
    """A document taken apart: two records, and the members they refer to by name."""

    document: file_schema.DocumentRecord
    view: file_schema.ViewRecord
    members: Mapping[str, bytes]


def take_apart(document: Document, files: TensorFiles | None = None) -> Written:
    """The records of `document`. files: get its large tensors, by default as members. Raises
    GradstepError for what the format cannot hold."""
    files = files or TensorFiles()
    code, sources = _code_records(document.code.values())
    recorded, lines = write_recorded(document.recorded, files)
    record = file_schema.DocumentRecord(
        version=file_schema.ALIKE,
        operations=write_graph(document.graph, files),
        request=_request_record(document.request),
        imported=[_imported_record(one) for one in document.imported],
        initial={name: files.record(value) for name, value in document.initial.items()},
        feeds={name: files.record(value) for name, value in document.feeds.items()},
        data=None if document.data is None else write_dataset(document.data),
        packed={name: files.record(rows) for name, rows in document.packed.items()},
        optimizers=[_optimizer_record(optimizer) for optimizer in document.optimizers],
        code=code,
        breakpoints=[_breakpoint_record(b) for b in document.breakpoints],
        watches=[*document.watches],
        init=document.init,
        fetches=[str(ref) for ref in document.fetches],
        targets=list(document.targets),
        threads=[write_thread(thread) for thread in document.threads],
        title=document.title,
        note=document.note,
        claim=document.claim,
        truth=document.truth,
        group=document.group,
        expectations=[write_expectation(e, files) for e in document.expectations],
        functions=base64.b64encode(document.functions).decode(),
        recorded=recorded,
        branches=[write_branch(branch, files) for branch in document.branches],
    )
    if files.splats:
        record.version = file_schema.SPLATS
    if document.data is not None:
        record.version = file_schema.TEST if document.data.test else file_schema.DATA
    if recorded is not None:
        record.version = file_schema.RECORDED
    if document.watches:
        record.version = file_schema.WATCHES
    if any(b.log or b.kind is BreakpointKind.WRITE for b in document.breakpoints):
        record.version = file_schema.LOGS
    if document.packed:
        record.version = file_schema.PACKED
    if document.branches:
        edits = any(branch.edits for branch in document.branches)
        record.version = file_schema.EDITED_BRANCHES if edits else file_schema.BRANCHES
        if any(b.inside or any(c.inside for c in b.changes) for b in document.branches):
            record.version = file_schema.LOOP_BRANCHES
        if any(branch.thread for branch in document.branches):
            record.version = file_schema.THREAD_BRANCHES
    return Written(record, _view_record(document.view), {**files.members, **sources, **lines})


def put_together(
    record: file_schema.DocumentRecord, view: file_schema.ViewRecord, members: Members
) -> Document:
    """The inverse of `take_apart`. Raises GradstepError."""
    branches = tuple(read_branch(branch, members) for branch in record.branches)
    require_tree(branches)
    return Document(
        graph=read_graph(record.operations, members),
        request=_request(record.request),
        imported=tuple(map(_imported, record.imported)),
        initial=_tensors(record.initial, members),
        feeds=_tensors(record.feeds, members),
        data=None if record.data is None else read_dataset(record.data),
        packed=_tensors(record.packed, members),
        optimizers=tuple(map(_optimizer, _optimizer_records(record))),
        code={c.name: CodeItem(c.name, c.kind, members.text(c.file)) for c in record.code},
        breakpoints=tuple(_breakpoint(b) for b in record.breakpoints),
        watches=tuple(record.watches),
        init=record.init,
        fetches=_refs(record.fetches),
        targets=tuple(record.targets),
        threads=tuple(read_thread(thread) for thread in record.threads),
        title=record.title,
        note=record.note,
        claim=record.claim,
        truth=record.truth,
        group=record.group,
        expectations=tuple(read_expectation(e, members) for e in record.expectations),
        functions=read_base64(record.functions),
        recorded=read_recorded(record.recorded, members),
        branches=branches,
        view=View(positions=held(dict(view.positions)), collapsed=frozenset(view.collapsed)),
    )


# -- to records --------------------------------------------------------------------------------


def _request_record(request: GradientRequest) -> file_schema.RequestRecord:
    return file_schema.RequestRecord(
        of=[str(ref) for ref in request.of],
        wrt=[str(ref) for ref in request.wrt],
        stops=sorted(str(ref) for ref in request.stops),
        stopped_edges=sorted(str(edge) for edge in request.stopped_edges),
        overrides=[
            file_schema.OverrideRecord(
                gradient=o.gradient, target=o.target, kind=o.kind, enabled=o.enabled
            )
            for o in request.overrides
        ],
        unconnected_zero=request.unconnected_zero,
        grad_ys=[None if ref is None else str(ref) for ref in request.grad_ys],
        gate=request.gate,
    )


def _imported_record(one: ImportedGradients) -> file_schema.ImportedRecord:
    of, wrt = ([str(ref) for ref in refs] for refs in (one.of, one.wrt))
    starts = [None if ref is None else str(ref) for ref in one.grad_ys]
    return file_schema.ImportedRecord(scope=one.scope, of=of, wrt=wrt, grad_ys=starts)


def _optimizer_record(optimizer: Optimizer) -> file_schema.OptimizerRecord:
    return file_schema.OptimizerRecord(
        type=optimizer.type,
        hyper=_number_records(optimizer.hyper),
        of=[str(ref) for ref in optimizer.of],
        wrt=[str(ref) for ref in optimizer.wrt],
        scales=_number_records(optimizer.scales),
        name=optimizer.name,
        enabled=optimizer.enabled,
        schedule=optimizer.schedule,
        clip=optimizer.clip,
        decay=optimizer.decay,
    )


def _number_records(numbers: Mapping[str, float]) -> dict[str, float | str]:
    return {name: tensor_json.number_to_json(float(value)) for name, value in numbers.items()}


def _code_records(
    items: Iterable[CodeItem],
) -> tuple[list[file_schema.CodeRecord], dict[str, bytes]]:
    records: list[file_schema.CodeRecord] = []
    sources: dict[str, bytes] = {}
    for item in sorted(items, key=lambda item: item.name):
        file = _code_file(item.name, sources)
        sources[file] = item.source.encode()
        records.append(file_schema.CodeRecord(name=item.name, kind=item.kind, file=file))
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


def _breakpoint_record(b: Breakpoint) -> file_schema.BreakpointRecord:
    return file_schema.BreakpointRecord(
        target=b.target,
        kind=b.kind,
        condition=b.condition,
        hits=b.hits,
        exempt=sorted(b.exempt),
        enabled=b.enabled,
        log=b.log,
    )


def _view_record(view: View) -> file_schema.ViewRecord:
    # A position that is not a number places nothing: the layout will.
    positions = {n: (float(x), float(y)) for n, (x, y) in view.positions.items() if isfinite(x + y)}
    return file_schema.ViewRecord(
        version=file_schema.ALIKE, positions=positions, collapsed=sorted(view.collapsed)
    )


# -- from records ------------------------------------------------------------------------------


def _request(record: file_schema.RequestRecord) -> GradientRequest:
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


def _imported(record: file_schema.ImportedRecord) -> ImportedGradients:
    starts = tuple(None if t is None else TensorRef.parse(t) for t in record.grad_ys)
    return ImportedGradients(record.scope, _refs(record.of), _refs(record.wrt), starts)


def _tensors(
    records: Mapping[str, file_schema.TensorRecord], members: Members
) -> Mapping[str, Constant]:
    return {name: _tensor(name, record, members) for name, record in records.items()}


def _tensor(name: str, record: file_schema.TensorRecord, members: Members) -> Constant:
    try:
        return read_tensor(record, members)
    except GradstepError as error:
        raise error.at(name) from None


def _optimizer_records(record: file_schema.DocumentRecord) -> list[file_schema.OptimizerRecord]:
    return [*([] if record.optimizer is None else [record.optimizer]), *record.optimizers]


def _optimizer(record: file_schema.OptimizerRecord) -> Optimizer:
    return Optimizer(
        record.type,
        _numbers(record.hyper),
        _refs(record.of),
        _refs(record.wrt),
        _numbers(record.scales),
        record.name,
        record.enabled,
        record.schedule,
        record.clip,
        record.decay,
    )


def _numbers(records: Mapping[str, float | str]) -> dict[str, float]:
    try:
        return {name: tensor_json.number_from_json(value) for name, value in records.items()}
    except ValueError as error:
        raise _bad(f"optimizer: {error}") from None


def _breakpoint(b: file_schema.BreakpointRecord) -> Breakpoint:
    return Breakpoint(b.target, b.kind, b.condition, b.hits, frozenset(b.exempt), b.enabled, b.log)


def _refs(names: list[str]) -> tuple[TensorRef, ...]:
    return tuple(TensorRef.parse(name) for name in names)


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint="the file is damaged")
