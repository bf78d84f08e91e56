"""What the window asks of the engine besides stepping: checks, explanations, comparisons, profiles.

Part of the messages; see messages.py.
"""

from __future__ import annotations

from core.host.findings import (
    CheckedExpectation,
    CheckedTensor,
    Comparison,
    Explanation,
    GradientRow,
    NodeCheck,
    PassInfo,
    ProfileRow,
    UncheckedNode,
)
from core.host.message import Message


class CheckGradients(Message, frozen=True, kw_only=True):
    """Compare native, overridden and numeric gradients. Replied to with GradientTable.

    node: only of this operation, by itself; second_order: the gradients of gradients, too."""

    node: str = ""
    second_order: bool = False


class GradientTable(Message, frozen=True, kw_only=True):
    rows: list[GradientRow]
    nodes: list[NodeCheck]
    second: list[CheckedTensor] = []  # through the whole graph
    unchecked: list[UncheckedNode] = []
    supports: str  # "native", "override", "both" or "neither"
    text: str


class CheckExpectations(Message, frozen=True, kw_only=True):
    """Run the document in raw buffer 0 from its start, beside the one that is open, and hold its
    expectations against that. Replied to with Expectations. trusted: as in Open."""

    trusted: bool = False


class Expectations(Message, frozen=True, kw_only=True):
    """In the document's order."""

    checked: list[CheckedExpectation]


class Expect(Message, frozen=True, kw_only=True):
    """Run the document in raw buffer 0 likewise, and write down in it what run number `run` gives
    (see core.host.expecting). Replied to with Expected. what: expressions; none: how it fails."""

    what: list[str]
    run: int = 0
    trusted: bool = False


class Expected(Message, frozen=True, kw_only=True):
    """The document with the expectations is in raw buffer 0. count: how many these are."""

    count: int


class Notate(Message, frozen=True, kw_only=True):
    """Which tensors are the words of an operation's step about? Replied to with Notated."""

    op: str


class Notated(Message, frozen=True, kw_only=True):
    """operands: what stands in the text of the step for a tensor -> that tensor."""

    operands: dict[str, str]


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
    "auto" for all that are there. Threads fill the queues before the runs. Emulated devices have no
    times: Failed."""

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
