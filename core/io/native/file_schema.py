"""The records of document.json and view.json, exactly as they stand in the file."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from gradstep.core.autodiff.reverse.gradient_request import OverrideKind
from gradstep.core.debug.breaks.breakpoints import BreakpointKind
from gradstep.core.document.document import CodeKind
from gradstep.core.document.expectation import ATOL, RTOL, ExpectationKind
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Phase

VERSION = 11
# Since when there are these. Files without them are written as 1, which older versions of the
# program read.
SPLATS = 2  # a tensor may be written as its one value (TensorRecord.splat)
DATA = 3  # DatasetRecord
TEST = 4  # rows of the data to test on
RECORDED = 4  # a recorded run (RecordedRecord)
WATCHES = 5
LOGS = 6  # breakpoints that log, or are on what is written
PACKED = 7  # rows of the data are packed into it
BRANCHES = 8  # of its runs
EDITED_BRANCHES = 9  # of edited programs
LOOP_BRANCHES = 10  # they stand in loops, or were given values there
THREAD_BRANCHES = 11  # they are of several threads
ALIKE = 1  # from this version on, these records read a file as it stands


Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Record(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of all records: what the schema does not know is refused, not lost."""


class TensorRecord(Record):
    """A tensor: `data` as in tensor_json, or the name of the .npy member that holds it. splat: all
    its elements are the one that is there, as of shape []."""

    dtype: DType
    shape: list[int]
    data: bool | int | float | str | dict[str, str] | list[Any] | UnsetType = UNSET
    file: str = ""
    splat: bool = False


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


class UnreadAttribute(Attribute, tag="unread"):
    """See gradstep.core.graph.opaque_attributes.Unread."""

    value: str  # base64
    why: str
    hint: str = ""


class LoopAttribute(Attribute, tag="loop"):
    """See gradstep.core.graph.loop.Loop; cond, results: tensor names."""

    operations: list[OperationRecord]
    variables: list[str]
    captures: list[str]
    cond: str
    results: list[str]


