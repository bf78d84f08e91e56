"""Watches: what an expression is at a step, and was at the end of the runs before."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.legal_moves import legal_names
from gradstep.core.debug.watches import Watched, watch
from gradstep.core.engine.numpy_backend import NumpyBackend

TEXTS = ('x["loss:0"]', 'norm(grad["c"])', 'x["c"] + x["k"]', 'update["c"]', 'x["loss"] < 0.66')


def session_of(program: Program) -> DebugSession:
    return DebugSession(program, NumpyBackend())


def one(session: DebugSession, text: str, most: int = 0, until: float = math.inf) -> Watched:
    [found] = watch(session, [text], most, until)
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.sampled_from(["step", "step_back", "continue_", "step_into"]), max_size=9))
def test_each_is_what_a_session_that_went_straight_there_has(
    tutorial: Program, moves: list[str]
) -> None:
    session = session_of(tutorial)
    for move in moves:
        if move in legal_names(session.state):
            session.command(move)
    straight = session_of(tutorial)
    straight.command("run_to", f"{session.stop.run}:{session.stop.step}")
    for there, alone in zip(watch(session, TEXTS, 9), watch(straight, TEXTS, 9), strict=True):
        np.testing.assert_array_equal(there.value, alone.value)
        assert there.numbers == alone.numbers


def test_numbers_are_of_the_end_of_each_run_and_of_now(tutorial: Program) -> None:
    session = session_of(tutorial)
    ends = []
    for _ in range(3):
        session.command("continue_")
        ends.append(float(one(session, 'x["loss:0"]').value))
    session.command("step")  # the next run begins
    assert one(session, 'x["loss:0"]', 9).numbers == (*ends, None)
    assert one(session, 'x["loss:0"]', 2).numbers == (*ends[-2:], None)
    c = one(session, 'x["c"]', 1)
    assert c.numbers[-1] == pytest.approx(np.linalg.norm(c.value))


def test_it_looks_back_only_as_long_as_there_is_time(tutorial: Program) -> None:
    session = session_of(tutorial)
    for _ in range(3):
        session.command("continue_")
    assert len(one(session, 'x["loss:0"]', 9, time.monotonic() - 1).numbers) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('x["los"]', "los"),
        ('grad["nowhere"] * 2', "nowhere"),
        ("norm(grad)", "does not say of which tensor"),
        ("import os", "cannot evaluate"),
        ('x["c"][7]', "out of bounds"),
    ],
)
def test_what_is_wrong_with_one_is_said_of_it_alone(tutorial: Program, text: str, why: str) -> None:
    session = session_of(tutorial)
    wrong, right = watch(session, [text, 'x["c"]'], 3)
    assert wrong.error is not None
    assert why in wrong.error.message
    assert right.error is None
    assert right.value is not None


def test_what_is_not_computed_yet_is_no_error(tutorial: Program) -> None:
    found = one(session_of(tutorial), 'grad["c"]')
    assert (found.value, found.error, found.numbers) == (None, None, (None,))


def test_where_it_stands_is_a_number_too(tutorial: Program) -> None:
    session = session_of(tutorial)
    session.command("continue_")
    session.command("run_to", "1:4")
    assert one(session, "run * 100 + step").value == 104
    assert one(session, "run", 9).numbers == (0.0, 1.0)
    assert one(session, "iteration").value is None


def test_what_was_before_is_of_the_end_of_the_run_before(tutorial: Program) -> None:
    session = session_of(tutorial)
    session.command("continue_")
    first = one(session, 'x["loss"]').value
    assert one(session, 'previous(x["loss"])').value is None
    session.command("continue_")
    assert one(session, 'previous(x["loss"])').value == first
    assert one(session, 'x["loss"] - previous(x["loss"])').value < 0
    session.command("run_to", "1:4")
    assert one(session, 'previous(norm(x["c"])) + run').value > 1


@pytest.mark.parametrize(("text", "value"), [("1 + 1", 2.0), ('shape(x["c"])', (2,))])
def test_what_is_no_tensor_is_shown_too(tutorial: Program, text: str, value: Any) -> None:
    assert one(session_of(tutorial), text).value == value
