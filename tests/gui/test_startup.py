"""The first paint: what is loaded by then, and that pictures and the tour need no display."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

ROOT = Path(__file__).parents[2]
HEAVY = ("pyqtgraph", "networkx", "scipy", "cupy", "onnx", "jedi", "tensorboardX", "gpu")

FIRST_PAINT = """
import sys, time
start = time.perf_counter()
from gui import app
window = app.new_window()
window.show()
app.application().processEvents()
seconds = time.perf_counter() - start
heavy = [name for name in {heavy!r} if name in sys.modules]
window.discard()
print(seconds, *heavy)
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "DISPLAY"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def test_nothing_heavy_is_loaded_at_first_paint() -> None:
    result = run("-c", FIRST_PAINT.format(heavy=HEAVY))
    assert result.returncode == 0, result.stderr
    seconds, *heavy = result.stdout.split()
    assert heavy == []
    assert float(seconds) < 10  # of a machine busy with tests; ./dev bench measures


def test_a_shot_is_the_real_window(tmp_path: Path) -> None:
    out = tmp_path / "shot.png"
    document = str(ROOT / "assets/examples/tutorial.gradstep")
    result = run(
        "main.py",
        "shot",
        document,
        str(out),
        "--step",
        "9",
        "--theme",
        "light",
        "--size",
        "1200x800",
    )
    assert result.returncode == 0, result.stdout + result.stderr
    image = QImage(str(out))
    assert (image.width(), image.height()) == (1200, 800)
    colors = {image.pixelColor(x, 400).name() for x in range(0, 1200, 7)}
    assert "#f4f5f7" in colors


def test_a_shot_shows_a_profile_or_says_why_there_is_none(tmp_path: Path) -> None:
    out, examples = tmp_path / "shot.png", ROOT / "assets/examples"
    wish = (str(out), "--profile", "fast", "--colour", "bytes", "--theme", "dark")
    result = run("main.py", "shot", str(examples / "tutorial.gradstep"), *wish)
    assert result.returncode == 0, result.stdout + result.stderr
    image = QImage(str(out))
    bottom = {image.pixelColor(x, 865).name() for x in range(740, 1260)}
    assert len(bottom) > 3, "the icicle's phases, side by side"
    result = run("main.py", "shot", str(examples / "gather.gradstep"), *wish)
    assert result.returncode == 1
    assert "indices[2] = 6 is not in [0, 5)" in result.stdout + result.stderr


def test_a_shot_of_nothing_is_an_error(tmp_path: Path) -> None:
    result = run("main.py", "shot", "missing.gradstep", str(tmp_path / "x.png"))
    assert result.returncode in (1, 2)
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_the_tour_plays_the_tutorial(tmp_path: Path) -> None:
    result = run("main.py", "tour", "--out", str(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(list(tmp_path.glob("*.png"))) == 8
    for number in ("0.663694", "0.567514", "-0.994362", "0.711478", "-1.863385", "0.059848"):
        assert number in result.stdout
    assert "support the native gradient" in result.stdout


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
