"""What the window asks of the engine besides stepping: checks, explanations, comparisons, profiles.

Part of the messages; see messages.py.
"""

from __future__ import annotations

from typing import Literal

from gradstep.core.protocol.message_base import ASIDE, Glance, Question, Reply, Request
from gradstep.core.protocol.message_parts import ErrorInfo, ProblemInfo, StepNotation
from gradstep.core.protocol.result_rows import (
    CheckedExpectation,
    CheckedTensor,
    Comparison,
    Explanation,
    GradientRow,
    LintFinding,
    LostLoss,
    MomentRow,
    NodeCheck,
    PassInfo,
    ProfileRow,
    TriedRow,
    UncheckedNode,
    VariantRow,
    WatchRow,
)
from gradstep.core.protocol.vocabulary import (
    NonFinite,
    PhaseName,
    RunMode,
    Supported,
    WhichMoment,
)


class CheckGradients(Question, frozen=True, kw_only=True):
    """Compare native, overridden and numeric gradients. Replied to with GradientTable.

    node: only of this operation, by itself; second_order: the gradients of gradients, too."""

    node: str = ""
    second_order: bool = False


class GradientTable(Reply, frozen=True, kw_only=True):
    rows: list[GradientRow]
    nodes: list[NodeCheck]
    second: list[CheckedTensor] = []  # through the whole graph
    unchecked: list[UncheckedNode] = []
    lost: list[LostLoss] = []
    supports: Supported
    text: str


class CompareVariants(Question, frozen=True, kw_only=True):
    """What would each gradient be without overrides, without stops, straight through what rounds,
    and by finite differences? Replied to with GradientVariants.

    elements: of all that is differentiated for, measured by differences; 0: nothing is."""

    elements: int = 0


class GradientVariants(Reply, frozen=True, kw_only=True):
    """rows: of each loss, and of what it is differentiated for. errors: why a variant cannot be
    computed. text: where the variants part from the native gradient, in sentences."""

    rows: list[VariantRow]
    errors: dict[str, str] = {}
    text: str = ""


class Watch(Request, frozen=True, kw_only=True):
    """What are these expressions where the debugger stands, and what were they at the end of up to
    `most` earlier runs? Replied to with Watched."""

    texts: list[str]
    most: int = 0


class Watched(Reply, frozen=True, kw_only=True):
    """In the order in which they were asked for."""

    rows: list[WatchRow]


class CheckCurves(Question, frozen=True, kw_only=True):
    """Which of these expressions cannot be followed in a training? Replied to with CurvesChecked.

    losses: the first of them that runs compute is what `loss` means."""

    texts: list[str]
    losses: list[str] = []


class CurvesChecked(Reply, frozen=True, kw_only=True):
    """What is wrong with those that cannot be followed, by their texts."""

    wrong: dict[str, ErrorInfo]


class CheckExpectations(Request, frozen=True, kw_only=True):
    """Run a document from its start, beside the one that is open, and hold its expectations against
    that. Replied to with Expectations, or with OtherRevision.

    base, members: as of Edit, the difference to the open document is in the raw buffers, often an
    empty one; base -1: raw buffer 0 is the document. trusted, confined: as in Open."""

    base: int = -1
    members: list[str] = []
    trusted: bool = False
    confined: bool = False


class Expectations(Reply, frozen=True, kw_only=True):
    """In the document's order."""

    checked: list[CheckedExpectation]


class Expect(Request, frozen=True, kw_only=True):
    """Run a document likewise, and write down in it what run number `run` gives
    (see gradstep.core.checks.expectations.expectation_capture). Replied to with Expected, or with
    OtherRevision. what: expressions; none: how it fails. base, members: as of CheckExpectations."""

    base: int = -1
    members: list[str] = []
    what: list[str]
    run: int = 0
    trusted: bool = False
    confined: bool = False


class Expected(Reply, frozen=True, kw_only=True):
    """The raw buffers hold the difference that the expectations make of the document, as of Edit.
    count: how many these are."""

    count: int
    members: list[str]


class Notate(Glance, frozen=True, kw_only=True):
    """What do the steps of these operations do, in words? Those that the current thread has, in
    loops or not. Replied to with Notated."""

    ops: list[str]


class Notated(Reply, frozen=True, kw_only=True):
    """steps: of those operations that there are, in the order asked; problems: what could not be
    said, and why."""

    steps: list[StepNotation]
    problems: list[ProblemInfo] = []


class Why(Question, frozen=True, kw_only=True):
    """Why is d(of)/d(wrt) as it is, or without `wrt` the value of `of`, in the current run? Replied
    to with Explained."""

    gives_way_to = ASIDE

    of: str
    wrt: str = ""


class Explained(Reply, frozen=True, kw_only=True):
    explanation: Explanation


class TryEdit(Question, frozen=True, kw_only=True):
    """What would the current run be with an edit of the document, beside what it is? kind, names:
    as of RemedyInfo. of: what is looked at, and with `wrt` its gradients; "" for what is
    differentiated, with respect to all that it is. Replied to with Tried; nothing is changed."""

    kind: str
    names: list[str]
    of: str = ""
    wrt: list[str] = []


class Tried(Reply, frozen=True, kw_only=True):
    """text: the effect, in a sentence; mends: whether nothing is broken any more that was."""

    label: str
    text: str
    mends: bool
    rows: list[TriedRow]


