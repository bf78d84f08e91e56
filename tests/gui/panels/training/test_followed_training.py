"""A training elsewhere that is followed: its curves in the panel, what it saves, how it ends."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QPushButton

from gradstep.gui import commands
from gradstep.gui.actions import action_table
from gradstep.gui.commands.training_commands import NONE_TO_FOLLOW
from gradstep.gui.dialogs.followed_dialog import NONE, FollowedDialog
from gradstep.gui.model import training_call, training_search
from gradstep.gui.panels.training.training_panel import TrainingPanel
from gradstep.gui.panels.widgets.pill import Pill
from gradstep.gui.panels.widgets.small_labels import Link
from tests.support.each_case import check_each
from tests.support.fake_training import PASSWORD, FakeTraining, socket_folder, step

pytestmark = pytest.mark.slow

RECORDED = Path(__file__).parents[3] / "data" / "traces" / "followed_to_nan.jsonl"
LOSS = 'x["loss"]'


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where sockets lie; a short path, since one of a socket has 107 bytes at most."""
    monkeypatch.setattr(training_search, "PATIENCE", 60_000)  # a busy machine, not a dead training
    with tempfile.TemporaryDirectory(prefix="gs") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.setattr(tempfile, "tempdir", runtime)
        yield socket_folder(Path(runtime))


@pytest.fixture
def begin(folder: Path) -> Iterator[Callable[..., FakeTraining]]:
    """Starts trainings, and ends them at last."""
    made: list[FakeTraining] = []

    def start(*lines: object, pid: int = 4711, **greeting: object) -> FakeTraining:
        made.append(FakeTraining(folder, pid, lines, **greeting))
        return made[-1]

    yield start
    for training in made:
        training.end()


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any], folder: Path) -> Iterator[Any]:
    yield show(TrainingPanel(bench.space), 1270, 260)
    bench.space.followed.close()


def follow(bench: Any, qtbot: Any, steps: int) -> None:
    """By the menu, until it is at that step."""
    followed = bench.space.followed
    assert action_table.run("run.follow_training", bench.space)
    qtbot.waitUntil(lambda: followed.step == steps, timeout=60_000)


def curve(bench: Any, text: str) -> Any:
    return next(c for c in bench.space.followed.curves if c.text == text)


def said(panel: Any) -> str:
    text: str = panel.followed.said.text()
    return text


LINES = (
    step(1, 4.0),
    step(2, 3.0, gradient={"fc": 1.5, "out": 2.5}, weight={"fc": 7.0, "out": 8.0}),
    step(4, 2.0),
    step(5, 1.0, gradient={"fc": 0.5, "out": 0.25}, weight={"fc": 7.1, "out": 8.1}),
)


