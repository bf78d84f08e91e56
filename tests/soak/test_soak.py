"""The soak itself: some walks that hold, and for each invariant a break that it finds."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.graph.problems import Problem
from gradstep.core.host import engine_service
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.program.derive import compile_functions, derive
from gradstep.core.protocol.message_base import Glance, Question
from gradstep.gui import commands
from gradstep.gui.model.settings import settings
from tests.soak import campaign as campaigns
from tests.soak import documents, drawing, editing, walk
from tests.soak.__main__ import main
from tests.soak.campaign import Campaign
from tests.soak.engines import ServiceEngine
from tests.soak.faults import BrokenError, Counts
from tests.soak.memory import Watch
from tests.soak.questions import draw_question
from tests.soak.shrinking import breaks_again, shrunk
from tests.soak.user import ProtocolUser
from tests.soak.walk import RAN, Walk
from tests.support.forked_engine import Server, fork_engines

KILLING = 0  # a seed whose walk kills its engine


def walked(
    seed: int,
    moves: int = 60,
    document: str = "tutorial",
    heard: Callable[[str], None] = lambda text: None,
) -> Walk:
    counts = Counts()
    made = Walk(seed, ProtocolUser(ServiceEngine(counts, heard), counts), counts, document)
    made.go(moves)
    return made


def broken(seed: int, moves: int = 120, document: str = "tutorial") -> BrokenError:
    with pytest.raises(BrokenError) as caught:
        walked(seed, moves, document)
    return caught.value


def test_every_kind_of_question_is_asked() -> None:
    user = walked(0, 0).user
    assert user.program is not None
    assert user.stop is not None
    drawn = (draw_question(Random(seed), user.program, user.stop) for seed in range(3000))
    kinds = {each for kind in (Question, Glance) for each in kind.kinds()}
    own = {
        kind for kind in kinds if getattr(sys.modules[kind.__module__], kind.__name__, 0) is kind
    }
    assert own <= {type(question) for question in drawn}  # others are what another test made up


def _renamed(document: Document) -> Document:
    return document.with_(title=f"{document.title}.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "document"),
    [(0, "tutorial"), (1, "while_loop"), (2, "session_copies"), (4, "queue_train_validation"),
     (5, "cond_v1.pb"), (8, "override_add")],
)  # fmt: skip
def test_a_walk_on_which_all_holds(seed: int, document: str) -> None:
    done = walked(seed, 40, document).counts.done
    assert done["revisits"] > 5


def test_every_document_is_there() -> None:
    assert len(documents.names()) > 60
    assert {documents.of_seed(seed) for seed in range(len(documents.names()))} == {
        *documents.names()
    }
    assert documents.load(documents.names()[-1]).graph.operations


def test_every_command_that_is_drawn_has_its_edit() -> None:
    assert drawing.DRAWS.keys() == editing.EDITS.keys()


# -- what is found ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_kernel_that_gives_something_else_the_next_time(monkeypatch: Any) -> None:
    given = iter(range(1 << 20))

    def drifting(xp: Any, x: Any, y: Any) -> Any:
        return x + y + np.float32(next(given) * 1e-3)

    changed = replace(table.lookup("AddV2"), kernel=Kernels(drifting))
    monkeypatch.setitem(table._TABLE, "AddV2", changed)
    assert broken(1).kind == "revisit"


def test_an_edit_that_changes_the_document_before_it(monkeypatch: Any) -> None:
    def spoiling(document: Document) -> Document:
        array = document.initial["c"].array
        array.setflags(write=True)
        array += 1
        return _renamed(document)

    monkeypatch.setattr(drawing, "DRAWS", {"spoil": (1, lambda rng, document: ())})
    monkeypatch.setitem(editing.EDITS, "spoil", spoiling)
    assert broken(1).kind == "undo"


def test_what_two_edits_of_one_move_came_in_place_of_is_not_asked_for(monkeypatch: Any) -> None:
    """An edit is undone; the next move brings two, the first of which nobody has seen."""
    monkeypatch.setattr(Walk, "_arrive", lambda self: None)
    titles = {0: "as opened", 1: "edited"}
    user: Any = SimpleNamespace(index=0, document=Document(title=titles[0]))
    made = Walk(1, user, Counts())

    def go(index: int) -> bool:
        user.index, user.document = index, Document(title=titles[index])
        return True

    for index in (0, 1, 0):
        go(index)
        made._note_version()
    titles.update({1: "another", 2: "and one more"})
    go(2)
    made._note_version()
    made._take_back(lambda: go(1))
    titles[0] = "not as opened"
    with pytest.raises(BrokenError, match="edit number 0 is not what it was"):
        made._take_back(lambda: go(0))


@pytest.mark.slow
def test_a_file_that_lacks_something(monkeypatch: Any) -> None:
    load = gradstep_file.load
    monkeypatch.setattr(walk.gradstep_file, "load", lambda path: _renamed(load(path)))
    assert broken(1, 300).kind == "saved"


def test_an_engine_that_does_not_come_back_to_its_place(monkeypatch: Any) -> None:
    monkeypatch.setattr(SessionJournal, "_way", lambda self: [])
    assert broken(KILLING).kind == "place"


@pytest.mark.slow
def test_a_program_that_depends_on_the_one_before_the_edit(monkeypatch: Any) -> None:
    def dependent(*arguments: Any, previous: Any = None, **rest: Any) -> Any:
        program = derive(*arguments, previous=previous, **rest)
        more = () if previous is None else (Problem("", "old", "there was another one"),)
        return replace(program, problems=(*program.problems, *more))

    monkeypatch.setattr(engine_service, "derive", dependent)
    error = broken(1, 300)
    assert error.kind == "fresh"
    assert "program.problems" in error.text


@pytest.mark.slow
def test_python_that_runs_without_being_trusted(monkeypatch: Any) -> None:
    heard: list[str] = []
    seed = next(n for n in range(99) if walk.Random(f"{n}/0").random() < walk.UNTRUSTED)
    walked(seed, 10, "bernoulli_mask", heard.append)
    assert not heard
    monkeypatch.setattr(
        engine_service, "compile_functions", lambda d, trusted, say: compile_functions(d, True, say)
    )
    walked(seed, 10, "bernoulli_mask", heard.append)
    assert RAN in "".join(heard)


@pytest.mark.slow
def test_what_nobody_foresaw_and_the_moves_that_are_enough_for_it(monkeypatch: Any) -> None:
    def failing(xp: Any, *inputs: Any) -> Any:
        raise TypeError("unexpected")

    for type in ("Mul", "AddV2"):
        changed = replace(table.lookup(type), kernel=Kernels(failing))
        monkeypatch.setitem(table._TABLE, type, changed)
    error = broken(1)
    assert error.kind == "internal"
    fails = breaks_again(1, "tutorial", error.kind)
    enough = shrunk([*range(1, 121)], fails)
    assert len(enough) == 1
    assert fails(enough)


# -- its parts -------------------------------------------------------------------------------------


def test_moves_are_left_out_until_none_can_be() -> None:
    assert shrunk([*range(1, 200)], lambda moves: {3, 77, 150} <= {*moves}) == [3, 77, 150]
    assert shrunk([*range(1, 200)], lambda moves: False) == []


def test_growth_is_from_the_end_of_the_warm_up() -> None:
    watch = Watch()
    for second in range(100):
        held = 500.0 if second < 10 else 100 + second / 9
        watch.samples["engine"].append((float(second), held, 7))
    found = watch.as_json(100)
    assert found["growth_percent"] == pytest.approx(7.9, abs=0.3)
    assert found["descriptors"] == {"engine": [7, 7]}


@pytest.mark.slow
def test_the_command_gives_figures_of_an_engine_process_that_was_killed(
    capsys: Any, engine_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork_engines(engine_server, monkeypatch)
    assert main(["--seed", "20", "--until", "6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"cases", "internal_errors", "hangs", "lost", "code_run", "peak_mib", "stall_ms"} <= {
        *found
    }
    assert (found["cases"], found["moves"], found["broken"]) == (1, 6, [])
    assert found["kills"] > 0
    assert found["peak_mib"] > 20


@pytest.mark.slow
def test_a_finding_comes_with_what_shows_it_again(monkeypatch: Any) -> None:
    load = gradstep_file.load
    monkeypatch.setattr(walk.gradstep_file, "load", lambda path: _renamed(load(path)))
    monkeypatch.setattr(walk, "MOVES", {"control": 1, "save": 1})
    monkeypatch.setattr(campaigns, "ProcessEngine", ServiceEngine)
    said: list[str] = []
    campaign = Campaign(window=False, say=said.append)
    campaign.run(1, 0)
    (finding,) = campaign.as_json()["broken"]
    assert finding["kind"] == "saved"
    assert finding["command"].startswith("./dev soak --seed 1 --only ")
    assert finding["trail"][-1] == "save"
    assert campaign.as_json()["lost"] == 1
    assert finding["command"] in said[0]


@pytest.mark.slow
def test_the_window_has_a_command_for_each_edit_that_is_drawn() -> None:
    others = {"duplicate", "paste", "set_initial"}  # which it does in several
    assert {name for name in drawing.DRAWS if not hasattr(commands, name)} <= others


@pytest.mark.slow
def test_a_short_walk_through_the_window(
    qapp: Any, engine_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork_engines(engine_server, monkeypatch)
    campaign = Campaign(window=True, say=print)
    try:
        campaign.run(4, 0, until=16)
    finally:
        settings().clear()
    found = campaign.as_json()
    assert found["broken"] == []
    assert found["moves"] == 16
