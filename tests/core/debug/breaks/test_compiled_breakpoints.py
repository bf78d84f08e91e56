"""Where breakpoints stop follows from looking at every step, and costs no look at each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstep.core.debug.breaks import loop_breakpoints
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.compiled_breakpoints import CompiledBreakpoints
from gradstep.core.debug.breaks.hit_counts import HitCounts
from gradstep.core.debug.breaks.loop_breakpoints import LoopBreakpoints
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_groups import group_steps, owner
from gradstep.core.graph.foreign_origin import source_line
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.graph.scopes import is_inside, parents
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.counted import counted, counting
from tests.traces.trace_archive import traces


def places(plan: Plan, b: Breakpoint) -> list[tuple[int, str]]:
    """Where `b` stops, by looking at every step."""
    before = not b.condition
    if b.kind is BreakpointKind.GRADIENT:
        return [
            (group.start if before else group.stop, b.target)
            for group in group_steps([step.op for step in plan.steps])
            if (group.phase, group.origin) == (Phase.BACKWARD, b.target)
            and b.target not in b.exempt
        ]
    ops = [step.op for step in plan.steps]
    if b.kind is BreakpointKind.WRITE:
        free = (i for i, op in enumerate(ops) if not {op.name, owner(op)} & b.exempt)
        return [(i + 1, b.target) for i in free if b.target in _written(ops[i])]
    return [*_places_of_steps(ops, b, before)]


def _written(op: Operation) -> set[str]:
    """The variables of the tutorial that an update writes: ApplyAdam two slots as well."""
    count = {"ApplyAdam": 3, "Assign": 1}.get(op.type, 0)
    return {ref.op for ref in op.inputs[:count] if ref is not None}


def _places_of_steps(
    ops: list[Operation], b: Breakpoint, before: bool
) -> Iterator[tuple[int, str]]:
    named = [_is_named(op, b) for op in ops]
    each = b.kind in (BreakpointKind.OP, BreakpointKind.TYPE)
    for i, op in enumerate(ops):
        seen = [named[k] for k in range(i) if b.kind is not BreakpointKind.LINE or _line(ops[k])]
        entered = each or not before or not (seen and seen[-1])
        if named[i] and entered and not {op.name, owner(op)} & b.exempt:
            yield (i if before else i + 1), op.name


def with_lines(graph: Graph) -> Graph:
    """As it would be, had a program of three lines asked for most of its forward operations."""
    made = {
        op.name: op.with_attrs(_source=f"net.py:{number % 9 // 3}")
        if op.phase == "forward" and number % 4
        else op
        for number, op in enumerate(graph)
    }
    return Graph.ordered(made)


def _line(op: Operation) -> str:
    return str(op.attrs.get("_source", ""))


def _is_named(op: Operation, b: Breakpoint) -> bool:
    if b.kind is BreakpointKind.SCOPE:
        return not b.target or is_inside(op.name, b.target) or is_inside(owner(op), b.target)
    named = {BreakpointKind.OP: op.name, BreakpointKind.TYPE: op.type}
    named[BreakpointKind.LINE] = str(op.attrs.get("_source"))
    return named.get(b.kind, op.phase.value) == b.target


def _targets(plan: Plan) -> list[str]:
    names = [name for step in plan.steps for name in (step.op.name, step.op.origin)]
    types = [step.op.type for step in plan.steps]
    scopes = [scope for name in names for scope in parents(name)]
    scopes += [f"{scope}/" for scope in scopes]
    scopes += [line for step in plan.steps if (line := source_line(step.op))]
    return [*dict.fromkeys((*names, *types, *scopes, *Phase, "", "/", "nothing"))]


@settings(deadline=None, suppress_health_check=[*HealthCheck])
@given(data=st.data())
def test_breakpoints_stop_where_a_look_at_every_step_says(
    tutorial: Program, data: st.DataObject
) -> None:
    plan = compile_plan(
        with_lines(tutorial.graph), tutorial.fetches, tutorial.targets, [*tutorial.feeds]
    )
    targets = st.sampled_from(_targets(plan))
    drawn = st.builds(
        Breakpoint,
        targets,
        st.sampled_from(BreakpointKind),
        st.sampled_from(["", "value > 0"]),
        exempt=st.frozensets(targets, max_size=2),
    )
    breakpoints = data.draw(st.lists(drawn, max_size=6))
    points = CompiledBreakpoints(plan, breakpoints, HitCounts())
    found = [(p.position, p.operation) for at in points.at.values() for p in at]
    assert sorted(found) == sorted(place for b in breakpoints for place in places(plan, b))
    assert all(p.position == position for position, at in points.at.items() for p in at)
    for after, until in ((-1, len(plan.steps)), (2, 9)):
        inside = {position for position, _ in found if after < position <= until}
        assert [*points.halts(after, until, passing=False)] == sorted(inside)


def test_a_line_stops_once_though_weights_are_read_in_its_midst() -> None:
    graph = read(traces() / "convnext.gstrace").graph
    plan = compile_plan(graph, [op.output() for op in graph if op.name.startswith("head/linear/B")])
    lines = [source_line(step.op) for step in plan.steps]
    passes = [line for line, _ in groupby(line for line in lines if line)]
    assert len(passes) < sum(a != b for a, b in pairwise(lines))
    for line in {*passes}:
        point = Breakpoint(line, BreakpointKind.LINE)
        found = CompiledBreakpoints(plan, [point], HitCounts()).positions
        assert len(found) == passes.count(line), line


def _chain(length: int) -> Graph:
    build = GraphBuilder()
    h = build.placeholder("x", shape=(2,))
    for number in range(length):
        with build.scope(f"block{number}"):
            h = tf.tanh(h, name="h")
    return build.build()


def looked_at(length: int) -> int:
    """Names, while breakpoints of every kind are set at every block of a chain."""
    graph = counted(_chain(length))
    plan = compile_plan(graph, [TensorRef([*graph.operations][-1])], (), [TensorRef("x")])
    breakpoints = [
        Breakpoint(
            f"block{number}/h" if kind is not BreakpointKind.SCOPE else f"block{number}", kind
        )
        for number in range(length)
        for kind in BreakpointKind
    ]
    with counting() as found:
        points = CompiledBreakpoints(plan, breakpoints, HitCounts())
    assert len(points.positions) == length
    return found[0]


def test_many_breakpoints_do_not_look_at_each_step() -> None:
    assert looked_at(400) < 3 * looked_at(200)


def test_each_of_many_loops_looks_at_the_breakpoints_that_name_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build = GraphBuilder()
    y = build.placeholder("x", shape=())
    for number in range(20):
        with build.as_default():
            _, y = tf.while_loop(
                lambda i, y: i < 2,
                lambda i, y, n=number: (i + 1, tf.tanh(y, name=f"h{n}")),
                [0, y],
            )
    graph = build.build()
    plan = compile_plan(graph, [y.ref], (), [TensorRef("x")])
    inside = [
        op for i in plan.loops for op in plan.steps[i].iteration.plan.graph if op.type == "Tanh"
    ]
    given: list[int] = []

    def points(plan: Plan, breakpoints: list[Breakpoint], hits: HitCounts) -> CompiledBreakpoints:
        given.append(len(breakpoints))
        return CompiledBreakpoints(plan, breakpoints, hits)

    monkeypatch.setattr(loop_breakpoints, "CompiledBreakpoints", points)
    found = LoopBreakpoints([Breakpoint(op.name) for op in inside])
    assert found.loops(plan) == [*plan.loops]
    assert given == [1] * 20
