"""A recording of a device as a file, .gradrec: a zip with the document, and what each node gave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.io.device_recordings import DOCUMENT, MEMBER, TODO, WHAT
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.native.attribute_records import TensorFiles, read_tensor
from gradstep.core.io.native.file_schema import Record, TensorRecord
from gradstep.core.io.native.zip_archive import Archive, pack
from gradstep.core.json_text import UNREADABLE, pretty, why_unreadable
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.gpu.device_recording import DeviceRecording, RecordedNode
from gradstep.gpu.device_run import Outcome

VERSION = 1


class ErrorRecord(Record):
    """See GradstepError."""

    message: str
    kind: str
    node: str | None = None
    index: list[int] | None = None
    hint: str = ""


class OutcomeRecord(Record):
    """See Outcome. said: which outputs are text that is said of state."""

    outputs: list[TensorRecord] = msgspec.field(default_factory=list)
    said: list[int] = msgspec.field(default_factory=list)
    error: ErrorRecord | None = None
    available: bool = True
    dead: bool = False


class NodeRecord(Record):
    """isolated: nothing where it is as chained."""

    digest: str
    chained: OutcomeRecord
    isolated: OutcomeRecord | None = None


class RecordingRecord(Record):
    """See DeviceRecording."""

    version: int
    device: str
    text: str
    date: str
    measured: bool
    left: str
    is_apart: bool
    rules: dict[str, Any]
    starts: dict[str, str]
    nodes: dict[str, NodeRecord]


def to_bytes(recording: DeviceRecording) -> bytes:
    """The file. Raises GradstepError for what it cannot hold."""
    files = TensorFiles()
    record = RecordingRecord(
        version=VERSION,
        device=recording.device,
        text=recording.text,
        date=recording.date,
        measured=recording.measured,
        left=recording.left,
        is_apart=recording.is_apart,
        rules=msgspec.to_builtins(recording.rules),
        starts=dict(recording.starts),
        nodes={name: _node_record(node, files) for name, node in recording.nodes.items()},
    )
    text = pretty(msgspec.to_builtins(record)).encode()
    return pack({MEMBER: text, DOCUMENT: recording.document, **files.members})


def from_bytes(data: bytes, name: str = "", budget: Budget | None = None) -> DeviceRecording:
    """What a file holds; `name` is the file's, for messages. Raises GradstepError: FileError, or
    OverBudgetError."""
    try:
        archive = Archive(data, budget, WHAT, TODO)
        record = _record(archive)
        return DeviceRecording(
            device=record.device,
            text=record.text,
            date=record.date,
            measured=record.measured,
            rules=_rules(record.rules),
            left=record.left,
            is_apart=record.is_apart,
            starts=record.starts,
            nodes={each: _node(node, archive) for each, node in record.nodes.items()},
            document=archive.raw(DOCUMENT),
        )
    except GradstepError as error:
        raise inside(name or "the recording", error, kind="FileError") from None


class _Versioned(msgspec.Struct):
    version: int


def _record(archive: Archive) -> RecordingRecord:
    if MEMBER not in archive:
        said = f"is not {WHAT}: it holds no {MEMBER}"
        raise GradstepError(said, kind="FileError", hint=TODO)
    text = archive.json(MEMBER)
    try:
        version = msgspec.json.decode(text, type=_Versioned).version
        if version == VERSION:
            return msgspec.json.decode(text, type=RecordingRecord)
    except UNREADABLE as error:
        raise GradstepError(
            f"{MEMBER} is not valid: {why_unreadable(error)}",
            kind="FileError",
            hint="use another copy of the file, or record the device again",
        ) from None
    raise GradstepError(
        f"is written for another Gradstep (format {version}; this one reads {VERSION})",
        kind="FileError",
        hint="update Gradstep, or record the device again",
    )


def _rules(fields: Mapping[str, Any]) -> Rules:
    """Those that are known here; a newer Gradstep may have more."""
    known = {name: value for name, value in fields.items() if name in Rules.__dataclass_fields__}
    try:
        return msgspec.convert(known, Rules)
    except UNREADABLE as error:
        what = f"its rules are not valid: {why_unreadable(error)}"
        raise GradstepError(what, kind="FileError") from None


def _node_record(node: RecordedNode, files: TensorFiles) -> NodeRecord:
    chained = _outcome_record(node.chained, files)
    isolated = chained if node.isolated is node.chained else _outcome_record(node.isolated, files)
    differs = msgspec.to_builtins(isolated) != msgspec.to_builtins(chained)
    return NodeRecord(digest=node.digest, chained=chained, isolated=isolated if differs else None)


def _outcome_record(outcome: Outcome, files: TensorFiles) -> OutcomeRecord:
    said = [i for i, array in enumerate(outcome.outputs) if _is_said(array)]
    return OutcomeRecord(
        outputs=[files.record(Constant(array)) for array in _as_bytes(outcome.outputs)],
        said=said,
        error=None if outcome.error is None else _error_record(outcome.error),
        available=outcome.available,
        dead=outcome.dead,
    )


def _is_said(array: np.ndarray) -> bool:
    return array.dtype.hasobject and array.size == 1 and isinstance(array.reshape(-1)[0], str)


def _as_bytes(outputs: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Text of state as the text that tensors hold."""
    for array in outputs:
        yield np.array(array.item().encode(), object) if _is_said(array) else array


def _error_record(error: GradstepError) -> ErrorRecord:
    index = None if error.index is None else [*error.index]
    return ErrorRecord(
        message=error.message, kind=error.kind, node=error.node, index=index, hint=error.hint
    )


def _node(record: NodeRecord, archive: Archive) -> RecordedNode:
    chained = _outcome(record.chained, archive)
    isolated = chained if record.isolated is None else _outcome(record.isolated, archive)
    return RecordedNode(record.digest, chained, isolated)


def _outcome(record: OutcomeRecord, archive: Archive) -> Outcome:
    arrays = [read_tensor(each, archive).array for each in record.outputs]
    for index in record.said:
        if not 0 <= index < len(arrays) or not arrays[index].dtype.hasobject:
            raise GradstepError(f"output {index} is no text", kind="FileError")
        arrays[index] = np.array(bytes(arrays[index].item()).decode(errors="replace"), object)
    return Outcome(tuple(arrays), _error(record.error), record.available, record.dead)


def _error(record: ErrorRecord | None) -> GradstepError | None:
    if record is None:
        return None
    index = None if record.index is None else tuple(record.index)
    return GradstepError(
        record.message, kind=record.kind, node=record.node, index=index, hint=record.hint
    )
