"""What the window and the engine process say to each other.

Each message is one msgspec struct, tagged by its class name. Tensor bytes do not go through
msgpack: a message names raw buffers by number, and they follow it on the pipe (see wire.py).
Names of tensors are strings ("a:0"); `run` and `step` count from 0, and `step` is the number of
plan steps already executed in that run.
"""

from __future__ import annotations

import msgspec

from core.host.parts import (
    BlockedEdge,
    BreakpointSpec,
    CheckedTensor,
    ComparedNode,
    Comparison,
    DeviceInfo,
    EdgeGradient,
    ErrorInfo,
    Explanation,
    GradientRow,
    NodeCheck,
    PassInfo,
    ProblemInfo,
    ProfileRow,
    ProgramInfo,
    SideResult,
    Stats,
    StepInfo,
    TensorPart,
)


class Message(msgspec.Struct, tag=True, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all messages."""


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


class Explained(Message, frozen=True, kw_only=True):
    explanation: Explanation


class Compare(Message, frozen=True, kw_only=True):
    """Run on `left` and on each device of `against`, node by node. Replied to with Compared."""

    left: str = "cpu"
    against: list[str]


class Compared(Message, frozen=True, kw_only=True):
    comparisons: list[Comparison]
    unavailable: dict[str, str] = {}  # device -> what is missing and how to get it


class Profile(Message, frozen=True, kw_only=True):
    """Measure the open program, on copies of its variables. Replied to with Profiled.

    mode: "recorded" (the layout that the debugger runs) or "fast"; runs: how many are measured
    (0: as many as fit in about a second, at least 3); without: names of passes to leave out, of
    fast runs (recorded runs have none); kernels: libraries that may compute in NumPy's place, or
    "auto" for all that are there. Emulated devices have no times: Failed."""

    mode: str = "recorded"
    runs: int = 0
    without: list[str] = []
    kernels: list[str] = []


class Profiled(Message, frozen=True, kw_only=True):
    """mode: how it ran, and `text` why, where that is not what was asked for; seconds: the median
    of one whole run, without the clock's own cost; runs: how many were measured; rows: in the
    order of the plan; passes: all that there are, in their order (in recorded runs, all off);
    device: where it ran."""

    mode: str
    runs: int
    seconds: float
    rows: list[ProfileRow]
    passes: list[PassInfo] = []
    device: str
    text: str = ""


class Devices(Message, frozen=True, kw_only=True):
    """What this machine has. Replied to with DeviceList."""


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


Request = (
    Open | Control | SetBreakpoints | Read | CheckGradients | Why | Compare | Profile | Devices
)
Reply = (
    Opened
    | Stopped
    | Done
    | Failed
    | Values
    | GradientTable
    | Explained
    | Compared
    | Profiled
    | DeviceList
)
Event = Output | Progress

__all__ = [
    "BlockedEdge",
    "BreakpointSpec",
    "CheckGradients",
    "CheckedTensor",
    "Compare",
    "Compared",
    "ComparedNode",
    "Comparison",
    "Control",
    "DeviceInfo",
    "DeviceList",
    "Devices",
    "Done",
    "EdgeGradient",
    "ErrorInfo",
    "Event",
    "Explained",
    "Explanation",
    "Failed",
    "GradientRow",
    "GradientTable",
    "Message",
    "NodeCheck",
    "Open",
    "Opened",
    "Output",
    "PassInfo",
    "ProblemInfo",
    "Profile",
    "ProfileRow",
    "Profiled",
    "ProgramInfo",
    "Progress",
    "Read",
    "Reply",
    "Request",
    "SetBreakpoints",
    "SideResult",
    "Stats",
    "StepInfo",
    "Stopped",
    "TensorPart",
    "Values",
    "Why",
]
