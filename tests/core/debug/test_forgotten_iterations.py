"""What an iteration held is there, or said not to be kept any more; never to be still to come."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.host.tensor_reads import NO_ROOM, known_in, read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.protocol.messages import Read
from tests.support.drawn_share import share
from tests.support.looping import position

LITTLE = 400  # bytes, less than a run
MOVES = ("step", "step_into", "step_out", "continue_", "step_back", "reverse_continue")


def same(x: Tensor) -> Tensor:
    """By a function of the user's, which is not called again for what it gave."""
    kind = (DType.FLOAT32,)
    given = x.builder.one("PyFunc", x, token="same", Tin=kind, Tout=kind)
    return tf.reshape(given, np.array([], np.int32))


def power(b: GraphBuilder) -> Tensor:
    x, n = b.get("x"), b.get("n")
    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, same(y) * x), [0, 1.0])[1]


def branched(b: GraphBuilder) -> Tensor:
    x, n = b.get("x"), b.get("n")

    def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        even = tf.equal(tf.floormod(i, 2), 0)
        return i + 1, tf.cond(even, lambda: same(y) * x, lambda: -y)

    return tf.while_loop(lambda i, y: i < n, body, [0, 1.0])[1]


def nested(b: GraphBuilder) -> Tensor:
    x, n = b.get("x"), b.get("n")

    def times(i: Tensor) -> Tensor:
        return tf.while_loop(
            lambda j, s: j < i, lambda j, s: (j + 1, same(s) + x), [0, 0.0], name="in"
        )[1]

    return tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y + times(i)), [0, 0.0], name="out"
    )[1]


def program(build: Any, n: int) -> Program:
    b = GraphBuilder()
    with b.as_default():
        b.placeholder("x", shape=())
        b.placeholder("n", "int32", ())
        fetch = tf.identity(build(b), name="y").ref
    feeds = {TensorRef("x"): np.float32(2), TensorRef("n"): np.int32(n)}
    graph = b.build()
    functions = {"same": lambda x: x}
    return Program(graph, graph, fetches=(fetch,), feeds=feeds, functions=functions)


def tensors(graph: Graph) -> list[TensorRef]:
    """All of them, those of loops included."""
    found = [TensorRef(op.name) for op in graph]
    return found + [ref for op in graph if (loop := loop_of(op)) for ref in tensors(loop.graph)]


def told(session: DebugSession) -> dict[str, tuple[str, Any]]:
    """State and value of each tensor, where the session stands."""
    graph = session.plan.graph
    names = [str(ref) for ref in tensors(graph)]
    values, buffers = read(Read(refs=names, limit=9), known_in(graph), session.frame())
    return {
        part.ref: (part.state, bytes(buffers[part.buffer]) if part.state == "known" else part.why)
        for part in values.parts
    }


@settings(max_examples=share(25), deadline=None)
@given(
    st.sampled_from([power, branched, nested]),
    st.integers(0, 4),
    st.sampled_from([0, LITTLE, 2000]),
    st.lists(st.sampled_from(MOVES), min_size=4, max_size=12),
)
@pytest.mark.slow
def test_with_little_memory_the_same_is_said_or_that_it_is_not_kept(
    build: Any, n: int, limit: int, moves: list[str]
) -> None:
    made = program(build, n)
    rich, poor = DebugSession(made), DebugSession(made, limit_bytes=limit)
    for move in moves:
        if move not in rich.stop.legal:
            continue
        rich.command(move)
        with suppress(GradstepError):  # a loop inside another, of which nothing is kept
            poor.run_to(position(rich.stop))
        if position(poor.stop) == position(rich.stop):
            there = told(rich)
            for ref, said in told(poor).items():
                # Of a loop within, whether it went round at all is not known any more, either.
                come = there[ref][0] != "waiting" or ref.startswith("out/in/")
                assert said == there[ref] or (said[0] == "dropped" and come), ref


def test_an_iteration_that_there_was_no_room_for_is_said_not_to_be_kept() -> None:
    for build, names in ((power, ["while/Less"]), (nested, ["out/Less", "out/in/Less"])):
        session = DebugSession(program(build, 3), limit_bytes=LITTLE)
        for _ in range(3):
            session.continue_()
        session.run_to("1:0")
        before = told(session)
        assert [before[f"{name}:0"][0] for name in names] == ["waiting"] * len(names)
        session.run_to(f"1:{len(session.plan.steps)}")
        after = told(session)
        assert [after[f"{name}:0"] for name in names] == [("dropped", NO_ROOM)] * len(names)


def test_what_was_dead_in_the_last_iteration_is_said_to_be() -> None:
    session = DebugSession(program(branched, 2))
    session.continue_()
    state, why = told(session)["while/cond/PyFunc:0"]
    assert state == "dead"
    assert "branch not taken" in why
