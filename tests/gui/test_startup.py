"""The first paint: what is loaded by then, and that pictures and the tour need no display."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gradstep.core.cli.command_line import main
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame.main_window import MainWindow
from gradstep.main import Gradstep
from tests.support.deleting import end

Command = Callable[..., tuple[int, str]]

ROOT = Path(__file__).parents[2]
HEAVY = ("pyqtgraph", "networkx", "scipy", "cupy", "onnx", "jedi", "tensorboardX", "gradstep.gpu")
LATER = (
    "numpy",
    "ml_dtypes",
    "gradstep.core.graph",
    "gradstep.core.ops",
    "gradstep.core.autodiff",
    "gradstep.core.engine",
    "gradstep.core.debug",
)

# Starts as `gradstep ...` does; says what was painted first, what was loaded by then, and
# what of it is still not loaded when the window can do everything.
START = """
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow

first = []

class Watch(QObject):
    def eventFilter(self, seen, event):
        if not first and event.type() == QEvent.Type.Paint and isinstance(seen, QMainWindow):
            first.append(seen)
            page = "the start page" if seen.welcome.isVisible() else "the document"
            print(page, *(name for name in {names!r} if name in sys.modules), sep=";")
            self.wait = QTimer(self, interval=20)
            self.wait.timeout.connect(self.look)
            self.wait.start()
        return False

    def look(self):
        window = first[0]
        if window.is_furnished and window.workspace.is_idle:
            print(*(name for name in {names!r} if name not in sys.modules), sep=";")
            window.discard()
            QApplication.quit()

run = QApplication.exec
def watched(*_):
    watch = Watch()
    QApplication.instance().installEventFilter(watch)
    return run()
QApplication.exec = watched

import gradstep.gui.frame.startup
from gradstep.core.cli.command_line import main
from main import Gradstep

gradstep.gui.frame.startup.PATIENCE = 60_000  # of a machine busy with tests
sys.exit(main({arguments!r}, Gradstep()))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "DISPLAY"}
    environment["QT_QPA_PLATFORM"] = "offscreen"
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def started(*arguments: str) -> tuple[list[str], set[str]]:
    """What is seen first and what is loaded by then; what is not loaded in the end."""
    code = START.format(names=(*HEAVY, *LATER), arguments=list(arguments))
    result = run("-c", code)
    assert result.returncode == 0, result.stderr
    first, last = result.stdout.splitlines()
    return first.split(";"), set(last.split(";"))


@pytest.mark.slow
def test_the_start_page_is_painted_before_numpy_is_loaded() -> None:
    first, missing = started()
    assert first == ["the start page"]
    assert missing == set(HEAVY), "the rest follows, and nothing besides"


@pytest.mark.slow
def test_a_document_is_the_first_thing_that_is_seen() -> None:
    (page, *loaded), _ = started(str(ROOT / "assets/examples/tutorial.gradstep"))
    assert page == "the document"
    assert not set(HEAVY) & set(loaded)


IMPORTS = """
import sys
from importlib import import_module
import gradstep.gui.app
from gradstep.gui.frame.startup import BESIDE, HERE

def loaded():
    return {name for name in sys.modules if name.startswith(("gradstep.core.", "numpy."))}

first = loaded()
for name in BESIDE:
    import_module(name)
beside = loaded()
turns = []
for name in HERE:
    before = len(sys.modules)
    import_module(name)
    turns.append(len(sys.modules) - before)
print(len(beside - first), len(loaded() - beside), max(turns))
"""


@pytest.mark.slow
def test_what_is_not_of_qt_is_imported_beside_and_the_rest_in_small_pieces() -> None:
    """The window answers meanwhile."""
    result = run("-c", IMPORTS)
    assert result.returncode == 0, result.stderr
    beside, here, most = map(int, result.stdout.split())
    assert here < beside / 8
    assert most < 60, "modules in one turn of the event loop"


@pytest.fixture
def command(qapp: QApplication, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """Exit status and words of a command in this process: to start one costs more than it does."""

    def call(*arguments: str) -> tuple[int, str]:
        status = main([*arguments], Gradstep())
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    yield call
    for top in qapp.topLevelWidgets():
        if isinstance(top, MainWindow):
            end(top)


@pytest.mark.slow
def test_a_shot_is_the_real_window(command: Command, tmp_path: Path) -> None:
    out, document = tmp_path / "shot.png", ROOT / "assets/examples/tutorial.gradstep"
    wish = ("--step", "9", "--theme", "light", "--size", "1200x800")
    status, said = command("shot", str(document), str(out), *wish)
    assert status == 0, said
    image = QImage(str(out))
    assert (image.width(), image.height()) == (1200, 800)
    colors = {image.pixelColor(x, 400).name() for x in range(0, 1200, 7)}
    assert "#f4f5f7" in colors


@pytest.mark.slow
def test_a_shot_shows_a_profile_or_says_why_there_is_none(command: Command, tmp_path: Path) -> None:
    out, examples = tmp_path / "shot.png", ROOT / "assets/examples"
    wish = (str(out), "--profile", "fast", "--colour", "bytes", "--theme", "dark")
    status, said = command("shot", str(examples / "tutorial.gradstep"), *wish)
    assert status == 0, said
    image = QImage(str(out))
    bottom = {image.pixelColor(x, 825).name() for x in range(740, 1260)}
    assert len(bottom) > 3, "the icicle's phases, side by side"
    status, said = command("shot", str(examples / "gather.gradstep"), *wish)
    assert status == 1
    assert "indices[2] = 6 is not in [0, 5)" in said


@pytest.mark.slow
def test_a_shot_of_a_comparison_is_tinted_if_that_is_asked_for(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comparison tints the canvas by itself: asking for it must not take that away again."""
    tints: list[str] = []
    monkeypatch.setattr(
        Driver, "picture", lambda self, to: tints.append(self.workspace.profiler.colouring)
    )
    gather, out = ROOT / "assets/examples/gather.gradstep", tmp_path / "shot.png"
    wish = ("--compare", "emulate:tf-gpu")
    for colour in ((), ("--colour", "difference")):
        status, said = command("shot", str(gather), str(out), *wish, *colour)
        assert status == 0, said
    assert tints == ["difference", "difference"]


@pytest.mark.slow
def test_a_shot_of_nothing_is_an_error(command: Command, tmp_path: Path) -> None:
    status, said = command("shot", "missing.gradstep", str(tmp_path / "x.png"))
    assert status in (1, 2)
    assert said.startswith("gradstep: ")
    assert "Traceback" not in said


@pytest.mark.slow
def test_the_tour_plays_the_tutorial(command: Command, tmp_path: Path) -> None:
    status, said = command("tour", "--out", str(tmp_path))
    assert status == 0, said
    assert len(list(tmp_path.glob("*.png"))) == 8
    for number in ("0.663694", "0.567514", "-0.994362", "0.711478", "-1.863385", "0.059848"):
        assert number in said
    assert "support the native gradient" in said


@pytest.mark.slow
def test_without_a_display_the_window_says_so() -> None:
    environment = {
        k: v
        for k, v in os.environ.items()
        if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    result = subprocess.run(
        [sys.executable, "main.py"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert "no display" in result.stderr + result.stdout
    assert "Traceback" not in result.stderr
