"""The main window: canvas in the middle, docks around it, strips above it, status below."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from gui import icons, theme, windows
from gui.action_set import ActionSet
from gui.autosave import Autosave, Recovered, left_behind
from gui.banners import Banners
from gui.docks import Docks
from gui.files import Files
from gui.menus import MenuBar
from gui.panels.problem_rows import current_problems
from gui.panels.welcome import WelcomePage
from gui.settings import settings
from gui.status_bar import StatusBar
from gui.toolbar import ToolBar
from gui.views import Views
from gui.workspace import Workspace

if TYPE_CHECKING:
    from gui.canvas.view import GraphView

SIZE = (1600, 1000)
AHEAD = 60  # milliseconds between the panels that are made while the start page is looked at


class MainWindow(QMainWindow):
    """One workspace, shown. The canvas is made with the first document."""

    def __init__(self, workspace: Workspace, remember: bool = True) -> None:
        """`remember`: take size and layout from the last time, and leave them for the next."""
        super().__init__()
        self.setObjectName("main_window")
        self.workspace = workspace
        windows.add(self)
        self._remember = remember
        self.setWindowIcon(icons.application_icon())
        self.setDockOptions(
            QMainWindow.DockOption.AllowTabbedDocks | QMainWindow.DockOption.AllowNestedDocks
        )
        self.setAcceptDrops(True)
        self._canvas: GraphView | None = None
        self.files = Files(workspace, self)
        self.actions_ = ActionSet(workspace, self)
        self.autosave = Autosave(workspace, self)
        self._build_center()
        self._build_frame()
        self._connect()
        self._restore()
        self._show_document()
        self._prepare = QTimer(self, interval=AHEAD)
        self._prepare.timeout.connect(self._prepare_next)

    # -- parts --------------------------------------------------------------------------------

    @property
    def canvas(self) -> GraphView:
        """The node editor, made now if it was not yet."""
        if self._canvas is None:
            from gui.canvas.view import GraphView
            from gui.pointer_keys import PointerKeys

            self._canvas = GraphView(self.workspace)
            self._pages.addWidget(self._canvas)
            self._keys = PointerKeys(self, self._canvas)
            self._canvas.zoom_changed.connect(self.status.show_zoom)
        return self._canvas

    @property
    def is_drawn(self) -> bool:
        """Whether nothing is left to be drawn later."""
        return self.workspace.is_open or self.welcome.is_drawn

    def _build_center(self) -> None:
        center = QWidget()
        column = QVBoxLayout(center)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.banners = Banners(self.workspace)
        for banner in self.banners.all:
            column.addWidget(banner)
        self._pages = QStackedWidget()
        self.welcome = WelcomePage(self.workspace)
        self._pages.addWidget(self.welcome)
        column.addWidget(self._pages, 1)
        self.setCentralWidget(center)

    def _build_frame(self) -> None:
        self.docks = Docks(self.workspace, self)
        self.toolbar = ToolBar(self.workspace, self.actions_)
        self.addToolBar(self.toolbar)
        self.menu = MenuBar(self.workspace, self.actions_, self.docks)
        self.setMenuBar(self.menu)
        self.status = StatusBar(self.workspace)
        self.setStatusBar(self.status)
        for row, action in self.actions_:
            if not row.canvas:
                self.addAction(action)

    def _connect(self) -> None:
        workspace, self.views = self.workspace, Views(self)
        workspace.view_requested.connect(self.views.run)
        workspace.block_requested.connect(self.views.ask_block)
        workspace.document_opened.connect(self._show_document)
        workspace.file_changed.connect(self._show_name)
        workspace.theme_changed.connect(self._dress)
        workspace.message.connect(self._say)
        for signal in (
            workspace.document_changed,
            workspace.program_changed,
            workspace.stopped,
            workspace.table_changed,
            workspace.soundness.changed,
        ):
            signal.connect(self._count_problems)
        workspace.document_changed.connect(self._offer_note)
        self._tidy_soon = QTimer(self, singleShot=True, interval=0)
        self._tidy_soon.timeout.connect(self.docks.tidy)
        for dock in self.docks.by_id.values():
            dock.dockLocationChanged.connect(self._tidy_soon.start)
            dock.topLevelChanged.connect(self._tidy_soon.start)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_desktop)

    # -- what is shown ------------------------------------------------------------------------

    def _show_document(self) -> None:
        is_open = self.workspace.is_open
        self._pages.setCurrentWidget(self.canvas if is_open else self.welcome)
        self.docks.set_shown(is_open)
        self._offer_note()
        self.toolbar.setVisible(is_open)
        if is_open:
            self.canvas.setFocus()
            # Once the docks around it have their sizes.
            QTimer.singleShot(0, self.canvas.first_look)
        else:
            self.status.zoom.setText("")
        self._tidy_soon.start()
        self._show_name()

    def _show_name(self) -> None:
        workspace = self.workspace
        if not workspace.is_open:
            self.setWindowTitle("Gradstep")
            self.setWindowModified(False)
            self.menu.show_name("")
            return
        modified = not workspace.undo_stack.isClean()
        self.setWindowTitle(f"{workspace.name}[*] · Gradstep")
        self.setWindowModified(modified)
        self.menu.show_name(f"{workspace.name}{' •' if modified else ''}")

    def _count_problems(self) -> None:
        count = sum(row.severity != "info" for row in current_problems(self.workspace))
        self.docks.by_id["problems"].say(f"Problems {count}" if count else "Problems")

    def _offer_note(self) -> None:
        """Show the note of a document that has one, or that is getting one."""
        self.docks.offer("note", self.workspace.document.has_note)

    def _say(self, level: str, text: str) -> None:
        if level == "info":
            self.status.remark(text)
        else:
            self.banners.say(level, text)

    def _dress(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self.workspace.theme)

    def _follow_desktop(self) -> None:
        if settings().theme == "system":
            self.workspace.set_theme(theme.system())

    def _prepare_next(self) -> None:
        """Make what the first document will need, a piece at a time, so that it opens at once."""
        if not self.welcome.is_drawn:
            return
        if not self.docks.prepare_one():
            _ = self.canvas
            self._prepare.stop()

    # -- from start to end ----------------------------------------------------------------------

    def offer_recovery(self) -> None:
        """Offer what another window did not get to save."""
        found = next(left_behind(), None)
        if found is not None:
            self.banners.offer(found, lambda: self._recover(found), found.discard)

    def _recover(self, found: Recovered) -> None:
        self.files.recover(found)

    def reset_layout(self) -> None:
        """Every panel where it was at first."""
        self.docks.reset()
        self._offer_note()
        self._tidy_soon.start()

    def _restore(self) -> None:
        self.resize(*SIZE)
        self._tidy_soon.start()
        if not self._remember:
            return
        geometry, state = settings().window("geometry"), settings().window("state")
        if geometry is not None:
            self.restoreGeometry(geometry)
        if state is not None:
            self.docks.layout = state

    def discard(self) -> None:
        """Close without asking; unsaved edits are lost."""
        self.workspace.undo_stack.setClean()
        self.close()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._canvas is None:
            self._prepare.start()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.files.may_leave():
            event.ignore()
            return
        if self._remember:
            settings().set_window("geometry", self.saveGeometry())
            settings().set_window("state", self.docks.current_layout())
        self.autosave.close()
        self.workspace.close()
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A key that nobody took."""
        if self._canvas is None or not self._keys.take(event):
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = _dropped(event)
        if path is not None:
            event.acceptProposedAction()
            self.files.open(path)


def _dropped(event: QDropEvent) -> Path | None:
    """The one file that is being dropped; None for anything else."""
    urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
    return Path(urls[0].toLocalFile()) if len(urls) == 1 else None
