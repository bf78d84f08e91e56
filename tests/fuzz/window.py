"""Wires moved and unplugged in the real window, with its engine: it answers, and undo undoes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from PySide6.QtCore import QTimer

from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.protocol.messages import ProgramInfo
from gradstep.gui import commands
from gradstep.gui.app import application, new_window
from gradstep.gui.automation.driver import Driver
from gradstep.gui.look import theme
from tests.fuzz import wires
from tests.fuzz.examples import EXAMPLES

_BEAT = 10  # ms between two turns of the event loop that are looked at
_INTERNAL = ("InternalError", "could not be told", "could not be computed")


class _Heart:
    """How long the window did not turn to anything, at most."""

    def __init__(self) -> None:
        self.longest = 0.0  # seconds
        self._last = time.monotonic()
        self._timer = QTimer()
        self._timer.timeout.connect(self._beat)
        self._timer.start(_BEAT)

    def _beat(self) -> None:
        now = time.monotonic()
        self.longest, self._last = max(self.longest, now - self._last), now


def rewire_in_window(start: int, count: int, minutes: float | None) -> Mapping[str, Any]:
    """Samples number `start` and on: an example is opened, a wire moved or unplugged, a step made,
    and all undone. What failed, in words, and the longest stall."""
    application(windowless=True)
    window = new_window(theme.DARK, remember=False)
    driver, heart = Driver(window), _Heart()
    until = time.monotonic() + 60 * minutes if minutes else float("inf")
    failures: list[dict[str, Any]] = []
    done = 0
    try:
        for number in range(start, start + count):
            if time.monotonic() > until:
                break
            for words in _rewired(driver, Random(f"window:{number}")):
                key = words.partition(":")[0]
                failures.append({"key": key, "times": 1, "case": number, "words": words})
            done += 1
    finally:
        window.discard()
    return {
        "cases": done,
        "internal_errors": len(failures),
        "stall_ms": round(1000 * heart.longest),
        "failures": failures,
    }


def _rewired(driver: Driver, dice: Random) -> list[str]:
    space = driver.workspace
    example = dice.choice(wires.examples()[:40])
    driver.open(EXAMPLES / f"{example}.gradstep")
    before = space.program
    graph = space.document.graph
    edge = dice.choice(wires.wires(graph))
    source = dice.choice([None, *wires.outputs(graph)])
    said: list[str] = []
    note: Callable[[str, str], None] = lambda level, text: said.append(text)  # noqa: E731
    space.message.connect(note)
    try:
        _move(driver, edge, source)
        problems = _wrong(space.program, [*said, *_states(space)])
        driver.key("F10")
        problems += _wrong(space.program, said)
    finally:
        space.message.disconnect(note)
    while space.undo_stack.canUndo():
        space.undo_stack.undo()
        driver.settle()
    if before is not None and space.program is not None and before.steps != space.program.steps:
        problems.append("undo: the program is another one")
    where = f"{example}, {source} to {edge}"
    return [f"{problem} ({where})" for problem in problems]


def _move(driver: Driver, edge: Edge, source: TensorRef | None) -> None:
    space = driver.workspace
    if source is None:
        commands.disconnect(space, edge)
    else:
        commands.connect(space, source, edge)
    driver.settle()


def _states(space: Any) -> list[str]:
    return ["InternalError: the engine is dead"] if space.engine_state == "dead" else []


def _wrong(program: ProgramInfo | None, said: list[str]) -> list[str]:
    if program is None:
        return ["InternalError: the window has no program", *said]
    texts = [*said, *(problem.message for problem in program.problems)]
    return [text for text in texts if any(word in text for word in _INTERNAL)]
