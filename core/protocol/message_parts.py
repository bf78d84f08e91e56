"""What messages consist of: steps, tensors, rows of tables."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gradstep.core.iteration_text import iteration_text
from gradstep.core.protocol.vocabulary import (
    BreakpointTarget,
    DeviceKind,
    PhaseName,
    Severity,
    ThreadCondition,
    ValueState,
)


class ErrorInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A GradstepError on the wire, and in every command's --json."""

    type: str
    message: str
    node: str | None = None
    index: list[int] | None = None
    hint: str = ""


class ProblemInfo(ErrorInfo, frozen=True, kw_only=True):
    """What is wrong with the document."""

    severity: Severity = "error"


class StepInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the plan. What it does in words is asked for where it is shown: see Notate."""

    op: str
    type: str
    phase: PhaseName
    origin: str  # the forward operation it belongs to; the operation itself when forward
    outputs: list[str] = []
    writes: bool = False  # it gives variables new values


class StepNotation(msgspec.Struct, frozen=True, kw_only=True):
    """What the step of an operation does, in mathematical notation. operands: what stands in it for
    a tensor -> that tensor."""

    op: str
    text: str
    operands: dict[str, str] = {}


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Over the finite elements, but for the norm, which is NaN or infinite where an element is, and
    the three counts. None for non-numeric tensors."""

    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    norm: float | None = None
    nans: int = 0
    infs: int = 0
    zeros: int = 0


class UpdateInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The last step of the run, up to the one asked for, that wrote a variable.

    before: raw buffer of the elements until then, those that the part has of the value; -1: it had
    none, or of another shape or dtype. delta: of the differences of all elements, new minus old, in
    the value's own precision; None where elements have none. changed: how many elements differ.
    """

    step: int
    before: int = -1
    delta: Stats | None = None
    changed: int = 0


class TensorPart(msgspec.Struct, frozen=True, kw_only=True):
    """A value as of some step: the first elements (row-major) in raw buffer number `buffer`.

    why: of what is dead, because of what. What is said of a queue, a tensor array or a stack is one
    text, of the dtype "resource". update: of a variable that the run has written.
    """

    ref: str
    state: ValueState
    why: str = ""
    dtype: str = ""
    shape: list[int] = []
    buffer: int = -1
    stats: Stats | None = None
    update: UpdateInfo | None = None


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What views look at, to be said with a stop. refs, limit: values, as of Read, as far as they
    take no longer than a blink; ops: what their steps do, as of Notate; sessions: where each
    stands; survey: seconds to go on looking for NaN and infinity in the run, 0 for none."""

    refs: list[str] = []
    ops: list[str] = []
    limit: int = 64
    sessions: bool = False
    survey: float = 0.0


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


class LossInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One of several things that are differentiated, by its name ("loss", "a + b")."""

    of: str
    gradients: dict[str, str]  # as in ProgramInfo
    edges: Sequence[EdgeGradient]


class DataInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The document's data as it was opened. rows: that runs are fed, 0 where there is no data, or
    where it cannot be had; held: rows that are held back, and tested: to test on; batch: rows of
    a run; per_epoch: runs until all rows were fed."""

    rows: int = 0
    held: int = 0
    tested: int = 0
    batch: int = 0
    per_epoch: int = 0


class ProgramInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine derived from the document, as far as the window shows it. number: counts the
    programs that the engine told of; see ProgramChange."""

    number: int = 0
    steps: Sequence[StepInfo]
    gradients: dict[str, str]  # forward tensor -> tensor that holds its gradient
    rows: list[str] = []  # forward tensors whose gradient is IndexedSlices
    edges: Sequence[EdgeGradient]
    waiting: dict[str, str] = {}  # forward tensor -> what its gradient waits for, not None
    waiting_edges: list[BlockedEdge] = []  # wires over which nothing comes back until then
    blocked: list[BlockedEdge]
    custom: dict[str, str]  # operation -> name of the override in force
    slots: dict[str, list[str]]  # variable -> its optimizer slot variables
    problems: list[ProblemInfo]
    device: str
    measured: bool
    source: str
    loops: list[LoopInfo] = []
    branches: list[str] = []  # tensors that are dead where their branch is not taken
    rates: list[str] = []  # the learning rates of optimizers that runs execute
    losses: list[LossInfo] = []  # if several; `gradients` and `edges` have the first's of each
    data: DataInfo = DataInfo()


class LoopInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of the program. around: the loop that it is in; steps: of one iteration, of which the
    first `split` find out whether it takes place. condition: while what it goes on, in words."""

    loop: str
    around: str = ""
    split: int
    steps: Sequence[StepInfo]
    condition: str = ""


class LoopPlace(msgspec.Struct, frozen=True, kw_only=True):
    """After `step` of the `length` steps of an iteration, counted from 0. iterations: how many take
    place; -1 while that is not known."""

    loop: str
    iteration: int
    step: int
    length: int
    iterations: int = -1
    text: str = ""  # "while/While, iteration 2 of 3", for people


class LoopShown(msgspec.Struct, frozen=True, kw_only=True):
    """Which iteration of a loop values are shown of, counted from 0; -1 where there is none yet.
    reached: how many have begun; iterations: how many take place, -1 while that is not known;
    chosen: whether somebody has chosen it."""

    loop: str
    iteration: int = -1
    reached: int = 0
    iterations: int = -1
    chosen: bool = False

    @property
    def text(self) -> str:
        """For people; "" where there is none yet."""
        count = None if self.iterations < 0 else self.iterations
        return "" if self.iteration < 0 else iteration_text(self.iteration, count, self.reached)


class ThreadInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One thread of a program. text: what it waits for, or why it ended; current: commands move
    it."""

    name: str
    condition: ThreadCondition
    text: str = ""
    run: int
    step: int
    steps: int  # of each of its runs
    op: str = ""  # operation it executes next
    current: bool = False


class BreakpointSpec(msgspec.Struct, frozen=True, kw_only=True):
    target: str
    kind: BreakpointTarget = "op"
    condition: str = ""
    hits: int = 1
    exempt: list[str] = []
    enabled: bool = True
    log: str = ""


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session stands, and what its variables hold there, in a few words each; one that has
    no value is left out."""

    name: str
    run: int
    step: int
    runs: int
    held: dict[str, str] = {}


class DeviceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """available, and if not, `text` says what to do, and `commands` are what to type for that, one
    of them where there are several. asking: more will be known of it when it is asked again."""

    name: str
    kind: DeviceKind
    available: bool
    text: str
    source: str = ""
    commands: list[str] = []
    asking: bool = False
