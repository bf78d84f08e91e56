"""A session that takes over what it can from the one before an edit shows what a new one shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.run.recording import Recording
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.edited_sessions import assert_as_new
from tests.support.layouts import Case
from tests.support.random_programs import programs


@given(programs(), st.data())
@pytest.mark.slow
def test_every_frame_is_that_of_a_new_session(case: Case, data: st.DataObject) -> None:
    assert_as_new(case, data, lambda: None)


def _counting() -> Program:
    """`w` becomes twice of what it is in every run; `far` stays."""
    build = GraphBuilder()
    w, far = (build.variable(name, shape=(2,)) for name in ("w", "far"))
    build.one("AssignAdd", w, build.one("Identity", w, name="read"), name="update")
    build.one("Mul", w, far, name="y")
    graph = build.build()
    values = {name: np.ones(2, np.float32) for name in ("w", "far")}
    return Program(graph, graph, fetches=(TensorRef("y"),), targets=("update",), initial=values)


@pytest.mark.parametrize("done", ["nothing", "runs", "assigned", "both", "restarted"])
def test_variables_begin_as_they_do_in_a_new_session(
    done: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those are not copied anew that lie there still, and all others are."""
    program, copied = _counting(), list[int]()
    threads = Scheduler(program)
    if done in ("assigned", "both"):
        threads.assign({"w": np.array([7, 8], np.float32)})
    if done in ("runs", "both", "restarted"):
        for _ in range(3):
            threads.command("continue_")
            threads.command("step_into")
    if done == "restarted":  # where the variable lies that changes places from run to run
        threads.command("restart")
    start = Recording._start
    monkeypatch.setattr(
        Recording, "_start", lambda self, i, x: copied.append(i) or start(self, i, x)
    )
    again = Scheduler(program, before=threads)
    assert len(copied) == {"nothing": 0, "assigned": 1}.get(done, 2)
    new = Scheduler(program)
    for _ in range(3):
        for name in ("w", "far", "y"):
            for threads in (again, new):
                threads.command("continue_")
            steps = new.session.stop.step
            values = [t.session.frame(0, steps).value(name) for t in (again, new)]
            np.testing.assert_array_equal(*values)
            last = [t.session.frame().value(name) for t in (again, new)]
            np.testing.assert_array_equal(*last)


def test_whether_any_call_is_split_is_known_of_what_an_edit_brings() -> None:
    build = GraphBuilder()
    w, far = (build.variable(name, shape=(1 << 20,)) for name in ("w", "far"))
    build.one("Mul", w, far, name="large")
    build.constant(np.ones(2, np.float32), name="two")
    build.one("Neg", build.get("two:0"), name="small")
    graph = build.build()
    initial = {name: np.ones(1 << 20, np.float32) for name in ("w", "far")}
    programs = [
        Program(
            kept := Graph.of(op for op in graph if with_large or op.name != "large"),
            kept,
            fetches=tuple(TensorRef(name) for name in ("small", "large") if name in kept),
            targets=("w", "far"),
            initial=initial,
        )
        for with_large in (False, True)
    ]
    threads = Scheduler(programs[0])
    assert not _recording(threads)._calls.is_split
    for number in (0, 1, 0, 1):
        before, threads = threads, Scheduler(programs[number], before=threads)
        assert _recording(threads)._arena is _recording(before)._arena
        assert _recording(threads)._calls.is_split == bool(number)


def _recording(threads: Scheduler) -> Recording:
    return threads.session.timeline._live
