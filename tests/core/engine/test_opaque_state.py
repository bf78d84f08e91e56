"""Variables that hold one object which never changes: by reference, in versions like others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, DType, TensorType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.op_state import PerRun, Resource, Stateful, Writes
from gradstep.core.ops.state.opaque_state import OpaqueState


@dataclass(frozen=True)
class Pile(OpaqueState):
    """Numbers, the newest last."""

    items: tuple[float, ...] = ()

    @property
    def nbytes(self) -> int:
        return 8 * len(self.items)

    def __str__(self) -> str:
        return f"{len(self.items)} items"


HANDLE = TensorType(DType.RESOURCE, SCALAR)
NUMBER = TensorType(DType.FLOAT32, SCALAR)


def _declare() -> None:
    table.op(
        "Pile",
        outputs="handle",
        infer=lambda ctx: HANDLE,
        state=Resource(lambda op: Pile()),
        doc="A.",
    )
    table.op(
        "Heap",
        inputs="x",
        outputs="sum",
        infer=lambda ctx: NUMBER,
        kernel=lambda xp, x, pile: (
            xp.asarray(np.float32(sum(pile.items) + x)),
            Pile((*pile.items, float(x))),
        ),
        state=PerRun(Pile),
        doc="Adds to the pile that every run has.",
    )
    table.op(
        "Push",
        inputs="handle x",
        outputs="count",
        infer=lambda ctx: NUMBER,
        kernel=lambda xp, pile, x: (
            xp.asarray(np.float32(len(pile.items) + 1)),
            Pile((*pile.items, float(x))),
        ),
        state=Writes((0,)),
        doc="Adds to a pile.",
    )
    table.op(
        "Total",
        inputs="handle",
        infer=lambda ctx: NUMBER,
        kernel=lambda xp, pile: xp.asarray(np.float32(sum(pile.items))),
        state=Stateful(),
        doc="The sum.",
    )


@pytest.fixture(autouse=True)
def _piles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_TABLE", {d.type: d for d in table.all_ops()})
    _declare()


def _graph() -> Graph:
    """`new` and `again` work on a pile of each run, the others on one that lasts."""
    b = GraphBuilder()
    x = b.constant(2.0, name="x")
    lasting = b.one("Pile", name="lasting")
    b.op("Push", b.one("Identity", lasting, name="same"), x, name="push")
    b.op("Total", lasting, name="total", control_inputs=["push"])
    b.op("Heap", x, name="new")
    b.op("Heap", x, name="again", control_inputs=["new"])
    return b.build()


FETCHES = ("total", "new", "push", "again")


@pytest.mark.parametrize("fast", [False, True])
def test_what_lasts_grows_and_what_is_new_does_not(fast: bool) -> None:
    session = Session(_graph(), fast=fast)
    runs = [[float(v) for v in session.run(FETCHES)] for _ in range(3)]
    assert runs == [[2, 2, 1, 4], [4, 2, 2, 4], [6, 2, 3, 4]]
    assert session.store["lasting"] == Pile((2.0, 2.0, 2.0))
    assert [*session.store] == ["lasting"]
    other = session.store.copy()
    session.run(FETCHES)
    assert len(other["lasting"].items) == 3
    assert session.run(["lasting"])[0].item() == "4 items"


@pytest.mark.parametrize("fast", [False, True])
def test_what_was_done_before_a_failure_stays_done(fast: bool) -> None:
    b = GraphBuilder(_graph())
    b.one("CheckNumerics", b.placeholder("y"), message="", name="check", control_inputs=["push"])
    b.one("AssignAdd", b.variable("v"), 1.0, name="more")
    session = Session(b.build(), initial={"v": np.float32(0)}, fast=fast)
    with pytest.raises(GradstepError, match="NaN"):
        session.run(["check", "again"], {"y": np.float32(np.nan)}, ["more"])
    assert session.store["lasting"] == Pile((2.0,))


def test_every_step_of_every_run_shows_what_was_there_then() -> None:
    graph = _graph()
    refs = tuple(map(TensorRef, FETCHES))
    program = Program(graph=graph, forward=graph, fetches=refs)
    debugger = DebugSession(program, limit_bytes=1)  # nothing is kept: runs are replayed
    for _ in range(4):
        debugger.continue_()
        debugger.step_into()
    push = debugger.plan.step_of["push"]
    for run in (2, 0, 3, 1):
        before, after = debugger.frame(run, push), debugger.frame(run, push + 1)
        assert before.value("lasting").item() == f"{run} items"
        assert after.value("lasting").item() == f"{run + 1} items"
        assert after.state("same") == Pile((2.0,) * (run + 1))
        assert after.value("x").item() == 2
        assert debugger.frame(run, len(debugger.plan.steps)).value("again").item() == 4


def test_an_edit_leaves_it_as_another_compilation_would() -> None:
    b = GraphBuilder(_graph())
    b.one("Neg", b.get("again"), name="more")
    edited, refs = b.build(), tuple(map(TensorRef, FETCHES))
    plan = compile_plan(_graph(), refs)
    for graph in (edited, _graph(), edited):
        plan = compile_plan(graph, refs, previous=plan)
        recording = Recording(plan, NumpyBackend())
        store = VariableStore(recording.backend)
        for _ in range(2):
            recording.begin(store)
            assert recording.run(0, len(plan.steps)) == (len(plan.steps), None)
            recording.keep(store, len(plan.steps))
        assert dict(store) == {"lasting": Pile((2.0, 2.0))}