def test_the_one_training_is_followed_at_once_and_its_curves_have_its_numbers(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    training = begin(*LINES)
    assert not panel.followed.isVisible()
    follow(bench, qtbot, 5)
    assert bench.views == [("show", "training")]
    assert said(panel) == "Following train.py, step 5"
    loss = curve(bench, LOSS).points
    assert [loss.at(at) for at in (0, 1, 3, 4)] == [4, 3, 2, 1]
    assert np.isnan(loss.at(2)), "of the third step nothing is known"
    gradient = curve(bench, 'norm(grad["out"])').points
    assert gradient.steps.tolist() == [1, 4]
    assert gradient.numbers.tolist() == [2.5, 0.25]
    assert curve(bench, 'norm(x["fc"])').points.numbers.tolist() == [7.0, 7.1]
    titles = [plot._caption.texts[0] for plot in panel.plot._plots.values()]
    assert titles == ["loss", "gradient norm", "weight norm"]
    training.say(step(6, 0.5))
    qtbot.waitUntil(lambda: said(panel) == "Following train.py, step 6", timeout=60_000)
    assert panel.curves.place.text() == "step 6 · last"


def test_at_a_port_it_is_followed_likewise(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    training = begin(*LINES, port=True)
    follow(bench, qtbot, 5)
    assert said(panel) == "Following train.py, step 5"
    assert curve(bench, LOSS).points.at(4) == 1
    training.say(step(6, 0.5))
    qtbot.waitUntil(lambda: said(panel) == "Following train.py, step 6", timeout=60_000)
    assert {*training.knocks} == {f"{PASSWORD}\n".encode()}
    training.end()
    qtbot.waitUntil(lambda: not bench.space.followed.live, timeout=60_000)


def test_somebody_else_at_the_port_of_a_training_is_not_followed(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining], folder: Path
) -> None:
    training = begin(*LINES, port=True)
    told = json.loads(training.path.read_text())
    training.path.write_text(json.dumps({**told, "answer": "b" * 64}))
    assert action_table.run("run.follow_training", bench.space)
    qtbot.waitUntil(lambda: NONE_TO_FOLLOW in bench.messages, timeout=60_000)
    assert bench.space.followed.greeting is None
    assert not training.path.exists()


def test_a_recorded_training_to_nan(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    """What PyTorch's own said: NaN is drawn as a gap, the file is offered, the curves stay."""
    greeting, *lines = (json.loads(line) for line in RECORDED.read_text().splitlines())
    begin(*lines, script=greeting["script"])
    offered: list[str] = []
    bench.space.fix_offered.connect(lambda title, _: offered.append(title))
    follow(bench, qtbot, 137)
    assert said(panel) == "nan_training.py has ended, at step 137"
    loss = curve(bench, LOSS).points.numbers
    assert loss[:136].tolist() == [line["loss"] for line in lines[:136]]
    assert np.isnan(loss[136])
    noise = curve(bench, 'norm(x["noise"])').points.numbers
    assert noise[-1] == lines[136]["weight"]["noise"]
    assert bench.messages == [
        "nan_training.py saved step 137, where isnan(loss) or norm(grad) > 1e3: "
        "/home/me/work/bad.gstrace"
    ]
    assert offered == ["Open bad.gstrace"]
    link = panel.findChild(Link, "training.followed.open")
    assert link.text() == "Open bad.gstrace"
    link.click()
    assert bench.views[-1] == ("open", "/home/me/work/bad.gstrace")


def test_who_stops_keeps_the_curves_and_may_put_them_away(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    training = begin(*LINES)
    follow(bench, qtbot, 5)
    button = panel.findChild(QPushButton, "training.followed.stop")
    button.click()
    assert said(panel) == "No longer following train.py, at step 5"
    training.say(step(6, 9.0))
    assert len(curve(bench, LOSS).points) == 5
    assert button.text() == "Close"
    button.click()
    assert not panel.followed.isVisible()
    assert "Open a document first" in panel.empty_text


def test_beside_a_document_it_is_a_training_of_its_own(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    bench.open("softmax_digits")
    space = bench.space
    space.training.steps = 10
    commands.train(space)
    own = space.training.curves[0].points.numbers.tolist()
    begin(*LINES)
    follow(bench, qtbot, 5)
    assert panel.head.isHidden()
    assert panel.plot._curves == space.followed.curves
    assert panel.plot.extent == (0, 4)
    pill = panel.findChild(Pill, "training.followed.shown")
    assert pill.text() == "train.py"
    pill.click()
    assert not panel.head.isHidden()
    assert panel.plot._curves == space.training.curves
    assert panel.plot.extent == (0, 9)
    assert space.training.curves[0].points.numbers.tolist() == own
    pill.click()
    assert panel.plot._curves == space.followed.curves
    space.training.steps = 5
    commands.train(space)
    assert not panel.head.isHidden(), "the document is trained, so that is shown"
    bench.open("tutorial")
    assert space.followed.live, "another document is no reason to stop"


def test_what_was_zoomed_and_clicked_in_the_other_training_is_of_no_concern(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    bench.open("softmax_digits")
    bench.space.training.steps = 10
    commands.train(bench.space)
    commands.go_to_trained_step(bench.space, 3)
    assert panel.beside.isVisible()
    (plot,) = panel.plot._plots.values()
    plot.show_range(2, 4)
    begin(*(step(number, 1.0) for number in range(1, 31)))
    follow(bench, qtbot, 30)
    assert not panel.beside.isVisible()
    (plot,) = panel.plot._plots.values()
    low, high = plot.item.vb.viewRange()[0]
    assert low <= 1
    assert high >= 30
    panel.findChild(Pill, "training.followed.shown").click()
    assert panel.beside.isVisible()


def test_one_followed_before_stays_as_pale_lines(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    first = begin(*LINES)
    follow(bench, qtbot, 5)
    action_table.run("run.follow_training", bench.space)
    qtbot.waitUntil(lambda: len(bench.views) == 2, timeout=60_000)
    assert not len(panel.earlier.trainings), "it is the same"
    first.end()
    begin(*LINES[:2], pid=12, script="/a/again.py")
    follow(bench, qtbot, 2)
    (earlier,) = panel.earlier.trainings
    assert earlier.name == "1 · train.py"
    assert earlier.points[LOSS].numbers[-1] == 1.0
    assert panel.plot.all_points(curve(bench, LOSS))[1] is earlier.points[LOSS]


def test_of_several_the_user_chooses(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    begin(*LINES, pid=11, script="/a/first.py")
    begin(*LINES, pid=12, script="/a/second.py", title="ResNet", step=70000)
    assert action_table.run("run.follow_training", bench.space)
    qtbot.waitUntil(lambda: bench.views == [("followed", "")], timeout=60_000)
    dialog = FollowedDialog(bench.space)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.model.count() == 2, timeout=60_000)
    texts = [[dialog.model.cell(row, at).text for at in range(4)] for row in range(2)]
    assert texts == [["first.py", "Net", "11", "2"], ["second.py", "ResNet", "12", "70,000"]]
    dialog.table.selectRow(1)
    dialog.finish()
    qtbot.waitUntil(lambda: bench.space.followed.step == 5, timeout=60_000)
    assert said(panel) == "Following second.py, step 5"


def test_without_a_training_it_is_said_what_one_is(bench: Any, panel: Any, qtbot: Any) -> None:
    action_table.run("run.follow_training", bench.space)
    assert bench.messages == [NONE_TO_FOLLOW]
    dialog = FollowedDialog(bench.space)
    qtbot.addWidget(dialog)
    assert dialog.said.text() == NONE
    assert not dialog.yes.isEnabled()


def test_the_socket_of_a_dead_process_is_removed(
    bench: Any, panel: Any, qtbot: Any, folder: Path, begin: Callable[..., FakeTraining]
) -> None:
    dead = FakeTraining(folder, 99)
    dead.end()
    begin(*LINES)
    follow(bench, qtbot, 5)
    assert not dead.path.exists()


def test_a_folder_that_may_be_somebody_elses_is_refused(
    bench: Any, panel: Any, folder: Path, begin: Callable[..., FakeTraining]
) -> None:
    begin(*LINES)
    os.chmod(folder, 0o777)
    action_table.run("run.follow_training", bench.space)
    assert bench.space.followed.greeting is None
    (text,) = bench.messages
    assert text == (
        f"{folder} is open to others, so who listens there may be somebody else. Remove it, or "
        f"close it: chmod 700 {folder}"
    )


NO_LINES = (
    (b"garbage\n", "'garbage' is no JSON"),
    (b"x" * 70_000, "a line of more than 65,536 bytes"),
    (b'{"step": 3, "loss": 1}\n', "step 3 after step 5"),
    (b'{"step": 5, "loss": 1}\n', "step 5 after step 5"),
    (b'{"step": 999999999999, "loss": 1}\n', "step 999,999,999,999 after step 5"),
    (json.dumps({"gradstep": "watch", "version": 1, "title": "", "script": "", "pid": 1,
                 "torch": "", "step": 1}).encode() + b"\n", "it greets twice"),
)  # fmt: skip


def test_what_is_no_line_ends_it_with_one_sentence(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    def check(case: tuple[bytes, str]) -> None:
        line, why = case
        bench.messages.clear()
        training, followed = begin(*LINES), bench.space.followed
        assert action_table.run("run.follow_training", bench.space)
        qtbot.waitUntil(lambda: followed.live and followed.step == 5, timeout=60_000)
        training.say(line)
        qtbot.waitUntil(lambda: not followed.live, timeout=60_000)
        training.end()
        training.path.unlink()
        sentence = f"what came is no training that can be followed: {why}"
        assert bench.messages == [sentence]
        assert said(panel) == f"Following train.py ended at step 5: {sentence}"
        assert curve(bench, LOSS).points.at(4) == 1.0, "what there was stays"

    check_each(NO_LINES, check, lambda case: case[1])


def test_who_is_killed_says_nothing(bench: Any, panel: Any, qtbot: Any, folder: Path) -> None:
    training = FakeTraining(folder, lines=LINES)
    follow(bench, qtbot, 5)
    training.end()
    qtbot.waitUntil(lambda: not bench.space.followed.live, timeout=60_000)
    assert said(panel).startswith("train.py is gone without a word, at step 5")


def test_it_looks_at_most_ten_times_a_second(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    """However many lines come: 2,000 in a moment, and each is there in the end."""
    training = begin(*LINES)
    follow(bench, qtbot, 5)
    drawn: list[float] = []
    bench.space.followed.grew.connect(lambda: drawn.append(time.monotonic()))
    for first in range(6, 2006, 100):
        training.say(*(step(number, 1 / number) for number in range(first, first + 100)))
        QApplication.processEvents()
    qtbot.waitUntil(lambda: bench.space.followed.step == 2005, timeout=60_000)
    assert np.diff(drawn).min(initial=1) > 0.9 * training_call.PACE / 1000
    assert curve(bench, LOSS).points.numbers[-2000:].tolist() == [1 / n for n in range(6, 2006)]


def test_where_drawing_takes_long_it_looks_less_often(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    training = begin(*LINES)
    follow(bench, qtbot, 5)
    begun: list[float] = []

    def draw() -> None:
        begun.append(time.monotonic())
        time.sleep(0.1)

    bench.space.followed.grew.connect(draw)
    for number in range(6, 9):
        training.say(step(number, 1.0))
        qtbot.waitUntil(lambda number=number: bench.space.followed.step == number, timeout=60_000)
    assert np.diff(begun).min() > 0.9 * training_call.SPARE * 0.1


def test_before_the_first_step_there_is_nothing_to_copy(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    begin()
    follow(bench, qtbot, 0)
    qtbot.waitUntil(lambda: bench.space.followed.greeting is not None, timeout=60_000)
    assert panel.followed.copy.isVisible()
    for action in panel.followed.copy.menu().actions():
        action.trigger()
        assert bench.messages[-1] == "there is no curve to copy yet"


def test_the_copy_button_is_of_the_training_that_is_shown(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    begin(*LINES)
    bench.open("tutorial")
    follow(bench, qtbot, 5)
    assert (panel.followed.copy.isVisible(), panel.head.copy.isVisible()) == (True, False)
    bench.space.followed.show(False)
    assert (panel.followed.copy.isVisible(), panel.head.copy.isVisible()) == (False, True)


def test_a_click_says_how_such_a_step_is_kept(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    begin(*LINES)
    follow(bench, qtbot, 5)
    panel.plot.clicked.emit(3)
    assert bench.messages == ["Step 4 is in another process; step=4 in its watch(…) keeps it"]


def test_curves_can_be_dropped_copied_and_seen_as_a_map(
    bench: Any, panel: Any, qtbot: Any, begin: Callable[..., FakeTraining]
) -> None:
    training = begin(*LINES)
    follow(bench, qtbot, 5)
    panel.curves.dropped.emit(curve(bench, 'norm(x["fc"])'))
    training.say(step(6, 0.5, weight={"fc": 1.0, "out": 2.0}))
    qtbot.waitUntil(lambda: bench.space.followed.step == 6, timeout=60_000)
    assert 'norm(x["fc"])' not in [c.text for c in bench.space.followed.curves]
    as_picture, as_csv = panel.followed.copy.menu().actions()
    as_csv.trigger()
    title, *lines = QApplication.clipboard().text().splitlines()
    losses = title.split(",").index(next(c.title for c in bench.space.followed.curves))
    assert [(line.split(",")[0], line.split(",")[losses]) for line in lines] == [
        ("1", "4.0"), ("2", "3.0"), ("3", ""), ("4", "2.0"), ("5", "1.0"), ("6", "0.5"),
    ]  # fmt: skip
    as_picture.trigger()
    assert QApplication.clipboard().image().width() >= panel.plot.width()
    assert bench.messages[-1] == "the curves were copied as a picture"
    panel.findChild(Pill, "training.view.map").click()
    assert panel.pages.currentWidget() is panel.map
