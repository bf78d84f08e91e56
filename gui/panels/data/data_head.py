"""The top of the data panel: the source, the batches, the order, and what is held back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from gradstep.core.document.dataset import Dataset
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID, Theme, mono
from gradstep.gui.panels.widgets.breaking_row import BreakingRow
from gradstep.gui.panels.widgets.small_labels import Text

NARROW = 1240  # pixels; below, the line is broken in two


class DataHead(BreakingRow):
    """changed(name, value): of a Dataset's numbers. wrong(text): what a field cannot be."""

    changed = Signal(str, object)
    wrong = Signal(str)

    def __init__(self, theme: Callable[[], Theme]) -> None:
        super().__init__(NARROW)
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.choose = QPushButton(self.tr("Choose data"))
        self.choose.setObjectName("data.choose")
        self.choose.setAccessibleName(self.tr("Choose where rows come from"))
        self.choose.setMenu(QMenu(self.choose))
        self.said = Text(theme, "muted")
        self.said.setObjectName("data.said")
        first = QHBoxLayout()
        first.setSpacing(GRID)
        first.addWidget(self.choose)
        first.addWidget(self.said, 1)
        self.rows.addLayout(first, 1)
        self._numbers = QWidget()
        self._numbers.setLayout(self._number_fields())
        self.rows.addWidget(self._numbers)
        self.setLayout(self.rows)

    def _number_fields(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID - 2)  # all of it fits a panel of 680 pixels
        self.batch = self._field("batch", "Rows of a step", 46)
        self.shuffle = QCheckBox(self.tr("Shuffle, seed"))
        self.shuffle.setObjectName("data.shuffle")
        self.shuffle.setToolTip(
            self.tr("Each epoch has an order of its own, the same for the same seed")
        )
        self.shuffle.clicked.connect(self._note_shuffle)
        self.seed = self._field("seed", "Seed of the order", 40)
        self.validate = self._field("validate", "Share that is held back to validate on", 46)
        self.test = self._field("test", "Share that is held back to test on, once all is over", 46)
        self.limit = self._field("limit", "How many rows are taken", 54)
        self.drop_last = QCheckBox(self.tr("Drop last"))
        self.drop_last.setObjectName("data.drop_last")
        self.drop_last.setToolTip(self.tr("Leave out rows that are less than a batch"))
        self.drop_last.clicked.connect(lambda on: self.changed.emit("drop_last", on))
        parts: tuple[QWidget, ...] = (
            self._word("Batch"), self.batch, self.drop_last, self.shuffle, self.seed,
            self._word("Hold back"), self.validate, self._word("Test"), self.test,
            self._word("Rows"), self.limit,
        )  # fmt: skip
        for part in parts:
            row.addWidget(part)
        row.addStretch(0)
        return row

    def _word(self, words: str) -> Text:
        word = Text(self._theme, "muted")
        word.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        word.set_text(self.tr(words))
        return word

    def _field(self, name: str, words: str, width: int) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName(f"data.{name}")
        field.setAccessibleName(self.tr(words))
        field.setToolTip(plain(self.tr(words)))
        field.setFont(mono(12))
        field.setFixedWidth(width)
        field.editingFinished.connect(lambda: self._note(name, field.text().strip()))
        return field

    def show_data(self, data: Dataset | None, said: str) -> None:
        """What there is; None for none."""
        self.said.set_text(said)
        numbers = data or Dataset({})
        self.batch.setText(str(numbers.batch))
        self.shuffle.setChecked(numbers.shuffle is not None)
        self.seed.setText("" if numbers.shuffle is None else str(numbers.shuffle))
        self.validate.setText(f"{100 * numbers.validate:g} %" if numbers.validate else "none")
        self.test.setText(f"{100 * numbers.test:g} %" if numbers.test else "none")
        self.limit.setText(f"{numbers.limit:,}" if numbers.limit else "all")
        self.drop_last.setChecked(numbers.drop_last)
        self._numbers.setVisible(data is not None)
        self.seed.setEnabled(numbers.shuffle is not None)

    def _note_shuffle(self, on: bool) -> None:
        self.changed.emit("shuffle", 1 if on else None)

    def _note(self, name: str, text: str) -> None:
        try:
            number = _READ[name](text.replace(",", "").replace(" ", ""))
        except ValueError:
            self.wrong.emit(self.tr(_WANTED[name]))
            return
        self.changed.emit("shuffle" if name == "seed" else name, number)


def _whole(text: str, least: int) -> int:
    number = int(text)
    if not least <= number < 1 << 62:
        raise ValueError(text)
    return number


def _share(text: str) -> float:
    """ "20 %", "20%" and "0.2" alike; "none", "" and "0" for none."""
    if text.lower() in ("", "none", "0"):
        return 0.0
    share = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    share = share / 100 if 1 < share < 100 else share
    if not 0 < share < 1:
        raise ValueError(text)
    return share


_READ: dict[str, Callable[[str], object]] = {
    "batch": lambda text: _whole(text, 1),
    "seed": lambda text: _whole(text or "1", 0),  # what a tick at Shuffle gives
    "validate": _share,
    "test": _share,
    "limit": lambda text: 0 if text.lower() in ("", "all") else _whole(text, 1),
}
_WANTED = {
    "batch": "A batch has a whole number of rows, such as 32",
    "seed": "A seed is a whole number, such as 7",
    "validate": "What is held back is a share of the rows, such as 20 %",
    "test": "What is tested on is a share of the rows, such as 20 %",
    "limit": "Rows are a whole number, or all",
}
