"""The console in the window: what it says is what the terminal says, and all panels follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QImage, QTextCursor, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.errors import GradstepError
from gradstep.core.host.tensors.aggregate import NAN
from gradstep.core.protocol.messages import Control, LinePicture
from gradstep.core.protocol.tensor_bytes import pack
from gradstep.gui.look.plain_text import Label
from gradstep.gui.model.console_lines import PROMPT
from gradstep.gui.panels.console_drawing import LINE
from gradstep.gui.panels.console_panel import ConsolePanel


@pytest.fixture
def panel(bench: Any, show: Any) -> ConsolePanel:
    panel: ConsolePanel = show(ConsolePanel(bench.space), 700, 240)
    bench.open("tutorial")
    return panel


def enter(panel: ConsolePanel, *lines: str) -> str:
    """What is said for them, without the lines themselves."""
    before = len(panel.text.toPlainText())
    for line in lines:
        panel.field.setFocus()
        panel.field.setText(line)
        QTest.keyClick(panel.field, Qt.Key.Key_Return)
    said = panel.text.toPlainText()[before:].strip("\n").split("\n")
    return "\n".join(line for line in said if not line.startswith(PROMPT.strip()))


def test_a_move_goes_through_the_windows_door(bench: Any, panel: ConsolePanel) -> None:
    stops: list[int] = []
    bench.space.stopped.connect(lambda: stops.append(bench.space.stop.step))
    said = enter(panel, "step", "continue")
    assert stops == [1, 35]
    assert [c.command for c in bench.bridge.controls()] == ["step", "continue_"]
    assert "[end] run 1, step 35 of 35" in said
    assert bench.space.value("loss:0") is not None
    assert panel.field.text() == ""


def test_an_empty_line_repeats_the_last_move(bench: Any, panel: ConsolePanel) -> None:
    enter(panel, "goto 0:3", "print c", "")
    assert bench.bridge.controls()[-1] == bench.bridge.controls()[-2]
    assert bench.bridge.controls()[-1].target == "0:3"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("print c", "[ 0.06, -0.04]"),
        ('print norm(x["c"])', "0.07211"),
        ("query isnan(value)", "nowhere in 1 run"),
        ("who c", "nowhere"),
        ("where", "[entry] run 1, step 0 of 35"),
        ("help", "NAME: which step gave it the value"),
        ("nosuch", "error: there is no command 'nosuch'"),
        ("print nosuch", "error: there is no operation named 'nosuch'"),
        ("step_back", "error:"),
        ("new b other.gradstep", "error: a session of 'other.gradstep' is one of another window"),
        ("quit", "the console stays open"),
    ],
)
def test_what_is_said(panel: ConsolePanel, line: str, said: str) -> None:
    assert said in enter(panel, line)
    assert not panel.lines.is_busy


def test_a_move_that_the_engine_refuses_is_an_error_of_the_line(panel: ConsolePanel) -> None:
    assert "error:" in enter(panel, "run_to nosuch")
    assert not panel.lines.is_busy
    assert "[entry]" in enter(panel, "where")


def test_breakpoints_and_watches_are_edits_of_the_document(bench: Any, panel: ConsolePanel) -> None:
    said = enter(panel, "break loss if value > 0", 'log a: {x["a"]}', "watch c", "continue")
    assert bench.space.document.breakpoints == (
        Breakpoint("loss", condition="value > 0"),
        Breakpoint("a", log='{x["a"]}'),
    )
    assert bench.space.document.watches == ('x["c:0"]',)
    assert "1  op  loss  if value > 0" in said
    assert "\n[0.1166 0.1764]\n" in said  # what the breakpoint wrote
    assert "[breakpoint] run 1, step" in said
    assert 'x["c:0"]' in said
    bench.space.undo_stack.undo()
    assert bench.space.document.watches == ()
    enter(panel, "delete")
    assert bench.space.document.breakpoints == ()


def test_a_value_is_set_where_it_stands(bench: Any, panel: ConsolePanel) -> None:
    said = enter(panel, "continue", "set c [1, 2]")
    assert "[1., 2.]" in said
    assert bench.space.value("c:0").array.tolist() == [1, 2]


def test_sessions_are_the_windows(bench: Any, panel: ConsolePanel) -> None:
    said = enter(panel, "continue", "new other", "sessions")
    assert bench.space.sessions.current == "other"
    assert "other" in said
    assert bench.space.stop.step == 0
    enter(panel, "session main")
    assert bench.space.stop.step == 35


def test_up_and_down_go_through_what_was_typed(panel: ConsolePanel) -> None:
    enter(panel, "print c", "where", "where")
    keys = (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down)
    seen = []
    for key in keys:
        QTest.keyClick(panel.field, key)
        seen.append(panel.field.text())
    assert seen == ["where", "print c", "print c", "where", ""]


def test_tab_completes_commands_names_and_words(panel: ConsolePanel) -> None:
    def tab(text: str) -> str:
        panel.field.setFocus()
        panel.field.setText(text)
        QTest.keyClick(panel.field, Qt.Key.Key_Tab)
        return panel.field.text()

    assert tab("que") == "query"
    assert tab("print lab") == "print labels"
    assert tab("query isna") == "query isnan"
    assert tab("print train/update_c/App") == "print train/update_c/ApplyAdam"
    assert tab("print nosuch") == "print nosuch"
    assert tab("print is") == "print is"  # several: they are listed
    assert "isfinite  isinf  isnan  isnone" in panel.text.toPlainText()


def test_lines_wait_for_those_before(
    bench: Any, panel: ConsolePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[Any] = []
    send = bench.bridge.send

    def slowly(message: Any, buffers: Any = (), then: Any = lambda *_: None) -> None:
        if isinstance(message, Control):
            held.append((message, then))
        else:
            send(message, buffers, then)

    monkeypatch.setattr(bench.bridge, "send", slowly)
    enter(panel, "continue", "print loss")
    assert panel.lines.is_busy
    assert "loss" not in panel.text.toPlainText()
    [(message, then)] = held
    monkeypatch.setattr(bench.bridge, "send", send)
    send(message, (), then)
    assert "0.663694" in panel.text.toPlainText().replace("0.6636944", "0.663694")


def test_another_theme_colours_what_was_said(bench: Any, panel: ConsolePanel) -> None:
    enter(panel, "where")
    before = panel.text.toPlainText()
    panel.restyle()
    assert panel.text.toPlainText() == before


def test_a_line_under_way_is_given_up_with_its_engine(
    bench: Any, panel: ConsolePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = bench.bridge.send
    monkeypatch.setattr(bench.bridge, "send", lambda *_: None)  # it never answers
    enter(panel, "continue", "where")
    assert panel.lines.is_busy
    bench.bridge.died.emit(GradstepError("it ended", kind="EngineDied"))
    assert not panel.lines.is_busy
    monkeypatch.setattr(bench.bridge, "send", send)
    assert "[entry]" in enter(panel, "where")


def test_several_lines_are_typed_and_one_entry_of_the_history(
    bench: Any, panel: ConsolePanel
) -> None:
    """Shift+Enter begins another line, and so does Enter while a bracket is open."""
    field, shift = panel.field, Qt.KeyboardModifier.ShiftModifier
    field.setFocus()
    low = field.height()
    QTest.keyClicks(field, "goto 0:3")
    QTest.keyClick(field, Qt.Key.Key_Return, shift)
    QTest.keyClicks(field, "set c [1,")
    QTest.keyClick(field, Qt.Key.Key_Return)
    QTest.keyClicks(field, "2]")
    assert field.text() == "goto 0:3\nset c [1,\n2]"
    assert field.height() > low, "all of it is seen"
    QTest.keyClick(field, Qt.Key.Key_Return)
    said = panel.text.toPlainText()
    assert f"{PROMPT}goto 0:3" in said
    assert f"{PROMPT}set c [1, 2]" in said
    assert bench.space.value("c:0").array.tolist() == [1, 2]
    assert (field.text(), field.height()) == ("", low)
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert field.text() == "goto 0:3\nset c [1,\n2]"
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert field.textCursor().blockNumber() == 1, "it walks in the lines first"


def test_tab_completes_the_last_of_several_lines(panel: ConsolePanel) -> None:
    panel.field.setFocus()
    panel.field.setText("step\nque")
    QTest.keyClick(panel.field, Qt.Key.Key_Tab)
    assert panel.field.text() == "step\nquery"
    panel.field.setText("step\nprint lab")
    QTest.keyClick(panel.field, Qt.Key.Key_Tab)
    assert panel.field.text() == "step\nprint labels"


def images_in(panel: ConsolePanel) -> list[QImage]:
    """The pictures that stand in what was said."""
    document, found = panel.text.document(), []
    block = document.begin()
    while block.isValid():
        for fragment in block:
            shape = fragment.fragment().charFormat()
            if shape.isImageFormat():
                name = QUrl(shape.toImageFormat().name())
                found.append(document.resource(QTextDocument.ResourceType.ImageResource, name))
        block = block.next()
    return found


def test_what_has_shape_is_drawn_where_the_terminal_prints(bench: Any, panel: ConsolePanel) -> None:
    bench.open("softmax_digits")
    enter(panel, "continue", "print softmax/weights", "print images", "print softmax/bias")
    weights, pixels, bias = images_in(panel)
    assert weights.width() == 10 * 2, "64 rows and 10 columns, each cell as high as there is room"
    assert weights.height() == 64 * 2
    assert pixels.width() > pixels.height()
    assert (bias.width(), bias.height()) == (LINE.width(), LINE.height())
    assert "float32[64, 10]" in panel.text.toPlainText(), "what the terminal prints stays"
    enter(panel, "print loss")
    assert len(images_in(panel)) == 3, "of one number there is nothing to draw"


def test_nan_is_marked_in_a_line_and_a_theme_draws_it_anew(panel: ConsolePanel) -> None:
    enter(panel, "print c")
    assert images_in(panel) == []  # two numbers say it themselves
    values = np.array([[1.0, np.nan, 3.0, -1.0, 2.0]])
    kinds = np.array([[0, NAN, 0, 0, 0]], np.uint8)
    info = LinePicture(kind="line", shape=[1, 5], dtype="float32")
    panel.lines.drawn.emit(info, (pack(values), pack(kinds)))
    (image,) = images_in(panel)
    wide = LINE.width() // 5
    problem = panel.theme.tone("problem")
    assert image.pixelColor(wide + wide // 2, 2).rgb() == problem.rgb()
    assert image.pixelColor(2, 2).rgb() != problem.rgb()
    panel.restyle()
    assert len(images_in(panel)) == 1


def test_the_end_stays_in_view_when_the_line_takes_room(panel: ConsolePanel) -> None:
    bar = panel.text.verticalScrollBar()
    enter(panel, "help")
    assert bar.value() == bar.maximum() > 0
    before = bar.maximum()
    panel.field.setText("query [\n  isnan(value),\n  max(value)")
    QApplication.processEvents()
    assert bar.maximum() > before
    assert bar.value() == bar.maximum()


def test_who_reads_above_is_not_taken_to_the_end(panel: ConsolePanel) -> None:
    bar = panel.text.verticalScrollBar()
    enter(panel, "help")
    bar.setValue(0)
    panel.lines.said.emit("printed meanwhile", "printed")
    panel.field.setText("two\nlines")
    QApplication.processEvents()
    assert bar.value() == 0
    enter(panel, "print c")
    assert bar.value() == bar.maximum()


def test_the_prompt_stands_beside_the_first_line(panel: ConsolePanel) -> None:
    [prompt] = [each for each in panel.findChildren(Label) if each.text() == PROMPT.strip()]
    for text in ("step", "query [\n  isnan(value)"):
        panel.field.setText(text)
        QApplication.processEvents()
        line = panel.field.cursorRect(QTextCursor(panel.field.document().firstBlock()))
        middle = panel.field.viewport().mapTo(panel, line.center()).y()
        assert abs(prompt.geometry().center().y() - middle) <= 1
        assert panel.field.verticalScrollBar().maximum() == 0
