"""Jacobians of operations where the debugger stands: in loops, of chosen iterations, in words."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.cli.console.console import Console
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.errors import GradstepError
from gradstep.core.host.jacobian_answers import find_jacobian
from gradstep.core.protocol.jacobian_bytes import matrices
from tests.support import looping


def test_in_a_loop_it_is_of_the_iteration_that_is_looked_at() -> None:
    session = looping.session(n=4)
    session.continue_()
    for number in range(4):
        session.choose_iteration("while/While", number)
        found, buffers = find_jacobian(session, "while/times")
        by_y, by_x = (matrices(block, buffers)["rule"].item() for block in found.blocks)
        assert (by_y, by_x) == (2, 2**number)
    assert found.text == "all 2 entries that the rule 'Mul' gives are what differences say"


def test_before_its_inputs_are_there_there_is_none() -> None:
    session = looping.session(n=4)
    with pytest.raises(GradstepError, match="not known here") as raised:
        find_jacobian(session, "while/times")
    assert raised.value.hint == "run to while/times first"
    with pytest.raises(GradstepError, match="no operation named"):
        find_jacobian(session, "nothing")


def test_the_console_says_it_as_a_matrix() -> None:
    session = looping.session(n=4)
    console = Console(Scheduler(session.program), lambda file: session.program)
    console.execute("continue_")
    said = console.execute("jacobian while/times")
    assert "∂while/times/∂while/Identity_1, 1 by 1" in said.text
    assert said.data["blocks"][0]["rule"] == [[2.0]]
    assert said.data["blocks"][0]["verdicts"] == [["ok"]]
    assert np.isclose(said.data["blocks"][0]["numeric"][0][0], 2)
    with pytest.raises(GradstepError, match="needs the name"):
        console.execute("jacobian")


def test_the_console_lists_and_chooses_iterations() -> None:
    session = looping.session(n=3)
    console = Console(Scheduler(session.program), lambda file: session.program)
    assert "has not run yet" in console.execute("iteration").text
    console.execute("continue_")
    assert "iteration 3 of 3" in console.execute("iteration").text
    said = console.execute("iteration 1")
    assert "iteration 1 of 3" in said.text
    assert said.data["loops"][0]["chosen"]
    assert console.execute("print while/times").data["value"]["data"] == 2
    console.execute("iteration while/While last")
    assert console.execute("print while/times").data["value"]["data"] == 8
    with pytest.raises(GradstepError):
        console.execute("iteration nothing 2")
