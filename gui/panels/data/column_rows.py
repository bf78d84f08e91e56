"""A line for each placeholder: which rows it is fed, and what is done to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QMenu, QPushButton, QSizePolicy, QWidget

from gradstep.core.document.dataset import short_text
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import TensorRef
from gradstep.gui.commands.row_packing import can_pack
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.plain_text import add_row, plain
from gradstep.gui.look.theme import GRID, Theme, mono
from gradstep.gui.panels.widgets.small_labels import Link, Text

_LEAST = 160  # pixels, of the field


class ColumnRows(QWidget):
    """fed(tensor, text): the user wants that a placeholder is fed these rows, "" for none.
    to_pack(tensor): that its rows are in the document."""

    fed = Signal(str, str)
    to_pack = Signal(str)

    def __init__(self, theme: Callable[[], Theme]) -> None:
        super().__init__()
        self._theme = theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(12, GRID // 2, GRID, GRID // 2)
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(GRID // 2)
        self._grid.setColumnStretch(1, 1)
        self._shown: object = None
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def show_columns(
        self,
        kinds: Sequence[tuple[TensorRef, TensorType]],
        texts: dict[str, str],
        offered: Callable[[TensorRef], Sequence[str]],
        packed: Mapping[str, int],
    ) -> None:
        """texts: what each tensor is fed; offered: what it may be fed; packed: how many rows, of
        those that are in the document."""
        rows = [
            (ref, kind, texts.get(str(ref), ""), tuple(offered(ref)), packed.get(str(ref)))
            for ref, kind in kinds
        ]
        if rows == self._shown:
            return
        self._shown = rows
        while (item := self._grid.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for place, row in enumerate(rows):
            self._add(place, *row)

    def _add(
        self,
        place: int,
        ref: TensorRef,
        kind: TensorType,
        text: str,
        offered: Sequence[str],
        count: int | None,
    ) -> None:
        name = Text(self._theme, "text", mono(12))
        name.set_text(f"{ref.short}  {kind}", "text" if text else "muted")
        name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        field = self._field(ref, text, offered)
        steps = QPushButton(self.tr("Transform"))
        steps.setObjectName(f"data.transform.{ref.short}")
        steps.setAccessibleName(self.tr("What is done to the rows of {}").format(ref.short))
        steps.setMenu(self._steps(ref, kind, field, steps))
        steps.setEnabled(bool(text))
        parts: list[QWidget] = [name, field, steps]
        if count is not None:
            parts.append(self._packed(ref, count))
        elif can_pack(text):
            parts.append(self._pack(ref))
        for column, widget in enumerate(parts):
            self._grid.addWidget(widget, place, column)

    def _pack(self, ref: TensorRef) -> Link:
        button = Link(self._theme, self.tr("Pack"), f"data.pack.{ref.short}")
        said = self.tr("Pack the rows of {} into the document").format(ref.short)
        button.setAccessibleName(said)
        button.setToolTip(plain(self.tr("{}: it needs no file for them then").format(said)))
        button.clicked.connect(lambda: self.to_pack.emit(str(ref)))
        return button

    def _packed(self, ref: TensorRef, count: int) -> Text:
        said = Text(self._theme, "muted")
        said.setObjectName(f"data.packed.{ref.short}")
        # The number first: where there is little room, it is to be whole.
        said.set_text(self.tr("{:,} packed").format(count))
        said.setAccessibleName(self.tr("packed, {}").format(count_of(count, "row")))
        said.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        return said

    def _field(self, ref: TensorRef, text: str, offered: Sequence[str]) -> QComboBox:
        field = QComboBox()
        field.setObjectName(f"data.column.{ref.short}")
        field.setAccessibleName(self.tr("Rows for {}").format(ref.short))
        field.setEditable(True)
        field.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        field.setMinimumWidth(_LEAST)
        field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        field.setFont(mono(12))
        for each in dict.fromkeys((*([text] if text else []), *offered)):
            field.addItem(short_text(each), each)
        field.addItem(self.tr("no data"), "")
        field.setCurrentIndex(0 if text else field.count() - 1)
        field.setToolTip(plain(text or self.tr("It is fed the value that it has")))
        line = field.lineEdit()
        assert line is not None
        line.setCursorPosition(0)
        field.activated.connect(lambda at: self.fed.emit(str(ref), field.itemData(at)))
        line.editingFinished.connect(partial(self._typed, ref, field))
        return field

    def _typed(self, ref: TensorRef, field: QComboBox) -> None:
        """What the user has written; what is offered stands for the whole of it."""
        line = field.lineEdit()
        if line is None or not line.isModified():  # the field was left as it was
            return
        line.setModified(False)
        written = field.currentText().strip()
        known = {field.itemText(i): field.itemData(i) for i in range(field.count())}
        self.fed.emit(str(ref), known.get(written, self._whole(written, known)))

    def _whole(self, written: str, known: dict[str, str]) -> str:
        """With the folder of the file that it names, where that is one that is known."""
        place = written.partition("|")[0].strip().partition(":")[0]
        for short, whole in known.items():
            start = short.partition("|")[0].strip().partition(":")[0]
            if start and start == place:
                return whole[: len(whole) - len(short)] + written if whole else written
        return written

    def _steps(self, ref: TensorRef, kind: TensorType, field: QComboBox, parent: QWidget) -> QMenu:
        menu, offered = QMenu(parent), _steps_for(kind)
        menu.aboutToShow.connect(lambda: self._offer(menu, ref, field.itemData(0), offered))
        return menu

    def _offer(
        self, menu: QMenu, ref: TensorRef, text: str, offered: Sequence[tuple[str, str]]
    ) -> None:
        from gradstep.gui.commands.data_commands import with_transform

        menu.clear()
        for words, step in offered:
            row = add_row(menu, f"{words}   {step}")
            changed = with_transform(text, step)
            row.triggered.connect(lambda *_, changed=changed: self.fed.emit(str(ref), changed))
        menu.addSeparator()
        row = menu.addAction(self.tr("Rows as they are"))
        row.setEnabled("|" in text)
        row.triggered.connect(lambda *_: self.fed.emit(str(ref), with_transform(text, "")))


_STEPS = (
    ("From 0 to 255 to at most 1", "scale(1/255)"),
    ("From 0 to 16 to at most 1", "scale(1/16)"),
    ("Mean 0, deviation 1", "standardise"),
    ("Classes as ones and zeros", "one_hot(10)"),
)


def _steps_for(kind: TensorType) -> Sequence[tuple[str, str]]:
    """What rows of a kind are offered: images what each epoch draws anew, too."""
    dims = kind.shape.dims or ()
    if len(dims) not in (3, 4):
        return _STEPS
    channels_first = len(dims) == 4 and (dims[1] or 9) <= 4 < (dims[3] or 9)
    height, width = dims[2:4] if channels_first else dims[1:3]
    images = [("Images turned left to right by chance", "flip()")]
    if height and width:
        crop = f"crop({height}, {width}, 2)"
        images.append(("Images moved by up to 2 pixels by chance", crop))
    return (*_STEPS, *images)
