"""The groups that processes of their own measure: runs, the canvas and the debugger."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import ModuleType

import pytest

from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from tests.bench import (
    asking,
    canvas,
    debug,
    debugging,
    drawing,
    edits,
    feeding,
    panning,
    reacting,
    run,
    running,
    train,
    training,
    training_graph,
)
from tests.bench.choices import Choices
from tests.bench.contestant import environment
from tests.bench.spread import Spread
from tests.bench.targets import CANVAS, DEBUG, PYTHON, RUNNING, SIZES, TRAINING
from tests.support.forked_engine import Server, fork_engines, fork_readers

TARGETS = {canvas: CANVAS, debug: DEBUG, run: RUNNING, train: TRAINING}


@pytest.mark.parametrize("group", TARGETS)
def test_every_target_of_a_group_gets_a_row(
    group: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = TARGETS[group]
    keys = {t.key.rsplit(" ", 1)[0] if group is canvas else t.key for t in targets}
    monkeypatch.setattr(group, "ask", lambda *_, **__: {key: [1.0, 2.0, 3.0] for key in keys})
    rows = group.rows(Choices())
    assert [r.name for r in rows] == [t.name for t in targets]
    assert all(r.measured == Spread(2.0, 1.5, 2.5, count=3) and not r.fault for r in rows)


@pytest.mark.parametrize("group", TARGETS)
def test_a_measurement_that_breaks_is_a_fault_of_its_group(
    group: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise asking.NoAnswerError("it broke")

    monkeypatch.setattr(group, "ask", breaks)
    rows = group.rows(Choices())
    assert len(rows) == len(TARGETS[group])
    assert all(r.fault and r.why == "it broke" and r.measured is None for r in rows)


def test_the_last_words_of_a_process_are_the_reason() -> None:
    with pytest.raises(asking.NoAnswerError, match="invalid literal"):
        asking.ask("debugging", "often", 0.001, environment=environment())


@pytest.mark.slow
def test_the_debugger_is_measured_in_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few runs of a short chain, here: another process would have nobody to make it so."""
    small = {"MUCH": 64 << 20, "LITTLE": 8 << 20, "FAR_BACK": 2, "LONG": 200, "ASKED": 20}
    for name, value in small.items():
        monkeypatch.setattr(debugging, name, value)
    found = debugging.measure(1, 0.001)
    assert set(found) == {t.key for t in DEBUG}
    assert all(value > 0 for values in found.values() for value in values)


@pytest.mark.slow
def test_runs_are_measured_in_every_way() -> None:
    found = running.measure(1, 0.001)
    assert set(found) == {t.key for t in RUNNING}
    assert all(value > 0 for values in found.values() for value in values)


@pytest.mark.slow
def test_a_step_on_batches_is_measured_beside_one_by_hand() -> None:
    """Which first is held against it: of each the losses of the first steps."""
    found = feeding.measure(1, 0.001, steps=50)
    found |= panning.measure(2, 5000, 4)
    assert {*found} == {t.key for t in TRAINING if not t.key.startswith(PYTHON)}
    assert all(value > 0 for values in found.values() for value in values)


def test_a_loop_by_hand_that_computes_something_else_is_no_measure(tmp_path: Path) -> None:
    contest = feeding.contests(tmp_path)["softmax"]
    assert contest.disagreement() == ""
    faster = dataclasses.replace(contest, rate=contest.rate * 1.5)
    assert faster.disagreement().startswith("step 2: loss is ")


@pytest.mark.slow
def test_the_canvas_is_measured_in_every_way(
    qapp: object, engine_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small graph on a small canvas, a frame or two of each kind."""
    fork_engines(engine_server, monkeypatch)
    fork_readers(engine_server, monkeypatch)
    monkeypatch.setattr(drawing, "SIZE", (320, 200))
    monkeypatch.setattr(training, "QUIET", 0.02)
    monkeypatch.setattr(training.Sitting, "furnish", lambda self: None)  # dozens of panels
    monkeypatch.setattr(reacting, "STEPS", 2)
    found = {**drawing.measure(80, 2), **reacting.measure(80, 1), **training.measure(80, 1)}
    assert {f"{key} {nodes}" for key in found for nodes in SIZES} == {t.key for t in CANVAS}
    assert all(value >= 0 for values in found.values() for value in values)
    assert len(found["pan"]) == 4


def test_a_graph_to_draw_has_its_size_its_wires_and_runs() -> None:
    for nodes in (80, 1_001):
        graph = drawing.document(nodes).graph
        wires = sum(len(op.inputs) for op in graph)
        assert len(graph) == nodes
        assert wires == pytest.approx(1.5 * nodes, rel=0.05)
        hub = f"n{drawing.middle(nodes)}"
        assert len(graph.consumers[hub]) >= drawing.HUB
        assert not derive(drawing.document(nodes)).problems


@pytest.mark.slow
def test_a_training_graph_has_its_groups_and_its_shared_constant(tmp_path: Path) -> None:
    """As it is read again from the file."""
    for nodes in (100, 2_000):
        document = read(training_graph.save(nodes, tmp_path))
        graph = document.graph
        layers = training_graph.layers(nodes)
        assert len(graph) == pytest.approx(nodes, rel=0.02)
        assert len(graph[training_graph.INIT].control_inputs) == layers
        assert len(graph.consumers[training_graph.SHARED]) == layers
        assert document.init == training_graph.INIT
        assert graph.source(training_graph.wire(nodes)) is not None
        assert all(name in graph for name in training_graph.variables(nodes))
    assert layers == 332
    assert len({name.split("/")[0] for name in graph.operations if "/" in name}) == 35


@pytest.mark.slow
def test_an_edit_is_measured_both_ways(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A graph that is four times as large is not told of more because of a stop."""
    small, large = (edits.measured(nodes, 1) for nodes in (60, 240))
    for side in ("request bytes", "reply bytes"):
        more = large["stop"][side], large["stop, sent whole"][side]
        assert 4 * more[0] < 5 * small["stop"][side] < more[1]
    monkeypatch.setattr(edits, "measured", lambda *_: small)
    monkeypatch.setattr(edits, "collect_rarely", lambda: None)  # for the rest of this process
    assert edits.main(["--sizes", "60", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edits"]["60"] == small
    assert edits.main(["--sizes", "60"]) == 0
    assert "stop undone" in capsys.readouterr().out
