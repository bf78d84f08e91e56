"""What the window and the engine process say to each other.

Each message is one msgspec struct, tagged by its class name. Tensor bytes do not go through
msgpack: a message names raw buffers by number, and they follow it on the pipe (see framing.py).
Names of tensors are strings ("a:0"); `run` and `step` count from 0, and `step` is the number of
plan steps already executed in that run. docs/adding-a-message.md shows how to add one.
"""

from __future__ import annotations

from typing import Literal, Self

import msgspec
from msgspec import structs

from gradstep.core.protocol.branch_queries import (
    BranchesKept,
    BranchInfo,
    CompareMoments,
    Inject,
    KeepBranches,
    ManageBranches,
    Moment,
)
from gradstep.core.protocol.class_queries import (
    Classified,
    Classify,
    PlacedRow,
    SurfaceDrawn,
    WorstRow,
)
from gradstep.core.protocol.data_queries import BatchSeen, ColumnSeen, LookAtBatch
from gradstep.core.protocol.jacobian_queries import FindJacobian, Jacobian, JacobianBlock
from gradstep.core.protocol.message_base import (
    Command,
    Event,
    Glance,
    Message,
    Question,
    Reply,
    Request,
)
from gradstep.core.protocol.message_parts import (
    BlockedEdge,
    BreakpointSpec,
    DataInfo,
    DeviceInfo,
    EdgeGradient,
    ErrorInfo,
    Look,
    LoopInfo,
    LoopPlace,
    LoopShown,
    LossInfo,
    ProblemInfo,
    ProgramInfo,
    SessionInfo,
    Stats,
    StepInfo,
    StepNotation,
    TensorPart,
    ThreadInfo,
    UpdateInfo,
)
from gradstep.core.protocol.precision_queries import (
    ExaminePrecision,
    PrecisionExamined,
    PrecisionRow,
)
from gradstep.core.protocol.program_change import ProgramChange
from gradstep.core.protocol.queries import (
    Bottlenecks,
    BrokenNumbers,
    CheckCurves,
    CheckExpectations,
    CheckGradients,
    Compare,
    Compared,
    CompareVariants,
    CurvesChecked,
    DeviceRecorded,
    Diagnose,
    Diagnosed,
    Expect,
    Expectations,
    Expected,
    Explained,
    FindBottlenecks,
    FindBroken,
    FindMoments,
    FindRepeats,
    FindSmallest,
    GradientTable,
    GradientVariants,
    Moments,
    Notate,
    Notated,
    Profile,
    Profiled,
    RecordDevice,
    Repeats,
    Smallest,
    Tried,
    TryEdit,
    Watch,
    Watched,
    Why,
)
from gradstep.core.protocol.remote_queries import FileRows, FileWanted, Greet, Greeted
from gradstep.core.protocol.result_rows import (
    CauseLink,
    CheckedExpectation,
    CheckedTensor,
    ComparedNode,
    Comparison,
    ElementPair,
    Explanation,
    GradientRow,
    LintFinding,
    LostLoss,
    MomentRow,
    NodeCheck,
    NodeDifference,
    PassInfo,
    ProfileRow,
    RemedyInfo,
    SideResult,
    TriedRow,
    UncheckedNode,
    VariantCell,
    VariantRow,
    WatchRow,
)
from gradstep.core.protocol.step_queries import (
    CompareStep,
    LayerChange,
    LeaveOut,
    LeftOut,
    NumberChange,
    RowsWeighed,
    RowWeight,
    StepCompared,
    StepOutcome,
    WeighRows,
)
from gradstep.core.protocol.tensor_queries import (
    DescribeTensor,
    DrawLines,
    DrawTensor,
    FindElement,
    FoundElement,
    History,
    OtherTensor,
    ReadHistory,
    ReadTable,
    SavedTensor,
    SaveTensor,
    Table,
    TensorLines,
    TensorPicture,
    TensorSlice,
    TensorStatistics,
)
from gradstep.core.protocol.vocabulary import (
    PhaseName,
    SessionCommand,
    StopReason,
)


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to see at a stop, of what a Look asked for. parts: the first of the values, as
    of Values, whose raw buffers are the reply's; steps: as of Notated, none where something is
    wrong with one; sessions, broken: None where nobody asked."""

    parts: list[TensorPart] = []
    steps: list[StepNotation] = []
    sessions: list[SessionInfo] | None = None
    broken: BrokenNumbers | None = None
    hits: list[int] = []  # how often each breakpoint was, in the order in which they were set


class Stopped(Reply, frozen=True, kw_only=True):
    """Where the debugger stands. Also sent unasked when a long run stops.

    error: of an exception; where it is blocked, what the next step waits for. threads: all that the
    program has, if it has more than its own. program: that of the thread which is the current one
    now, where it was another before. seen: what was asked for with the command. batch: what the run
    is fed of the document's data, as of BatchSeen. branches: where there are several.
    loops: which iterations are looked at, of the first loops. first: the first run that can be gone
    to; those before it are another branch's, or not kept any more. lineage: what the runs hang on
    besides the document, as of core/debug/history/run_lineage.py.
    """

    reason: StopReason
    run: int
    step: int
    runs: int  # recorded so far, the current one included
    first: int = 0
    phase: PhaseName | Literal[""] = ""
    node: str = ""  # forward operation the next step belongs to
    op: str = ""  # operation the next step executes
    text: str = ""
    error: ErrorInfo | None = None
    inside: list[LoopPlace] = []  # the loops it stands in, the innermost last; `op` is in that one
    legal: list[str] = []  # commands that may be given now
    recorded_bytes: int = 0
    recorded_limit: int = 0
    threads: list[ThreadInfo] = []
    program: ProgramInfo | None = None
    seen: Seen | None = None
    batch: str = ""
    branches: list[BranchInfo] = []
    loops: list[LoopShown] = []
    lineage: list[tuple[int, str]] = []


# -- requests and their replies ----------------------------------------------------------------


class Failed(Reply, frozen=True, kw_only=True):
    """Reply to any request that could not be done."""

    error: ErrorInfo


class Done(Reply, frozen=True, kw_only=True):
    """Reply to a request with nothing to say."""


class GaveWay(Reply, frozen=True, kw_only=True):
    """Reply to a question that was given up, as something came that it gives way to. It comes after
    what that is replied to with: the question can be asked again, where the debugger stands by
    then."""


class Open(Command, frozen=True, kw_only=True):
    """Load the document in raw buffer 0 (a .gradstep file's bytes). Replied to with Opened; where
    several sessions, threads or changed variables make it hang on more than a place, with a raw
    buffer that says how they came there. As raw buffer 1 of an Open, which may be empty, it leads
    another engine there. The buffers behind that are differences, as of Edit, to be made one after
    the other before anything is derived; edits: the names of the members of each.

    trusted: whether its Python may run; confined: only without network and files, so that an
    engine that has them refuses. keep_position: after an edit, replay to the old step.
    recorded_limit: bytes of recorded runs to keep. revision: what the document is called from now
    on, edits included.
    """

    trusted: bool = False
    confined: bool = False
    device: str = "cpu"
    keep_position: bool = False
    recorded_limit: int = 2 << 30
    revision: int = 0
    edits: list[list[str]] = []


class Opened(Reply, frozen=True, kw_only=True):
    program: ProgramInfo
    stopped: Stopped


class Edit(Command, frozen=True, kw_only=True):
    """Load what the user made of the open document, and replay to the old step. Replied to with
    Edited: a raw buffer as of Open, which may be empty, and behind it those of what is seen; or
    with OtherRevision, where nothing was done: then the whole document is to be sent.

    base: the revision that the engine holds. Raw buffer 0 is the record of the difference
    (gradstep.core.io.native.document_diff), those behind it are its members; members: their names.
    revision: what the edited document is called. look: as of Control. The others: as of Open.
    """

    base: int
    members: list[str]
    revision: int
    trusted: bool = False
    confined: bool = False
    device: str = "cpu"
    recorded_limit: int = 2 << 30
    look: Look | None = None


class Edited(Reply, frozen=True, kw_only=True):
    """change: to the program that the engine told of last."""

    change: ProgramChange
    stopped: Stopped


class OtherRevision(Reply, frozen=True, kw_only=True):
    """The request was about a revision that the engine does not hold, but this one; -1: none."""

    revision: int


class Control(Command, frozen=True, kw_only=True):
    """A debugger command: a move by its name in `core/debug/motion/move_table.py` (target: what its
    record says has to be said with it); or "pause"; or "thread": let commands move the thread
    named by target; or "iteration": look at one of a loop, target: "while/While 3". look: what is
    to be said of the place where that leads. Replied to with Stopped."""

    command: str
    target: str = ""
    look: Look | None = None


class Train(Command, frozen=True, kw_only=True):
    """Make so many runs one after the other, from the newest on, and record the last one. Replied
    to with Trained, and the raw buffers of what is seen, as of Control; a pause ends it at the end
    of a run.

    curves: expressions of the breakpoints' language over the values at a run's end, one number
    each; until: one that ends it at the run in which it holds. losses: tensors that end it where
    they are not finite; `value` in expressions is the first of them. patience: end once that has
    not become less for so many runs; 0 for never. validate: tensors whose means over the rows that
    are held back are curves behind the others: those of the last epoch that was over. closer:
    expressions that are looked at in as many runs as take `share` of the time, 1 for each run.
    spread: expressions of which histograms are made in some of these runs. surface: whether the
    decision surface is told a few times a second, as SurfaceDrawn, where the network has one.
    known: the last run of which the curves are known, -1 for none: the next one is told as well, if
    it is made already."""

    steps: int
    validate: list[str] = []
    curves: list[str] = []
    until: str = ""
    losses: list[str] = []
    patience: int = 0
    closer: list[str] = []
    share: float = 1.0
    spread: list[str] = []
    surface: bool = False
    known: int = -2
    look: Look | None = None


class Trained(Reply, frozen=True, kw_only=True):
    """made: runs that came to their end. ended: why it was over before, in words; "" where it was
    not, or where `stopped` says it: a pause, a breakpoint, a step that failed. wrong: the curves
    that could not be followed, which the others do without."""

    stopped: Stopped
    made: int
    ended: str = ""
    wrong: dict[str, ErrorInfo] = {}


class ManageSessions(Command, frozen=True, kw_only=True):
    """Several sessions of the open document: "list", "new", "duplicate", "delete", "switch" (name),
    or "copy" variables from session `source` to `target` (wanted: "w", "w=v", "net/=other/"; none:
    all of the same name). Replied to with SessionList, and a raw buffer as of Open, but to "list".
    """

    command: SessionCommand
    name: str = ""
    source: str = ""
    target: str = ""
    wanted: list[str] = []


class Assign(Command, frozen=True, kw_only=True):
    """Give a variable another value where the debugger stands, for what is run from there on. The
    value is raw buffer 0, of this shape. Replied to with SessionList, and a raw buffer as of Open.
    """

    name: str
    dtype: str
    shape: list[int]


class SessionList(Reply, frozen=True, kw_only=True):
    """current: the one that commands move and values are read of; it is `stopped` there.
    text: what was done, in words. What variables hold is said of sessions where that was asked;
    of a value given and of branches, `stopped.seen` has it if somebody looks."""

    sessions: list[SessionInfo]
    current: str
    stopped: Stopped
    text: str = ""


class RunLine(Command, frozen=True, kw_only=True):
    """A line of the console, about the breakpoints and watches that the document has. Nothing is
    changed by it. Replied to with LineDone, and the raw buffer of what it assigns. complete: it is
    not done, but said what it may become."""

    line: str
    complete: bool = False
    breakpoints: list[BreakpointSpec] = []
    watches: list[str] = []


class LinePicture(msgspec.Struct, frozen=True, kw_only=True):
    """What is drawn below what a line says: raw buffer 0: float64 of this shape, [rows, columns]
    or [rows, columns, channels], 1: uint8 of it, both as of TensorPicture. dtype: of the elements.
    """

    kind: Literal["line", "matrix", "image"]
    shape: list[int]
    dtype: str


class LineDone(Reply, frozen=True, kw_only=True):
    """text: what it says. Where it changes something, that is left to who asked: a command, other
    breakpoints or watches in the place of all, sessions, branches, a value, a comparison, a file
    at `path`; and then to ask the line `then`, which says what came of it."""

    text: str = ""
    quit: bool = False
    lines: list[str] = []  # what it may become
    control: Control | None = None
    breakpoints: list[BreakpointSpec] | None = None
    watches: list[str] | None = None
    manage: ManageSessions | None = None
    assign: Assign | None = None
    inject: Inject | None = None
    branch: ManageBranches | None = None
    compare: CompareMoments | None = None
    smallest: FindSmallest | None = None
    path: str = ""
    picture: LinePicture | None = None
    then: str = ""


class SetBreakpoints(Request, frozen=True, kw_only=True):
    """Replace all breakpoints. Replied to with Done, or Failed for a bad condition."""

    breakpoints: list[BreakpointSpec]


class Read(Glance, frozen=True, kw_only=True):
    """Values of tensors as of a step (-1: where the debugger stands). Replied to with Values.

    limit: at most so many elements of each; offset: start there (row-major)."""

    refs: list[str]
    run: int = -1
    step: int = -1
    limit: int = 64
    offset: int = 0


class Values(Reply, frozen=True, kw_only=True):
    parts: list[TensorPart]


class Devices(Request, frozen=True, kw_only=True):
    """What this machine has. Replied to with DeviceList."""


class DeviceList(Reply, frozen=True, kw_only=True):
    devices: list[DeviceInfo]


# -- events, sent unasked ----------------------------------------------------------------------


class Output(Event, frozen=True, kw_only=True):
    """What user code printed."""

    text: str


class Progress(Event, frozen=True, kw_only=True):
    text: str
    done: int
    total: int


class TrainingProgress(Event, frozen=True, kw_only=True):
    """What the curves of a Train are in some runs, one after the other.

    first: the first run's number; count: how many; numbers: float64, little-endian, curve after
    curve. looks: int64, the numbers of the runs that were looked at closely; closer: float64, what
    was seen there, run after run. spreads: int64, the numbers of the runs of which there are
    histograms; histograms: float32, rows as `core/debug/breaks/histograms.py` has them, of each
    tensor, run after run."""

    first: int
    count: int
    numbers: bytes
    looks: bytes = b""
    closer: bytes = b""
    spreads: bytes = b""
    histograms: bytes = b""

    def behind(self, earlier: Event) -> Self:
        """Both together, where one goes on where the other ended."""
        if not isinstance(earlier, TrainingProgress) or not self._follows(earlier):
            return self
        rows = [row for pair in zip(earlier.columns, self.columns, strict=True) for row in pair]
        count = earlier.count + self.count
        return structs.replace(
            self,
            first=earlier.first,
            count=count,
            numbers=b"".join(rows),
            looks=earlier.looks + self.looks,
            closer=earlier.closer + self.closer,
            spreads=earlier.spreads + self.spreads,
            histograms=earlier.histograms + self.histograms,
        )

    @property
    def columns(self) -> list[bytes]:
        """`numbers`, of each curve by itself."""
        size = 8 * self.count
        return [self.numbers[at : at + size] for at in range(0, len(self.numbers), size)]

    def _follows(self, earlier: TrainingProgress) -> bool:
        same = len(self.numbers) * earlier.count == len(earlier.numbers) * self.count
        return same and self.first == earlier.first + earlier.count


__all__ = [
    "Assign",
    "BatchSeen",
    "BlockedEdge",
    "Bottlenecks",
    "BranchInfo",
    "BranchesKept",
    "BreakpointSpec",
    "BrokenNumbers",
    "CauseLink",
    "CheckCurves",
    "CheckExpectations",
    "CheckGradients",
    "CheckedExpectation",
    "CheckedTensor",
    "Classified",
    "Classify",
    "ColumnSeen",
    "Command",
    "Compare",
    "CompareMoments",
    "CompareStep",
    "CompareVariants",
    "Compared",
    "ComparedNode",
    "Comparison",
    "Control",
    "CurvesChecked",
    "DataInfo",
    "DescribeTensor",
    "DeviceInfo",
    "DeviceList",
    "DeviceRecorded",
    "Devices",
    "Diagnose",
    "Diagnosed",
    "Done",
    "DrawLines",
    "DrawTensor",
    "EdgeGradient",
    "Edit",
    "Edited",
    "ElementPair",
    "ErrorInfo",
    "Event",
    "ExaminePrecision",
    "Expect",
    "Expectations",
    "Expected",
    "Explained",
    "Explanation",
    "Failed",
    "FileRows",
    "FileWanted",
    "FindBottlenecks",
    "FindBroken",
    "FindElement",
    "FindJacobian",
    "FindMoments",
    "FindRepeats",
    "FindSmallest",
    "FoundElement",
    "GaveWay",
    "Glance",
    "GradientRow",
    "GradientTable",
    "GradientVariants",
    "Greet",
    "Greeted",
    "History",
    "Inject",
    "Jacobian",
    "JacobianBlock",
    "KeepBranches",
    "LayerChange",
    "LeaveOut",
    "LeftOut",
    "LineDone",
    "LintFinding",
    "Look",
    "LookAtBatch",
    "LoopInfo",
    "LoopPlace",
    "LoopShown",
    "LossInfo",
    "LostLoss",
    "ManageBranches",
    "ManageSessions",
    "Message",
    "Moment",
    "MomentRow",
    "Moments",
    "NodeCheck",
    "NodeDifference",
    "Notate",
    "Notated",
    "NumberChange",
    "Open",
    "Opened",
    "OtherRevision",
    "OtherTensor",
    "Output",
    "PassInfo",
    "PlacedRow",
    "PrecisionExamined",
    "PrecisionRow",
    "ProblemInfo",
    "Profile",
    "ProfileRow",
    "Profiled",
    "ProgramChange",
    "ProgramInfo",
    "Progress",
    "Question",
    "Read",
    "ReadHistory",
    "ReadTable",
    "RecordDevice",
    "RemedyInfo",
    "Repeats",
    "Reply",
    "Request",
    "RowWeight",
    "RowsWeighed",
    "RunLine",
    "SaveTensor",
    "SavedTensor",
    "Seen",
    "SessionInfo",
    "SessionList",
    "SetBreakpoints",
    "SideResult",
    "Smallest",
    "Stats",
    "StepCompared",
    "StepInfo",
    "StepNotation",
    "StepOutcome",
    "Stopped",
    "SurfaceDrawn",
    "Table",
    "TensorLines",
    "TensorPart",
    "TensorPicture",
    "TensorSlice",
    "TensorStatistics",
    "ThreadInfo",
    "Train",
    "Trained",
    "TrainingProgress",
    "Tried",
    "TriedRow",
    "TryEdit",
    "UncheckedNode",
    "UpdateInfo",
    "Values",
    "VariantCell",
    "VariantRow",
    "Watch",
    "WatchRow",
    "Watched",
    "WeighRows",
    "Why",
    "WorstRow",
]
