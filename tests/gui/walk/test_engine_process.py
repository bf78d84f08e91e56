"""The window stays awake while user code sleeps; a killed engine costs one click."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QTimer

pytestmark = [pytest.mark.xvfb, pytest.mark.engine_process]
NAP = 4.0  # seconds: a busy machine needs two for what is done meanwhile
SLEEPY = f"import time\n\ndef forward(c, k):\n    time.sleep({NAP})\n    return c + k\n"
AWAKE = 0.25  # seconds; the longest time in which the window may not answer


class Pulse:
    """Counts every 10 ms, and remembers the longest time in which it could not."""

    def __init__(self, window) -> None:
        self.longest, self._last = 0.0, time.monotonic()
        self._timer = QTimer(window, interval=10)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = time.monotonic()
        self.longest, self._last = max(self.longest, now - self._last), now


def make_sleepy(user) -> None:
    """`e` becomes a Python function that takes its time."""
    user.select("e")
    user.menu("Graph", "Make it a Python function…")
    user.click("pyfunc_dialog.apply")
    user.click("inspector.token")
    user.type_into("code_dialog.code", SLEEPY)
    user.click("code_dialog.apply")


def test_the_window_answers_while_a_function_sleeps(user, examples) -> None:
    user.open(examples / "tutorial.gradstep")
    make_sleepy(user)
    pulse, begun = Pulse(user.window), time.monotonic()
    user.press("F5")
    user.wait(lambda: user.workspace.engine_state == "busy", "the engine to be busy")
    assert user.text("status.state") == "Running"
    before = user.node("d")
    user.drag_now(user.node("d"), user.node("d") + QPoint(60, -40))
    user.click_now("toolbar.palette")
    user.wait(lambda: user.sees("palette.field"), "the command palette")
    user.press("Escape")
    assert user.node("d") != before
    assert time.monotonic() - begun < NAP, "all this while the function slept"
    user.take_picture("engine-busy")
    user.settle()
    assert time.monotonic() - begun >= NAP
    assert user.workspace.stop.reason == "end"
    assert pulse.longest < AWAKE
    assert user.value("loss").item() == pytest.approx(0.66369414)


def test_a_killed_engine_comes_back_at_the_same_step_with_one_click(user, examples) -> None:
    user.open(examples / "tutorial.gradstep")
    for _ in range(2):
        user.key("F5")
    user.click("toolbar.backward")
    for _ in range(3):
        user.key("F10")
    names = ("d", "e", "a", "loss", "c", "k")
    stop, seen = user.workspace.stop, [user.says(name) for name in names]
    pid = user.workspace.bridge.pid

    user.workspace.bridge.kill()
    user.wait(lambda: user.sees("banner.engine.restart"), "the banner")
    assert user.text("status.state") == "Engine stopped"
    user.take_picture("engine-killed")
    user.click("banner.engine.restart")
    assert not user.sees("banner.engine.restart")
    assert user.workspace.bridge.pid != pid
    again = user.workspace.stop
    assert (again.run, again.step, again.node) == (stop.run, stop.step, stop.node)
    assert [user.says(name) for name in names] == seen
    user.key("F10")
    assert user.workspace.stop.step > stop.step
    user.key("Shift+F10")
    assert [user.says(name) for name in names] == seen


def test_killed_while_a_function_sleeps(user, examples) -> None:
    user.open(examples / "tutorial.gradstep")
    make_sleepy(user)
    user.press("F5")
    user.wait(lambda: user.workspace.engine_state == "busy", "the engine to be busy")
    user.workspace.bridge.kill()
    user.wait(lambda: user.sees("banner.engine.restart"), "the banner")
    user.click("banner.engine.restart")
    assert user.workspace.stop.step == 0
    assert np.allclose(user.value("c"), [0.06, -0.04])
    user.key("F10")
    assert user.workspace.stop.step == 1
