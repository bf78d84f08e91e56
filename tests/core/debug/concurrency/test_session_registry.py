"""Several sessions of one graph: their own variables and positions; values copied, never shared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import Sessions, read_variables
from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import assign, repeat
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from tests.support.each_case import each_of


def program(bias: float = 0.0) -> Program:
    """Two networks; a run adds 1 to a/w and doubles b/w. Nothing touches `idle`."""
    g = GraphBuilder()
    first, second = g.variable("a/w", shape=(2,)), g.variable("b/w", shape=(2,))
    g.variable("idle", shape=(2,))
    g.variable("other", "float64", (3,))
    g.variable("empty", shape=(2,))
    step = g.one("AssignAdd", first, g.constant(np.array([1.0, 1.0], np.float32)), name="step")
    twice = g.one("Assign", second, g.one("Mul", second, g.constant(2.0)), name="twice")
    initial = {name: np.array([1, 2], np.float32) + bias for name in ("a/w", "b/w", "idle")}
    initial["other"] = np.zeros(3)
    return Program(g.build(), g.build(), targets=(step.ref.op, twice.ref.op), initial=initial)


def sessions() -> Sessions:
    made = program()
    found = Sessions({"main": Scheduler(made)})
    found.new("copy", lambda: Scheduler(made))
    return found


def values(both: Sessions, name: str, session: str) -> list[float]:
    array = read_variables(both[session])[name]
    return [float(x) for x in array]


def now(session: DebugSession, name: str) -> list[float]:
    array = session.frame().value(name)
    assert array is not None
    return [float(x) for x in array]


def test_each_has_its_own_variables_and_position() -> None:
    both = sessions()
    both.session.command("continue_")
    assert both.current == "copy"
    assert values(both, "a/w", "copy") == [2, 3]
    assert values(both, "a/w", "main") == [1, 2]
    assert both["main"].stop.step == 0
    both.switch("main")
    limits = [both[name].session.timeline.limit_bytes for name in ("main", "copy")]
    both.delete("copy")
    assert list(both.by_name) == ["main"]
    assert both.session.session.timeline.limit_bytes == sum(limits) == 2 * limits[0]


def test_memory_is_shared_out_to_the_programs_of_all_branches() -> None:
    b = GraphBuilder()
    x = b.constant(np.float32(3), name="x")
    b.one("LeakyRelu", x, name="y", alpha=0.5)
    made = derive(Document(graph=b.build(), fetches=(TensorRef("y"),)))
    both = Sessions({"main": Scheduler(made)})
    whole = both.session.session.timeline.limit_bytes
    both.session.edit("set", ("y", "alpha", "0.25"))
    both.session.switch_branch("main")
    both.new("copy", lambda: Scheduler(made))
    limits = []
    for branch in ("main", "b1"):
        both["main"].switch_branch(branch)
        limits.append(both["main"].session.timeline.limit_bytes)
    assert limits == [whole // 2] * 2


def test_a_copy_is_deep_in_both_directions() -> None:
    both = sessions()
    both.session.command("continue_")
    assert both.copy("copy", "main", ["a/w"]) == {"a/w": "a/w"}
    assert values(both, "a/w", "main") == [2, 3]
    both["copy"].command("continue_")
    assert values(both, "a/w", "copy") == [3, 4]
    assert values(both, "a/w", "main") == [2, 3]
    both["main"].command("continue_")
    assert values(both, "a/w", "main") == [3, 4]
    assert values(both, "b/w", "main") == [2, 4]


def test_by_scope_and_under_another_name() -> None:
    both = sessions()
    both.session.command("continue_")
    assert both.copy("copy", "copy", ["a/=b/"]) == {"b/w": "a/w"}
    assert values(both, "b/w", "copy") == [2, 3]
    both.copy("copy", "main", ["b/w=idle"])
    assert values(both, "idle", "main") == [2, 3]
    assert both.copy("main", "copy", []).keys() >= {"a/w", "b/w", "idle", "other"}
    assert values(both, "a/w", "copy") == [1, 2]


@each_of(
    ("wanted", "words"),
    [
        ("a/w=other", "Input 'value' of 'Assign' Op has type float32 that does not match type "),
        ("a/v", "there is no operation named 'a/v'"),
        ("step", "'step' is not a variable"),
        ("c/", "nothing is copied: there is no variable in scope 'c/'"),
        ("a/=c/", "nothing is copied: 'c/' has no variable like 'c/w'"),
        ("empty=idle", "Attempting to use uninitialized value empty"),
    ],
)
def test_what_cannot_be_copied_says_why_and_changes_nothing(wanted: str, words: str) -> None:
    both = sessions()
    with pytest.raises(GradstepError) as caught:
        both.copy("copy", "main", ["b/w=a/w", wanted])
    assert caught.value.message.startswith(words)
    assert caught.value.hint
    assert values(both, "a/w", "main") == [1, 2]


def test_a_wrong_shape_has_tensorflows_words() -> None:
    session = DebugSession(program())
    with pytest.raises(GradstepError, match=r"lhs shape= \[2\] rhs shape= \[3,2\]"):
        assign([session], {"a/w": np.zeros((3, 2), np.float32)})


@pytest.mark.parametrize("limit", [2 << 30, 200])
def test_earlier_steps_show_what_was_there_and_runs_are_repeated(limit: int) -> None:
    """limit 200: no recorded run is kept, so that every look back replays."""
    session = DebugSession(program(), limit_bytes=limit)
    session.run_to("1:1")
    assign([session], {"a/w": np.array([10, 20], np.float32), "idle": np.ones(2, np.float32)})
    session.run_to("3:0")
    for _ in range(2):
        seen = [session.frame(run, step).value("a/w") for run, step in ((0, 0), (1, 0), (2, 0))]
        np.testing.assert_array_equal(seen, [[1, 2], [2, 3], [11, 21]])
        session.step_back()
    assert now(session, "idle") == [1, 1]
    with pytest.raises(GradstepError, match="is in the past"):
        assign([session], {"a/w": np.zeros(2, np.float32)})
    again = DebugSession(program(), limit_bytes=limit)
    repeat(session.changes[0], again)
    again.run_to("3:0")
    session.run_to("3:0")
    for name in ("a/w", "b/w", "idle"):
        assert now(again, name) == now(session, name)
    session.restart()
    assert session.changes == []
    assert now(session, "a/w") == [1, 2]


def test_duplicate_goes_on_from_the_values_of_now() -> None:
    both = sessions()
    both.session.command("continue_")
    both.duplicate("twin", lambda: Scheduler(both.session.program))
    assert values(both, "a/w", "twin") == [2, 3]
    assert (both.session.stop.run, both.session.stop.step) == (0, 0)
    with pytest.raises(GradstepError, match="there is a session 'twin' already"):
        both.new("twin", lambda: Scheduler(both.session.program))


def test_a_session_that_does_not_take_the_values_is_not_made() -> None:
    both = sessions()
    both.switch("main")
    g = GraphBuilder()
    g.one("AssignAdd", g.variable("a/w", shape=(3,)), g.constant(np.ones(3, np.float32)), name="up")
    other = Program(g.build(), g.build(), targets=("up",))
    before = dict(both.by_name)
    with pytest.raises(GradstepError, match="requires shapes of both tensors to match"):
        both.duplicate("third", lambda: Scheduler(other))
    assert (both.current, dict(both.by_name)) == ("main", before)


def test_each_variable_is_that_of_the_thread_that_uses_it() -> None:
    """The current thread need not be the one that has to do with a variable."""
    made = program()
    beside = Thread("beside", ("twice",))
    both = Sessions({"main": Scheduler(replace(made, targets=("step",), threads=(beside,)))})
    both.new("copy", lambda: Scheduler(both["main"].program))
    for thread in ("main", "beside"):
        both.session.switch(thread)
        both.session.command("run_to", "1:0")
    assert (values(both, "a/w", "copy"), values(both, "b/w", "copy")) == ([2, 3], [2, 4])
    both.copy("copy", "main", ["a/w", "b/w"])
    both["main"].command("run_to", "1:0")
    assert (values(both, "a/w", "main"), values(both, "b/w", "main")) == ([3, 4], [2, 4])
    again = Scheduler(both["main"].program)
    again.repeat(both["main"].history)
    assert [x.tolist() for x in (read_variables(again)["a/w"], read_variables(again)["b/w"])] == [
        [3, 4],
        [2, 4],
    ]
