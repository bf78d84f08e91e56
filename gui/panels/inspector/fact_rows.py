"""Rows of a caption and what it names: the inspector's grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gradstep.gui.look.theme import GRID, sans
from gradstep.gui.panels.widgets.flow_layout import FlowLayout
from gradstep.gui.panels.widgets.layout_rest import at_rest
from gradstep.gui.panels.widgets.small_labels import Text, ThemeSource, Wrapped

_CAPTION = (80, 144)  # pixels; a longer caption is cut
MANY = 64  # rows; if more are kept, all are made anew
_Key = tuple[str, str, int]  # caption, kind, and how many alike come before


class FactRow(NamedTuple):
    """make: its content, which says what `says` says. fill: has the content say that, also one that
    was made for a row of the same caption and kind before; None where it is made anew for each."""

    caption: str
    says: object
    make: Callable[[], QWidget]
    tip: str = ""
    fill: Callable[[Any], object] | None = None
    kind: str = ""


class _Kept:
    """A row that was made, and may be put aside until there is one of its kind again."""

    def __init__(self, row: FactRow, label: Text, content: QWidget) -> None:
        self.row, self.label, self.content = row, label, content
        self._names: list[tuple[QWidget, str]] | None = None  # while it is put aside

    @property
    def is_shown(self) -> bool:
        return self._names is None

    def put_aside(self) -> None:
        """Nobody sees it, or finds it by its name."""
        if self._names is None:
            inside = (self.content, *self.content.findChildren(QWidget))
            self._names = [(w, name) for w in inside if (name := w.objectName())]
            for widget, _ in self._names:
                widget.setObjectName("")
            self.label.hide()
            self.content.hide()

    def bring_back(self) -> None:
        """As it was; it is to be filled."""
        for widget, name in self._names or ():
            widget.setObjectName(name)
        self._names = None
        self.label.show()
        self.content.show()


class FactRows(QWidget):
    """Captions left and muted, content right; rows can be replaced, and are kept for when there is
    something to be said of the same kind."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._kept: dict[_Key, _Kept] = {}  # in the order of the rows of the grid
        self._captions: list[Text] = []
        self._aligned: tuple[FactRows, ...] = (self,)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(GRID // 4)
        self._grid.setColumnStretch(1, 1)

    def align_with(self, other: FactRows) -> None:
        """Have the content of both start at one line."""
        self._aligned = other._aligned = (self, other)

    def clear(self) -> None:
        """Remove all rows."""
        self._captions, self._kept = [], {}
        drop_all(self._grid)

    def show_rows(self, rows: Sequence[FactRow]) -> None:
        """These and no others. What says the same stays as it is; a row of a kind that was here
        before is filled anew."""
        wanted = dict(zip(_keys(rows), rows, strict=True))
        if len(self._kept.keys() | wanted.keys()) > MANY:
            self.clear()
        for key in [key for key in self._kept if key not in wanted]:
            self._put_aside(key)
        if [key for key in self._kept if key in wanted] != [*wanted]:
            self._make_room(wanted)
        before = self._captions
        with at_rest(self):
            self._captions = [self._shown(key, row).label for key, row in wanted.items()]
        if self._captions != before:
            self._fit()

    def _put_aside(self, key: _Key) -> None:
        kept = self._kept[key]
        if kept.row.fill is not None:
            kept.put_aside()
            return
        del self._kept[key]
        for widget in (kept.label, kept.content):
            self._grid.removeWidget(widget)
            drop(widget)

    def _make_room(self, wanted: Mapping[_Key, FactRow]) -> None:
        """Have the rows of the grid come in the order in which they are wanted."""
        known = self._kept
        for kept in known.values():
            self._grid.removeWidget(kept.label)
            self._grid.removeWidget(kept.content)
        made = {key: known.get(key) or self._made(row) for key, row in wanted.items()}
        self._kept = {key: made.get(key) or known[key] for key in _merged([*known], [*wanted])}
        for number, kept in enumerate(self._kept.values()):
            self._put(number, kept.label, kept.content)

    def _made(self, row: FactRow) -> _Kept:
        label = Text(self._theme, "muted", sans())
        label.set_text(row.caption)
        label.set_tip(row.tip)
        content = row.make()
        if row.fill is not None:
            row.fill(content)
        return _Kept(row, label, content)

    def _shown(self, key: _Key, row: FactRow) -> _Kept:
        """The row that was made, saying what it is to say."""
        kept = self._kept[key]
        before, kept.row = kept.row, row
        if not kept.is_shown:
            kept.bring_back()
        elif before.says == row.says:
            return kept
        if row.fill is None:
            self._replace(kept, row.make())
        else:
            row.fill(kept.content)  # of its kind, and so as high
        kept.label.set_tip(row.tip)
        return kept

    def _replace(self, kept: _Kept, content: QWidget) -> None:
        number = self._grid.getItemPosition(self._grid.indexOf(kept.content))[0]  # type: ignore[index]
        self._grid.removeWidget(kept.content)
        drop(kept.content)
        kept.content = content
        self._grid.removeWidget(kept.label)
        self._put(number, kept.label, content)

    def add(self, caption: str, content: QWidget, tip: str = "") -> None:
        """One more row, of those that are no others' again."""
        row = FactRow(caption, None, lambda: content, tip)
        kept = self._made(row)
        self._kept[caption, "", len(self._kept)] = kept
        self._captions.append(kept.label)
        self._put(self._grid.rowCount(), kept.label, content)
        self._fit()

    def _put(self, row: int, label: Text, content: QWidget) -> None:
        """The content beside its caption."""
        if isinstance(content, Wrapped):
            content.setContentsMargins(0, 2, 0, 2)  # as the caption has it
        _fit_height(label, content)
        self._grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._grid.addWidget(content, row, 1, _side(content))

    def _fit(self) -> None:
        """Captions as wide as the widest of them, within limits."""
        labels = [label for rows in self._aligned for label in rows._captions]
        widest = max((label.sizeHint().width() for label in labels), default=0)
        for label in labels:
            label.setFixedWidth(max(_CAPTION[0], min(widest, _CAPTION[1])))


def _keys(rows: Sequence[FactRow]) -> Iterator[_Key]:
    """Of each row its caption and kind, and how many of those came before it."""
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        key = row.caption, row.kind
        seen[key] = seen.get(key, -1) + 1
        yield (*key, seen[key])


def _merged(known: Sequence[_Key], wanted: Sequence[_Key]) -> list[_Key]:
    """All of both, the wanted ones in their order, the others where they were between them."""
    found: dict[_Key, None] = {}
    rest, asked = iter(known), {*wanted}
    for key in wanted:
        if key in known and key not in found:
            for other in rest:
                if other == key:
                    break
                if other not in asked:
                    found[other] = None
        found[key] = None
    return [*dict.fromkeys([*found, *known])]


def _fit_height(label: Text, content: QWidget) -> None:
    label.setFixedHeight(max(label.sizeHint().height(), _first_line(content)))


def _first_line(content: QWidget) -> int:
    """The height of what the caption stands beside; 0 for a text."""
    if isinstance(content, Wrapped):
        return 0
    layout = content.layout()
    item = layout.itemAt(0) if isinstance(layout, QVBoxLayout | FlowLayout) else None
    first = item.widget() if item is not None else None
    return (first or content).sizeHint().height()


def _side(content: QWidget) -> Qt.AlignmentFlag:
    """Left for what never grows: its column would not, and the captions' would."""
    stays = (QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum)
    is_fixed = content.sizePolicy().horizontalPolicy() in stays
    return Qt.AlignmentFlag.AlignLeft if is_fixed else Qt.AlignmentFlag(0)


def flow_of(*widgets: QWidget) -> QWidget:
    """Widgets side by side, on as many lines as they need, as one."""
    flow = QWidget()
    places = FlowLayout(flow)
    for widget in widgets:
        places.addWidget(widget)
    return flow


def line_of(*widgets: QWidget) -> QWidget:
    """Widgets side by side, as one."""
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(GRID)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return line


def drop_all(layout: QLayout) -> None:
    """Remove every widget of a layout; they vanish at once and are deleted soon."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            drop(widget)


def drop(widget: QWidget) -> None:
    """It vanishes at once and is deleted soon."""
    widget.hide()
    widget.setParent(None)
    widget.deleteLater()
