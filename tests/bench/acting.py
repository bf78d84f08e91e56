"""What a user waits for, by what is done: opening, each kind of edit and its undoing, selecting,
pointing, a key of a search, a step, a value given by hand.

    python -m tests.bench.acting [VIEW…] [--sizes 1000,10000] [--json] [--write]
        [--profile "edit: stop"]

prints, of a training graph that came as a .pb (variables in scopes, a constant that all layers
read, a group of all initial assignments, Adam's updates), with its scopes folded or all open:
milliseconds of CPU time of the window's thread and of the engine, from what the user does until all
of it is painted, and the longest that the window's thread works without looking at what the user
does next. The median of some rounds. The window is the program's own, with its panels, its engine
and its layout process, off screen unless QT_QPA_PLATFORM says otherwise. --write: those
with open scopes also as docs/benchmarks-window.md. --profile: where the thread spends one of these
actions.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.document.document import Optimizer
from gradstep.core.graph.model import Edge
from gradstep.gui import commands
from gradstep.gui.look import theme
from tests.bench import acting_page, training_graph
from tests.bench.choices import say
from tests.bench.sized import answer, parser_of, row_of
from tests.bench.starting import without_settings
from tests.bench.watched_window import Ticks, WatchedWindow

SIZES = (1_000, 10_000)
ROUNDS = 3
VIEWS = ("folded", "open")  # how the scopes stand
COLUMNS = ("window", "engine", "deaf")
REST = 0.002  # seconds between rounds of the event loop, so that waiting takes no time itself
QUIET = 0.2  # seconds in which nothing may happen any more: as long as timers put work off
NOTHING = 0.0002  # seconds that a round takes in which nothing happens
# Seconds of window and engine together; of "deaf" the window's alone.
_EDIT = {1_000: 0.016, 10_000: 0.060, 50_000: 0.150, 200_000: 0.500}
_LOOK = {1_000: 0.008, 10_000: 0.016, 50_000: 0.030, 200_000: 0.060}
_STEP = {1_000: 0.030, 10_000: 0.050, 50_000: 0.060, 200_000: 0.100}
_OPEN = {1_000: 0.3, 10_000: 1.0, 50_000: 3.0, 200_000: 10.0}
DEAF = {1_000: 0.05, 10_000: 0.1, 50_000: 0.1, 200_000: 0.1}
TARGETS = {"edit": _EDIT, "undo": _EDIT, "look": _LOOK, "step": _STEP, "open": _OPEN}
TARGETS["inject"] = {10_000: 0.060}
Costs = dict[str, float]  # seconds, by COLUMNS
Tables = dict[str, dict[int, dict[str, Costs]]]  # view -> size -> action -> costs


def _cpu_seconds(pid: int) -> float:
    """Of a process, and of those that it started; 0 of one that has ended."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        own = time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid numbers it
    except OSError:
        return 0.0
    return own + sum(map(_cpu_seconds, map(int, children)))


