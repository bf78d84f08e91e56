"""`./dev examples`: every example in the real window, to the end and back, checked and pictured."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.protocol.messages import Stopped
from gradstep.gui.app import application, new_window
from gradstep.gui.automation.driver import Driver
from gradstep.gui.canvas.graph_thumbnail import painted
from gradstep.gui.look import theme
from gradstep.gui.panels.welcome.example_card import PICTURE, PICTURES, picture_file
from tests.examples.build import EXAMPLES, FOLDER
from tests.support.deleting import end

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "examples"
SIZE = (1600, 1000)
STEPS = 24  # one by one; a run that has more goes on at once
ASIDE = ("inspector", "gradients", "problems", "classes")  # panels that leave the note their room
COLOURS = 256
QUALITY = 82  # of the small pictures


@dataclass(frozen=True)
class Shown:
    """One example: whether all was as it says, and in words what was done or what was not so."""

    file: str
    ok: bool
    text: str


def main(arguments: Sequence[str] | None = None) -> int:
    """0: all examples hold; 1: one does not; 2: there is none of that name."""
    parser = argparse.ArgumentParser(prog="./dev examples", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these examples alone")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in EXAMPLES]
    if unknown:
        sys.stderr.write(f"examples: there is no '{unknown[0]}'; see assets/examples\n")
        return 2
    names = options.names or list(EXAMPLES)
    say = (lambda one: None) if options.json else _say
    found = show(names, say)
    if options.json:
        rows = {"examples": [asdict(one) for one in found]}
        sys.stdout.write(json.dumps(rows, ensure_ascii=False) + "\n")
    return 0 if all(one.ok for one in found) else 1


def _say(one: Shown) -> None:
    sys.stdout.write(f"{'ok' if one.ok else 'NOT OK':6}  {one.file}: {one.text}\n")
    sys.stdout.flush()


def show(names: Sequence[str], say: Callable[[Shown], None]) -> list[Shown]:
    """All of them in one window."""
    application(windowless=True)
    window = new_window(theme.LIGHT, remember=False)
    window.resize(*SIZE)
    driver = Driver(window)
    found: list[Shown] = []
    _remove_others()
    try:
        for name in names:
            found.append(_shown(driver, name))
            say(found[-1])
    finally:
        end(window)
    return found


def _shown(driver: Driver, name: str) -> Shown:
    file = f"{name}.gradstep"
    try:
        driver.open(FOLDER / file)
        for id in ASIDE:
            driver.window.docks.by_id[id].hide()
        text = _played(driver, name)
    except GradstepError as error:
        return Shown(file, False, error.message)
    wrong = _wrong(driver)
    return Shown(file, not wrong, "; ".join(wrong) or text)


def _played(driver: Driver, name: str) -> str:
    """Step to the end, take the pictures, step back; in words, how far it went."""
    forward = _move(driver, "step", "continue_")
    driver.wait(lambda: driver.workspace.expected.checked is not None, "the check")
    driver.window.canvas.fit()
    driver.settle()
    _take_pictures(driver, name)
    back = _move(driver, "step_back", "reverse_continue")
    stop = driver.workspace.stop
    if stop is None or (stop.run, stop.step) != (0, 0):
        raise GradstepError("stepping back does not lead to the start")
    count = len(driver.workspace.document.expectations)
    return f"{forward} steps on, {back} back, {count} expectations"


def _move(driver: Driver, step: str, rest: str) -> int:
    """To the end of the run that it stands in, or to where it fails; how many commands it took."""
    workspace = driver.workspace
    for count in range(10 * STEPS):
        stop, failure = workspace.stop, workspace.failure
        waits = stop is not None and _waits(stop)
        command = step if count < STEPS and not (waits and step == "step") else rest
        if stop is None or failure is not None:
            raise GradstepError("the engine has no answer" if failure is None else failure.message)
        if stop.reason == "end" and step == "step":
            return count
        if (stop.step == 0 or command not in stop.legal) and step == "step_back":
            return count
        if stop.error is not None and step == "step" and not waits:
            return count
        workspace.control(command)
        driver.wait(lambda: workspace.is_idle, f"'{command}'")
        if waits and step == "step" and workspace.stop == stop:
            return count  # for what never comes
    raise GradstepError(f"'{step}' does not come to an end")


def _waits(stop: Stopped) -> bool:
    """Whether it stands at what other threads can end: then they have to go on, too."""
    ready = any(thread.condition == "ready" for thread in stop.threads)
    return stop.reason == "blocked" and ready


def _wrong(driver: Driver) -> list[str]:
    """What the document expects and does not hold."""
    document: Document = driver.workspace.document
    if not document.expectations:
        return ["it expects nothing"]
    checked = driver.workspace.expected.checked or ()
    return [f"{e.what} gives {e.came}: {e.text}" for e in checked if not e.ok]


# -- pictures ------------------------------------------------------------------------------------


def _take_pictures(driver: Driver, name: str) -> None:
    """The window, for the documentation; the graph as it ran, small, for the start page."""
    window = driver.window
    IMAGES.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    QApplication.processEvents()
    _write(few_colours(window.grab().toImage(), theme.LIGHT), IMAGES / f"{name}.png", -1)
    for look in (theme.LIGHT, theme.DARK):
        stage = window.canvas.stage
        small = painted(stage.arrays, PICTURE, look, 2.0, stage.facts).toImage()
        _write(small, picture_file(name, look), QUALITY)


def _remove_others() -> None:
    """Pictures of examples that there are no more."""
    for path in (*IMAGES.glob("*"), *PICTURES.glob("*")):
        if re.sub(r"-(dark|light)$", "", path.stem) not in EXAMPLES:
            path.unlink()


def _write(image: QImage, path: Path, quality: int) -> None:
    if not image.save(str(path), None, quality):  # type: ignore[call-overload]
        raise GradstepError(f"{path} could not be written", kind="FileError")


def _meant(look: theme.Theme) -> list[int]:
    """The theme's colours, and how the edges of letters in them are smoothed."""
    colours = [getattr(look, f.name) for f in fields(look) if f.name != "name"]
    shares = (0.0, 0.25, 0.5, 0.75)
    return [theme.mix(c, look.panel, share).rgb() for share in shares for c in colours]


def few_colours(image: QImage, look: theme.Theme) -> QImage:
    """The picture in its most frequent colours and those that mean something, which takes a third
    of the bytes."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(plain.constBits(), np.uint32)
    colours, counts = np.unique(pixels | 0xFF000000, return_counts=True)
    frequent = colours[np.argsort(counts)[::-1]].tolist()
    chosen = [*dict.fromkeys((*_meant(look), *frequent))][:COLOURS]
    flags = Qt.ImageConversionFlag.AvoidDither | Qt.ImageConversionFlag.ThresholdDither
    return plain.convertToFormat(QImage.Format.Format_Indexed8, chosen, flags)


if __name__ == "__main__":
    sys.exit(main())
