"""The tutorial, played through the real window by real keys, with a picture of each stage."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.gui.app import application, new_window
from gradstep.gui.automation.driver import Driver
from gradstep.gui.look import theme
from gradstep.gui.model.value_cache import TensorValue

OVERRIDE = "toolbar.override.0"


def tour(folder: str | Path = "out") -> int:
    """Open, forward, backward, one Adam update, step back, override on, override off: a PNG of
    each in `folder`, a table of values and gradients on standard output. The exit status."""
    application(windowless=True)
    window = new_window(theme.DARK, remember=False)
    window.looks_ahead = False
    driver = Driver(window)
    try:
        for number, (name, title) in enumerate(_stages(driver), 1):
            path = Path(folder) / f"{number:02}-{name}.png"
            driver.picture(path)
            said = f"{title}   ({path})", table(driver), check(driver)
            sys.stdout.write("".join(f"{text}\n" for text in said))
    finally:
        window.discard()
    return 0


def _stages(driver: Driver) -> Iterator[tuple[str, str]]:
    """Do what each stage does, then name it."""
    driver.wait(lambda: driver.window.is_drawn, "the start page")
    yield "welcome", "The start page"
    driver.open(EXAMPLES / "tutorial.gradstep")
    yield "open", "The tutorial network is open"
    _press_until(driver, "F10", "backward")
    yield "forward", "Forward: every value is known"
    _press_until(driver, "F10", "update")
    yield "backward", "Backward: every gradient is known"
    _press_until(driver, "F10", "")
    yield "update", "One Adam update of c and k"
    driver.key("Shift+F10")
    _press_until(driver, "Shift+F10", "backward")
    yield "step-back", "Stepped back: c and k are what they were"
    driver.open(EXAMPLES / "override_add.gradstep")
    _press_until(driver, "F10", "update")
    driver.workspace.select(["e"])
    driver.settle()
    yield "override-on", "The override of e is on: the gradients are wrong"
    driver.click(OVERRIDE)
    _press_until(driver, "F10", "update")
    yield "override-off", "The override of e is off: the gradients are right again"


def _press_until(driver: Driver, key: str, phase: str) -> None:
    """Press `key` until the next step is in `phase`; "" is the end of the run."""
    workspace = driver.workspace
    for _ in range(1000):
        stop = workspace.stop
        if stop is None:
            raise GradstepError("the engine did not take the document", kind="EngineError")
        if stop.error is not None:
            raise GradstepError(stop.error.message, node=stop.error.node)
        if stop.phase == phase or stop.reason == "end":
            return
        driver.key(key)
    raise GradstepError(f"'{key}' does not lead to the {phase or 'end'}", kind="EngineError")


def table(driver: Driver) -> str:
    """Value and gradient of every node, as of the current step."""
    workspace = driver.workspace
    if not workspace.is_open:
        return ""
    lines = [f"  {'node':8} {'value':28} gradient"]
    for op in workspace.document.graph:
        ref = str(TensorRef(op.name))
        lines.append(
            f"  {op.name:8} {_words(workspace.value(ref)):28} {_words(workspace.gradient(ref))}"
        )
    return "\n".join(lines) + "\n"


def check(driver: Driver) -> str:
    """Native, overridden and numeric gradients side by side, where they were compared."""
    found = driver.workspace.table
    if found is None:
        return ""
    lines = [f"  {'':8} {'native':>12} {'override':>12} {'numeric':>12}"]
    for row in found.rows:
        numbers = (row.native, row.override, row.numeric)
        cells = " ".join(f"{'–' if x is None else f'{x:.6f}':>12}" for x in numbers)
        lines.append(f"  {row.name}{row.index!s:7} {cells} {'' if row.agrees else '  ✗'}")
    return "\n".join([*lines, f"  {found.text}", ""])


def _words(value: TensorValue | None) -> str:
    if value is None or value.state == "waiting":
        return "–"
    if value.state != "known":
        return value.state
    array = value.head if value.array is None else value.array
    return np.array2string(array, precision=6, suppress_small=True, separator=", ")