class FindSmallest(Question, frozen=True, kw_only=True):
    """Which few operations show what is wrong in the current run? Replied to with Smallest.

    of, wrt: with d(of)/d(wrt), or without `wrt` with the value of `of`; or node: with the gradient
    rule of that operation; or against: with what a device gives that `left` does not, at `node` or
    where the first difference is made. Of a recording of a device, against is its name, and raw
    buffer 0 the file."""

    outlives = True

    of: str = ""
    wrt: str = ""
    node: str = ""
    left: str = "cpu"
    against: str = ""


class Smallest(Reply, frozen=True, kw_only=True):
    """Of so many operations; buffer 0 is the file of a document with them."""

    operations: int


class Diagnose(Question, frozen=True, kw_only=True):
    """What do the lints say of the document, and of its recorded runs? Replied to with Diagnosed.

    off: the codes of those that are not to look."""

    gives_way_to = ASIDE

    off: list[str] = []


class Diagnosed(Reply, frozen=True, kw_only=True):
    """In the order of the lints."""

    findings: list[LintFinding]


class FindBottlenecks(Question, frozen=True, kw_only=True):
    """What does all of d(of)/d(wrt) pass? of: "" for the first thing that is differentiated of
    which `wrt` has a gradient. Replied to with Bottlenecks."""

    wrt: str
    of: str = ""


class Bottlenecks(Reply, frozen=True, kw_only=True):
    """passes: operations that all of the gradient goes through, from `of` on, without the ends;
    cut: the fewest wires ("a<0") with a stop at each of which it does not arrive. Nothing where
    there is no gradient."""

    of: str
    wrt: str
    passes: list[str]
    cut: list[str]


class FindRepeats(Request, frozen=True, kw_only=True):
    """Which blocks are like the one around these operations? Replied to with Repeats."""

    names: list[str]


class Repeats(Reply, frozen=True, kw_only=True):
    """scopes: those that are alike, in order of creation; names: the operations in all of them.
    Nothing where the blocks around what was asked for are not repeated."""

    scopes: list[str]
    names: list[str]


class FindBroken(Request, frozen=True, kw_only=True):
    """Go on looking for NaN and infinity in the current run, for at most so many seconds. Replied
    to with BrokenNumbers."""

    seconds: float = 0.01


class BrokenNumbers(Reply, frozen=True, kw_only=True):
    """What was found in `run` so far. complete: whether all was looked at that has been executed.

    kind: "" where all is finite. op: what made the first one out of values that held none, tensor:
    the first of its results that holds it, `node` the user's operation that it belongs to, step:
    how many steps are done then (0: it was there at the beginning), position: where that is, as
    `run_to` takes it. nan_node, nan_phase: of what made the first NaN, where that is another.
    nodes: how many of the user's operations hold some. reached: whether something has it that was
    asked for or lasts: a fetch, a gradient, a variable.
    """

    run: int
    complete: bool
    kind: NonFinite | Literal[""] = ""
    op: str = ""
    tensor: str = ""
    node: str = ""
    phase: PhaseName | Literal[""] = ""
    step: int = 0
    position: str = ""
    nan_node: str = ""
    nan_phase: PhaseName | Literal[""] = ""
    nodes: int = 0
    reached: bool = False


class Compare(Question, frozen=True, kw_only=True):
    """Run on `left` and on each device of `against`, node by node. go_on: where an operation fails
    on one of the two, that goes on with the other's results. recordings: of `against`, what are
    files of what a device gave elsewhere -> the buffer that the file is in. Replied to with
    Compared."""

    left: str = "cpu"
    against: list[str]
    go_on: bool = False
    recordings: dict[str, int] = {}


class Compared(Reply, frozen=True, kw_only=True):
    comparisons: list[Comparison]
    unavailable: dict[str, str] = {}  # device -> what is missing and how to get it


class RecordDevice(Request, frozen=True, kw_only=True):
    """Compare with `device`, as Compare does, and keep what it gives. Replied to with
    DeviceRecorded."""

    outlives = True

    left: str = "cpu"
    device: str
    go_on: bool = False


class DeviceRecorded(Reply, frozen=True, kw_only=True):
    """The file of it, .gradrec, is buffer 0; nodes: how many are in it."""

    nodes: int


class Profile(Question, frozen=True, kw_only=True):
    """Measure the open program, on copies of its variables. Replied to with Profiled.

    runs: how many are measured (0: as many as fit in about a second, at least 3); without: names of
    passes to leave out, of fast runs (recorded runs have none); kernels: libraries that may compute
    in NumPy's place, or "auto" for all that are there. Threads fill the queues before the runs.
    Emulated devices have no times: Failed."""

    mode: RunMode = "recorded"
    runs: int = 0
    without: list[str] = []
    kernels: list[str] = []


class Profiled(Reply, frozen=True, kw_only=True):
    """mode: how it ran, and `text` why, where that is not what was asked for; seconds: the median
    of one whole run, without the clock's own cost; runs: how many were measured; rows: in the
    order of the plan; passes: all that there are, in their order (in recorded runs, all off);
    device: where it ran."""

    mode: RunMode
    runs: int
    seconds: float
    rows: list[ProfileRow]
    passes: list[PassInfo] = []
    device: str
    text: str = ""


class FindMoments(Question, frozen=True, kw_only=True):
    """At which steps of all runs does an expression hold? See gradstep.core.debug.query. which, of
    where the debugger stands: the first of all, the next or previous one, the last up to here, or
    every one; of those at most `most` are listed. Replied to with Moments."""

    text: str
    which: WhichMoment = "first"
    most: int = 1000


class Moments(Reply, frozen=True, kw_only=True):
    """rows: in the order of time. count: of all; the others as of
    gradstep.core.debug.query.recorded_query.Answers."""

    rows: list[MomentRow]
    count: int
    runs: int
    repeated: int = 0
    lost: int = 0
