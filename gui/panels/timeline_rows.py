"""What the timeline says: the steps of a run, grouped by the forward operation they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.host.messages import ProgramInfo, StepInfo


@dataclass(frozen=True, slots=True)
class StepRow:
    """Plan steps `start` (included) to `stop` (excluded) of every run.

    node: the forward operation, or for an update the variable, that the user knows it by.
    type: its op type. refs: tensors whose values are the result. custom: override in force.
    """

    start: int
    stop: int
    phase: str
    node: str
    type: str
    text: str
    refs: tuple[str, ...]
    custom: str = ""

    def holds(self, step: int) -> bool:
        """Whether the debugger, having executed `step` steps, stands at or inside this row."""
        return self.start <= step < self.stop


def group_rows(program: ProgramInfo) -> list[StepRow]:
    """One row for each forward operation, its gradient, and each variable's update."""
    types = {step.op: step.type for step in program.steps}
    known = _gradient_tensors(program)
    return [_group(steps, start, types, known, program) for start, steps in _groups(program.steps)]


def step_rows(program: ProgramInfo) -> list[StepRow]:
    """One row for each operation that runs."""
    return [
        StepRow(i, i + 1, s.phase, s.op, s.type, s.text, tuple(s.outputs))
        for i, s in enumerate(program.steps)
    ]


def row_at(rows: Sequence[StepRow], step: int) -> int:
    """Number of the row that holds `step`; len(rows) at the end of the run."""
    from bisect import bisect_right

    starts = [row.start for row in rows]
    if not rows or step >= rows[-1].stop:
        return len(rows)
    return bisect_right(starts, step) - 1


def _groups(steps: Sequence[StepInfo]) -> Iterator[tuple[int, list[StepInfo]]]:
    start = 0
    for _, members in groupby(steps, key=lambda s: (s.phase, s.origin)):
        group = list(members)
        yield start, group
        start += len(group)


def _gradient_tensors(program: ProgramInfo) -> frozenset[str]:
    return frozenset(program.gradients.values()) | {edge.gradient for edge in program.edges}


def _group(
    steps: list[StepInfo],
    start: int,
    types: dict[str, str],
    gradients: frozenset[str],
    program: ProgramInfo,
) -> StepRow:
    last = steps[-1]
    telling = _telling(steps, gradients)
    texts = dict.fromkeys(s.text for s in telling if s.text)
    refs = dict.fromkeys(r for s in telling for r in s.outputs)
    if last.phase == "backward":
        refs = dict.fromkeys(r for r in refs if r in gradients)
    node = last.origin or last.op
    return StepRow(
        start,
        start + len(steps),
        last.phase,
        node,
        types.get(node, last.type),
        ",  ".join(texts),
        (f"{node}:0",) if last.phase == "update" and node in types else tuple(refs),
        program.custom.get(node, "") if last.phase == "backward" else "",
    )


def _telling(steps: list[StepInfo], gradients: frozenset[str]) -> list[StepInfo]:
    """The steps that make a gradient or update a variable; the others only prepare for them."""
    telling = [s for s in steps if s.writes or any(r in gradients for r in s.outputs)]
    return telling if telling and steps[-1].phase != "forward" else steps[-1:]
