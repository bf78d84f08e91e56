"""An edit that is undone, or done again: its program, plan and words are found, not made again, and
all is as if the document had been opened."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.plan.step_builder import Resolver
from gradstep.core.graph.model import Edge, Graph, Operation
from gradstep.core.host import engine_service
from gradstep.core.host.followed_program import FollowedProgram
from gradstep.core.program.derive import derive
from gradstep.core.program.recent_programs import RecentPrograms
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.program_change import OtherProgramError, ProgramChange
from tests.bench import edits as bench
from tests.bench import training_graph
from tests.core.host.test_edits import Editor, require_as_opened_afresh
from tests.soak import documents
from tests.support.drawn_share import share

NODES = 65
STOPPED = Edge(f"{training_graph.scope(3)}/AddV2", 0)
NOTED = f"{training_graph.scope(2)}/Mul"


@pytest.fixture(scope="module")
def document() -> Document:
    """A training graph as TensorFlow leaves it, trained by Adam."""
    adam = Optimizer("Adam", {"learning_rate": 0.01})
    return bench.document(NODES).with_(optimizers=(adam,))


class Work:
    """How many documents were derived, and how many steps resolved; what was told of programs."""

    def __init__(self) -> None:
        self.derived = self.steps = 0
        self.told: list[ProgramChange] = []

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    done = Work()
    resolve = Resolver._step

    def deriving(*given: object, **named: object) -> object:
        done.derived += 1
        return derive(*given, **named)  # type: ignore[arg-type]

    def counted(self: Resolver, *given: object) -> object:
        done.steps += 1
        return resolve(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(engine_service, "derive", deriving)
    monkeypatch.setattr(Resolver, "_step", counted)
    return done


def opened(document: Document, work: Work) -> Editor:
    user = Editor()
    ask = user.engine.ask

    def heard(*given: object) -> object:
        reply, buffers = ask(*given)  # type: ignore[arg-type]
        work.told += [reply.change] if isinstance(reply, m.Edited) else []
        return reply, buffers

    user.engine.ask = heard  # type: ignore[method-assign, assignment]
    user.open(document, trusted=True, limit=2 << 30)
    user.control("continue_")
    return user


def test_what_is_undone_is_found_again_and_told_in_a_word(document: Document, work: Work) -> None:
    user = opened(document, work)
    first = user.program
    user.edit("toggle_stop", (STOPPED,))
    for there_and_back in range(2):
        work.clear()
        assert user.undo() if not there_and_back else user.redo()
        assert (work.derived, work.steps) == (0, 0)
        (change,) = work.told
        assert len(msgspec.msgpack.encode(change)) < 60
        require_as_opened_afresh(user)
    work.clear()
    user.undo()
    assert work.derived == 0
    assert first is not None
    assert user.program is not None
    assert user.program.steps == first.steps


def test_what_is_two_edits_back_is_derived(document: Document, work: Work) -> None:
    user = opened(document, work)
    user.edit("toggle_stop", (STOPPED,))
    user.edit("set_attr", (NOTED, "_note", "seen"))
    work.clear()
    user.undo()
    assert work.derived == 0
    user.undo()
    assert work.derived == 1
    require_as_opened_afresh(user)


def test_what_calls_python_is_derived_each_time(work: Work) -> None:
    shown = documents.load("override_add")
    assert shown.code
    user = opened(shown, work)
    user.edit("toggle_stop", (_some_wire(shown),))
    work.clear()
    user.undo()
    assert work.derived == 1
    require_as_opened_afresh(user)


def _some_wire(document: Document) -> Edge:
    return next(Edge(op.name, 0) for op in document.graph if op.inputs)


@pytest.mark.slow
@settings(max_examples=share(10), deadline=None)
@given(
    st.sampled_from(["training", "tutorial", "cond_gradients", "gan"]),
    st.lists(
        st.tuples(
            st.sampled_from(["edit", "edit", "undo", "undo", "redo", "step", "continue_"]),
            st.integers(0, 2**20),
        ),
        min_size=2,
        max_size=8,
    ),
)
# Of a graph whose operations were not created in the order in which they run.
@example(name="cond_gradients", doings=[("edit", 21), ("edit", 0)])
def test_back_and_forth_lead_where_opening_does(
    document: Document, name: str, doings: list[tuple[str, int]]
) -> None:
    user = Editor()
    shown = document if name == "training" else documents.load(name)
    user.open(shown, trusted=True, limit=2 << 30)
    for what, seed in (("edit", 7), *doings):
        user.do(what, seed)
        if what in ("undo", "redo"):
            require_as_opened_afresh(user)
    require_as_opened_afresh(user)


def test_a_program_is_found_by_an_equal_document_and_no_other(document: Document) -> None:
    recent, program = RecentPrograms(), derive(document)
    recent.keep(document, program)
    op = document.graph[NOTED]
    held = document.with_(graph=_with(document.graph, op.with_attrs(_note=1)))
    noted = derive(held)
    recent.keep(held, noted)
    for note, is_found in ((1, True), (True, False), (1.0, False), (2, False)):
        asked = document.with_(graph=_with(document.graph, op.with_attrs(_note=note)), title="new")
        found = recent.find(asked.with_(title=document.title), noted)
        assert (found is not None and found.program is noted) == is_found
        assert recent.find(asked, noted) is None
    found = recent.find(document.with_(watches=("loss",)), noted)
    assert found is not None
    assert found.program is program
    assert found.document.watches == ("loss",)
    recent.forget()
    assert recent.find(document, program) is None


def _with(graph: Graph, op: Operation) -> Graph:
    return Graph({**graph.operations, op.name: op})


def test_a_window_holds_what_was_told_last_and_just_before() -> None:
    followed = FollowedProgram()
    stopped = m.Stopped(reason="entry", run=0, step=0, runs=1, text="")
    for number in (1, 2, 2, 3, 3):  # a reply may be seen again, once it is complete
        followed.complete(m.Opened(program=_program(number), stopped=stopped))
    for base in (2, 3):
        change = ProgramChange(base=base, number=base + 10, device="gpu" if base == 2 else None)
        copy = FollowedProgram()
        copy._held = [*followed._held]
        reply = copy.complete(m.Edited(change=change, stopped=stopped))
        assert isinstance(reply, m.Opened)
        assert reply.program.number == base + 10
        assert reply.program.device == ("gpu" if base == 2 else "cpu")
    with pytest.raises(OtherProgramError):
        followed.complete(m.Edited(change=ProgramChange(base=1, number=4), stopped=stopped))


def _program(number: int) -> m.ProgramInfo:
    return m.ProgramInfo(
        number=number, steps=[], gradients={}, edges=[], blocked=[], custom={}, slots={},
        problems=[], device="cpu", measured=True, source="",
    )  # fmt: skip
