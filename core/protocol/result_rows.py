"""What messages say of checks, comparisons and measurements: rows of tables."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import structs

from gradstep.core.graph.problems import Severity
from gradstep.core.protocol.vocabulary import (
    CheckVerdict,
    ComparedVerdict,
    DifferenceKind,
    ExpectationWord,
    ExplainedState,
    PhaseName,
    SideStatus,
    VariantName,
)


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
    verdict: CheckVerdict | Literal[""] = ""
    text: str = ""  # where its gradient is worst: of the whole gradient


class VariantCell(msgspec.Struct, frozen=True, kw_only=True):
    """One gradient as it is in one variant of what is asked for.

    norm: the root of all squares; None where there is no gradient. preview: its first elements.
    same: as natively; difference: the norm of what differs over that of the native gradient; None
    where one of the two does not exist. looked_at: elements, fewer than all where they are
    measured. node, type: of the first operation on the way back whose input gets another gradient
    than natively, why: by what is in force there; "" where there is none, or none was found."""

    variant: VariantName
    norm: float | None
    preview: str = ""
    same: bool = True
    difference: float | None = None
    looked_at: int = 0
    node: str = ""
    type: str = ""
    why: str = ""

    @property
    def where(self) -> str:
        """The place in words: `e (AddN): gradient CustomAdd in place of AddN's own`, or ""."""
        why = f": {self.why}" if self.why else ""
        return f"{self.node} ({self.type}){why}" if self.node else ""


class VariantRow(msgspec.Struct, frozen=True, kw_only=True):
    """The gradient of `of` with respect to one tensor, in all variants that could be computed."""

    of: str
    wrt: str
    size: int = 0  # elements; 0 where it has no gradient in any
    cells: list[VariantCell]


class LintFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What a lint found at a node, "" for none, as a Finding of gradstep.core.checks.doctor.lint.

    code, title: of the lint; example: the stem of an example about it, "" for none; remedy: the
    kind of the edit that mends it, "" for none, which is about `names`."""

    code: str
    title: str
    node: str
    text: str
    fix: str
    severity: Severity = "warning"
    example: str = ""
    remedy: str = ""
    names: list[str] = []


class CheckedTensor(msgspec.Struct, frozen=True, kw_only=True):
    """One gradient at its worst element; `verdict` is of all of them.

    name: of the tensor whose gradient it is; node: the operation checked by itself ("" for a
    gradient through the whole graph), of type `type`, which takes the tensor as its input number
    `input`; order: 2 for a gradient of the gradient. looked_at: of `size` elements. why: of a
    defect of TensorFlow's own, how that comes, and who says so.
    """

    name: str
    index: list[int]
    analytic: float | None
    numeric: float
    difference: float
    method: str
    verdict: CheckVerdict
    text: str
    node: str = ""
    type: str = ""
    input: int = -1
    gradient: str = ""  # name of the gradient in force
    order: int = 1
    looked_at: int = 0
    size: int = 0
    why: str = ""


class NodeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an operation's gradient in force agrees with finite differences of it alone. unseen:
    what arrives at it is so small that the whole would not show that it does not."""

    node: str
    gradient: str
    agrees: bool
    unseen: bool = False
    text: str
    fix: str = ""
    verdict: CheckVerdict | Literal[""] = ""  # the most concerning one of `tensors`
    tensors: list[CheckedTensor] = []


class LostLoss(msgspec.Struct, frozen=True, kw_only=True):
    """What is differentiated and is no finite number, so that no difference of it says anything.
    kind: "NaN" or "infinite"; node: the operation that gives that first; type: its op type. wrt: by
    what it is differentiated."""

    name: str
    kind: str
    node: str
    type: str
    wrt: list[str]


class UncheckedNode(msgspec.Struct, frozen=True, kw_only=True):
    """An operation on the way of a gradient that is not checked by itself; `why` as the end of
    "it…"."""

    node: str
    type: str
    why: str


class CheckedExpectation(msgspec.Struct, frozen=True, kw_only=True):
    """What the document says of a run (see gradstep.core.document.expectation), and what came, in
    words."""

    text: str
    what: str
    kind: ExpectationWord
    run: int
    ok: bool
    came: str


class WatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """A watched expression. said: what it is here, in a line; "" where it is not computed yet, and
    where `error` says why it cannot be. numbers: see gradstep.core.debug.watches.Watched. wrong: it
    has a NaN or an infinity."""

    text: str
    said: str = ""
    error: str = ""
    hint: str = ""
    wrong: bool = False
    is_norm: bool = False  # that is what `numbers` are
    numbers: list[float | None] = []


class MomentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A step behind which an expression holds: see
    gradstep.core.debug.query.recorded_query.Answer. position: right behind it, as `run_to` takes
    it; run and step of it, and of the innermost loop the iteration. said: the number that was
    compared, in a line. tensor: "" where the expression is about none by itself."""

    position: str
    run: int
    step: int
    iteration: int | None = None
    inside: str = ""  # in words, as of LoopPlace
    node: str = ""
    tensor: str = ""
    element: list[int] | None = None
    said: str = ""


class CauseLink(msgspec.Struct, frozen=True, kw_only=True):
    """One of the things that led to a value; see
    gradstep.core.autodiff.explain.why_answer.Link."""

    node: str
    op: str
    cause: str
    index: list[int] | None
    operand: str
    phase: PhaseName
    run: int | None
    position: str
    iterations: list[tuple[int, str]]
    text: str


class RemedyInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An edit that may mend something, of gradstep.core.document.named_edits: its kind, and what it
    is about. label: what it does, as a button says it."""

    kind: str
    names: list[str]
    label: str


class TriedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One measure of an edit's effect: without it, and with it."""

    what: str
    before: str
    after: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """As in `gradstep why --json`; see
    gradstep.core.autodiff.explain.why_answer.WhyAnswer."""

    state: ExplainedState
    cause: str
    node: str | None
    index: list[int] | None
    path: list[str]
    text: str
    chain: list[CauseLink] = []
    remedies: list[RemedyInfo] = []  # the best first; of what is to be trained, to be tried


class SideResult(msgspec.Struct, frozen=True, kw_only=True):
    """One device's result at one node.

    values: up to 64 elements, NaN and infinities as strings; text: the error's, or a remark.
    """

    status: SideStatus
    dtype: str = ""
    shape: list[int] = []
    values: list[float | int | bool | str] = []
    text: str = ""


class ElementPair(msgspec.Struct, frozen=True, kw_only=True):
    """One element on both devices, and in float64 where that ran; numbers as in SideResult."""

    index: list[int]
    left: float | int | bool | str
    right: float | int | bool | str
    reference: float | int | bool | str | None = None


class NodeDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Where and how far the two results of a node are apart.

    output: which of its results. worst: the elements that differ most; those that are NaN or
    infinite on one side only come first. ulps: how many elements (of up to 2^18, evenly) are
    apart by how many representable numbers: by 0; by 1; by 2 and 3; by 4 to 7; and so on.
    nonfinite_left, nonfinite_right: how many are NaN or infinite on that side alone, and both: on
    both. mask: of up to 1,024 elements which, in order: "." finite, "l", "r", "b"; "" for none.
    """

    output: int
    worst: list[ElementPair]
    ulps: list[int] = []
    nonfinite_left: int = 0
    nonfinite_right: int = 0
    nonfinite_both: int = 0
    mask: str = ""


class ComparedNode(msgspec.Struct, frozen=True, kw_only=True):
    """One node on two devices.

    verdict: "raises" where one side does, or both; "dead" where both are.
    differs: it is not the same on both, beyond rounding; one that fails on both alike does not
             differ. creates: it parts the devices by itself, beyond what its arithmetic may round.
    created: relative L2 error this node makes on equal inputs; inherited: what its inputs brought.
    kind: of what it parts by itself: "semantics", other values by a rule; "rounding"; or
             "unexplained", more than rounding, and no rule says why. because: the rule in a few
             words.
    unknown: what an emulated device leaves open here, such as the order of a sum; terms: of how
             many. unmeasured: of that, what is not known of the device's rules, in a case that
             these inputs are in.
    metrics: equal (share of elements), max_abs, rel_p99, ulp_p99, rel_l2, cosine, scaled (of sums:
             over ε times the magnitudes), nan_mismatches, error_left, error_right (against
             float64), amplification, share (of its tolerance), classes and classes_changed (by the
             largest of each row); those that apply.
    iteration: of a node in a loop that was recorded elsewhere, which one is shown: "iteration 3",
             "iteration 3, 1" in a loop in a loop, counted from 1. All of them were compared.
    """

    name: str
    type: str
    phase: PhaseName
    verdict: ComparedVerdict
    left: SideResult
    right: SideResult
    created: float | None = None
    inherited: float | None = None
    differs: bool = False
    creates: bool = False
    rule: str = ""  # the documented rule that explains a difference, and its source
    kind: DifferenceKind | Literal[""] = ""
    because: str = ""
    unknown: str = ""
    unmeasured: str = ""
    terms: int = 0
    metrics: dict[str, float] = {}
    detail: NodeDifference | None = None  # of numbers that are not the same
    iteration: str = ""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A program on two devices, node by node. brief, text: what follows from the rows, in a few
    words and in sentences; sentences: these, one by one. asked: node -> what it holds of what was
    asked for: "loss", "the gradient of x". device: what was asked to compare with; a recording
    is a file, which `right` says the device of."""

    left: str
    right: str
    measured: bool
    source: str
    nodes: list[ComparedNode]
    first_divergence: str | None = None
    brief: str = ""
    text: str = ""
    sentences: list[str] = []
    asked: dict[str, str] = {}
    hazards: list[str] = []
    device: str = ""


class ProfileRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one operation costs in one run.

    type: of the operation; phase, origin: as in StepInfo; seconds: the median over the runs,
    without the cost of looking at the clock; bytes_made, bytes_read: of its results and of its
    inputs; calls: how many bound calls it is per run (0: nothing is left to do, as for constants
    and other names of the same memory; it takes no time and makes no bytes); kernel: "" for the
    NumPy reference, else its name, as "SciPy", and differs: how results may differ from the
    reference's; also: other operations whose work this is (equal ones, merged updates).

    Of a loop: iterations, how many there were in the last run; inside, a row for each operation of
    the iteration, for all of them together, whose seconds and bytes are in the loop's own, too.
    """

    op: str
    type: str
    phase: PhaseName
    origin: str
    seconds: float
    bytes_made: int = 0
    bytes_read: int = 0
    calls: int = 1
    kernel: str = ""
    differs: str = ""
    also: list[str] = []
    iterations: int = 0
    inside: list[ProfileRow] = []

    @property
    def between(self) -> ProfileRow:
        """Of a loop: what it takes to go from one iteration to the next."""
        return structs.replace(
            self,
            seconds=self.seconds - sum(row.seconds for row in self.inside),
            bytes_made=self.bytes_made - sum(row.bytes_made for row in self.inside),
            bytes_read=self.bytes_read - sum(row.bytes_read for row in self.inside),
            iterations=0,
            inside=[],
        )


class PassInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A rewriting of fast plans, and what it did to this one.

    text: what it does, in one sentence; on: whether it ran; steps_before, steps_after: of the
    plan (0 when it was left out); same_bits: whether every value of this plan keeps its bits;
    differs: if it ever may not, how results may differ; gone: operations that have no step of
    their own any more -> what became of them ("is a constant now", "is the same as d", "is part
    of e", "nobody looks at it"), and those that run in another way ("runs block by block"): the
    first few; gone_count: of all of them.
    """

    name: str
    text: str
    on: bool = True
    steps_before: int = 0
    steps_after: int = 0
    same_bits: bool = True
    differs: str = ""
    gone: dict[str, str] = {}
    gone_count: int = 0
