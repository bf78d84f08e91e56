"""What a classifier gets wrong: the confusion matrix, and the rows with the largest loss."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QStackedWidget, QVBoxLayout

from gradstep.core.protocol.class_queries import RowShare
from gradstep.core.protocol.messages import Classified
from gradstep.gui import commands
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.class_view import ClassView
from gradstep.gui.model.number_text import scalar
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.classes.class_matrix import ClassMatrix, class_name
from gradstep.gui.panels.classes.surface_view import SurfaceView
from gradstep.gui.panels.classes.worst_pictures import WorstPictures
from gradstep.gui.panels.classes.worst_table import WIDTHS, WorstTable
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.scroll_area import scroll_area
from gradstep.gui.panels.widgets.small_labels import Link, Text

SHARES: dict[RowShare, str] = {
    "held": "rows held back",
    "trained": "rows trained on",
    "test": "rows to test on",
}
WIDE = 1.4  # times as wide as high: the matrix stands beside the rows


class ClassesPanel(Panel):
    """A click on a cell confines the rows to those of it; one on a row shows it in Data."""

    title = "Classes"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "classes")
        self.view = ClassView(workspace, self)
        self.share = QComboBox()
        self.share.setObjectName("classes.share")
        self.share.setAccessibleName(self.tr("Which rows are looked at"))
        self._shares: list[RowShare] = []  # as it offers them
        self.said = Text(lambda: self.theme)
        self.said.setObjectName("classes.said")
        self.caption = Text(lambda: self.theme, "muted")
        self.caption.setObjectName("classes.caption")
        self.every = Link(lambda: self.theme, self.tr("All rows"), "classes.every")
        self.matrix = ClassMatrix(lambda: self.theme)
        self.pictures = WorstPictures(lambda: self.theme)
        self.surface = SurfaceView(lambda: self.theme)
        self.rows = WorstTable()
        self.table = FlatTable(
            lambda: self.theme, self.rows, "classes.table", WIDTHS, len(WIDTHS), margin=8
        )
        self.table.setAccessibleName(self.tr("Rows with the largest loss"))
        self._lay_out()
        self._connect()
        self.refresh()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, GRID, 12, GRID // 2)
        head.setSpacing(GRID)
        head.addWidget(self.share)
        head.addWidget(self.said, 1)
        above = QHBoxLayout()
        above.setContentsMargins(0, 0, 12, 2)
        above.addWidget(self.caption, 1)
        above.addWidget(self.every)
        self.lists = QStackedWidget()
        self.area = scroll_area(self.pictures)
        self.area.setObjectName("classes.scroll")
        self.lists.addWidget(self.area)
        self.lists.addWidget(self.table)
        self.lists.addWidget(self.surface)
        lists = QVBoxLayout()
        lists.setSpacing(0)
        lists.addLayout(above)
        lists.addWidget(self.lists, 1)
        self.body = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self.body.setContentsMargins(12, 0, 0, 0)
        self.body.setSpacing(GRID)
        self.body.addWidget(self.matrix)
        self.body.addLayout(lists)
        self.column.addLayout(head)
        self.column.addLayout(self.body, 1)

    def _connect(self) -> None:
        space = self.workspace
        self.follow(self.refresh, self.view.changed, space.document_changed)
        self.follow(
            self.view.look,
            space.program_changed,
            space.document_opened,
            space.stopped,
            space.training.changed,
        )
        self.share.activated.connect(lambda at: self.view.choose_share(self._shares[at]))
        self.every.clicked.connect(lambda: self.view.choose_cell(None))
        self.matrix.chosen.connect(self._choose)
        self.matrix.hovered.connect(self._say)
        self.pictures.chosen.connect(self._show_row)
        self.surface.chosen.connect(self._show_row)
        self.view.drawn.connect(self.surface.show_surface)
        self.table.opened.connect(lambda place: self._show_row(self._row_at(place)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Beside each other where there is the room."""
        super().resizeEvent(event)
        across = self.width() > WIDE * self.height()
        way = QBoxLayout.Direction.LeftToRight if across else QBoxLayout.Direction.TopToBottom
        self.body.setDirection(way)

    def seen(self) -> None:
        super().seen()
        self.view.look()
        self.refresh()

    def unseen(self) -> None:
        self.workspace.training.surface = False

    # -- what is shown -------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show what the engine said last."""
        view, seen = self.view, self.view.seen
        if seen is None:
            self.show_empty(self._why_empty())
            return
        self._offer_shares()
        self.said.set_text(self._summary(seen))
        self.matrix.show_counts(seen, view.cell)
        self._show_rows(seen)
        self.every.setVisible(view.cell is not None)
        self._say("")
        self.show_content()

    def _offer_shares(self) -> None:
        """Where there are several."""
        shares = [*self.view.shares]
        if shares != self._shares:
            self._shares = shares
            self.share.clear()
            self.share.addItems([self.tr(SHARES[share]) for share in shares])
        self.share.setVisible(len(shares) > 1)
        self.share.setCurrentIndex(shares.index(self.view.share))

    def _show_rows(self, seen: Classified) -> None:
        """On the plane, as pictures or as numbers: as they are."""
        self.surface.show_answer(seen)
        self.pictures.show_rows(seen, self.view.pixels)
        self.rows.show_rows(seen)
        flat = seen.surface is not None
        self.lists.setCurrentWidget(
            self.surface if flat else self.area if seen.picture else self.table
        )
        self.workspace.training.surface = flat and self.is_seen
        for place, stretch in enumerate((1, 4) if flat else (3, 2)):
            self.body.setStretch(place, stretch)

    def _why_empty(self) -> str:
        if self.view.error:
            return self.view.error
        what = self.tr(
            "Of a network that classifies rows of data, this shows how many it gets right, which "
            "classes it takes for which, and the rows with the largest loss."
        )
        if not self.workspace.is_open:
            return what + " " + self.tr("Open a document first.")
        return what

    def _summary(self, seen: Classified) -> str:
        """ "89.7 % right · 322 of 359 rows · mean loss 0.903"."""
        counted = count_of(seen.counted, self.tr("row"))
        share = 100 * seen.right / max(seen.counted, 1)
        parts = [self.tr("{:.1f} % right").format(share)]
        parts.append(self.tr("{:,} of {}").format(seen.right, counted))
        parts.append(self.tr("mean loss {}").format(scalar(float(f"{seen.loss:.4g}"))))
        if seen.broken:
            parts.append(self.tr("{:,} not finite").format(seen.broken))
        if seen.counted < seen.total:
            parts.append(self.tr("{:,} by chance of {:,}").format(seen.counted, seen.total))
        if len(seen.classes) < seen.known:
            words = self.tr("the {:,} classes of {:,} that are confused most")
            parts.append(words.format(len(seen.classes), seen.known))
        return " · ".join(parts)

    def _say(self, words: str) -> None:
        """What a cell says, or else which rows are listed."""
        view, seen = self.view, self.view.seen
        if words or seen is None:
            self.caption.set_text(words, "text")
        elif view.cell is None:
            flat = self.tr("Where which class is seen; ringed: wrong")
            worst = self.tr("Rows with the largest loss")
            self.caption.set_text(worst if seen.surface is None else flat, "muted")
        else:
            names = (class_name(seen, number) for number in view.cell)
            rows = count_of(seen.found, self.tr("row"))
            self.caption.set_text(
                self.tr("{} of class {} taken for {}").format(rows, *names), "muted"
            )

    # -- the user ------------------------------------------------------------------------------

    def _choose(self, cell: object) -> None:
        self.view.choose_cell(cell if isinstance(cell, tuple) else None)

    def _row_at(self, place: int) -> int:
        assert self.rows.seen is not None
        return self.rows.seen.worst[place].row

    def _show_row(self, row: int) -> None:
        seen = self.view.seen
        commands.show_row(self.workspace, row, "" if seen is None else seen.input)
