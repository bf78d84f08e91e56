"""How much is kept, what is dropped, and that replay brings it back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.debug.concurrency.shared_variables import SharedVariables
from gradstep.core.debug.history.first_variables import first_variables
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import assign
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.recording import Recording
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder

RUNS = 40


def after_runs(program: Program, limit_bytes: int) -> DebugSession:
    session = DebugSession(program, limit_bytes=limit_bytes)
    session.run_to(f"{RUNS}:0")
    return session


@pytest.mark.parametrize("kept_runs", [0, 1, 5, 100])
def test_kept_runs_stay_under_the_limit_and_the_rest_is_replayed(
    tutorial: Program, kept_runs: int
) -> None:
    whole = after_runs(tutorial, 1 << 30)
    one_run = (whole.stop.recorded_bytes) // (RUNS + 1)
    session = after_runs(tutorial, kept_runs * one_run)
    assert session.stop.recorded_bytes <= (kept_runs + 1) * one_run + 64
    length = len(session.plan.steps)
    for run in (0, 17, RUNS - 1, 3, 17):
        for name in ("c", "loss", "c/Adam_1"):
            expected = whole.frame(run, length).value(name)
            np.testing.assert_array_equal(session.frame(run, length).value(name), expected)
    assert session.stop.recorded_bytes <= (kept_runs + 1) * one_run + 64


def test_a_dropped_run_is_replayed_from_a_start_nearby(chain: Callable[[int], Program]) -> None:
    runs: list[float] = []
    program = chain(1)
    b = GraphBuilder(program.graph)
    kind = (DType.FLOAT32,)
    b.one("PyFunc", b.get("count"), name="spy", token="spy", Tin=kind, Tout=kind)
    program = replace(
        program,
        graph=b.build(),
        fetches=(TensorRef("spy"),),
        functions={"spy": lambda x: (runs.append(float(x[0])), x)[1]},
    )
    session = after_runs(program, 1500)
    runs.clear()
    length = len(session.plan.steps)
    assert session.frame(20, length).value("spy")[0] == 21
    assert runs[-1] == 21
    assert len(runs) < 20  # not from the very beginning


def test_values_by_reference_are_kept_too(dynamic: Program) -> None:
    session = after_runs(dynamic, 1 << 30)
    again = after_runs(dynamic, 0)
    length = len(session.plan.steps)
    for run in (0, RUNS // 2, RUNS - 1):
        for name in ("e0", "a", "loss", "c"):
            kept, replayed = (s.frame(run, length).value(name) for s in (session, again))
            np.testing.assert_array_equal(kept, replayed)
    first, last = (session.frame(run, length).value("e0") for run in (0, RUNS - 1))
    assert not np.array_equal(first, last)


def test_a_frame_stays_true_while_the_session_moves_on(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.run_to("0:6")
    frame = session.frame()
    before = frame.value("loss")
    session.run_to("5:2")
    np.testing.assert_array_equal(frame.value("loss"), before)


def test_a_frame_of_what_has_not_run_is_empty(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.run_to("a")
    assert session.frame(7, 3).value("c") is None
    assert session.frame(0, 30).value("loss") is None
    assert session.frame(0, 30).value("d") is not None


def test_variables_that_no_step_touches_are_readable() -> None:
    b = GraphBuilder()
    b.variable("idle", shape=(2,))
    b.one("Neg", b.constant(1.0), name="y")
    program = Program(
        graph=b.build(),
        forward=b.build(),
        fetches=(TensorRef("y"),),
        initial={"idle": np.ones(2, np.float32)},
    )
    assert DebugSession(program).frame().value("idle").tolist() == [1, 1]


def test_too_large_a_program_is_refused_in_words() -> None:
    b = GraphBuilder()
    b.variable("huge", shape=(1 << 40,))
    b.one("Neg", b.get("huge"), name="y")
    program = Program(graph=b.build(), forward=b.build(), fetches=(TensorRef("y"),))
    with pytest.raises(GradstepError, match="MiB") as caught:
        DebugSession(program)
    assert caught.value.kind == "ResourceExhaustedError"


def test_a_variable_without_a_value_at_first() -> None:
    b = GraphBuilder()
    v = b.variable("v", shape=())
    b.one("Assign", v, 2.0, name="set")
    program = Program(graph=b.build(), forward=b.build(), fetches=(TensorRef("set"),))
    session = DebugSession(program)
    assert session.frame().value("v") is None
    session.run_to("2:0")
    assert session.frame(0, 0).value("v") is None
    assert session.frame(1, 0).value("v") == 2


def test_what_is_recorded_is_counted(chain: Callable[[int], Program]) -> None:
    """The live run, and each that is kept: all of one size."""
    session = DebugSession(chain(20))
    one = session.stop.recorded_bytes
    assert one > 0
    for runs in range(1, 4):
        session.run_to(f"{runs}:0")
        assert session.stop.recorded_bytes == (runs + 1) * one


def test_a_dropped_run_is_replayed_once_for_all_that_is_asked_of_it(
    chain: Callable[[int], Program],
) -> None:
    calls: list[float] = []

    def spy(x: np.ndarray) -> np.ndarray:
        calls.append(float(x[0]))
        return x

    b = GraphBuilder(chain(1).graph)
    kind = (DType.FLOAT32,)
    b.one("PyFunc", b.get("count"), name="spy", token="spy", Tin=kind, Tout=kind)
    program = replace(
        chain(1),
        graph=b.build(),
        forward=b.build(),
        fetches=(TensorRef("spy"),),
        functions={"spy": spy},
    )
    session = DebugSession(program, limit_bytes=0)
    session.run_to("3:0")
    calls.clear()
    length = len(session.plan.steps)
    for step in (length, 1, 2, length):
        session.frame(0, step).value("count")
    assert calls == [1.0]


def test_a_run_larger_than_what_runs_may_keep_is_not_copied(
    chain: Callable[[int], Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = chain(6)
    small, large = DebugSession(program, limit_bytes=100), DebugSession(program)
    large.run_to("3:0")
    with monkeypatch.context() as patched:
        patched.setattr(Recording, "record", lambda *_: pytest.fail("copied"))
        small.run_to("3:0")
    one, other = (s.frame(1, len(s.plan.steps)).value("n") for s in (small, large))
    np.testing.assert_array_equal(one, other)


def test_a_run_that_was_changed_twice_by_hand_is_replayed_with_both_changes(
    chain: Callable[[int], Program],
) -> None:
    session = DebugSession(chain(6), limit_bytes=300)
    names = ("count", "n0", "n3", "n")
    for step, value in ((2, 10.0), (4, 20.0)):
        session.run_to(f"0:{step}")
        assign([session], {"n": np.full(2, value, np.float32)})
    length = len(session.plan.steps)
    session.run_to(f"0:{length}")
    seen = {(s, n): session.frame(0, s).value(n) for s in range(length + 1) for n in names}
    one = DebugSession(chain(6)).stop.recorded_bytes
    session.run_to("20:0")
    assert session.stop.recorded_bytes < 300 + 2 * one, "not all runs are kept"
    for (step, name), value in seen.items():
        np.testing.assert_array_equal(session.frame(0, step).value(name), value)


def test_what_was_computed_between_two_changes_is_replayed_as_it_was() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=())
    first = b.one("Neg", x, name="first")
    n = b.variable("n", shape=())
    b.one("AssignAdd", n, first, name="count")
    b.one("Mul", n, 2.0, name="early", control_inputs=("count",))
    b.one("Mul", n, 3.0, name="late", control_inputs=("early",))
    graph = b.build()
    names = ("first", "early", "late")
    program = Program(
        graph,
        graph,
        fetches=tuple(TensorRef(name) for name in names),
        feeds={x.ref: np.float32(-1)},
        initial={"n": np.float32(0)},
    )
    for limit in (1 << 20, 100):
        session = DebugSession(program, limit_bytes=limit)
        for name, value in (("early", 10.0), ("late", 20.0)):
            session.run_to(name)
            assign([session], {"n": np.float32(value)})
        length = len(session.plan.steps)
        session.run_to("30:0")
        frame = session.frame(0, length)
        assert [frame.value(name) for name in names] == [1, 20, 60]


def test_what_was_replayed_stays_as_it_was_while_others_go_on(
    chain: Callable[[int], Program],
) -> None:
    """Memory of runs that are dropped is used again; not that of what is looked at."""
    one = DebugSession(chain(4)).stop.recorded_bytes
    for runs in range(1, 6):
        session = DebugSession(chain(4), limit_bytes=2 * one)
        session.run_to("10:0")
        length = len(session.plan.steps)
        for _ in range(3):
            for run in (0, 3):
                count = session.frame(run, length).value("count")
                np.testing.assert_array_equal(count, [run + 1, 2 * (run + 1)])
                session.run_to(f"{session.stop.run + runs}:0")


def test_who_shares_variables_that_nobody_else_changes_remembers_nothing(
    chain: Callable[[int], Program],
) -> None:
    program = chain(3)
    shared = SharedVariables(first_variables(program, NumpyBackend()))
    first, second = (DebugSession(program, shared=shared) for _ in range(2))
    shared.between([first.timeline.link, second.timeline.link])
    alone = DebugSession(program)
    for _ in range(4):
        first.step()
        alone.step()
        assert first.stop.recorded_bytes == alone.stop.recorded_bytes
    second.continue_()
    first.step()
    assert first.stop.recorded_bytes > alone.stop.recorded_bytes
