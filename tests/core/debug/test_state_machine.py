"""Whatever the path, the values at a position are those of a straight run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.step_groups import group_steps
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.table import lookup
from tests.support.drawn_share import share

RUNS = 4  # as far as the machine goes
BREAKPOINTS = [
    Breakpoint("a"),
    Breakpoint("e", BreakpointKind.GRADIENT),
    Breakpoint("loss", condition="value < 0.6635"),
    Breakpoint("Mul", BreakpointKind.TYPE),
    Breakpoint("update", BreakpointKind.PHASE),
    Breakpoint("c", BreakpointKind.GRADIENT, condition="norm(grad) > 0"),
    Breakpoint("d", hits=2),
]


class Straight:
    """The values at every position of the first runs, computed operation by operation without a
    plan, a layout or a timeline: variables in one dictionary, other tensors in another."""

    def __init__(self, program: Program) -> None:
        needed = program.graph.ancestors([*program.targets, *(r.op for r in program.fetches)])
        fed = {ref.op for ref in program.feeds}
        self.names = [name for name in program.graph.order if name in needed - fed]
        self.length = len(self.names)
        self.program = program
        self.variables = dict(program.initial)
        self.at: dict[tuple[int, int], dict[TensorRef, np.ndarray | None]] = {}
        for run in range(RUNS):
            self._run(run)
        self.tensors = sorted({ref for known in self.at.values() for ref in known}, key=str)

    def _run(self, run: int) -> None:
        declared = {TensorRef(name): name for name in self.variables}
        alias, values = dict(declared), dict(self.program.feeds)
        for step, name in enumerate([*self.names, ""]):
            known = {ref: self.variables[variable] for ref, variable in alias.items()}
            self.at[run, step] = {**values, **known}
            if name and name not in self.variables:
                self._execute(self.program.graph[name], alias, values)

    def _execute(self, op: Operation, alias: dict, values: dict) -> None:
        definition = lookup(op.type)
        sources = [alias.get(ref) for ref in op.inputs]
        if definition.aliases and sources[0]:
            alias[op.output()] = sources[0]
        inputs = [
            values[ref] if source is None else self.variables[source]
            for ref, source in zip(op.inputs, sources, strict=True)
        ]
        results = run_op(NumpyBackend(), op, inputs, self.program.functions)
        if definition.state.writes:
            written = [sources[index] for index in definition.state.writes]
            self.variables.update(zip(written, map(np.array, results), strict=True))
        elif op.output() not in alias:
            values.update((op.output(i), np.array(x)) for i, x in enumerate(results))


def same(left: np.ndarray | None, right: np.ndarray | None) -> bool:
    if left is None or right is None:
        return left is right
    if (left.dtype, left.shape) != (right.dtype, right.shape):
        return False
    alike = left.tobytes() == right.tobytes()  # the usual case, told much sooner
    return alike or np.array_equal(left, right, equal_nan=True)


class Moves(RuleBasedStateMachine):
    """Any legal command at any time. `straight` and `program` are set by the test."""

    straight: Straight
    program: Program
    limit_bytes: int

    def __init__(self) -> None:
        super().__init__()
        self.session = DebugSession(self.program, limit_bytes=self.limit_bytes)

    @property
    def here(self) -> tuple[int, int]:
        return (self.session.stop.run, self.session.stop.step)

    def may(self, command: str) -> bool:
        last = self.here >= (RUNS - 1, self.straight.length)
        forward = command in ("step", "step_into", "step_out", "continue_", "run_to")
        return command in self.session.stop.legal and not (last and forward)

    @precondition(lambda self: self.may("step"))
    @rule()
    def step(self) -> None:
        before = self.here
        self.session.step()
        assert self.here > before

    @precondition(lambda self: self.may("step") and self.on_boundary())
    @rule()
    def step_there_and_back(self) -> None:
        before = self.here
        bare = DebugSession.set_breakpoints
        bare(self.session, ())
        self.session.step()
        self.session.step_back()
        assert self.here == before

    @precondition(lambda self: self.may("step_into"))
    @rule()
    def step_into(self) -> None:
        run, step = self.here
        self.session.step_into()
        expected = (run + 1, 0) if step == self.straight.length else (run, step + 1)
        assert self.here == expected

    @precondition(lambda self: self.may("step_out"))
    @rule()
    def step_out(self) -> None:
        self.session.step_out()

    @precondition(lambda self: self.may("step_back"))
    @rule()
    def step_back(self) -> None:
        before = self.here
        self.session.step_back()
        assert self.here < before
        assert self.on_boundary()

    @precondition(lambda self: self.may("continue_"))
    @rule()
    def continue_(self) -> None:
        before = self.here
        stop = self.session.continue_()
        assert self.here > before
        assert stop.reason in ("end", "breakpoint")

    @precondition(lambda self: self.may("reverse_continue"))
    @rule()
    def reverse_continue(self) -> None:
        before = self.here
        stop = self.session.reverse_continue()
        assert self.here < before
        assert stop.step == 0 or stop.reason == "breakpoint"

    @precondition(lambda self: self.may("run_to"))
    @rule(run=st.integers(0, RUNS - 1), fraction=st.floats(0, 1))
    def run_to_position(self, run: int, fraction: float) -> None:
        step = int(fraction * self.straight.length)
        self.session.run_to(f"{run}:{step}")
        assert self.here == (run, step)

    @precondition(lambda self: self.may("run_to") and self.here[0] < RUNS - 1)
    @rule(data=st.data())
    def run_to_operation(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([step.op.name for step in self.session.plan.steps]))
        before = self.here
        stop = self.session.run_to(name)
        assert self.here > before
        assert stop.op == name or stop.reason == "breakpoint"

    @rule()
    def restart(self) -> None:
        self.session.restart()
        assert self.here == (0, 0)

    @rule(chosen=st.sets(st.sampled_from(BREAKPOINTS), max_size=3))
    def set_breakpoints(self, chosen: set[Breakpoint]) -> None:
        before = self.session.stop
        self.session.set_breakpoints(sorted(chosen, key=repr))
        assert self.session.stop is before

    @rule(command=st.sampled_from(["step_back", "step_out", "reverse_continue"]))
    def illegal(self, command: str) -> None:
        if command in self.session.stop.legal:
            return
        before = self.session.stop
        with pytest.raises(GradstepError):
            self.session.command(command)
        assert self.session.stop is before

    @rule(run=st.integers(0, RUNS - 1), fraction=st.floats(0, 1), data=st.data())
    def look_elsewhere(self, run: int, fraction: float, data: st.DataObject) -> None:
        """A frame of what has been recorded is right without going there."""
        step = int(fraction * self.straight.length)
        if run < self.session.stop.runs and step <= self.session.timeline.done(run):
            ref = data.draw(st.sampled_from(self.straight.tensors))
            value = self.session.frame(run, step).value(ref)
            assert same(value, self.straight.at[run, step].get(ref))

    @invariant()
    def values_are_those_of_the_straight_run(self) -> None:
        frame = self.session.frame()
        expected = self.straight.at[self.here]
        for ref in self.straight.tensors:
            assert same(frame.value(ref), expected.get(ref)), ref

    @invariant()
    def the_stop_tells_the_truth(self) -> None:
        stop = self.session.stop
        steps = self.session.plan.steps
        assert stop.op == ("" if stop.step == len(steps) else steps[stop.step].op.name)
        assert stop.recorded_bytes <= self.limit_bytes + self.session.timeline._live.nbytes

    def on_boundary(self) -> bool:
        groups = group_steps([step.op for step in self.session.plan.steps])
        return self.here[1] in [0, *(group.stop for group in groups)]


@pytest.mark.parametrize("limit_bytes", [1 << 30, 5000, 0], ids=["all", "some", "none"])
@pytest.mark.parametrize("name", ["tutorial", "dynamic"])
@pytest.mark.slow
def test_values_never_depend_on_the_path(
    name: str, limit_bytes: int, request: pytest.FixtureRequest
) -> None:
    program = request.getfixturevalue(name)
    fields = {"program": program, "straight": Straight(program), "limit_bytes": limit_bytes}
    machine = type("Machine", (Moves,), fields)
    case = machine.TestCase
    case.settings = settings(stateful_step_count=30, deadline=None, max_examples=share(20))
    case("runTest").runTest()
