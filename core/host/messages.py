"""What the window and the engine process say to each other.

Each message is one msgspec struct, tagged by its class name. Tensor bytes do not go through
msgpack: a message names raw buffers by number, and they follow it on the pipe (see wire.py).
Names of tensors are strings ("a:0"); `run` and `step` count from 0, and `step` is the number of
plan steps already executed in that run.
"""

from __future__ import annotations

import msgspec


class Message(msgspec.Struct, tag=True, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all messages."""


# -- shared parts ------------------------------------------------------------------------------


class ErrorInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A GradstepError on the wire, and in every command's --json."""

    type: str
    message: str
    node: str | None = None
    index: list[int] | None = None
    hint: str = ""


class ProblemInfo(ErrorInfo, frozen=True, kw_only=True):
    """What is wrong with the document; severity: "error", "warning" or "info"."""

    severity: str = "error"


class StepInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the plan. `text` says what it does, in mathematical notation."""

    op: str
    type: str
    phase: str
    origin: str  # the forward operation it belongs to; the operation itself when forward
    text: str = ""
    outputs: list[str] = []
    writes: bool = False  # it gives variables new values


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Over the finite elements, but for the three counts. None for non-numeric tensors."""

    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    norm: float | None = None
    nans: int = 0
    infs: int = 0
    zeros: int = 0


class TensorPart(msgspec.Struct, frozen=True, kw_only=True):
    """A value as of some step: the first elements (row-major) in raw buffer number `buffer`.

    state: "known"; "waiting" (not computed yet at that step); "none" (a gradient that does not
    exist); "stale" never occurs: values are always as of the step asked for.
    """

    ref: str
    state: str
    dtype: str = ""
    shape: list[int] = []
    buffer: int = -1
    stats: Stats | None = None


class BlockedEdge(msgspec.Struct, frozen=True, kw_only=True):
    """The wire into input `index` of `op`, at which a gradient ends, and why."""

    op: str
    index: int
    why: str


class EdgeGradient(msgspec.Struct, frozen=True, kw_only=True):
    """The wire into input `index` of `op` carries `gradient` back."""

    op: str
    index: int
    gradient: str


class ProgramInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine derived from the document, as far as the window shows it."""

    steps: list[StepInfo]
    gradients: dict[str, str]  # forward tensor -> tensor that holds its gradient
    rows: list[str] = []  # forward tensors whose gradient is IndexedSlices
    edges: list[EdgeGradient]
    blocked: list[BlockedEdge]
    custom: dict[str, str]  # operation -> name of the override in force
    slots: dict[str, list[str]]  # variable -> its optimizer slot variables
    problems: list[ProblemInfo]
    device: str
    measured: bool
    source: str


class Stopped(Message, frozen=True, kw_only=True):
    """Where the debugger stands. Also sent unasked when a long run stops.

    reason: "entry", "step", "breakpoint", "exception", "pause", "goto" or "end" (of a run).
    """

    reason: str
    run: int
    step: int
    runs: int  # recorded so far, the current one included
    phase: str = ""
    node: str = ""  # forward operation the next step belongs to
    op: str = ""  # operation the next step executes
    text: str = ""
    error: ErrorInfo | None = None
    legal: list[str] = []  # commands that may be given now
    recorded_bytes: int = 0
    recorded_limit: int = 0


# -- requests and their replies ----------------------------------------------------------------


class Failed(Message, frozen=True, kw_only=True):
    """Reply to any request that could not be done."""

    error: ErrorInfo


class Done(Message, frozen=True, kw_only=True):
    """Reply to a request with nothing to say."""


class Open(Message, frozen=True, kw_only=True):
    """Load the document in raw buffer 0 (a .gradstep file's bytes). Replied to with Opened.

    trusted: whether its Python may run. keep_position: after an edit, replay to the old step.
    recorded_limit: bytes of recorded runs to keep.
    """

    trusted: bool = False
    device: str = "cpu"
    keep_position: bool = False
    recorded_limit: int = 2 << 30


class Opened(Message, frozen=True, kw_only=True):
    program: ProgramInfo
    stopped: Stopped


class Control(Message, frozen=True, kw_only=True):
    """A debugger command: step, step_into, step_out, step_back, continue_, reverse_continue,
    run_to (target: operation, or "run:step"), restart. Replied to with Stopped."""

    command: str
    target: str = ""


class BreakpointSpec(msgspec.Struct, frozen=True, kw_only=True):
    target: str
    kind: str = "op"
    condition: str = ""
    hits: int = 1
    exempt: list[str] = []
    enabled: bool = True


class SetBreakpoints(Message, frozen=True, kw_only=True):
    """Replace all breakpoints. Replied to with Done, or Failed for a bad condition."""

    breakpoints: list[BreakpointSpec]


class Read(Message, frozen=True, kw_only=True):
    """Values of tensors as of a step (-1: where the debugger stands). Replied to with Values.

    limit: at most so many elements of each; offset: start there (row-major)."""

    refs: list[str]
    run: int = -1
    step: int = -1
    limit: int = 64
    offset: int = 0


class Values(Message, frozen=True, kw_only=True):
    parts: list[TensorPart]


class CheckGradients(Message, frozen=True, kw_only=True):
    """Compare native, overridden and numeric gradients. Replied to with GradientTable.

    node: only of this operation, by itself; second_order: the gradients of gradients, too."""

    node: str = ""
    second_order: bool = False


class GradientRow(msgspec.Struct, frozen=True, kw_only=True):
    """One element of one gradient; None where there is none."""

    name: str
    index: list[int]
    native: float | None
    override: float | None
    numeric: float | None
    agrees: bool  # of the gradient in force (the override when there is one)
    analytic: float | None = None  # the gradient in force
    difference: float | None = None
    method: str = ""  # of the numbers: "central differences" or "complex step"
    verdict: str = ""  # "ok", "kink", "float32 limit" or "wrong"


class CheckedTensor(msgspec.Struct, frozen=True, kw_only=True):
    """One gradient at its worst element; `verdict` is of all of them.

    name: of the tensor whose gradient it is; node: the operation checked by itself ("" for a
    gradient through the whole graph), of type `type`, which takes the tensor as its input number
    `input`; order: 2 for a gradient of the gradient. looked_at: of `size` elements.
    """

    name: str
    index: list[int]
    analytic: float | None
    numeric: float
    difference: float
    method: str
    verdict: str
    text: str
    node: str = ""
    type: str = ""
    input: int = -1
    gradient: str = ""  # name of the gradient in force
    order: int = 1
    looked_at: int = 0
    size: int = 0


class NodeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an operation's gradient in force agrees with finite differences of it alone."""

    node: str
    gradient: str
    agrees: bool
    text: str
    fix: str = ""
    verdict: str = ""  # the most concerning one of `tensors`
    tensors: list[CheckedTensor] = []


class GradientTable(Message, frozen=True, kw_only=True):
    rows: list[GradientRow]
    nodes: list[NodeCheck]
    second: list[CheckedTensor] = []  # through the whole graph
    supports: str  # "native", "override", "both" or "neither"
    text: str


class Why(Message, frozen=True, kw_only=True):
    """Why is d(of)/d(wrt) as it is? Replied to with Explained."""

    of: str
    wrt: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """As in `gradstep why --json`."""

    state: str  # "none", "zero", "nan", "inf" or "ok"
    cause: str
    node: str | None
    index: list[int] | None
    path: list[str]
    text: str


class Explained(Message, frozen=True, kw_only=True):
    explanation: Explanation


class Compare(Message, frozen=True, kw_only=True):
    """Run on `left` and on each device of `against`, node by node. Replied to with Compared."""

    left: str = "cpu"
    against: list[str]


class SideResult(msgspec.Struct, frozen=True, kw_only=True):
    """One device's result at one node. status: "ok", "raised" or "unavailable" (an input was).

    values: up to 64 elements, NaN and infinities as strings; text: the error's, or a remark.
    """

    status: str
    dtype: str = ""
    shape: list[int] = []
    values: list[float | int | bool | str] = []
    text: str = ""


class ComparedNode(msgspec.Struct, frozen=True, kw_only=True):
    """One node on two devices.

    verdict: "equal", "close", "differs", "raises" (one side, or both), "unavailable".
    created: relative L2 error this node makes on equal inputs; inherited: what its inputs brought.
    metrics: equal (share of elements), max_abs, rel_p99, ulp_p99, rel_l2, cosine, scaled (of sums:
             over ε times the magnitudes), nan_mismatches, error_left, error_right (against
             float64), amplification; those that apply.
    """

    name: str
    type: str
    phase: str
    verdict: str
    left: SideResult
    right: SideResult
    created: float | None = None
    inherited: float | None = None
    rule: str = ""  # the documented rule that explains a difference, and its source
    metrics: dict[str, float] = {}


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    left: str
    right: str
    measured: bool
    source: str
    nodes: list[ComparedNode]
    first_divergence: str | None = None
    hazards: list[str] = []


class Compared(Message, frozen=True, kw_only=True):
    comparisons: list[Comparison]
    unavailable: dict[str, str] = {}  # device -> what is missing and how to get it


class Devices(Message, frozen=True, kw_only=True):
    """What this machine has. Replied to with DeviceList."""


class DeviceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """kind: "cpu", "gpu" or "emulated"; available, and if not, `text` says what to do."""

    name: str
    kind: str
    available: bool
    text: str
    source: str = ""


class DeviceList(Message, frozen=True, kw_only=True):
    devices: list[DeviceInfo]


# -- events, sent unasked ----------------------------------------------------------------------


class Output(Message, frozen=True, kw_only=True):
    """What user code printed."""

    text: str


class Progress(Message, frozen=True, kw_only=True):
    text: str
    done: int
    total: int


Request = Open | Control | SetBreakpoints | Read | CheckGradients | Why | Compare | Devices
Reply = (
    Opened | Stopped | Done | Failed | Values | GradientTable | Explained | Compared | DeviceList
)
Event = Output | Progress
