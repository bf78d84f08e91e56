"""A plan and its memory as records: what `gradstep plan --json` prints, and its text is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from gradstep.core.engine.memory.live_ranges import LiveRange, live_bytes, live_ranges
from gradstep.core.engine.memory.record_layout import RecordLayout
from gradstep.core.engine.memory.reuse_layout import ReuseLayout
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.engine.plan.steps import Step


class ValueReport(msgspec.Struct, frozen=True, kw_only=True):
    """One value, called slot by the steps. version: of a variable, how many updates came before it
    in the run. shape: null where the rank is not known, -1 for a size that is not. place: "arena";
    "variable" (the memory of the variable itself); "part" (inside value `within`); "fed";
    "constant" (made once, before the first run); "reference" (its size is known only in a run);
    "none" (passes left no step that makes it). offset: in the arena. first, last: see LiveRange."""

    slot: int
    name: str
    variable: str = ""
    version: int = 0
    dtype: str
    shape: list[int] | None
    bytes: int | None
    place: str
    offset: int | None = None
    within: int | None = None
    first: int
    last: int


class MemoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """arena_bytes: of the one block that runs work in. peak_bytes: of it, the most that is needed
    at the same time, at step `peak_step` first. constant_bytes, fed_bytes, variable_bytes: outside
    of it. by_reference: how many values each run allocates."""

    arena_bytes: int
    peak_bytes: int
    peak_step: int | None
    constant_bytes: int
    fed_bytes: int
    variable_bytes: int
    by_reference: int


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """reads, writes: slots. work: "run" (in every run), "once" (before the first) or "none" (its
    results are where its input is). also: operations that passes made part of it; times: how many
    like operations it does at once; block: number of the run of steps that go block by block
    together; conditional: whether there are runs without it; device: what does it, "" for that of
    the run; fails: why it cannot run."""

    step: int
    op: str
    type: str
    phase: str
    origin: str
    reads: list[int]
    writes: list[int]
    work: str
    also: list[str]
    times: int
    block: int | None
    conditional: bool
    kernel: str
    device: str
    fails: str
    body: LoopReport | None = None


class PlanReport(msgspec.Struct, frozen=True, kw_only=True):
    steps: list[StepReport]
    values: list[ValueReport]
    memory: MemoryReport


class LoopReport(PlanReport, frozen=True, kw_only=True):
    """The plan of one iteration. split: its first steps, which find out whether it takes place."""

    loop: str
    split: int


def report_plan(layout: RecordLayout) -> PlanReport:
    """What there is to say about the plan that is laid out so."""
    return PlanReport(**_parts(layout))


def _parts(layout: RecordLayout) -> dict[str, Any]:
    ranges = live_ranges(layout.plan)
    values = [*_values(layout, ranges)]
    live = live_bytes(layout, ranges)
    peak = max(live, default=0)
    memory = MemoryReport(
        arena_bytes=layout.size,
        peak_bytes=peak,
        peak_step=live.index(peak) if peak else None,
        constant_bytes=_bytes_in(values, "constant"),
        fed_bytes=_bytes_in(values, "fed"),
        variable_bytes=_variable_bytes(values),
        by_reference=sum(value.place == "reference" for value in values),
    )
    return {"steps": _steps(layout), "values": values, "memory": memory}


def _bytes_in(values: Iterable[ValueReport], place: str) -> int:
    return sum(value.bytes or 0 for value in values if value.place == place)


def _variable_bytes(values: Iterable[ValueReport]) -> int:
    """Of the variables that runs work on where they lie; in a recorded run none."""
    found = {v.variable: v.bytes or 0 for v in values if v.place == "variable" and v.variable}
    return sum(found.values())


def _steps(layout: RecordLayout) -> list[StepReport]:
    plan = layout.plan
    blocks = {i: n for n, run in enumerate(plan.blocked) for i in range(run.start, run.stop)}
    return [
        _step(plan, i, step, _work(layout, step), blocks.get(i))
        for i, step in enumerate(plan.steps)
    ]


def _work(layout: RecordLayout, step: Step) -> str:
    if step in layout.constant_steps:
        return "once"
    return "none" if layout.is_idle(step) or not step.computes else "run"


def _step(plan: Plan, index: int, step: Step, work: str, block: int | None) -> StepReport:
    op, kernel, failure = step.op, plan.kernels.get(step.op.name), plan.failures.get(step.op.name)
    return StepReport(
        step=index,
        op=op.name,
        type=op.type,
        phase=op.phase.value,
        origin=owner(op),
        reads=[*step.reads],
        writes=[*step.writes],
        work=work,
        also=[*step.also],
        times=step.times,
        block=block,
        conditional=step.guard is not None and step.guard.may_skip,
        kernel="" if kernel is None else kernel.library.name,
        device=plan.elsewhere.get(op.name, ""),
        fails="" if failure is None else failure.message,
        body=_body(plan, step),
    )


def _body(plan: Plan, step: Step) -> LoopReport | None:
    """Iterations are recorded, in fast runs as well."""
    iteration = step.iteration
    if iteration is None:
        return None
    parts = _parts(RecordLayout(replace(iteration.plan, elsewhere=plan.elsewhere)))
    return LoopReport(loop=step.op.name, split=iteration.split, **parts)


def _values(layout: RecordLayout, ranges: Iterable[LiveRange]) -> Iterable[ValueReport]:
    plan, versions = layout.plan, _versions(layout.plan)
    by_reference = frozenset(layout.by_reference)
    parts = layout.parts.of if isinstance(layout, ReuseLayout) else {}
    for slot, (value, live) in enumerate(zip(plan.values, ranges, strict=True)):
        place = "part" if slot in parts else _place(layout, slot, by_reference)
        known = layout.forms[slot].shape is not None
        there = layout.places[slot]
        shape = value.type.shape
        yield ValueReport(
            slot=slot,
            name=value.variable if value.ref is None else value.ref.short,
            variable=value.variable,
            version=versions.get(slot, 0),
            dtype=value.type.dtype.value,
            shape=None if shape.dims is None else [-1 if n is None else n for n in shape.dims],
            bytes=layout.forms[slot].size if known else None,
            place=place,
            offset=there.offset if there is not None and place == "arena" else None,
            within=parts[slot].whole if slot in parts else None,
            first=live.first,
            last=live.last,
        )


def _place(layout: RecordLayout, slot: int, by_reference: frozenset[int]) -> str:
    if slot in layout.constants:
        return "constant"
    if slot < len(layout.plan.fed):
        return "fed"
    if slot in layout.held:
        return "variable"
    if layout.places[slot] is not None:
        return "arena"
    return "reference" if slot in by_reference else "none"


def _versions(plan: Plan) -> Mapping[int, int]:
    return {slot: n for slots in plan.versions.values() for n, slot in enumerate(slots)}
