"""The start page: examples in groups, found by words and by keys, with their pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication

from gradstep.core.program.trust import example_index
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.gui.look import theme
from gradstep.gui.panels.welcome.example_card import PICTURE, Card, shipped_picture
from gradstep.gui.panels.welcome.example_groups import GroupButton
from gradstep.gui.panels.welcome.welcome_page import ALL, DISPUTED, WelcomePage

ENTRIES = example_index.load(EXAMPLES)
KEYS = Qt.Key


@pytest.fixture
def page(bench: Any, show: Callable[..., Any], qtbot: Any) -> Any:
    made = show(WelcomePage(lambda: bench.space.theme), 1600, 900)
    made.opened.connect(lambda path: bench.views.append(("open", str(path))))
    bench.space.theme_changed.connect(made.restyle)
    qtbot.waitUntil(lambda: made.is_drawn)
    return made


def names(page: WelcomePage) -> list[str]:
    return [card.entry.name for card in page.gallery.shown]


def focused(page: WelcomePage) -> Card:
    return next(card for card in page.gallery.shown if card.hasFocus())


def opened(bench: Any) -> list[str]:
    return [Path(target).name for what, target in bench.views if what == "open"]


def test_every_example_is_there_in_its_group(page: Any, qtbot: Any) -> None:
    def choose(group: str) -> None:
        button = page.findChild(GroupButton, f"welcome.group.{group}")
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    assert names(page) == [entry.name for entry in ENTRIES]
    groups = Counter(entry.group for entry in ENTRIES)
    assert {group.name: len(group.cards) for group in page.gallery.groups} == groups
    for group, count in groups.items():
        choose(group)
        assert {card.entry.group for card in page.gallery.shown} == {group}
        assert len(page.gallery.shown) == count
        assert [each.isVisible() for each in page.gallery.groups].count(True) == 1
    choose(DISPUTED)
    assert names(page) == [entry.name for entry in ENTRIES if entry.disputed]
    choose(ALL)
    assert len(names(page)) == len(ENTRIES)


def test_words_find_examples_and_enter_opens_the_first(page: Any, bench: Any, qtbot: Any) -> None:
    assert page.search.hasFocus()
    page.search.setText("nothing has this word")
    assert names(page) == []
    assert "nothing has this word" in page.gallery._nothing.text()
    qtbot.keyClick(page.search, KEYS.Key_Return)
    qtbot.keyClick(page.search, KEYS.Key_Escape)
    assert len(names(page)) == len(ENTRIES)
    qtbot.keyClicks(page.search, "gather out of range")
    assert names(page)[0] == "gather"
    qtbot.keyClick(page.search, KEYS.Key_Return)
    assert opened(bench) == ["gather.gradstep"]


def test_tab_goes_from_the_search_to_the_groups_and_on_to_the_examples(
    page: Any, qtbot: Any
) -> None:
    qtbot.keyClick(page.search, KEYS.Key_Tab)
    chosen = QApplication.focusWidget()
    assert isinstance(chosen, GroupButton)
    assert chosen.text() == ALL
    qtbot.keyClick(chosen, KEYS.Key_Tab)
    assert focused(page) is page.gallery.shown[0]


def test_arrow_keys_walk_the_cards_and_keep_them_in_view(page: Any, bench: Any, qtbot: Any) -> None:
    qtbot.keyClick(page.search, KEYS.Key_Down)
    assert focused(page) is page.gallery.shown[0]
    qtbot.keyClick(focused(page), KEYS.Key_Right)
    assert focused(page) is page.gallery.shown[1]
    before = None
    while before is not focused(page):
        before = focused(page)
        qtbot.keyClick(before, KEYS.Key_Down)
    assert before.y() == page.gallery.shown[-1].y()
    qtbot.waitUntil(lambda: page.is_drawn and before.is_drawn)
    assert not before.visibleRegion().isEmpty()
    qtbot.keyClick(before, KEYS.Key_Return)
    assert opened(bench) == [f"{before.entry.name}.gradstep"]


@pytest.mark.parametrize(("width", "columns"), [(1700, 4), (1240, 3), (1000, 2), (400, 1)])
def test_a_narrow_page_has_fewer_columns(page: Any, qtbot: Any, width: int, columns: int) -> None:
    page.resize(width, 900)
    qtbot.waitUntil(lambda: len({card.x() for card in page.gallery.shown}) == columns)
    if columns > 1:
        first_row = page.gallery.shown[:columns]
        assert max(card.geometry().right() for card in first_row) <= page.gallery.viewport().width()


def test_pictures_follow_the_theme_and_are_drawn_where_none_was_shipped(
    page: Any, bench: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = page.gallery.shown[0]
    assert shipped_picture("no such example", theme.DARK) is None
    dark = card._picture.toImage()
    bench.space.set_theme(theme.LIGHT)
    qtbot.waitUntil(lambda: page.is_drawn)
    assert card._picture.toImage() != dark
    monkeypatch.setattr(
        "gradstep.gui.panels.welcome.example_card.shipped_picture", lambda name, theme: None
    )
    page.gallery.show_only("tutorial network")
    page.gallery.restyle()
    qtbot.waitUntil(lambda: page.is_drawn)
    assert card._picture.deviceIndependentSize().toSize() == QSize(PICTURE)
