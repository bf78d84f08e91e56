"""A recorded run as a record of its document's file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gradstep.core.debug.history.recorded_run import RecordedIterations, RecordedRun
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import file_schema
from gradstep.core.io.native.attribute_records import TensorFiles, TensorSource, read_tensor


class Members(TensorSource, Protocol):
    def text(self, name: str) -> str: ...


def write_recorded(
    run: RecordedRun | None, files: TensorFiles
) -> tuple[file_schema.RecordedRecord | None, dict[str, bytes]]:
    """The record, and the members that hold its sources. files: get its large tensors."""
    if run is None:
        return None, {}
    members = {file: f"sources/{number}.txt" for number, file in enumerate(sorted(run.sources))}
    record = file_schema.RecordedRecord(
        source=run.source,
        of=run.of,
        epsilon=run.epsilon,
        values={name: files.record(value) for name, value in run.values.items()},
        gradients={name: files.record(value) for name, value in run.gradients.items()},
        iterations={name: _iterations(one, files) for name, one in run.iterations.items()},
        none=sorted(run.none),
        remarks=dict(run.remarks),
        sources=members,
        paths=dict(run.paths),
    )
    return record, {members[file]: text.encode() for file, text in run.sources.items()}


def read_recorded(
    record: file_schema.RecordedRecord | None, members: Members
) -> RecordedRun | None:
    """The inverse of `write_recorded`. Raises GradstepError."""
    if record is None:
        return None
    return RecordedRun(
        source=record.source,
        of=_name(record.of) if record.of else "",
        epsilon=record.epsilon,
        values=_tensors(record.values, members),
        gradients=_tensors(record.gradients, members),
        iterations={
            _name(name): _read_iterations(name, one, members)
            for name, one in record.iterations.items()
        },
        none=frozenset(_name(name) for name in record.none),
        remarks=record.remarks,
        sources={file: members.text(member) for file, member in record.sources.items()},
        paths=record.paths,
    )


def _tensors(
    records: Mapping[str, file_schema.TensorRecord], members: Members
) -> dict[str, Constant]:
    return {_name(name): read_tensor(record, members) for name, record in records.items()}


def _iterations(one: RecordedIterations, files: TensorFiles) -> file_schema.IterationsRecord:
    gradients = None if one.gradients is None else files.record(one.gradients)
    return file_schema.IterationsRecord(
        files.record(one.places), files.record(one.values), gradients
    )


def _read_iterations(
    name: str, record: file_schema.IterationsRecord, members: Members
) -> RecordedIterations:
    gradients = None if record.gradients is None else read_tensor(record.gradients, members)
    places, values = (read_tensor(part, members) for part in (record.places, record.values))
    held = [part.array for part in (values, gradients) if part is not None]
    times = places.array.shape[:1] if places.array.ndim == 2 else None
    if places.array.dtype.kind not in "iu" or any(part.shape[:1] != times for part in held):
        raise GradstepError(
            f"what was recorded of '{name:.60}' in a loop does not say in which iterations",
            kind="FileError",
            hint="open the trace that it came from",
        )
    return RecordedIterations(places, values, gradients)


def _name(name: str) -> str:
    return str(TensorRef.parse(name))
