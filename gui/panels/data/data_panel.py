"""The data panel: rows from a file or a set, mapped to placeholders, and the batch of this run."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.problems import DATA_ROWS
from gradstep.core.protocol.messages import BatchSeen
from gradstep.gui import commands
from gradstep.gui.dialogs.file_choice import ask_open
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.plain_text import add_row, plain
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.data.batch_table import BatchRows
from gradstep.gui.panels.data.column_rows import ColumnRows
from gradstep.gui.panels.data.data_head import DataHead
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.scroll_area import scroll_area
from gradstep.gui.panels.widgets.small_labels import Link, Text, Wrapped

_ROW, _CELLS = 72, 160  # pixels, of the table's columns; the least of those that share


class DataPanel(Panel):
    """What is chosen here is an edit of the document."""

    title = "Data"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "data")
        self.setAcceptDrops(True)
        self.head = DataHead(lambda: self.theme)
        self.columns = ColumnRows(lambda: self.theme)
        self.wrong = Wrapped(lambda: self.theme, "data.wrong", "problem")
        self.retry = Link(lambda: self.theme, self.tr("Read again"), "data.retry")
        self.free = Link(lambda: self.theme, self.tr("Take any number of rows"), "data.free")
        self.hint = Wrapped(lambda: self.theme, "data.hint", "muted")
        self.hint.setContentsMargins(12, GRID, 12, GRID)
        self.rows = BatchRows()
        self.table = FlatTable(lambda: self.theme, self.rows, "data.rows", (_ROW,))
        self.table.setAccessibleName(self.tr("Rows that this run is fed"))
        self.batch = Text(lambda: self.theme, "muted")
        self.batch.setObjectName("data.fed")
        self.back = Link(lambda: self.theme, self.tr("Back to the batch"), "data.back")
        self.again = Link(lambda: self.theme, self.tr("Read again"), "data.again")
        self.column.addWidget(self.head)
        refused = QHBoxLayout()
        refused.setContentsMargins(12, 0, 12, GRID // 2)
        refused.addWidget(self.wrong, 1)
        refused.addWidget(self.free)
        refused.addWidget(self.retry)
        self.column.addLayout(refused)
        self.column.addLayout(self._body(), 1)
        self._typed_wrong = ""
        self._connect()
        self.refresh()

    def _body(self) -> QHBoxLayout:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.columns)
        column.addWidget(self.hint)
        column.addStretch(1)
        self._fed = QWidget()
        right = QVBoxLayout(self._fed)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        line = QHBoxLayout()
        line.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        line.addWidget(self.batch, 1)
        line.addWidget(self.back)
        line.addWidget(self.again)
        right.addLayout(line)
        right.addWidget(self.table, 1)
        area = scroll_area(left)
        area.setObjectName("data.scroll")
        area.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(area, 1)
        row.addWidget(self._fed, 1)
        return row

    def _connect(self) -> None:
        space = self.workspace
        self.follow(self._forget_wrong, space.document_changed)
        self.follow(self.refresh, space.document_changed, space.program_changed, space.data.changed)
        self.follow(space.data.look, space.program_changed, space.stopped, space.training.changed)
        self.head.changed.connect(self._change)
        self.head.wrong.connect(self._say_wrong)
        self.head.choose.menu().aboutToShow.connect(self._offer)
        self.columns.fed.connect(self._feed)
        self.columns.to_pack.connect(lambda name: commands.pack_column(space, name))
        self.back.clicked.connect(space.data.look_again)
        self.free.clicked.connect(lambda: commands.free_rows(space, self._fixed))
        for link in (self.again, self.retry):
            link.clicked.connect(lambda: commands.read_data_again(space))

    # -- what is shown -------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show what the document has now, and what the engine says of it."""
        space = self.workspace
        if not space.is_open:
            self.show_empty(
                self.tr(
                    "Rows of data appear here: where they come from, which placeholders they are "
                    "fed to, and in what batches. Open a document first."
                )
            )
            return
        data = space.document.data
        self.head.show_data(data, self._said())
        self.columns.show_columns(
            [*commands.fed_kinds(space).items()], dict(space.document.columns), self._offered,
            commands.packed_counts(space.document),
        )  # fmt: skip
        self.hint.setText(self._how())
        self.hint.setVisible(bool(self.hint.text()))
        self._show_wrong()
        self._show_batch()
        self.show_content()
        self._survey()

    def seen(self) -> None:
        super().seen()
        self.workspace.data.look()
        self._survey()

    def _said(self) -> str:
        """How much there is."""
        space = self.workspace
        if space.data.reading:
            return self.tr("reading {}…").format(Path(space.data.reading).name)
        data = space.document.data
        if data is None:
            return self.tr("no data: every run is fed the same values")
        names = ", ".join(commands.source_names(space.document))
        info = space.program.data if space.program is not None else None
        if info is None or not info.rows:
            return names
        held = self.tr(", {:,} held back").format(info.held) if info.held else ""
        held += self.tr(", {:,} to test").format(info.tested) if info.tested else ""
        steps = count_of(info.per_epoch, "step")
        rows = count_of(info.rows, "row")
        return self.tr("{}: {}{} · {} an epoch").format(names, rows, held, steps)

    def _how(self) -> str:
        space = self.workspace
        if space.document.data is not None:
            return ""
        if commands.fed_kinds(space):
            return self.tr(
                "Choose data: a set that comes with Gradstep, or a file, which can also be dropped "
                "here. Its columns go to the placeholders above, as names and shapes suggest, and "
                "run after run is fed another batch."
            )
        return self.tr(
            "Choose data: a set that comes with Gradstep, or a file, which can also be dropped "
            "here. Placeholders for its columns, x and y, are made with it."
        )

    def _show_wrong(self) -> None:
        refused = self._refused()
        text = self._typed_wrong or self.workspace.data.error or refused
        self.wrong.setText(text)
        self.wrong.setVisible(bool(text))
        named = self.workspace.document.columns.values()
        is_of_files = text == refused != "" and any(one.startswith("@") for one in named)
        is_fixed = text == refused != "" and bool(self._fixed)
        self.retry.setVisible(is_of_files and not is_fixed)  # they may have been mended meanwhile
        self.free.setVisible(is_fixed)

    @property
    def _fixed(self) -> str:
        """The placeholder that takes a fixed number of rows, and others than there are; "" for
        none."""
        problem = self.workspace.data.problem
        node = problem.node if problem is not None and problem.type == DATA_ROWS else None
        return node or ""

    def _refused(self) -> str:
        """What keeps the document's rows from being fed."""
        problem = self.workspace.data.problem
        if problem is None or self.workspace.document.data is None:
            return ""
        return f"{problem.message}. {problem.hint[:1].upper()}{problem.hint[1:]}"

    def _show_batch(self) -> None:
        space = self.workspace
        batch = space.data.batch if space.document.data is not None else None
        said = "" if batch is None else self._changed(batch)
        self._fed.setVisible(batch is not None and bool(batch.rows or said))
        self.rows.show_batch(batch)
        self.table.set_widths((_ROW,))
        self.table.share_rest(range(1, len(self.rows.headers)), _CELLS)
        if 0 <= space.data.marked < self.rows.count():
            self.table.selectRow(space.data.marked)
        self.again.setVisible(bool(said))
        self.back.setVisible(batch is not None and space.data.is_row)
        if said:
            self.batch.set_text(said, "problem")
        elif batch is not None and space.data.is_row:
            self.batch.set_text(f"{batch.text[:1].upper()}{batch.text[1:]}", "text")
        elif batch is not None and batch.text:
            self.batch.set_text(
                self.tr("Run {} is fed {}").format(batch.run + 1, batch.text), "text"
            )
        else:
            self.batch.set_text("")

    def _changed(self, batch: BatchSeen) -> str:
        """What has become of the files that rows were read from; "" where they are as they were."""
        said = []
        if batch.changed:
            said.append(self.tr("{} has changed on disk").format(", ".join(batch.changed)))
        if batch.gone:
            said.append(self.tr("{} is gone").format(", ".join(batch.gone)))
        return "; ".join(said)

    def _offered(self, ref: TensorRef) -> list[str]:
        """What a placeholder may be fed, of what was looked at."""
        space = self.workspace
        places = commands.places_of(space.document)
        surveys = [space.data.surveys[place] for place in places if place in space.data.surveys]
        kind = commands.fed_kinds(space).get(ref)
        return [] if kind is None else commands.offered_columns(space.document, surveys, ref, kind)

    def _survey(self) -> None:
        """Look at what the files offer that the document names, once."""
        if self.is_seen:
            for place in commands.places_of(self.workspace.document):
                self.workspace.data.know(place)

    # -- the user ------------------------------------------------------------------------------

    def _change(self, name: str, value: object) -> None:
        self._typed_wrong = ""
        commands.change_data(self.workspace, **{name: value})
        self._show_wrong()

    def _feed(self, name: str, text: str) -> None:
        self._forget_wrong()
        commands.feed_column(self.workspace, name, text)
        self._show_wrong()

    def _forget_wrong(self) -> None:
        """The fields say what the document has, or will at once."""
        self._typed_wrong = ""

    def _say_wrong(self, text: str) -> None:
        self._typed_wrong = text
        self._show_wrong()

    def _offer(self) -> None:
        from gradstep.core.data.built_in_sets import SETS

        menu, space = self.head.choose.menu(), self.workspace
        menu.clear()
        menu.setToolTipsVisible(True)
        menu.addAction(self.tr("File…"), self._ask_file)
        menu.addSeparator()
        for name, found in SETS.items():
            row = add_row(menu, name)
            row.setToolTip(plain(found.note))
            row.triggered.connect(lambda *_, name=name: commands.begin_data(space, name))
        menu.addSeparator()
        none = menu.addAction(self.tr("No data"), lambda: commands.drop_data(space))
        none.setEnabled(space.document.data is not None)

    def _ask_file(self) -> None:
        from gradstep.core.data.array_files import SUFFIXES

        suffixes = " ".join(f"*{suffix}" for suffix in SUFFIXES)
        chosen = ask_open(self, "data", self.tr("Choose data"), f"Data ({suffixes});;All files (*)")
        if chosen is not None:
            commands.begin_data(self.workspace, commands.place_of_file(chosen))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() and self.workspace.is_open:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
        if urls:
            event.acceptProposedAction()
            path = Path(urls[0].toLocalFile())
            commands.begin_data(self.workspace, commands.place_of_file(path))
