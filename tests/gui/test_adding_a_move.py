"""docs/adding-a-move.md, followed to the letter: its record and its method, and the move is there
in a session, in the terminal, from Python, on the page of moves, and in the window by its key."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMainWindow, QMenu

import gradstep
from gradstep.core.cli.command_line import main
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.motion import legal_moves, move_table, stepping
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from gradstep.core.program.runnable_part import drop_unfinished
from gradstep.core.reference import move_page
from gradstep.gui.actions import action_table
from gradstep.gui.actions.action_set import ActionSet
from gradstep.gui.dialogs import shortcuts_dialog
from gradstep.gui.frame.menus import MenuBar
from gradstep.gui.model.workspace import Workspace
from gradstep.main import Gradstep
from tests.gui.panels.conftest import LocalBridge
from tests.support.deleting import delete

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-move.md").read_text(encoding="utf-8")
RECORD, METHOD = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
TUTORIAL = ROOT / "assets" / "examples" / "tutorial.gradstep"
LOOP = ROOT / "assets" / "examples" / "while_loop.gradstep"


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's record among the others, and its method in the class."""
    record = eval(RECORD, vars(move_table))
    monkeypatch.setitem(move_table.MOVES, record.name, record)  # type: ignore[arg-type]
    scope = dict(vars(stepping))
    exec(METHOD, scope)
    monkeypatch.setattr(stepping.Stepper, record.name, scope[record.name], raising=False)
    legal_moves.legal_names.cache_clear()
    yield
    legal_moves.legal_names.cache_clear()


def test_it_is_a_move_of_python_scripts() -> None:
    debugger = gradstep.open(TUTORIAL).debug()
    phases = [debugger.stop.phase]
    while "next_phase" in debugger.stop.legal:
        phases.append(debugger.command("next_phase").phase)
    assert phases == ["forward", "backward", "update", ""]
    assert debugger.stop.reason == "end"
    with pytest.raises(GradstepError, match="next_phase is not possible here: this is the end"):
        debugger.command("next_phase")


def test_it_stops_at_breakpoints_and_leads_out_of_loops() -> None:
    session = DebugSession(drop_unfinished(derive(read(LOOP), {})))
    (loop, *_) = (session.plan.steps[step].op.name for step in session.plan.loops)
    session.run_to(loop)
    session.step_into()
    assert session.stop.inside
    assert session.command("next_phase").phase == "backward"
    session.run_to("0:0")
    session.set_breakpoints([Breakpoint(loop)])
    assert session.command("next_phase").op == loop


def test_it_is_a_command_of_the_console(capsys: pytest.CaptureFixture[str]) -> None:
    script = "next_phase; np; back; phase; next_pase"
    assert main(["debug", str(TUTORIAL), "--script", script], Gradstep()) == 1
    said = capsys.readouterr().out
    assert [*re.findall(r"· (\w+) ·", said)] == [
        "forward",
        "backward",
        "update",
        "backward",
        "update",
    ]
    assert "did you mean next_phase?" in said
    assert main(["debug", str(TUTORIAL), "--script", "help"], Gradstep()) == 0
    row = r"^next_phase +np +to the first step of the next phase, or the end of the run$"
    assert re.search(row, capsys.readouterr().out, re.MULTILINE)


def test_it_is_on_the_page_of_moves() -> None:
    assert (
        '| Next phase | **F12** | `next_phase`, `np`, `phase` | `command("next_phase")` | to the '
        "first step of the next phase, or the end of the run (not at the end of a run) |\n"
    ) in move_page.page()


@pytest.fixture
def window(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ActionSet, MenuBar]]:
    """The actions and the menus of a window, from the table of actions as it is made where the
    record stands in its file; the engine answers in this process, which has the record."""
    made = _made_again(action_table)
    monkeypatch.setattr("gradstep.gui.model.workspace.EngineBridge", LocalBridge)
    space, frame, bar = Workspace(), QMainWindow(), MenuBar()
    qtbot.addWidget(frame)
    frame.setMenuBar(bar)
    actions = ActionSet(space, frame, made.ACTIONS)
    bar.fill(actions)
    space.open_document(read(TUTORIAL), TUTORIAL)
    space.debugger.flush()
    frame.show()
    frame.activateWindow()
    qtbot.waitActive(frame)
    yield actions, bar
    delete(frame, space)


def _made_again(module: ModuleType) -> Any:
    """The module's code once more, beside the one that the program has."""
    spec = importlib.util.spec_from_file_location("made_again", module.__file__ or "")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_it_is_in_the_windows_menu_by_its_key(window: tuple[ActionSet, MenuBar]) -> None:
    actions, bar = window
    space, (run,) = actions.workspace, bar.findChildren(QMenu, "menu.run")
    names = [row.objectName() for row in run.actions()]
    assert names[4:7] == ["run.step_out", "run.next_phase", "run.continue"]
    assert space.stop is not None
    QTest.keyClick(bar.window(), Qt.Key.Key_F12)
    assert space.stop.phase == "backward"
    space.control("continue_")
    actions.refresh()
    assert actions["run.next_phase"].toolTip().split("\n") == [
        "Next phase  (F12)",
        "To where the gradients begin, or the updates",
        "Not now: the run is at its end",
    ]
    page = shortcuts_dialog.ShortcutsDialog(space, bar.window())
    assert "Next phase" in [label.text() for label in page.findChildren(QLabel)]