AttributeRecord = (
    bool | int | float | str
    | FloatAttribute | BytesAttribute | TypeAttribute | ShapeAttribute | TensorAttribute
    | ListAttribute | UnreadAttribute | LoopAttribute
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


class ImportedRecord(Record):
    """See gradstep.core.autodiff.recognition.answered_request.ImportedGradients."""

    scope: str
    of: list[str]
    wrt: list[str] = []
    grad_ys: list[str | None] = []


class OptimizerRecord(Record):
    type: str
    hyper: dict[str, float | str] = {}
    of: list[str] = []
    wrt: list[str] = []
    scales: dict[str, float | str] = {}
    name: str = ""
    enabled: bool = True
    schedule: str = ""
    clip: str = ""
    decay: str = ""


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
    log: str = ""


class ThreadRecord(Record):
    """See gradstep.core.debug.concurrency.thread_state.Thread."""

    name: str
    targets: list[str] = []
    fetches: list[str] = []
    closes: str = ""


class DatasetRecord(Record):
    """See gradstep.core.document.dataset.Dataset."""

    columns: dict[str, str]
    batch: int
    shuffle: int | None = None
    drop_last: bool = False
    validate: float = 0.0
    limit: int = 0
    epochs: int = 1
    test: float | None = None  # which older versions of the program do not know


class VariationRecord(Record):
    """See gradstep.core.document.expectation.Variation."""

    feeds: dict[str, TensorRecord] = {}
    initial: dict[str, TensorRecord] = {}
    of: list[str] = []
    wrt: list[str] = []
    fetches: list[str] = []
    targets: list[str] = []
    overrides: bool = True
    stops: bool = True
    device: str = "cpu"


class ExpectationRecord(Record):
    """See gradstep.core.document.expectation.Expectation."""

    text: str
    what: str
    kind: ExpectationKind = ExpectationKind.EQUALS
    value: TensorRecord | None = None
    other: str = ""
    run: int = 0
    rtol: float = RTOL
    atol: float = ATOL
    error: str = ""
    message: str = ""
    when: VariationRecord | None = None


class IterationsRecord(Record):
    """See gradstep.core.debug.history.recorded_run.RecordedIterations."""

    places: TensorRecord
    values: TensorRecord
    gradients: TensorRecord | None = None


class RecordedRecord(Record):
    """See gradstep.core.debug.history.recorded_run.RecordedRun. sources: file -> the member with
    its text."""

    source: str
    of: str = ""
    epsilon: float = 0.0
    values: dict[str, TensorRecord] = {}
    gradients: dict[str, TensorRecord] = {}
    iterations: dict[str, IterationsRecord] = {}  # which older versions of the program do not know
    none: list[str] = []
    remarks: dict[str, str] = {}
    sources: dict[str, str] = {}
    paths: dict[str, str] = {}


class ChangeRecord(Record):
    """See gradstep.core.document.kept_branch.KeptChange."""

    run: Count
    step: Count
    op: str = ""
    values: dict[str, TensorRecord] = {}
    words: str = ""
    inside: list[tuple[Count, Count, str]] = []  # which older versions of the program do not know


class BranchEditRecord(Record):
    """See gradstep.core.document.kept_branch.KeptEdit."""

    run: Count
    step: Count
    kind: str
    op: str = ""
    names: list[str] = []
    words: str = ""


class ThreadPlaceRecord(Record):
    """See gradstep.core.document.kept_branch.KeptPlace."""

    thread: str
    place: list[tuple[Count, Count]] = []
    ops: list[str] = []


class TurnRecord(Record):
    """See gradstep.core.document.kept_branch.KeptTurn."""

    thread: str
    place: list[tuple[Count, Count]] = []
    ops: list[str] = []
    tried: bool = False
    given: dict[str, TensorRecord] | None = None
    words: str = ""
    assigned: dict[str, TensorRecord] | None = None
    edit: Count = 0


class BranchRecord(Record):
    """See gradstep.core.document.kept_branch.KeptBranch."""

    name: str
    parent: str = ""
    run: Count = 0
    step: Count = 0
    op: str = ""
    changes: list[ChangeRecord] = []
    inherited: Count = 0
    place: tuple[Count, Count] = (0, 0)
    edits: list[BranchEditRecord] = []  # which older versions of the program do not know
    inside: list[tuple[Count, Count, str]] = []  # nor this
    left: list[ThreadPlaceRecord] = []  # nor what follows
    stands: list[ThreadPlaceRecord] = []
    thread: str = ""
    turns: list[TurnRecord] = []
    lacks: list[Count] = []


class DocumentRecord(Record):
    """document.json; see gradstep.core.document.document.Document for the meaning."""

    version: int
    operations: list[OperationRecord]
    request: RequestRecord = msgspec.field(default_factory=RequestRecord)
    imported: list[ImportedRecord] = []
    initial: dict[str, TensorRecord] = {}
    feeds: dict[str, TensorRecord] = {}
    data: DatasetRecord | None = None
    packed: dict[str, TensorRecord] = {}
    optimizer: OptimizerRecord | None = None  # the only one, as files have it that could hold one
    optimizers: list[OptimizerRecord] = []
    code: list[CodeRecord] = []
    breakpoints: list[BreakpointRecord] = []
    watches: list[str] = []
    init: str = ""
    fetches: list[str] = []
    targets: list[str] = []
    threads: list[ThreadRecord] = []
    title: str = ""
    note: str = ""
    claim: str = ""
    truth: str = ""
    group: str = ""
    expectations: list[ExpectationRecord] = []
    functions: str = ""  # base64
    recorded: RecordedRecord | None = None
    branches: list[BranchRecord] = []


class ViewRecord(Record):
    """view.json: node centres in scene units, collapsed scopes."""

    version: int
    positions: dict[str, tuple[float, float]] = {}
    collapsed: list[str] = []
