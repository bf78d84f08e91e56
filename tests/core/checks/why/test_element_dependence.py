"""One element of a result that is zero: which operands it follows, and where their zeros are."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from gradstep.core.checks.why.element_dependence import Element
from gradstep.core.checks.why.operand_probes import others, without_zeros
from gradstep.core.checks.why.step_on_other_inputs import Again
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.whys import graph_of


@pytest.fixture(scope="module")
def session() -> DebugSession:
    fetches: list[TensorRef] = []

    def build(b: GraphBuilder) -> None:
        x, y = (b.placeholder(n, shape=[2, 2]) for n in "xy")
        p, k = b.placeholder("p", "bool", [2, 2]), b.placeholder("k", "int32", [2])
        made = (
            tf.multiply(x, y, name="mul"),
            tf.matmul(x, y, name="matmul"),
            tf.reduce_prod(x, name="prod"),
            tf.where(p, x, y, name="where"),
            tf.logical_and(p, tf.logical_not(p), name="and"),
            tf.floordiv(k, k, name="div"),
            tf.greater(x, y, name="greater"),
        )
        fetches.extend(tensor.ref for tensor in made)

    graph = graph_of(build)
    ones = np.ones((2, 2), np.float32)
    feeds = {"x": ones, "y": ones, "p": ones > 0, "k": np.ones(2, np.int32)}
    return DebugSession(
        Program(
            graph, graph, fetches=tuple(fetches), feeds={TensorRef(n): x for n, x in feeds.items()}
        )
    )


def element(session: DebugSession, name: str, inputs: Sequence[Any], *index: int) -> Element:
    step = session.plan.steps[session.plan.step_of[name]]
    return Element(Again(session), step, inputs, 0, index)


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def test_operands_and_those_that_are_zero(session: DebugSession) -> None:
    """Of an operation that works place by place at that place, of others anywhere."""
    x, y = f32([0, 1], [2, 3]), f32([0, 4], [0, 5])
    there = [element(session, "mul", (x, y), *at) for at in np.ndindex(2, 2)]
    assert [found.zeros for found in there] == [[0, 1], [], [1], []]
    assert there[0].operands == [0, 1]
    assert element(session, "matmul", (x, y), 1, 1).zeros == [0, 1]
    held = element(session, "matmul", (x, "state", f32()), 1, 1)
    assert (held.operands, held.zeros) == ([0], [0])


def test_what_it_follows(session: DebugSession) -> None:
    x, y = f32([0, 1], [2, 3]), f32([0, 4], [0, 5])
    both, second = element(session, "mul", (x, y), 0, 0), element(session, "mul", (x, y), 1, 0)
    assert not both.follows([0], without_zeros)
    assert both.follows([0, 1], without_zeros)
    assert second.follows([1], without_zeros)
    assert not second.follows([0], others)
    assert not second.follows([], others)


@pytest.mark.parametrize(
    ("x", "y", "undoes"),
    [
        (f32([1, 2], [3, 4]), f32([0, 0], [0, 0]), True),
        (f32([0, 0], [3, 4]), f32([0, 0], [0, 0]), True),
        (f32([0, 0], [0, 0]), f32([0, 0], [0, 0]), False),
    ],
)
def test_a_zero_undoes_what_is_none(
    session: DebugSession, x: np.ndarray, y: np.ndarray, undoes: bool
) -> None:
    found = element(session, "matmul", (x, y), 1, 0)
    assert found.undoes(1, [0, 1]) is undoes


def test_whole_numbers_are_not_undone(session: DebugSession) -> None:
    """As a shape or an axis is none that a mask is laid over."""
    step = session.plan.steps[session.plan.step_of["mul"]]
    calls: list[Any] = []
    again = SimpleNamespace(run=lambda step, inputs: calls.append(inputs))
    found = Element(cast("Again", again), step, (f32([0]), np.int32([[5]])), 0, (0, 0))
    assert not found.undoes(0, [1])
    assert not calls


def test_the_flag_that_chose_a_zero(session: DebugSession) -> None:
    flags = np.array([[True, False], [True, True]])
    x, y = f32([0, 0], [0, 2]), f32([3, 0], [0, 4])
    chosen = [element(session, "where", (flags, x, y), *at).chooser() for at in np.ndindex(2, 2)]
    assert chosen == [0, None, None, 0]
    assert element(session, "and", (flags, ~flags), 0, 0).chooser() is None


@pytest.mark.parametrize(
    ("name", "inputs", "is_tiny"),
    [
        ("prod", (f32([1e-20, 1e-20], [1e-5, 1]), np.int32([0, 1])), True),
        ("prod", (f32([1e-20, 0], [1e-5, 1]), np.int32([0, 1])), False),
        ("mul", (f32([1e-30, 1], [1, 1]), f32([1e-30, 1], [1, 1])), True),
        ("mul", (f32([1e-30, 1], [1, 1]), f32([0, 1], [1, 1])), False),
        ("mul", (f32([1e-3, 1], [1, 1]), f32([1e-3, 1], [1, 1])), False),  # 0 it cannot have been
        ("mul", (f32([-1e-30, 1], [1, 1]), f32([1e-30, 1], [1, 1])), True),
        ("mul", (np.zeros((2, 2)) + 1e-200, np.zeros((2, 2)) + 1e-200), False),  # as wide as it is
        ("div", (np.int32([1, 1]), np.int32([2, 2])), False),
        ("greater", (f32([1, 1], [1, 1]), f32([2, 2], [2, 2])), False),
    ],
)
def test_what_is_too_small_for_its_type(
    session: DebugSession, name: str, inputs: Sequence[Any], is_tiny: bool
) -> None:
    at = (0,) * (0 if name == "prod" else inputs[0].ndim)
    assert element(session, name, inputs, *at).is_tiny() is is_tiny


def test_what_does_not_run_in_double_precision_is_not_known_to_be_tiny(
    session: DebugSession,
) -> None:
    step = session.plan.steps[session.plan.step_of["mul"]]
    again = SimpleNamespace(run=lambda step, inputs: None)
    found = Element(cast("Again", again), step, (f32([1e-30]), f32([1e-30])), 0, (0, 0))
    assert not found.is_tiny()
    assert not found.follows([0, 1], others)


def test_the_zero_that_it_follows(session: DebugSession) -> None:
    """Of the first column of the second operand, which its element comes from, the first zero."""
    x = f32([1, 2], [3, 4])
    for y, index, wanted in (
        (f32([0, 0], [0, 0]), (0, 1), (0, 1)),
        (f32([0, 0], [0, 0]), (1, 0), (0, 0)),
        (f32([0, 5], [0, 0]), (1, 0), (0, 0)),
    ):
        assert element(session, "matmul", (x, y), *index).zero_of(1) == wanted
    assert element(session, "matmul", (x, x), 0, 0).zero_of(1) is None
    assert element(session, "mul", (x, f32(0, 0)), 1, 1).zero_of(1) == (1,)
    assert element(session, "mul", (x, f32(0, 0)), 1, 1).zero_of(0) == (1, 1)
    # where it takes a zero in the first row, of which the first column is none
    assert element(session, "matmul", (f32([0, 2], [0, 4]), f32([1, 0], [0, 0])), 0, 1).zero_of(
        1
    ) == (1, 1)
