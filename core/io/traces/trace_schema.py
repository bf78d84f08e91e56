"""The records of a trace's graph.json, exactly as they stand in the file."""

from __future__ import annotations

from typing import Any

import msgspec

FORMAT = "gradstep-trace"
VERSION = 1


class Record(msgspec.Struct):
    """Base of all records. A later exporter may add fields, which are passed over here."""


class Framework(Record):
    name: str
    version: str = ""


class TensorRecord(Record):
    """value, gradient: members that hold what was computed. In a loop: values, gradients, one
    behind the other, and iterations, in which each was."""

    dtype: str
    shape: list[int | str]
    value: str = ""
    gradient: str = ""
    values: str = ""
    gradients: str = ""
    iterations: str = ""


class InputRecord(Record):
    """tensor: the member that holds its value; value, gradient as in TensorRecord. written: what
    the program calls it, where that is no name for an operation."""

    name: str
    kind: str
    dtype: str
    shape: list[int | str]
    gradient: str = ""
    tensor: str = ""
    trained: bool = False
    aliases: list[str] = []
    written: str = ""


class NodeRecord(Record):
    """frames: [file, line, function, text], the outermost first."""

    name: str
    op: str
    outputs: list[TensorRecord]
    args: dict[str, Any] = {}
    module: str = ""
    frames: list[tuple[str, int, str, str]] = []
    function: str = ""
    backward: str = ""


class SubgraphRecord(Record):
    """The function of a branch or a loop. outputs: arguments' values."""

    inputs: list[InnerInputRecord]
    nodes: list[NodeRecord]
    outputs: list[Any]


class InnerInputRecord(TensorRecord, kw_only=True):
    name: str


class ResultRecord(Record):
    kind: str
    value: dict[str, Any]
    target: str = ""


class FunctionRecord(Record, rename={"name": "class"}):
    name: str
    source: str = ""
    inputs: list[dict[str, Any]] = []
    outputs: list[dict[str, Any]] = []
    cotangents: list[dict[str, Any]] = []
    gradients: list[dict[str, Any] | None] = []


class RemarkRecord(Record):
    text: str
    input: str = ""


class TraceRecord(Record):
    """graph.json."""

    format: str
    version: int
    framework: Framework
    inputs: list[InputRecord]
    nodes: list[NodeRecord]
    title: str = ""
    outputs: list[ResultRecord] = []
    symbols: dict[str, tuple[int | None, int | None]] = {}
    functions: dict[str, FunctionRecord] = {}
    sources: dict[str, str] = {}
    remarks: list[RemarkRecord] = []
