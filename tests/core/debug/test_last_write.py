"""What the last write of a run changed: any number of updates of a variable, at every step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.ops.build.builder import GraphBuilder

DELTAS = st.lists(st.sampled_from([0.0, 0.25, -1.0, 3.0]), min_size=1, max_size=4)


def program(b: GraphBuilder, target: str, **initial: float) -> Program:
    graph = b.build()
    values = {name: np.float32(value) for name, value in initial.items()}
    return Program(graph=graph, forward=graph, targets=(target,), initial=values)


def adding(deltas: Sequence[float]) -> Program:
    """A run adds `deltas` to v, which starts at 1, one after the other; `plain` is not written."""
    b = GraphBuilder()
    v = b.variable("v", shape=())
    b.op("Neg", v, name="plain")
    before: tuple[str, ...] = ("plain",)
    for number, delta in enumerate(deltas):
        name = f"add_{number}"
        b.op("AssignAdd", v, b.constant(np.float32(delta)), name=name, control_inputs=before)
        before = (name,)
    return program(b, before[0], v=1.0)


@given(DELTAS, st.integers(1, 2))
def test_it_is_the_last_step_that_wrote_and_what_was_there_before(
    deltas: list[float], runs: int
) -> None:
    session = DebugSession(adding(deltas), NumpyBackend())
    session.run_to(f"{runs - 1}:{len(session.plan.steps)}")
    writes = [session.plan.step_of[f"add_{number}"] for number in range(len(deltas))]
    for run in range(runs):
        value, done = 1.0 + run * sum(deltas), 0
        for step in range(len(session.plan.steps) + 1):
            frame = session.frame(run, step)
            while done < len(writes) and writes[done] < step:
                before, value = value, value + deltas[done]
                done += 1
            found = frame.last_write("v")
            assert frame.last_write("plain") is None
            if not done:
                assert found is None
                continue
            assert found is not None
            assert (found.step, found.before) == (writes[done - 1], before)
            assert frame.value("v") == value


def test_the_first_value_of_a_variable_has_none_before() -> None:
    b = GraphBuilder()
    v = b.variable("v", shape=(2,))
    b.op("Assign", v, b.constant(np.float32([1, 2])), name="init")
    session = DebugSession(program(b, "init"), NumpyBackend())
    session.continue_()
    found = session.frame().last_write("v")
    assert found is not None
    assert found.before is None


def test_a_write_in_a_branch_that_is_not_taken_is_none() -> None:
    b = GraphBuilder()
    v, p = b.variable("v", shape=()), b.constant(np.bool_(False))
    dead = b.op("Switch", b.constant(np.float32(2.0)), p, name="branch")[1]
    b.op("AssignAdd", v, dead, name="add")
    session = DebugSession(program(b, "add", v=1.0), NumpyBackend())
    session.continue_()
    assert session.frame().last_write("v") is None
    assert session.frame().value("v") == 1.0
