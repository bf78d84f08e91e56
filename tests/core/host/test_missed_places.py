"""What an edit takes away where a session stands, and another gives back: it stands there again,
unless it was moved in between."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gradstep.core.document.document import Document
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.graph.model import Constant, Edge
from gradstep.core.protocol import messages as m
from tests.core.host.test_edits import Editor, require_as_opened_afresh
from tests.soak import documents
from tests.soak.frames import Frame, differences, frame_of, reading
from tests.support.drawn_share import share

LOSS, SQUARE = "as_it_is/valley/loss", "as_it_is/valley/square"
EXAMPLES = ("tutorial", "gan", "while_loop", "cond_gradients", "stop_gradient_paths", "rnn")


def opened(name: str, steps: int) -> Editor:
    user = Editor()
    user.open(documents.load(name), trusted=True, limit=2 << 30)
    for _ in range(steps):
        user.control("step")
    return user


def place(user: Editor) -> tuple[int, int, str, list[tuple[str, int, int]]]:
    assert user.stop is not None
    stop = user.stop
    return (
        stop.run,
        stop.step,
        stop.op,
        [(each.loop, each.iteration, each.step) for each in stop.inside],
    )


def seen(user: Editor) -> Frame:
    assert user.program is not None
    return frame_of(user.ask(reading(user.program, user.document)))


def wires(document: Document) -> list[Edge]:
    return [Edge(op.name, i) for op in document.graph for i, ref in enumerate(op.inputs) if ref]


def test_a_wire_that_is_unplugged_and_plugged_in_again() -> None:
    user = opened("tutorial", 5)
    before = place(user)
    user.edit("disconnect", (Edge("d", 0),))
    assert user.stop is not None
    assert user.stop.reason == "end", "what came next waits"
    user.undo()
    assert place(user) == before
    user.redo()
    user.edit("connect", (documents.load("tutorial").graph["d"].inputs[0], Edge("d", 0)))
    assert place(user) == before, "by hand, too"


def test_who_moved_meanwhile_stays_there() -> None:
    user = opened("tutorial", 5)
    user.edit("disconnect", (Edge("d", 0),))
    user.control("step_back")
    assert user.stop is not None
    op = user.stop.op
    user.undo()
    assert user.stop.op == op
    assert op != "loss"


def test_a_node_that_is_deleted_and_comes_back() -> None:
    user = opened("tutorial", 5)
    before = place(user)
    user.edit("remove_nodes", (("loss",),))
    user.edit("set_attr", ("c", "_note", "an edit of something else"))
    user.undo()
    user.undo()
    assert place(user) == before


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("wire", [Edge("reply", 1), Edge("twice", 0), Edge("heard", 0)])
@pytest.mark.parametrize("moves", [["step_into"] * 2, ["continue_", "step_back", "step_back"]])
def test_threads_take_all_their_commands_again(
    moves: list[str], wire: Edge, is_killed: bool
) -> None:
    """Of which the program without the wire has fewer."""
    user = opened("queue_deadlock", 0)
    for move in moves:
        user.control(move)
    assert user.stop is not None
    before, threads = place(user), user.stop.threads
    user.edit("disconnect", (wire,))
    if is_killed:
        user.kill()
    user.undo()
    assert place(user) == before
    assert user.stop.threads == threads


def test_what_is_only_called_otherwise_is_not_missed() -> None:
    """Or another one of its name would be taken for it."""
    user = opened("tutorial", 5)
    user.edit("rename", ("loss", "cost"))
    before = place(user)
    user.edit("rename", ("c", "loss"))
    assert place(user) == before
    assert user.stop is not None
    assert user.stop.op == "cost"


def test_what_is_gone_is_what_came_next_and_is_there_still() -> None:
    """And not what comes after as many steps, which may be an update amid the backward pass."""
    user = opened("tutorial", 8)
    assert place(user)[2] == "gradients/e_grad/Identity"
    before = place(user)
    user.edit("toggle_stop", (Edge("a", 1),))
    assert place(user)[2] == "gradients/d_grad/Identity_1"
    user.undo()
    assert place(user) == before


def test_a_loop_that_is_called_otherwise_is_stood_in_still() -> None:
    user = opened("while_loop", 3)
    while user.stop is not None and not user.stop.inside:
        user.control("step_into")
    before = place(user)[3]
    (loop,) = {name for name, *_ in before}
    user.edit("rename", (loop, "round"))
    assert place(user)[3] == [("round", *rest) for _, *rest in before]


@pytest.mark.parametrize("name", ["d", "e", "a"])
def test_a_value_stays_given_whatever_is_renamed(name: str) -> None:
    """What it is given to, and what came next where it was."""
    user = opened("tutorial", 3)
    value = np.full(2, 7.0, np.float32).tobytes()
    user.branch(m.Inject(name="d", dtype="float32", shape=[2]), value)
    user.control("step")
    user.control("step")
    frame = seen(user)
    user.edit("rename", (name, "other"))
    now = seen(user)
    for each in ("d", "e", "a"):
        assert now["other:0" if each == name else f"{each}:0"] == frame[f"{each}:0"]
    user.undo()
    assert [*differences(seen(user), frame)] == []


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_was_given_on_the_way_is_given_there_again(is_killed: bool) -> None:
    user = opened("tutorial", 3)
    value = np.full(2, 7.0, np.float32).tobytes()
    reply = user.branch(m.Inject(name="d", dtype="float32", shape=[2]), value)
    assert isinstance(reply, m.SessionList)
    for _ in range(2):
        user.control("step")
    before, frame = place(user), seen(user)
    user.edit("disconnect", (Edge("e", 0),))  # before which it was given
    if is_killed:
        user.kill()
    user.undo()
    assert place(user) == before
    assert [*differences(seen(user), frame)] == []


@pytest.mark.parametrize("then", ["step", "continue_", "step_back"])
def test_what_a_constant_was_given_is_not_what_an_edit_begins_with(then: str) -> None:
    """What was computed of it before it was given stays."""
    user = opened("dropout", 11)
    value = np.float32(0.25).tobytes()
    reply = user.branch(m.Inject(name="training/one", dtype="float32", shape=[]), value)
    assert isinstance(reply, m.SessionList)
    user.control(then)
    before, frame = place(user), seen(user)
    user.edit("set_attr", ("training/loss", "_note", "an edit of something else"))
    assert place(user) == before
    assert [*differences(seen(user), frame)] == []
    user.branch(m.ManageBranches(command="switch", name="main"))
    user.control("reverse_continue")
    user.control("continue_")
    other = opened("dropout", 0)
    other.control("continue_")
    assert place(user) == place(other)
    assert [*differences(seen(user), seen(other))] == []


def failing_axis(user: Editor) -> None:
    """An edit with which the loss fails in every run."""
    user.edit("set_attr", ("as_it_is/valley/axes", "value", Constant(np.array([7], np.int32))))
    assert user.stop is not None
    assert (user.stop.run, user.stop.op, user.stop.reason) == (0, LOSS, "exception")


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_an_edit_makes_fail_on_the_way(is_killed: bool) -> None:
    """The value is not given where it fails, in another run than the value is of."""
    user = opened("gradient_clipping", 0)
    for move in ("continue_", "step", "step", "step", "step"):
        user.control(move)
    value = np.full(2, 7.0, np.float32).tobytes()
    reply = user.branch(m.Inject(name=SQUARE, dtype="float32", shape=[2]), value)
    assert isinstance(reply, m.SessionList)
    for move in ("continue_", "step"):
        user.control(move)
    before, frame = place(user), seen(user)
    failing_axis(user)
    user.edit("set_attr", (SQUARE, "_note", "an edit of something else"))
    if is_killed:
        user.kill()
    user.undo()
    user.undo()
    assert place(user) == before
    assert [*differences(seen(user), frame)] == []


def test_who_moved_where_it_fails_stays_there() -> None:
    user = opened("gradient_clipping", 9)
    failing_axis(user)
    user.control("step_back")
    assert user.stop is not None
    op = user.stop.op
    user.undo()
    assert user.stop.op == op


def test_a_gradient_of_another_type_is_another_step() -> None:
    """However many steps there are."""
    user = opened("saturated_activations", 0)
    document = user.document
    (relu,) = [op.name for op in document.graph if op.type == "Relu"]
    user.control("run_to", f"gradients/{relu}_grad/ReluGrad")
    before, count = place(user), len(user.service._service._session.plan.steps)
    assert before[2].endswith("ReluGrad")
    user.change(edit_by_name(document, "leak", [relu]))
    assert place(user) != before
    assert len(user.service._service._session.plan.steps) == count
    user.undo()
    assert place(user) == before


def test_a_session_of_the_same_name_has_missed_nothing() -> None:
    user = opened("gradient_clipping", 9)
    before = place(user)
    user.manage(m.ManageSessions(command="new", name="b"))
    for _ in range(11):
        user.control("step")
    user.manage(m.ManageSessions(command="switch", name="main"))
    failing_axis(user)
    for command in ("delete", "new"):
        user.manage(m.ManageSessions(command=command, name="b"))
    for _ in range(5):
        user.control("step")
    here = place(user)
    assert here[2] == LOSS
    user.undo()
    assert place(user) == here
    user.manage(m.ManageSessions(command="switch", name="main"))
    assert place(user) == before


def test_a_session_that_missed_its_place_goes_when_it_is_deleted() -> None:
    user = opened("tutorial", 5)
    user.manage(m.ManageSessions(command="new", name="b"))
    for _ in range(5):
        user.control("step")
    user.edit("disconnect", (Edge("d", 0),))
    loaded = user.service._service._loaded
    assert loaded is not None
    other = weakref.ref(loaded.sessions["b"])
    assert loaded.courses.by_name["b"].missed is not None
    user.manage(m.ManageSessions(command="delete", name="b"))
    gc.collect()
    assert other() is None


@pytest.mark.slow
@settings(max_examples=share(25), deadline=None)
@given(
    st.sampled_from(EXAMPLES),
    st.integers(1, 12),
    st.lists(st.sampled_from(["step_into", "step_back", "continue_"]), max_size=3),
    st.data(),
)
def test_whatever_wire_it_was(name: str, steps: int, moves: list[str], data: st.DataObject) -> None:
    user = opened(name, steps)
    for move in moves:
        user.do(move, 0)
    assume(user.stop is not None and not user.stop.threads)
    before = place(user)
    chosen = data.draw(st.lists(st.sampled_from(wires(user.document)), min_size=1, max_size=3))
    for wire in chosen:
        if wire in wires(user.document):
            user.edit("disconnect", (wire,))
        if data.draw(st.booleans()):
            user.kill()
    while user.undo():
        pass
    assert place(user) == before
    require_as_opened_afresh(user)
