"""Curves are of the runs that are shown: through branches, sessions, edits, undo and renames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradstep.core.debug.breaks.missing_number import is_not_there
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.request_edits import toggle_stop
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui import commands
from tests.gui.panels.conftest import Bench
from tests.support.drawn_share import share

FOLLOWED = 'norm(x["Net_A/w:0"])', 'norm(grad["Net_B/w:0"])', 'x["Net_A/b:0"][0]'


@pytest.fixture
def space(bench: Bench) -> Any:
    begin(bench)
    return bench.space


def begin(bench: Bench) -> None:
    """The example of two networks, of which much is followed in every step."""
    bench.open("var_list")
    training = bench.space.training
    training.always = True
    for text in FOLLOWED:
        commands.follow_expression(bench.space, text)


def train(space: Any, steps: int) -> None:
    space.training.steps = steps
    space.training.train()


def known(space: Any, text: str = 'x["loss:0"]') -> list[int]:
    """The steps in which a curve is known."""
    points = curve(space, text).points
    there = ~is_not_there(points.numbers)
    return [int(step) for step in points.steps[there]]


def curve(space: Any, text: str = 'x["loss:0"]') -> Any:
    return next(curve for curve in space.training.curves if curve.text == text)


def run_again(space: Any, text: str, run: int) -> float:
    """What an expression is at the end of a run that was made."""
    session = space.bridge.service._session
    return float(session.curves([text]).read(session.frame(run, session.timeline.length))[0])


def check(space: Any) -> None:
    """Each number of a curve is what its run gives, of those that were made."""
    session = space.bridge.service._session
    timeline, training = session.timeline, space.training
    if not timeline.length:
        return
    for each in training.curves:
        points = each.points
        for step, number in zip(points.steps.tolist(), points.numbers.tolist(), strict=True):
            made = timeline.first <= step < timeline.runs
            if is_not_there(np.array([number]))[0] or not made:
                continue
            if timeline.done(step) == timeline.length:
                assert run_again(space, each.text, step) == number, (each.text, step)


def inject(space: Any, value: float, name: str = "Net_A/b") -> None:
    """Another value where the debugger stands, on a branch that leaves there."""
    space.sessions.inject(name, np.array(value, np.float32), "[:]")


def stop_wire(space: Any) -> None:
    edge = Edge("Net_A/product", 1)
    space.edit("stop", toggle_stop(space.document, edge))
    space.debugger.flush()


def earlier(space: Any) -> list[tuple[str, int]]:
    """The names of earlier trainings, the newest first, and how many steps of their loss."""
    text = 'x["loss:0"]'
    return [(each.name, len(each.points.get(text, ()))) for each in space.training.earlier]


def test_a_branch_goes_on_from_where_it_leaves_and_each_has_its_own_curve(space: Any) -> None:
    train(space, 20)
    before = curve(space).points.numbers.tolist()
    norms = curve(space, FOLLOWED[0]).points.numbers.tolist()
    space.control("run_to", "12:1")
    inject(space, 3.0)
    assert curve(space).points.numbers.tolist() == before[:12]
    assert curve(space, FOLLOWED[0]).points.numbers.tolist() == norms[:12]
    assert earlier(space) == [("1 · branch main", 20)]
    train(space, 5)
    assert known(space) == [*range(18)], "the branch has made a run when it begins"
    on_branch = curve(space).points.numbers.tolist()
    assert on_branch[:12] == before[:12]
    assert on_branch[12] != before[12]
    check(space)
    name = space.stop.branches[-1].name
    commands.switch_branch(space, "main")
    assert curve(space).points.numbers.tolist() == before
    assert earlier(space) == [(f"2 · branch {name}", 18)]
    train(space, 3)
    assert known(space) == [*range(23)]
    commands.switch_branch(space, name)
    assert curve(space).points.numbers.tolist() == on_branch
    assert earlier(space) == [("1 · branch main", 23)]
    commands.drop_branch(space, name)
    assert known(space) == [*range(23)]


def test_each_session_has_its_own_curves(space: Any) -> None:
    train(space, 6)
    commands.duplicate_session(space)
    assert known(space) == []
    assert earlier(space) == [("1 · session main", 6)]
    train(space, 2)
    numbers = curve(space).points.numbers.tolist()
    commands.switch_session(space, "main")
    assert known(space) == [*range(6)]
    assert earlier(space) == [("2 · session 2", 2)]
    check(space)
    commands.switch_session(space, "session 2")
    assert curve(space).points.numbers.tolist() == numbers


def test_an_edit_makes_curves_earlier_ones_at_once_and_its_undo_brings_them_back(
    space: Any,
) -> None:
    train(space, 8)
    numbers = curve(space).points.numbers.tolist()
    commands.toggle_breakpoint(space, "loss")
    assert known(space) == [*range(8)], "breakpoints change nothing of what training gives"
    commands.toggle_breakpoint(space, "loss")
    space.edit("stop", toggle_stop(space.document, Edge("Net_A/product", 1)))
    assert known(space) == []
    assert earlier(space) == [("1 · GradientDescent, rate 0.1", 8)]
    space.undo_stack.undo()
    assert curve(space).points.numbers.tolist() == numbers
    assert earlier(space) == []
    space.undo_stack.redo()
    space.debugger.flush()
    train(space, 2)
    assert known(space) == [8, 9]
    assert [count for _, count in earlier(space)] == [8]
    check(space)


def steps_of(space: Any) -> list[list[int]]:
    """In which steps each histogram was made."""
    return [each.points.steps.tolist() for each in space.training.histograms.followed]


def test_histograms_are_of_the_runs_that_are_shown(space: Any) -> None:
    training = space.training
    training.follow_histograms("weights")
    train(space, 6)
    assert steps_of(space) == [[*range(6)]] * 4
    space.control("run_to", "3:1")
    inject(space, 3.0)
    assert steps_of(space) == [[0, 1, 2]] * 4
    stop_wire(space)
    assert not any(len(each.points) for each in training.histograms.followed)
    space.undo_stack.undo()
    space.debugger.flush()
    commands.switch_branch(space, "main")
    assert steps_of(space) == [[*range(6)]] * 4


@pytest.mark.parametrize(
    ("typed", "then"), [('x["loss:', 'x["loss:'), ('x["loss:"] < 1', 'x["error:"] < 1')]
)
def test_curves_follow_a_rename_while_a_condition_is_being_typed(
    space: Any, typed: str, then: str
) -> None:
    space.training.until = typed
    commands.rename(space, "loss", "error")
    assert space.training.curves[0].text == 'x["error:0"]'
    assert space.training.until == then


def test_a_curve_follows_a_rename_with_all_that_is_known_of_it(space: Any) -> None:
    training = space.training
    training.follow_histograms("gradients")
    commands.follow_layers(space, "gradient")
    train(space, 4)
    space.control("run_to", "2:1")
    inject(space, 3.0)
    train(space, 2)
    titles = [each.title for each in training.curves]
    numbers = [each.points.numbers.tolist() for each in training.curves]
    training.until = 'x["loss:0"] < 0'
    commands.rename(space, "Net_A/b", "bias")
    commands.rename(space, "Net_A/", "first")
    commands.rename(space, "loss", "error")
    space.debugger.flush()
    texts = [each.text for each in training.curves]
    assert texts[:4] == [
        'x["error:0"]', 'norm(x["first/w:0"])', 'norm(grad["Net_B/w:0"])', 'x["bias:0"][0]',
    ]  # fmt: skip
    assert [each.title for each in training.curves][4:6] == ["‖∂ first/w‖", "‖∂ bias‖"]
    assert [each.points.numbers.tolist() for each in training.curves] == numbers
    assert training.until == 'x["error:0"] < 0'
    bands = [(each.text, each.title) for each in training.histograms.followed]
    assert bands[:2] == [('grad["first/w:0"]', "∂ first/w"), ('grad["bias:0"]', "∂ bias")]
    assert all(len(each.points) for each in training.histograms.followed)
    assert [len(points) for points in training.earlier.points_of('x["error:0"]')] == [4]
    train(space, 2)
    assert curve(space, 'x["error:0"]').points.numbers.tolist()[:-2] == numbers[0]
    check(space)
    for _ in range(3):
        space.undo_stack.undo()
    space.debugger.flush()
    assert [each.title for each in training.curves] == titles
    assert known(space) == [*range(len(numbers[0]) + 2)]
    check(space)


def test_a_loss_that_was_dropped_is_not_followed_again_for_another_name(space: Any) -> None:
    space.training.drop(curve(space))
    commands.rename(space, "loss", "error")
    space.debugger.flush()
    assert [each.text for each in space.training.curves] == [*FOLLOWED]


def test_what_draws_by_its_name_gives_other_numbers_under_another(bench: Bench) -> None:
    b = GraphBuilder()
    w = b.variable("w", shape=(2,))
    sizes, kind = np.array([2], np.int32), DType.FLOAT32
    noise = b.one("RandomStandardNormal", sizes, name="noise", seed=0, seed2=0, dtype=kind)
    d = b.one("Sub", w, noise, name="d")
    b.op("Sum", b.one("Mul", d, d, name="q"), np.array([0], np.int32), name="loss")
    loss, space = TensorRef("loss"), bench.space
    optimizer = Optimizer("GradientDescent", {"learning_rate": 0.1}, (loss,))
    initial = {"w": Constant(np.ones(2, np.float32))}
    space.open_document(Document(b.build(), initial=initial, optimizers=(optimizer,)))
    space.debugger.flush()
    train(space, 4)
    commands.rename(space, "d", "difference")
    space.debugger.flush()
    assert known(space) == [*range(4)]
    check(space)
    commands.rename(space, "noise", "drawn")
    space.debugger.flush()
    assert known(space) == []
    space.undo_stack.undo()
    space.debugger.flush()
    assert known(space) == [*range(4)]
    check(space)


# -- moves of the property ------------------------------------------------------------------------


def go_to(space: Any, place: int) -> None:
    steps = len(space.program.steps)
    space.control("run_to", f"{place % 7}:{1 + place % steps}" if steps else "0:0")


def edit(space: Any, number: int) -> None:
    document = space.document
    bias = next((name for name in document.graph.operations if name.endswith("/b")), "")
    if number % 3 == 0:
        stop_wire(space) if "Net_A/product" in document.graph else None
    elif number % 3 == 1 and bias:
        value = np.full(document.graph[bias].attrs["shape"].dims, number, np.float32)
        space.edit("initial", document_edits.set_initial(document, bias, value))
    else:
        space.edit("add", document_edits.remove_operations(document, ["axes"]))
    space.debugger.flush()


def rename(space: Any, number: int) -> None:
    names = ["Net_A/", "Net_A/w", "loss", "Net_B/b", "Net_A/product"]
    old = names[number % len(names)]
    commands.rename(space, old, f"other{number}" if old[-1] == "/" else f"{old}{number}")
    space.debugger.flush()


def undo(space: Any, number: int) -> None:
    space.undo_stack.redo() if number % 3 == 0 else space.undo_stack.undo()
    space.debugger.flush()


def branch(space: Any, number: int) -> None:
    branches = [each.name for each in space.stop.branches] if space.stop else []
    if branches:
        name = branches[number % len(branches)]
        (commands.drop_branch if number % 5 == 0 else commands.switch_branch)(space, name)


def edit_branch(space: Any, number: int) -> None:
    commands.edit_on_branch(space, "stop", "Net_B/w" if number % 2 else "Net_A/y")


def session(space: Any, number: int) -> None:
    kind = number % 5
    names = space.sessions.names
    if kind == 0:
        commands.new_session(space)
    elif kind == 1:
        commands.duplicate_session(space)
    elif kind == 2 and len(names) > 1:
        commands.copy_variables(space, names[0], names[-1], [])
    elif kind == 3 and len(names) > 3:
        commands.delete_session(space)
    else:
        commands.switch_session(space, names[number % len(names)])


def click(space: Any, number: int) -> None:
    """At a step of a curve: the debugger stands at it then, with the number of the curve."""
    found = known(space, space.training.curves[0].text) if space.training.curves else []
    there = [step for step in found if step >= (space.stop.first if space.stop else 0)]
    if there:
        step = there[number % len(there)]
        first = space.training.curves[0]
        number_there = first.points.at(step)
        commands.go_to_trained_step(space, step)
        if space.stop.run == step and space.stop.step == len(space.program.steps):
            assert run_again(space, first.text, step) == number_there


MOVES: dict[str, Callable[[Any, int], None]] = {
    "train": lambda space, number: train(space, 1 + number % 4),
    "restart": lambda space, number: space.control("restart"),
    "step": lambda space, number: space.control(
        ("step_into", "continue_", "step_back", "step")[number % 4]
    ),
    "go": go_to,
    "inject": lambda space, number: inject(space, number / 4, ("Net_A/b", "x", "both")[number % 3]),
    "edit": edit,
    "rename": rename,
    "undo": undo,
    "branch": branch,
    "edit branch": edit_branch,
    "session": session,
    "breakpoint": lambda space, number: commands.toggle_breakpoint(space, "loss"),
    "click": click,
}
moves = st.lists(
    st.tuples(st.sampled_from([*MOVES, "train", "train"]), st.integers(0, 60)), max_size=14
)


@settings(max_examples=share(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves)
def test_each_number_of_a_curve_is_what_its_run_gives(bench: Bench, done: Any) -> None:
    begin(bench)
    space = bench.space
    train(space, 3)
    for name, number in done:
        try:
            MOVES[name](space, number)
        except GradstepError:
            continue
        check(space)
