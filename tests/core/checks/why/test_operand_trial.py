"""Which wrong elements of which operands a wrong result comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gradstep.core.checks.why.operand_trial import Trial
from gradstep.core.checks.why.step_on_other_inputs import Again
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.whys import graph_of

N = float("nan")


@pytest.fixture(scope="module")
def session() -> DebugSession:
    fetches: list[TensorRef] = []

    def build(b: GraphBuilder) -> None:
        x, y = (b.placeholder(n, shape=[4]) for n in "xy")
        made = (
            tf.multiply(x, y, name="mul"),
            tf.log(x, name="log"),
            tf.reduce_sum(x, name="sum"),
            tf.gather(x, np.array([2, 1], np.int32), name="gather"),
            tf.concat([x, y], 0, name="concat"),
            tf.pow(x, y, name="pow"),
            tf.acosh(x, name="acosh"),
            tf.atanh(x, name="atanh"),
            tf.divide(x, y, name="div"),
        )
        fetches.extend(tensor.ref for tensor in made)

    graph = graph_of(build)
    feeds = {TensorRef(n): np.ones(4, np.float32) for n in "xy"}
    return DebugSession(Program(graph, graph, fetches=tuple(fetches), feeds=feeds))


def trial(session: DebugSession, name: str, arrays: Sequence[Any], asked: Any = None) -> Trial:
    """Of NaN; asked: which elements of the result, by default all that are."""
    again, step = Again(session), session.plan.steps[session.plan.step_of[name]]
    inputs = [np.array(x, np.float32) for x in arrays]
    rest = {"sum": [np.int32([0])], "gather": [np.int32([2, 1]), np.int32(0)]}
    rest["concat"] = [np.int32(0)]
    full = [*inputs, *rest.get(name, [])][: len(step.reads)]
    results = again.run(step, full)
    assert results is not None
    wrong = np.isnan(results[0]) if asked is None else np.array(asked)
    bad = {k: np.isnan(x) for k, x in enumerate(inputs) if np.isnan(x).any()}
    return Trial(again, step, full, bad, {0: wrong}, np.isnan)


def mattering(found: Trial) -> dict[int, list[Any]]:
    return {k: mask.astype(int).tolist() for k, mask in found.mattering().items()}


@pytest.mark.parametrize(
    ("name", "arrays", "asked", "own", "matters"),
    [
        ("mul", ([N, 1, N, 1], [1, N, N, 1]), None, [0] * 4, {0: [1, 0, 1, 0], 1: [0, 1, 1, 0]}),
        ("mul", ([N, 1, N, 1], [1, N, N, 1]), [False, True, False, False], [0] * 4,
         {1: [0, 1, 0, 0]}),
        ("mul", ([N, 1, N, 1], [1, 1, 1, 1]), [True, False, False, False], [0] * 4,
         {0: [1, 0, 0, 0]}),
        ("div", ([N, 0, 1, 1], [1, 0, N, 1]), None, [0, 1, 0, 0],
         {0: [1, 0, 0, 0], 1: [0, 0, 1, 0]}),
        ("log", ([N, -1, 2, N],), None, [0, 1, 0, 0], {0: [1, 0, 0, 1]}),
        ("log", ([N, -1, 2, N],), [False, True, False, False], [0, 1, 0, 0], {}),
        ("log", ([N, -1, 2, N],), [True, True, False, False], [0, 1, 0, 0], {0: [1, 0, 0, 0]}),
        ("acosh", ([N, 0.5, 2, N],), None, [0, 1, 0, 0], {0: [1, 0, 0, 1]}),
        ("atanh", ([N, 1.5, 0, N],), None, [0, 1, 0, 0], {0: [1, 0, 0, 1]}),
        ("pow", ([-1, 2, N, 1], [N, N, 2, 1]), None, [1, 0, 0, 0],
         {0: [0, 0, 1, 0], 1: [0, 1, 0, 0]}),
        ("sum", ([N, 1, N, 1],), None, 0, {0: [1, 0, 1, 0]}),
        ("gather", ([N, 1, N, 1],), None, [0, 0], {0: [0, 0, 1, 0]}),
        ("gather", ([N, N, N, N],), None, [0, 0], {0: [0, 1, 1, 0]}),
        ("gather", ([N, N, N, N],), [True, False], [0, 0], {0: [0, 0, 1, 0]}),
        ("concat", ([N, 1, 1, 1], [1, 1, 1, N]), None, [0] * 8, {0: [1, 0, 0, 0], 1: [0, 0, 0, 1]}),
        ("concat", ([N, 1, 1, 1], [1, 1, 1, N]), [False] * 7 + [True], [0] * 8,
         {1: [0, 0, 0, 1]}),
    ],
)  # fmt: skip
def test_what_matters(
    session: DebugSession, name: str, arrays: Any, asked: Any, own: Any, matters: Any
) -> None:
    found = trial(session, name, arrays, asked)
    assert found.own[0].astype(int).tolist() == own
    assert mattering(found) == matters


def test_what_cannot_be_tried_matters_as_a_whole(session: DebugSession) -> None:
    """Where it fails on other numbers nothing is known: all of it may have led there."""
    step = session.plan.steps[session.plan.step_of["mul"]]
    x, y = np.array([N, 1], np.float32), np.array([1, N, 1], np.float32)
    bad = {0: np.isnan(x), 1: np.isnan(y)}
    found = Trial(Again(session), step, [x, y], bad, {0: np.array([True, True])}, np.isnan)
    assert not found.own[0].any()
    assert found.mattering() == bad
