"""Keys on the canvas: what each means, why one does nothing, and words that are no commands."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from gradstep.gui.actions.action_table import ACTIONS
from gradstep.gui.canvas.interact import typed_search
from gradstep.gui.canvas.interact.search_menu import SearchMenu

PLAIN = [(row, key) for row in ACTIONS if row.canvas for key in row.keys if len(key) == 1]


def menus(canvas: Any) -> list[SearchMenu]:
    return [menu for menu in canvas.view.findChildren(SearchMenu) if menu.isVisible()]


def test_a_key_that_can_do_nothing_says_what_it_needs(canvas: Any) -> None:
    canvas.open("tutorial")
    canvas.space.select([])
    canvas.view.camera.look_at(QPointF(9000, 9000))
    before = canvas.space.document
    needs = [(row, key, row.obstacle(canvas.space)) for row, key in PLAIN]
    for row, key, need in sorted(needs, key=lambda each: not each[2]):  # what does something, last
        canvas.said.clear()
        QTest.keyClick(canvas.view, key.lower())
        if need:
            assert canvas.said == [("info", need)], row.id
            assert need.startswith(f"{row.title.rstrip('…')}: ")
            assert canvas.space.document is before, row.id


def test_a_word_is_searched_for_and_runs_nothing(canvas: Any) -> None:
    canvas.open("tutorial")
    canvas.space.select(["a"])
    document, places = canvas.space.document, canvas.view.arrays.rects.copy()
    canvas.view.setFocus()
    QTest.keyClicks(canvas.view, "ma")
    (menu,) = menus(canvas)
    QTest.keyClicks(menu.field, "tmul")
    assert menu.field.text() == "matmul"
    assert menu.list.topLevelItem(0).text(0) == "MatMul"
    assert canvas.space.document is document
    assert (canvas.view.arrays.rects == places).all()
    assert not canvas.space.profiler.colouring


def test_letters_that_begin_no_name_are_commands(canvas: Any) -> None:
    canvas.open("tutorial")
    canvas.space.select(["e"])
    QTest.keyClicks(canvas.view, "es")  # the next wire, and stop it
    assert canvas.space.document.request.stopped_edges == {canvas.space.selected_edge}
    assert not menus(canvas)


@pytest.mark.slow
def test_slow_letters_are_commands(canvas: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_search, "QUICK", 0.0)
    canvas.open("tutorial")
    QTest.keyClicks(canvas.view, "to")
    assert canvas.space.profiler.colouring == "time"
    assert not menus(canvas)


def test_shift_a_and_control_are_no_letters(canvas: Any) -> None:
    canvas.open("tutorial")
    QTest.keyClick(canvas.view, Qt.Key.Key_S)
    QTest.keyClick(canvas.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert len(canvas.space.selection) == len(canvas.space.document.graph)
    assert not menus(canvas)
