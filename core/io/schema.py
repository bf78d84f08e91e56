"""The records of document.json and view.json, exactly as they stand in the file."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from core.autodiff.request import OverrideKind
from core.debug.breakpoints import BreakpointKind
from core.graph.dtypes import DType
from core.graph.model import Phase
from core.io.document import CodeKind

VERSION = 1


class Record(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of all records: what the schema does not know is refused, not lost."""


class TensorRecord(Record):
    """A tensor: `data` as in tensor_json, or the name of the .npy member that holds it."""

    dtype: DType
    shape: list[int]
    data: Any | UnsetType = UNSET
    file: str = ""


class Attribute(Record, tag_field="kind"):
    """Base of the attribute values that JSON has no type of its own for."""


class FloatAttribute(Attribute, tag="float"):
    value: str  # "NaN", "Infinity" or "-Infinity"


class BytesAttribute(Attribute, tag="bytes"):
    value: str  # base64


class TypeAttribute(Attribute, tag="type"):
    value: DType


class ShapeAttribute(Attribute, tag="shape"):
    value: list[int | None] | None  # None for unknown rank


class TensorAttribute(Attribute, tag="tensor"):
    value: TensorRecord


class ListAttribute(Attribute, tag="list"):
    value: list[AttributeRecord]


AttributeRecord = (
    bool | int | float | str
    | FloatAttribute | BytesAttribute | TypeAttribute | ShapeAttribute | TensorAttribute
    | ListAttribute
)  # fmt: skip


class OperationRecord(Record):
    """inputs: tensor names ("data:0"), null where nothing is wired."""

    name: str
    type: str
    inputs: list[str | None] = []
    control_inputs: list[str] = []
    attrs: dict[str, AttributeRecord] = {}
    device: str = ""
    origin: str = ""
    phase: Phase = Phase.FORWARD


class OverrideRecord(Record):
    gradient: str
    target: str
    kind: OverrideKind
    enabled: bool = True


class RequestRecord(Record):
    """stopped_edges: wires, written "op<1" (the second input of `op`). grad_ys: one for each of
    `of`, null for ones; or none at all."""

    of: list[str] = []
    wrt: list[str] = []
    stops: list[str] = []
    stopped_edges: list[str] = []
    overrides: list[OverrideRecord] = []
    unconnected_zero: bool = False
    grad_ys: list[str | None] = []
    gate: bool = False


class OptimizerRecord(Record):
    type: str
    hyper: dict[str, float | str] = {}


class CodeRecord(Record):
    """file: the member that holds the source text."""

    name: str
    kind: CodeKind
    file: str


class BreakpointRecord(Record):
    target: str
    kind: BreakpointKind = BreakpointKind.OP
    condition: str = ""
    hits: int = 1
    exempt: list[str] = []
    enabled: bool = True


class DocumentRecord(Record):
    """document.json; see core.io.document.Document for the meaning."""

    version: int
    operations: list[OperationRecord]
    request: RequestRecord = msgspec.field(default_factory=RequestRecord)
    initial: dict[str, TensorRecord] = {}
    feeds: dict[str, TensorRecord] = {}
    optimizer: OptimizerRecord | None = None
    code: list[CodeRecord] = []
    breakpoints: list[BreakpointRecord] = []
    init: str = ""
    fetches: list[str] = []
    targets: list[str] = []
    title: str = ""
    note: str = ""


class ViewRecord(Record):
    """view.json: node centres in scene units, collapsed scopes."""

    version: int
    positions: dict[str, tuple[float, float]] = {}
    collapsed: list[str] = []
