"""A wire that is unplugged, and plugged in again: what waited meanwhile is not made again, and all
is as if the result had been opened."""

from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.calls import bound_calls
from gradstep.core.engine.plan.step_builder import Resolver
from gradstep.core.engine.run import plan_binding
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.host import held_document
from tests.bench import edits as bench
from tests.bench import training_graph
from tests.core.host.test_edits import Editor, require_as_opened_afresh
from tests.support.drawn_share import share

NODES = 65
LAST = f"{training_graph.scope(training_graph.layers(NODES) - 1)}/AddV2"
SHARED = f"{training_graph.scope(0)}/Mul"
MIDDLE = training_graph.wire(NODES).op


@pytest.fixture(scope="module")
def document() -> Document:
    """A training graph as TensorFlow leaves it, trained by Adam."""
    adam = Optimizer("Adam", {"learning_rate": 0.01})
    return bench.document(NODES).with_(optimizers=(adam,))


def opened(document: Document) -> Editor:
    user = Editor()
    user.open(document, trusted=True, limit=2 << 30)
    user.control("continue_")
    return user


class Work:
    """How many steps were resolved, and how many calls bound."""

    def __init__(self) -> None:
        self.steps = self.calls = 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    done = Work()
    resolve, bind = Resolver._step, bound_calls.bind_call

    def counted(self: Resolver, *given: object) -> object:
        done.steps += 1
        return resolve(self, *given)  # type: ignore[arg-type]

    def bound(*given: object) -> object:
        done.calls += 1
        return bind(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(Resolver, "_step", counted)
    monkeypatch.setattr(plan_binding, "bind_call", bound)
    return done


def test_plugging_in_makes_only_what_reads_the_wire_again(document: Document, work: Work) -> None:
    user = opened(document)
    length = len(user.program.steps) if user.program else 0
    source = document.graph[MIDDLE].inputs[1]
    assert source is not None
    user.edit("disconnect", (Edge(MIDDLE, 1),))
    assert user.program is not None
    assert len(user.program.steps) < length
    work.steps = work.calls = 0
    user.edit("connect", (source, Edge(MIDDLE, 1)))
    assert len(user.program.steps) == length
    assert work.steps < length // 8
    assert work.calls < length // 8
    require_as_opened_afresh(user)


def test_what_can_still_run_is_made_of_the_plan_that_rests(document: Document, work: Work) -> None:
    user = opened(document)
    work.steps = 0
    user.edit("disconnect", (Edge(MIDDLE, 1),))
    assert user.program is not None
    assert len(user.program.steps) > 10
    assert work.steps == 0
    require_as_opened_afresh(user)


def test_what_takes_much_memory_does_not_rest(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_document, "MOST_AT_REST", 1)
    user = opened(document)
    user.edit("disconnect", (Edge(MIDDLE, 1),))
    loaded = user.service._service._loaded
    assert loaded is not None
    assert loaded.resting is None
    user.undo()
    require_as_opened_afresh(user)


def test_what_rested_is_let_go_of(document: Document) -> None:
    user = opened(document)
    held = []
    for _ in range(3):
        user.edit("disconnect", (Edge(MIDDLE, 1),))
        user.undo()
        loaded = user.service._service._loaded
        assert loaded is not None
        assert loaded.resting is None
        held.append(weakref.ref(loaded))
        del loaded
    gc.collect()
    assert [ref() is None for ref in held] == [True, True, False]


DOINGS = st.sampled_from(
    ["unplug", "plug", "unplug another", "stop", "rename", "undo", "redo", "step", "continue_"]
)


@pytest.mark.slow
@settings(max_examples=share(12), deadline=None)
@given(st.lists(DOINGS, min_size=2, max_size=7))
def test_whatever_happens_while_it_waits(document: Document, doings: list[str]) -> None:
    user = opened(document)
    for what in ("unplug", *doings, "plug"):
        do(user, what)
    require_as_opened_afresh(user)


def do(user: Editor, what: str) -> None:
    name = next(n for n in (MIDDLE, f"{MIDDLE}_x") if n in user.document.graph)
    if what in ("undo", "redo"):
        getattr(user, what)()
    elif what in ("step", "continue_"):
        user.do(what, 0)
    elif what == "rename":
        user.edit("rename", (name, MIDDLE if name != MIDDLE else f"{MIDDLE}_x"))
    elif what == "stop":
        user.edit("toggle_stop", (Edge(SHARED, 0),))
    elif what.startswith("unplug"):
        user.edit("disconnect", (Edge(LAST, 0) if "another" in what else Edge(name, 1),))
    else:
        product = TensorRef(f"{name.rpartition('/')[0]}/Mul")
        user.edit("connect", (product, Edge(name, 1)))
