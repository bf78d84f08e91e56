"""The debugger in Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gradstep

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
TUTORIAL = EXAMPLES / "tutorial.gradstep"


@pytest.fixture
def debugger() -> gradstep.Debugger:
    return gradstep.debug(TUTORIAL)


def test_moves_there_and_back(debugger: gradstep.Debugger) -> None:
    assert debugger["d"] is None
    assert debugger.stop.reason == "entry"
    debugger.run_to("a")
    data, c, d = debugger["data"], debugger["c"], debugger["d:0"]
    assert data is not None
    assert c is not None
    np.testing.assert_array_equal(d, data + c)
    assert debugger["a"] is None
    there = debugger.step()
    a = debugger["a"]
    assert a is not None
    assert debugger.step_back().step == there.step - 1
    assert debugger["a"] is None
    end = debugger.continue_()
    assert (end.reason, end.op, end.error) == ("end", "", None)
    np.testing.assert_array_equal(debugger["a"], a)
    np.testing.assert_array_equal(debugger.gradient("c"), gradstep.open(TUTORIAL).grad("loss", "c"))
    assert debugger.reverse_continue().step == 0
    assert debugger.gradient("c") is None
    assert debugger.step_into().step == 1
    assert debugger.step_out().phase == "backward"
    assert debugger.restart() == debugger.stop
    assert debugger.stop.reason == "entry"


def test_where_it_stands_reads_like_the_console(debugger: gradstep.Debugger) -> None:
    stop = debugger.run_to("a")
    assert repr(stop) == "[goto] run 0, step 4 of 35 · forward · a: a = d ⊙ e"
    assert (stop.run, stop.step, stop.phase, stop.node, stop.op) == (0, 4, "forward", "a", "a")
    assert stop.text == "a = d ⊙ e"
    assert "step_back" in stop.legal
    assert repr(debugger) == f"<gradstep.Debugger {stop!r}>"


def test_breakpoints(debugger: gradstep.Debugger) -> None:
    debugger.break_at("a")
    debugger.break_at("d", "gradient", condition="norm(value) > 0")
    assert debugger.breakpoints == ["op a", "gradient d if norm(value) > 0"]
    stop = debugger.continue_()
    assert (stop.reason, stop.hit, stop.op) == ("breakpoint", "a", "a")
    stop = debugger.continue_()  # its condition is about a value: it stands behind that
    assert stop.reason == "breakpoint"
    assert stop.hit == "d"
    debugger.clear_breakpoints()
    assert debugger.breakpoints == []
    assert debugger.continue_().reason == "end"


def test_a_wrong_breakpoint_loses_none(debugger: gradstep.Debugger) -> None:
    debugger.break_at("a")
    for wrong in (("zz", "op", ""), ("a", "opp", ""), ("a", "op", "1+"), ("a", "op", 'x["zz"]')):
        with pytest.raises(gradstep.GradstepError) as raised:
            debugger.break_at(*wrong)
        assert raised.value.__notes__
    assert debugger.breakpoints == ["op a"]
    assert debugger.continue_().op == "a"


def test_a_step_that_fails_can_be_looked_at(tmp_path: Path) -> None:
    debugger = gradstep.debug(EXAMPLES / "gather.gradstep")
    stop = debugger.continue_()
    assert stop.reason == "exception"
    assert isinstance(stop.error, gradstep.GradstepError)
    assert "failed: indices[2] = 6 is not in [0, 5)" in repr(stop)
    np.testing.assert_array_equal(debugger["indices"], [0, 1, 6])


def test_why_as_of_where_it_stands(debugger: gradstep.Debugger) -> None:
    assert debugger.why("a").state == "none"
    debugger.continue_()
    assert debugger.why("a").state == "ok"
    assert debugger.why("loss", "c").path == ("loss", "a", "d", "c")


def test_other_gradients_than_the_documents() -> None:
    debugger = gradstep.open(TUTORIAL).debug("a", "c", {"data": [3, 4]}, stop="d")
    debugger.continue_()
    np.testing.assert_array_equal(debugger["data"], [3, 4])
    np.testing.assert_array_equal(debugger.gradient("c", of="a"), debugger["d"])
    assert debugger.gradient("data") is None


def test_a_loop_is_gone_into() -> None:
    debugger = gradstep.debug(EXAMPLES / "while_loop.gradstep")
    shown = [repr(debugger.step_into()) for _ in range(8)]
    assert any("iteration" in text for text in shown)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (lambda d: d["zz"], "there is no operation named 'zz'"),
        (lambda d: d[0], "0 is not the name of a tensor"),
        (lambda d: d.gradient("c", of="zz"), "nothing called 'zz' is differentiated"),
        (lambda d: d.why("zz"), "there is no operation named 'zz'"),
        (lambda d: d.step_back(), "step_back is not possible here"),
        (lambda d: d.run_to("zz"), "'zz' is not executed by this program"),
        (lambda d: d.run_to("99999999:0"), "at most 10000 at once"),
    ],
)
def test_wrong_questions(debugger: gradstep.Debugger, question: object, said: str) -> None:
    with pytest.raises(gradstep.GradstepError, match=said) as raised:
        question(debugger)  # type: ignore[operator]
    assert raised.value.__notes__


def test_a_value_is_injected_on_a_branch(debugger: gradstep.Debugger) -> None:
    debugger.run_to("a")
    before = debugger["d"]
    debugger.inject("d", 2)
    assert debugger["d"].tolist() == [2.0, 2.0]
    debugger.inject("d", [7], at="[1:]")
    assert debugger["d"].tolist() == [2.0, 7.0]
    assert debugger.branches == ["main", "b1"]
    assert debugger.switch_branch("main").step == 4
    assert debugger["d"].tolist() == before.tolist()
    debugger.inject("d", 3, branch="mine")
    assert debugger.branches == ["main", "b1", "mine"]
    with pytest.raises(gradstep.GradstepError, match="no branch 'b2'"):
        debugger.switch_branch("b2")
    with pytest.raises(gradstep.GradstepError, match="has no value here yet"):
        debugger.inject("loss", 3.0)
