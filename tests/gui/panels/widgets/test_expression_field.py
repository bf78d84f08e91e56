"""Typing an expression: what is offered at the cursor, and what taking it makes of the text."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstep.gui.panels.widgets.expression_field import ExpressionField

NAMES = ("loss", "dense/kernel", "dense/bias", "norm_of_loss")


@pytest.fixture
def field(qtbot: Any) -> ExpressionField:
    field = ExpressionField()
    qtbot.addWidget(field)
    field.offer(NAMES)
    with qtbot.waitActive(field):
        field.show()
        field.activateWindow()
    field.setFocus()
    return field


def typed(field: ExpressionField, text: str) -> list[str]:
    field.clear()
    field.popup.hide()
    QTest.keyClicks(field, text)
    return field.offered()


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ('x["den', ["dense/kernel", "dense/bias"]),
        ("1 < grad['BIAS", ["dense/bias"]),
        ("norm", ["norm(", 'x["norm_of_loss"]']),
        ("2 * isn", ["isnan(", "isnone("]),
        ("los", ['x["loss"]', 'x["norm_of_loss"]']),
        ("previous(kern", ['x["dense/kernel"]']),
        ("upd", ['update["']),
        ("nan", []),  # it is a word of the language
        ('x["loss"] > ', []),
        ('x["loss"', []),
        ("3", []),
    ],
)
def test_what_is_offered(field: ExpressionField, text: str, offered: list[str]) -> None:
    assert typed(field, text) == offered
    assert field.popup.isVisible() == bool(offered)


def test_taking_a_name_closes_its_brackets(field: ExpressionField) -> None:
    typed(field, 'norm(x["dense/k')
    QTest.keyClick(field.popup, Qt.Key.Key_Tab)
    assert field.text() == 'norm(x["dense/kernel"]'
    assert field.cursorPosition() == len(field.text())


def test_only_the_word_at_the_cursor_changes(field: ExpressionField) -> None:
    typed(field, "1 < 2")
    field.setCursorPosition(0)
    QTest.keyClicks(field, "isn")
    QTest.keyClick(field.popup, Qt.Key.Key_Return)
    assert field.text() == "isnan(1 < 2"
    assert field.cursorPosition() == len("isnan(")


def test_a_table_goes_on_to_names(field: ExpressionField) -> None:
    typed(field, "upd")
    QTest.keyClick(field.popup, Qt.Key.Key_Return)
    assert field.text() == 'update["'
    assert field.popup.isVisible()
    QTest.keyClicks(field, "bi")
    QTest.keyClick(field.popup, Qt.Key.Key_Return)
    assert field.text() == 'update["dense/bias"]'


def test_enter_is_the_fields_where_nothing_begins_so(field: ExpressionField) -> None:
    """Only what goes on from what is typed is marked: a whole expression stays as it is."""
    entered: list[str] = []
    field.returnPressed.connect(lambda: entered.append(field.text()))
    typed(field, "of_loss")
    assert field.popup.isVisible()
    QTest.keyClick(field.popup, Qt.Key.Key_Return)
    assert entered == ["of_loss"]
    assert not field.popup.isVisible()
