"""The debugger in Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gradstep
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.io.native.gradstep_file import save
from gradstep.core.ops.build.builder import GraphBuilder

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
    assert repr(stop) == "[goto] run 1, step 4 of 35 · forward · a: a = d ⊙ e"
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
        (lambda d: d.inject("c", "abc"), "'abc' cannot be"),
        (lambda d: d[0], "name of value is a text, not 0"),
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


def test_an_edited_program_runs_on_a_branch(debugger: gradstep.Debugger) -> None:
    debugger.continue_()
    assert debugger.fork("stop a<0", branch="stopped").reason == "end"
    assert (debugger.branch, debugger.branches) == ("stopped", ["main", "stopped"])
    assert debugger.gradient("c").tolist() == debugger.gradient("k").tolist()
    about = debugger.about_branch()
    assert (about.parent, about.run, about.step, about.words) == ("main", 0, 35, "stop a<0")
    found = debugger.compare("main")
    assert found.first == "c"
    assert {"c", "c/Adam"} <= set(found.differing)
    assert "k" not in found.differing
    assert found.missing
    assert "stopped leaves main" in repr(found)
    debugger.rename_branch("stopped", "s")
    assert debugger.drop_branch("s").step == 35
    assert debugger.branches == ["main"]


def test_an_optimizers_setting_is_another_on_a_branch(debugger: gradstep.Debugger) -> None:
    """As in a document with that setting."""
    debugger.continue_()
    debugger.fork("set learning_rate = 0.5")
    assert debugger.about_branch().words == "train.learning_rate = 0.5"
    c = debugger["c"]
    debugger.fork("set optimizer.learning_rate = 0")
    assert debugger["c"].tolist() == gradstep.debug(TUTORIAL)["c"].tolist() != c.tolist()
    for wrong, said in (
        ("set momentum = 1", "no optimizer has a setting 'momentum'"),
        ("set learning_rate = fast", "learning_rate is a number"),
        ("set train.beta3 = 1", "no optimizer has a setting 'beta3'"),
        ("set schedule = sometimes(1)", "sometimes"),
        ("set learning_rate = 0", "it is so already"),
        ("mend it", "'mend it' is no edit"),
    ):
        with pytest.raises(gradstep.GradstepError, match=said):
            debugger.fork(wrong)
    assert debugger.branches == ["main", "b1", "b2"]


def test_an_edited_program_begins_with_the_variables_of_the_session() -> None:
    net = gradstep.open(TUTORIAL)
    for _ in range(3):
        net.run()
    c = net.variables["c"]
    debugger = net.debug()
    debugger.fork("stop a<0")
    assert debugger["c"].tolist() == c.tolist()
    debugger.continue_()
    assert debugger["c"].tolist() != c.tolist()


def test_a_fix_is_tried_and_taken() -> None:
    debugger = gradstep.debug(EXAMPLES / "nan_gradient.gradstep")
    debugger.continue_()
    with pytest.raises(gradstep.GradstepError, match="no question has named a fix"):
        debugger.try_fix()
    found = debugger.why("loss", "p")
    assert found.fixes[0] == "Give logp a safe number where it is not chosen"
    assert "fix 1: Give logp" in repr(found)
    tried = debugger.try_fix(1)
    assert tried.mends
    assert tried.rows["NaN or infinite"] == ("1 of 3", "0 of 3")
    assert repr(tried).startswith("Give logp a safe number")
    assert debugger.branches == ["main"]
    debugger.take_fix(1, branch="mended")
    assert debugger.branch == "mended"
    assert np.isfinite(debugger.gradient("p")).all()
    assert debugger.why("loss", "p").state == "ok"
    with pytest.raises(gradstep.GradstepError, match="names 0 edits now, and no number 1"):
        debugger.take_fix(1)


def test_another_iteration_is_chosen() -> None:
    debugger = gradstep.debug(EXAMPLES / "while_loop.gradstep")
    debugger.continue_()
    program = debugger._threads.session.program
    loop = next(op.name for op in program.graph if op.type == "While")
    inside = next(step for step in debugger._threads.session.plan.steps if step.op.name == loop)
    name = inside.iteration.plan.steps[-1].op.name
    last = debugger[name]
    debugger.choose_iteration(loop, 1)
    first = debugger[name]
    assert first is not None
    assert last is not None
    assert first.tolist() != last.tolist()
    debugger.choose_iteration(loop)
    assert debugger[name].tolist() == last.tolist()
    with pytest.raises(gradstep.GradstepError, match="there is no iteration 0"):
        debugger.choose_iteration(loop, 0)


def test_other_random_numbers_are_drawn_from_a_step_on(tmp_path: Path) -> None:
    b = GraphBuilder()
    b.one("RandomUniform", np.array([3], np.int32), name="drawn", dtype=DType.FLOAT32)
    document = Document(graph=b.build(), fetches=(TensorRef("drawn"),))
    save(tmp_path / "drawn.gradstep", document)
    debugger = gradstep.debug(tmp_path / "drawn.gradstep")
    debugger.reseed(7, branch="seven")
    debugger.continue_()
    assert debugger.branch == "seven"
    assert debugger.about_branch("seven").words == "seed = 7"
    debugger.switch_branch("main")
    debugger.continue_()
    assert debugger.compare("seven").differing
    with pytest.raises(gradstep.GradstepError, match="seed of reseed is a whole number"):
        debugger.reseed(0.5)
    with pytest.raises(gradstep.GradstepError, match="no branch and no session is 'eight'"):
        debugger.compare("eight")
    with pytest.raises(gradstep.GradstepError, match="no branch 'eight'"):
        debugger.about_branch("eight")


def test_an_end_before_what_waits_for_a_feed_says_so(tmp_path: Path) -> None:
    from tests.core.cli.test_query import unfed

    debugger = gradstep.open(unfed(tmp_path / "unfed.gradstep")).debug()
    stop = debugger.continue_()
    assert stop.reason == "end"
    assert stop.error is not None
    assert "'x' is not fed" in str(stop.error)
    assert "'x' is not fed" in repr(stop)


def test_an_end_before_an_open_wire_names_no_placeholder_that_nothing_needs(
    tmp_path: Path,
) -> None:
    b = GraphBuilder()
    with b.as_default():
        b.placeholder("that", DType.FLOAT32, (2,))
        b.constant(np.ones(2, np.float32), name="c")
    graph = Graph.of([*b.build(), Operation("z", "Add", (TensorRef("c"), None))])
    save(tmp_path / "open.gradstep", Document(graph=graph, fetches=(TensorRef("z"),)))
    stop = gradstep.open(tmp_path / "open.gradstep").debug().continue_()
    assert (stop.reason, stop.error) == ("end", None)
