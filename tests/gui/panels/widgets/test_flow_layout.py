"""Widgets on lines."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QWidget

from gradstep.gui.panels.widgets.flow_layout import FlowLayout

GAP = 8


class Fixed(QWidget):
    def __init__(self, width: int, height: int) -> None:
        super().__init__()
        self._size = QSize(width, height)

    def become(self, width: int, height: int) -> None:
        self._size = QSize(width, height)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return self._size

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._size.height())


@pytest.mark.parametrize(
    ("width", "tops"),
    [
        (200, (0, 4, 2)),  # all on one line, as high as the highest
        (100, (0, 4, 28)),  # the third by itself
        (50, (0, 28, 48)),
    ],
)
def test_what_is_lower_stands_in_the_middle_of_its_line(
    qtbot: Any, width: int, tops: tuple[int, ...]
) -> None:
    room = QWidget()
    qtbot.addWidget(room)
    flow = FlowLayout(room, GAP)
    widgets = [Fixed(40, 28), Fixed(40, 20), Fixed(40, 24)]
    hidden = Fixed(40, 90)
    for widget in (*widgets[:2], hidden, widgets[2]):
        flow.addWidget(widget)
    hidden.hide()
    room.resize(width, flow.heightForWidth(width))
    room.show()
    assert tuple(widget.y() for widget in widgets) == tops
    assert flow.heightForWidth(width) == tops[2] + (26 if width == 200 else 24)
    assert [widget.size() for widget in widgets] == [widget.sizeHint() for widget in widgets]


SIZES = st.tuples(st.integers(1, 120), st.integers(1, 40))
CHANGES = st.one_of(
    st.tuples(st.just("become"), st.integers(0, 9), SIZES),
    st.tuples(st.sampled_from(["hide", "show", "take", "room"]), st.integers(0, 9), SIZES),
    st.tuples(st.just("add"), st.just(0), SIZES),
)


@given(st.lists(CHANGES, max_size=12), st.integers(40, 300))
def test_what_changes_is_placed_as_if_it_had_been_so_from_the_beginning(
    qapp: object, changes: list[Any], width: int
) -> None:
    """Hidden, shown, of another size, added, taken away, and in other room."""
    room = QWidget()
    flow = FlowLayout(room, GAP)
    there: list[Fixed] = []
    for kind, which, size in changes:
        if kind == "add":
            there.append(Fixed(*size))
            flow.addWidget(there[-1])
        elif kind == "room":
            width = 2 * size[0] + 20
        elif there:
            widget = there[which % len(there)]
            if kind == "take":
                flow.removeWidget(widget)
                there.remove(widget)
                widget.setParent(None)
            elif kind == "become":
                widget.become(*size)
            else:
                widget.setVisible(kind == "show")
        high = flow.heightForWidth(width)
        new_room = QWidget()
        new = FlowLayout(new_room, GAP)
        for widget in there:
            copy = Fixed(widget.sizeHint().width(), widget.sizeHint().height())
            new.addWidget(copy)
            copy.setVisible(not widget.isHidden())
        assert high == new.heightForWidth(width)
        for layout in (flow, new):
            layout.setGeometry(QRect(0, 0, width, high))
        copies = [new.itemAt(i).widget() for i in range(new.count())]
        for widget, copy in zip(there, copies, strict=True):
            assert widget.isHidden() or widget.geometry() == copy.geometry()


def test_of_many_widths_few_are_kept(qapp: object) -> None:
    room = QWidget()
    flow = FlowLayout(room, GAP)
    for width in (40, 70, 20):
        flow.addWidget(Fixed(width, 20))
    heights = [flow.heightForWidth(width) for width in range(30, 400)]
    assert len(flow._known) <= 8, "a dock is dragged wider, pixel by pixel"
    assert heights == [flow.heightForWidth(width) for width in range(30, 400)]
    assert len({*heights}) == 3


def test_lines_keep_their_distance(qtbot: Any) -> None:
    room = QWidget()
    qtbot.addWidget(room)
    flow = FlowLayout(room, GAP, line_gap=4)
    widgets = [Fixed(40, 28), Fixed(40, 20), Fixed(40, 24)]
    for widget in widgets:
        flow.addWidget(widget)
    room.resize(50, flow.heightForWidth(50))
    room.show()
    assert [widget.y() for widget in widgets] == [0, 32, 56]
    assert flow.heightForWidth(50) == 80
