"""A run is looked into for a pause unless runs like it are over before one notices."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion import run_pace
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder

LONG = 150  # steps


def chain(pauses: bool) -> DebugSession:
    """Of so many operations, one of which takes 5 ms if it `pauses`."""
    b = GraphBuilder()
    kind = (DType.FLOAT32,)
    x = b.one("PyFunc", b.placeholder("x", shape=()), token="f", Tin=kind, Tout=kind)
    for _ in range(LONG):
        x = b.one("Neg", x)
    graph = b.build()

    def f(x: np.ndarray) -> np.ndarray:
        time.sleep(0.005 if pauses else 0)
        return x

    feeds = {TensorRef("x"): np.float32(1)}
    program = Program(graph, graph, fetches=(x.ref,), feeds=feeds)
    return DebugSession(replace(program, functions={"f": f}))


def looks(session: DebugSession) -> Sequence[int]:
    session.run_to(f"{session.stop.run + 1}:0")
    return session._cursor.stretch(len(session.plan.steps), (), heed=True).halts[:-1]


@pytest.mark.parametrize("pauses", [True, False])
def test_a_long_run_is_looked_into_and_a_short_one_is_not(
    pauses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not pauses:  # other programs may have the processor for longer than a short run takes
        monkeypatch.setattr(run_pace, "_SHORT", 60.0)
    session = chain(pauses)
    whole = session._cursor.stretch(len(session.plan.steps), (), heed=True)
    assert whole.halts[:-1] == [64, 128]
    for _ in range(3):
        session.continue_()
    assert looks(session) == ([64, 128] if pauses else [])


def test_going_over_what_was_done_before_does_not_count() -> None:
    session = chain(pauses=True)
    session.continue_()
    session.run_to("0:0")
    session.continue_()  # nothing is executed
    assert looks(session) == [64, 128]
    session.run_to(f"{session.stop.run}:2")
    session.run_to(f"{session.stop.run}:0")
    session.continue_()  # all but what takes long
    assert looks(session) == [64, 128]
