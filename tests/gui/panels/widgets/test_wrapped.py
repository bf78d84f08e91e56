"""Paragraphs: their words can be selected and copied, and look the same meanwhile."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QCursor, QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu
from pytestqt.qtbot import QtBot

from gradstep.gui.look import theme
from gradstep.gui.look.theme import DARK
from gradstep.gui.panels.widgets.small_labels import BREAK, Wrapped

WORDS = "the sum of all elements, by rows\nand of nothing else"


@pytest.fixture
def paragraph(qtbot: QtBot) -> Wrapped:
    theme.load_fonts()
    made = Wrapped(lambda: DARK, "paragraph", "muted")
    made.setText(WORDS)
    qtbot.addWidget(made)
    made.resize(140, made.heightForWidth(140))
    made.show()
    return made


def select_all(paragraph: Wrapped) -> None:
    """By the mouse, from its first letter to its last."""
    left, end = Qt.MouseButton.LeftButton, paragraph.rect().bottomRight()
    QTest.mousePress(paragraph, left, pos=QPoint(0, 2))
    for at in (QPoint(30, 2), end):
        QTest.mouseMove(paragraph, at)
    QTest.mouseRelease(paragraph, left, pos=end)


def come(paragraph: Wrapped) -> None:
    at = QPointF(5, 5)
    QApplication.sendEvent(paragraph, QEnterEvent(at, at, at))


def leave(paragraph: Wrapped) -> None:
    QApplication.sendEvent(paragraph, QEvent(QEvent.Type.Leave))


def test_words_can_be_selected_and_copied(paragraph: Wrapped) -> None:
    select_all(paragraph)
    assert paragraph.selectedText().replace("\u2029", "\n") == WORDS
    leave(paragraph)
    assert paragraph.selectedText(), "what is selected stays so"
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(5, 5), QPoint(5, 5))
    QApplication.sendEvent(paragraph, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    copy = next(a for a in menu.actions() if a.text().startswith("&Copy"))
    QApplication.clipboard().clear()
    copy.trigger()
    menu.close()
    assert QApplication.clipboard().text() == WORDS


@pytest.mark.parametrize("at", [QPoint(5, 5), QPoint(700, 500)], ids=["under", "beside"])
def test_wherever_the_pointer_is_when_it_comes_up(qtbot: QtBot, at: QPoint) -> None:
    QCursor.setPos(at)
    made = Wrapped(lambda: DARK, "paragraph")
    qtbot.addWidget(made)
    made.setText(WORDS)
    made.setGeometry(0, 0, 140, 60)
    assert made.textInteractionFlags() == Qt.TextInteractionFlag.NoTextInteraction
    made.show()
    QApplication.processEvents()
    leave(made)
    assert made.textInteractionFlags() == Qt.TextInteractionFlag.NoTextInteraction


def test_other_words_are_selected_anew(paragraph: Wrapped) -> None:
    select_all(paragraph)
    height = paragraph.heightForWidth(140)
    paragraph.setText("another node's")
    assert not paragraph.hasSelectedText()
    assert paragraph.heightForWidth(140) < height
    select_all(paragraph)
    assert paragraph.selectedText() == "another node's"


def test_what_is_selected_stays_so_while_the_words_are_the_same(paragraph: Wrapped) -> None:
    """Panels say them anew at each stop."""
    select_all(paragraph)
    paragraph.setText(WORDS)
    assert paragraph.selectedText().replace("\u2029", "\n") == WORDS


def test_of_many_widths_few_are_kept(paragraph: Wrapped) -> None:
    heights = [paragraph.heightForWidth(width) for width in range(60, 400)]
    assert len(paragraph._lines) <= 8, "a panel is dragged wider, pixel by pixel"
    assert heights == [paragraph.heightForWidth(width) for width in range(60, 400)]


def test_only_under_the_pointer_it_costs_what_selecting_does(paragraph: Wrapped) -> None:
    none = Qt.TextInteractionFlag.NoTextInteraction
    leave(paragraph)  # it may have come up under the pointer, wherever the last test left that
    assert paragraph.textInteractionFlags() == none
    come(paragraph)
    assert paragraph.textInteractionFlags() == Qt.TextInteractionFlag.TextSelectableByMouse
    leave(paragraph)
    assert paragraph.textInteractionFlags() == none
    come(paragraph)
    paragraph.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, True)
    paragraph.setText("another node's")
    assert paragraph.textInteractionFlags() != none
    select_all(paragraph)
    leave(paragraph)
    assert paragraph.hasSelectedText()
    paragraph.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    paragraph.setText("one more")
    assert paragraph.textInteractionFlags() == none


TEXTS = st.text("ab ,.()∂ℒ⊙→\n_/", min_size=1, max_size=60)


@example("____/ℒ", 40, True)  # in another font, which is higher
@example("a_long_name/with/no/space_in/it_at_all:0", 120, True)
@given(TEXTS, st.integers(40, 300), st.booleans())
def test_nothing_moves_when_the_pointer_comes(
    qapp: object, text: str, width: int, code: bool
) -> None:
    theme.load_fonts()
    paragraph = Wrapped(lambda: DARK, "paragraph", code=code)
    paragraph.setText(text)
    height = paragraph.heightForWidth(width)
    paragraph.resize(width, max(height, 1))
    before = paragraph.grab().toImage()
    come(paragraph)
    assert QLabel.heightForWidth(paragraph, width) == height, "as Qt measures it"
    assert paragraph.grab().toImage() == before
    assert paragraph.text() == text.replace(BREAK, "")
    leave(paragraph)
    assert paragraph.grab().toImage() == before


PARTS = st.lists(st.text("ab", min_size=1, max_size=23), min_size=2, max_size=6)


@given(PARTS, st.sampled_from("/_.:"))
@example(["train", "update", "k", "ApplyGradientDescent"], "/")
def test_long_names_are_broken_between_their_parts(
    qapp: object, parts: list[str], between: str
) -> None:
    paragraph = Wrapped(lambda: DARK, "paragraph", code=True)
    name = between.join(parts)
    paragraph.setText(name)
    assert paragraph.text() == name
    ends = QLabel.text(paragraph).split(BREAK)
    assert all(end.endswith(between) for end in ends[:-1])
    assert len(ends) == (len(parts) if len(name) >= 24 else 1)


def test_what_has_no_parts_is_broken_anywhere(qapp: object) -> None:
    paragraph = Wrapped(lambda: DARK, "paragraph", code=True)
    paragraph.setText("a" * 100)
    assert paragraph.minimumSizeHint().width() < 20
