"""A picture of the real window on a document, at a step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import DEFAULT, Budget
from gradstep.core.protocol.error_records import error_of
from gradstep.core.protocol.vocabulary import RunMode
from gradstep.gui import commands
from gradstep.gui.app import application, new_window
from gradstep.gui.automation.driver import Driver
from gradstep.gui.look.theme import theme_for

SIZE = (1600, 1000)


def shot(
    document: str | Path | None,
    picture: str | Path,
    step: int = 0,
    inside: str = "",
    theme: str = "dark",
    size: tuple[int, int] = SIZE,
    scale: float = 1.0,
    select: Sequence[str] = (),
    show: Sequence[str] = (),
    compare: Sequence[str] = (),
    profile: RunMode | None = None,
    colour: str | None = None,
    memory: int = DEFAULT,
    engine: Sequence[str] | None = None,
) -> None:
    """Write a PNG of the window.

    document: the file to open; None for the start page. step: plan steps to execute first; a
    breakpoint on the way does not stop it; inside: "/iteration:step" of the loop that comes next
    then, and of one in it. theme: "dark", "light" or "system". scale: pixels per
    logical pixel; it can be chosen once per process. select: operations. show: panels to bring to
    the front, by their ids. compare: devices to compare with. profile: runs to measure,
    "recorded" or "fast"; colour: what to tint the nodes by, "time" or "bytes" (of recorded runs
    if nothing is said), or "difference" (from what it is compared with). memory: bytes that reading
    the file may take. Raises GradstepError.
    """
    os.environ.setdefault("QT_SCALE_FACTOR", f"{scale:g}")
    application(windowless=True)
    window = new_window(theme_for(theme), engine, remember=False)
    window.resize(*size)
    window.looks_ahead = False
    driver = Driver(window)
    failures: list[str] = []
    driver.workspace.message.connect(lambda level, text: failures.append(text))
    try:
        if document is not None:
            _open(driver, Path(document), memory, failures)
            _go_to(driver, step, inside)
            _compare(driver, compare, failures)
            _profile(driver, profile, colour)
        driver.workspace.select(select)
        _show(driver, show)
        driver.settle()
        driver.wait(lambda: window.is_drawn, "the pictures")
        driver.picture(Path(picture))
    finally:
        window.discard()


def _open(driver: Driver, path: Path, memory: int, failures: list[str]) -> None:
    from gradstep.core.io.open_document import read

    read(path, Budget(memory))  # its error is the command's
    driver.open(path, memory)
    if driver.workspace.program is None:
        raise GradstepError(failures[-1] if failures else "the engine did not take the document")


def _compare(driver: Driver, devices: Sequence[str], failures: list[str]) -> None:
    if not devices:
        return
    commands.compare(driver.workspace, devices)
    driver.settle()
    if not driver.workspace.comparisons:
        raise GradstepError(failures[-1] if failures else "the devices could not be compared")


def _profile(driver: Driver, mode: RunMode | None, colour: str | None) -> None:
    profiler = driver.workspace.profiler
    if mode is not None:
        profiler.choose(mode=mode)
        commands.measure(driver.workspace)
        driver.settle()
    if colour is not None and colour != profiler.colouring:  # a comparison may have tinted it
        commands.colour_by(driver.workspace, colour)
        driver.settle()
    if profiler.failure is not None:
        raise error_of(profiler.failure)


def _show(driver: Driver, panels: Sequence[str]) -> None:
    docks = driver.window.docks
    for panel in panels:
        if panel not in docks.by_id:
            raise GradstepError(
                f"there is no panel '{panel}'",
                kind="LookupError",
                hint=f"choose one of {', '.join(docks.by_id)}",
            )
        docks.show(panel)


def _go_to(driver: Driver, step: int, inside: str = "") -> None:
    """Run to a step, past breakpoints; an error or the end of the run is as far as it goes."""
    if inside:
        driver.workspace.control("run_to", f"0:{step}{inside}")
        driver.settle()
        return
    while (stop := driver.workspace.stop) is not None and stop.step < step:
        driver.workspace.control("run_to", f"0:{step}")
        driver.settle()
        if driver.workspace.stop is None or driver.workspace.stop.step == stop.step:
            return