class Sitting(WatchedWindow):
    """A window, and what each action in it took. profiled: the action to look into."""

    def __init__(self, nodes: int, profiled: str = "") -> None:
        super().__init__(nodes)
        self._profiled = profiled
        self.profile = cProfile.Profile(time.thread_time)  # it is a busy machine
        self.found: dict[str, list[Costs]] = {}

    def rest(self) -> None:
        """Until the window has made what it makes ahead of need."""
        self._until(lambda: all(dock.is_made for dock in self.window.docks.by_id.values()))

    def open(self, path: Path) -> None:
        """The file, until it is seen."""
        opened: list[bool] = []
        self._timed(
            "open: first picture",
            lambda: self.space.open_path(path, lambda: opened.append(True)),
            lambda: bool(opened) and self.window.canvas.framing.is_seen,
        )
        self.train()
        commands.set_optimizers(self.space, [Optimizer("Adam", {"learning_rate": 0.01})])
        self._until(lambda: True)

    def unfold(self) -> None:
        self._timed("open: all scopes", self.window.canvas.stage.open_scopes)

    def look_closely(self) -> None:
        """At what is edited, every place the document's."""
        commands.reveal(self.space, self._name)
        self._until(lambda: True)
        view = self.window.canvas
        view.stage.move([0], 8.0, 0.0)
        view.camera.zoom_to(1.0)
        view.camera.look_at(view.box_rect(view.arrays.visible.box_of[self._name]).center())
        self.space.control("run_to", self._name)
        self._until(lambda: not view.camera.zooming)

    def work(self) -> None:
        """Each action once, and each edit undone."""
        space = self.space
        for kind, edit in self._edits().items():
            self._timed(f"edit: {kind}", edit)
            self._timed(f"undo: {kind}", space.undo_stack.undo)
        box = self.nodes // 12 % len(space.document.graph)
        other = [*space.document.graph.operations][box]
        self._timed("look: select", lambda: space.select([other]))
        self._timed("look: select by click", self._click)
        self._timed("look: hover", self._point)
        self._search()
        self._timed("step: F10", lambda: space.control("step"))
        self._timed("step: Shift+F10", lambda: space.control("step_back"))
        self._inject()

    # -- inside --------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return training_graph.wire(self.nodes).op

    def _edits(self) -> Mapping[str, Callable[[], object]]:
        space, name, wire = self.space, self._name, training_graph.wire(self.nodes)
        override = Override("Sub", name, OverrideKind.OP)
        return {
            "stop": lambda: commands.toggle_stop(space, wire),
            "override": lambda: commands.set_override(space, override),
            "attribute": lambda: commands.set_attr(space, name, "_note", "seen"),
            "rename": lambda: commands.rename(space, name, f"{name}_renamed"),
            "wire unplugged": lambda: commands.disconnect(space, Edge(name, 1)),
            "breakpoint": lambda: commands.toggle_breakpoint(space, name),
        }

    def _click(self) -> None:
        at = self._middle()
        for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):
            self._mouse(kind, at, Qt.MouseButton.LeftButton)

    def _point(self) -> None:
        self._mouse(QEvent.Type.MouseMove, self._middle() + QPointF(3, 3), Qt.MouseButton.NoButton)

    def _middle(self) -> QPointF:
        view = self.window.canvas
        rect = view.box_rect(view.arrays.visible.box_of[self._name])
        return QPointF(view.mapFromScene(rect.center()))

    def _mouse(self, kind: QEvent.Type, at: QPointF, button: Qt.MouseButton) -> None:
        viewport = self.window.canvas.viewport()
        where = at, QPointF(viewport.mapToGlobal(at))
        event = QMouseEvent(kind, *where, button, button, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(viewport, event)

    def _search(self) -> None:
        self._timed("look: search opened", lambda: self.window.actions_.run("edit.find"))
        found = [w for w in QApplication.allWidgets() if w.objectName() == "node_finder.field"]
        field = next(w for w in found if isinstance(w, QLineEdit))
        self._timed("look: search key", lambda: QTest.keyClick(field, Qt.Key.Key_L))
        field.window().close()
        self._until(lambda: True)

    def _inject(self) -> None:
        """At the end of a run, another gradient of a layer near the input, on a branch of its own:
        on it hang a hundred steps, which run again."""
        space, before = self.space, self.space.stop
        assert before is not None
        space.control("continue_")
        self._until(lambda: space.stop is not None and space.stop.reason == "end")
        tensor, value = space.carried[training_graph.near_input(self.nodes)], training_graph.FEED
        self._timed("inject: 100 dependants", lambda: space.sessions.inject(tensor, 2 * value))
        commands.drop_branch(space, next(b.name for b in space.stop.branches if b.current))
        self._until(lambda: True)
        space.control("run_to", f"{before.run}:{before.step}")  # where the next round edits
        self._until(lambda: True)

    def _timed(
        self, key: str, action: Callable[[], object], happened: Callable[[], bool] = lambda: True
    ) -> None:
        """An action, until it has had its effect and all of that is shown."""
        profile = self.profile if key == self._profiled else None
        engine, start = _cpu_seconds(self.space.bridge.pid), time.thread_time()
        with Ticks(time.thread_time) as ticks:
            if profile is not None:
                profile.enable()
            action()
            window = time.thread_time() - start + self._until(happened)
            if profile is not None:
                profile.disable()
        spent = _cpu_seconds(self.space.bridge.pid) - engine
        costs = dict(zip(COLUMNS, (window, spent, ticks.longest), strict=True))
        self.found.setdefault(key, []).append(costs)

    def _until(self, happened: Callable[[], bool]) -> float:
        """Seconds of CPU time of the rounds in which anything happened."""
        quiet, spent = 0, 0.0
        while quiet * REST < QUIET:  # by rounds: on a busy machine one may take longer than that
            start = time.thread_time()
            self.turn()
            took = time.thread_time() - start
            if took > NOTHING:
                spent += took
            idle = self.space.is_idle and not self.window.canvas.stage.laying_out and happened()
            quiet = 0 if not idle or took > NOTHING else quiet + 1
            time.sleep(REST)
        return spent


def measured(nodes: int, is_open: bool, rounds: int, profiled: str = "") -> dict[str, Costs]:
    """Action -> the median of each of its costs."""
    with tempfile.TemporaryDirectory() as folder:
        warm, path = (training_graph.save(n, Path(folder)) for n in (60, nodes))
        sitting = Sitting(nodes, profiled)
        sitting.driver.open(warm)  # fonts, caches, the engine's imports
        sitting.rest()
        sitting.open(path)
        if is_open:
            sitting.unfold()
        sitting.look_closely()
        for _ in range(rounds):
            sitting.work()
        sitting.close()
    if profiled:
        stats = pstats.Stats(sitting.profile, stream=sys.stderr)
        stats.sort_stats("cumulative").print_stats(70)
        stats.sort_stats("tottime").print_stats(30)
    return {key: _median(costs) for key, costs in sitting.found.items()}


def _median(costs: Sequence[Costs]) -> Costs:
    return {column: statistics.median(each[column] for each in costs) for column in COLUMNS}


def target_of(action: str, size: int) -> float | None:
    """Seconds; None where there is no target."""
    return TARGETS[action.partition(":")[0]].get(size)


def rows(found: Tables) -> list[dict[str, Any]]:
    """Seconds of window and engine together, and of the window alone while it is deaf; what has a
    target, and whether it is met."""
    made: list[dict[str, Any]] = []
    for view, by_size in found.items():
        for size, costs in by_size.items():
            for action, each in costs.items():
                name = f"{view}, {size:,} operations: {action}"
                target = target_of(action, size)
                made.append(row_of(name, each["window"] + each["engine"], target) | each)
                made.append(row_of(f"{name}: deaf", each["deaf"], DEAF.get(size)))
    return made


def table(size: int, costs: Mapping[str, Costs]) -> str:
    """One action a line, in milliseconds, with its target."""
    lines = [f"{'':24}" + "".join(f"{column:>10}" for column in COLUMNS) + "      both   target"]
    for action, each in costs.items():
        target = target_of(action, size)
        cells = "".join(f"{1000 * each[column]:10.1f}" for column in COLUMNS)
        both = 1000 * (each["window"] + each["engine"])
        lines.append(
            f"{action:24}{cells}{both:10.1f}" + (f"{1000 * target:9,.0f}" if target else "")
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("tests.bench.acting", __doc__, SIZES, VIEWS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--profile", default="", metavar="ACTION")
    parser.add_argument("--write", action="store_true", help=f"write docs/{acting_page.PAGE.name}")
    options = parser.parse_args(arguments)
    views = options.shapes or VIEWS
    if options.write and "open" not in views:
        parser.error("--write: the page is of scopes that are open; name the view 'open', too")
    found: Tables = {}
    with tempfile.TemporaryDirectory() as home:
        without = without_settings(home)
        os.environ.clear()
        os.environ |= without | {"QT_QPA_PLATFORM": "offscreen"}
        app = QApplication.instance() or QApplication([])
        assert isinstance(app, QApplication)
        theme.apply(app, theme.DARK)
        for view in views:
            for size in options.sizes:
                say(f"actions, scopes {view}, {size:,} operations")
                is_open = view == "open"
                costs = measured(size, is_open, options.rounds, options.profile)
                found.setdefault(view, {})[size] = costs
    if options.write:
        acting_page.write(found["open"], target_of, lambda _, size: DEAF.get(size), options.rounds)
    tables = (
        (f"scopes {view}, {size:,} operations", table(size, costs))
        for view, by_size in found.items()
        for size, costs in by_size.items()
    )
    return answer(options.json, {"rows": rows(found)}, tables)


if __name__ == "__main__":
    sys.exit(main())
