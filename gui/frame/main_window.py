"""The main window: canvas in the middle, docks around it, strips above it, status below."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QMoveEvent,
    QPaintEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.visible_text import visible
from gradstep.gui.frame.menus import MenuBar
from gradstep.gui.frame.status_bar import StatusBar
from gradstep.gui.frame.window_placement import WANTED, place_first
from gradstep.gui.look import icons, theme
from gradstep.gui.model.once_told import OnceTold
from gradstep.gui.model.settings import settings
from gradstep.gui.panels.welcome.opening_page import OpeningPage
from gradstep.gui.panels.welcome.welcome_page import WelcomePage

if TYPE_CHECKING:
    from gradstep.core.io.disk.file_stamp import OnDisk
    from gradstep.gui.actions.action_set import ActionSet
    from gradstep.gui.canvas.view import GraphView
    from gradstep.gui.frame.banners import Banners
    from gradstep.gui.frame.docks import Docks
    from gradstep.gui.frame.document_files import Files
    from gradstep.gui.frame.toolbar import ToolBar
    from gradstep.gui.frame.window_commands import Views
    from gradstep.gui.model.autosave import Autosave, Recovered
    from gradstep.gui.model.file_watch import FileWatch
    from gradstep.gui.model.workspace import MessageLevel, Workspace

NESTED = 8  # layouts in each other, at most
BLINK = 300  # milliseconds that a file may take to be read before the window says so
AHEAD = 60  # milliseconds between the panels that are made while the start page is looked at


class MainWindow(QMainWindow):
    """One workspace, shown. The canvas is made with the first document.

    The window can be seen before its workspace is there, with the start page, the titles of the
    menus and the status bar: all that this module imports needs neither NumPy nor the engine's
    packages. `furnish` adds the rest; what the user asked for until then is done after it.
    """

    painted = Signal()  # for the first time

    workspace: Workspace
    files: Files
    actions_: ActionSet
    autosave: Autosave
    banners: Banners
    docks: Docks
    toolbar: ToolBar
    views: Views
    watch: FileWatch

    def __init__(
        self,
        workspace: Workspace | None = None,
        remember: bool = True,
        look: theme.Theme = theme.DARK,
    ) -> None:
        """remember: take size and layout from the last time, and leave them for the next. look: the
        theme, which is the workspace's from then on."""
        super().__init__()
        self.setObjectName("main_window")
        self._remember = remember
        self.look = look
        self._painted = False
        self._wishes: list[Callable[[], object]] | None = []  # until it is furnished
        self.setWindowIcon(icons.application_icon())
        self.setDockOptions(
            QMainWindow.DockOption.AllowTabbedDocks | QMainWindow.DockOption.AllowNestedDocks
        )
        self.setAcceptDrops(True)
        self._canvas: GraphView | None = None
        self._build()
        self._blink = QTimer(self, singleShot=True, interval=BLINK)
        self._blink.timeout.connect(self._show_opening)
        self.looks_ahead = True  # makes panels before they are wanted, for who will want them
        self._prepare = QTimer(self, interval=AHEAD)
        self._prepare.timeout.connect(self._prepare_next)
        self._restore()
        if workspace is not None:
            self.furnish(workspace)

    def furnish(self, workspace: Workspace) -> None:
        """Give the window its workspace, and all that shows it."""
        from gradstep.gui.actions.action_set import ActionSet
        from gradstep.gui.actions.action_table import ACTIONS
        from gradstep.gui.canvas.scene.foreseen_scene import foresee_scene
        from gradstep.gui.frame.document_files import Files
        from gradstep.gui.frame.window_commands import Views
        from gradstep.gui.model import shown_workspaces
        from gradstep.gui.model.autosave import Autosave
        from gradstep.gui.model.file_watch import FileWatch

        self.workspace, self.look = workspace, workspace.theme
        workspace.reader.draw_ahead = foresee_scene
        shown_workspaces.add(self)
        self.files = Files(workspace, self)
        self.actions_ = ActionSet(workspace, self, ACTIONS)
        self.autosave = Autosave(workspace, self)
        self.watch = FileWatch(workspace, self)
        self.watch.found.connect(self._show_file_state)
        self._add_banners()
        self._add_frame()
        self.views = Views(self)
        self._connect()
        self._show_document()
        wishes, self._wishes = self._wishes, None
        for wish in wishes or ():
            wish()

    @property
    def is_furnished(self) -> bool:
        """Whether there is a workspace."""
        return self._wishes is None

    def when_furnished(self, wish: Callable[[], object]) -> None:
        """Do it now, or as soon as the workspace is there."""
        if self._wishes is None:
            wish()
        else:
            self._wishes.append(wish)

    # -- parts --------------------------------------------------------------------------------

    @property
    def canvas(self) -> GraphView:
        """The node editor, made now if it was not yet."""
        if self._canvas is None:
            from gradstep.gui.canvas.view import GraphView
            from gradstep.gui.frame.keys_under_pointer import PointerKeys

            self._canvas = GraphView(self.workspace)
            self._pages.addWidget(self._canvas)
            self._keys = PointerKeys(self, self._canvas)
            self._canvas.zoom_changed.connect(self.status.show_zoom)
        return self._canvas

    @property
    def is_drawn(self) -> bool:
        """Whether nothing is left to be drawn later."""
        return self.workspace.is_open or self.welcome.is_drawn

    def _build(self) -> None:
        """What needs no workspace."""
        center = QWidget()
        self._column = QVBoxLayout(center)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._pages = _Pages()
        self._pages.pushed.connect(self._hold_still)
        self.welcome = WelcomePage(lambda: self.look)
        self.welcome.opened.connect(self._open)
        self.welcome.asked.connect(lambda id: self.when_furnished(lambda: self.actions_.run(id)))
        self.welcome.failed.connect(self._complain)
        self._pages.addWidget(self.welcome)
        self._opening = OpeningPage(lambda: self.look)
        self._opening.canceled.connect(lambda: self.workspace.reader.stop())
        self._pages.addWidget(self._opening)
        self._column.addWidget(self._pages, 1)
        self.setCentralWidget(center)
        self.menu = MenuBar()
        self.setMenuBar(self.menu)
        self.status = StatusBar()
        self.setStatusBar(self.status)

    def _add_banners(self) -> None:
        from gradstep.gui.frame.banners import Banners

        self.banners = Banners(self.workspace)
        for place, banner in enumerate(self.banners.all):
            self._column.insertWidget(place, banner)

    def _add_frame(self) -> None:
        from gradstep.gui.frame.docks import Docks
        from gradstep.gui.frame.late_menus import LateMenus
        from gradstep.gui.frame.toolbar import ToolBar

        self.docks = Docks(self.workspace, self)
        self.docks.layout = settings().window("state") if self._remember else None
        self.toolbar = ToolBar(self.workspace, self.actions_)
        self.addToolBar(self.toolbar)
        self.menu.fill(self.actions_)
        self._late_menus = LateMenus(self.menu, self.workspace, self.docks)
        self.status.follow(self.workspace)
        self.welcome.explain_buttons(self.actions_)
        for row, action in self.actions_:
            if not row.canvas:
                self.addAction(action)

    def _connect(self) -> None:
        workspace = self.workspace
        workspace.view_requested.connect(self.views.run)
        workspace.block_requested.connect(self.views.ask_block)
        workspace.document_opened.connect(self._show_document)
        workspace.reader.changed.connect(self._wait_for_reading)
        workspace.file_changed.connect(self._show_name)
        workspace.theme_changed.connect(self._dress)
        workspace.message.connect(self._say)
        problems = OnceTold(workspace.debugger, self._count_problems, self)
        for signal in (
            workspace.document_changed,
            workspace.program_changed,
            workspace.stopped,
            workspace.table_changed,
            workspace.soundness.changed,
            workspace.lints.changed,
        ):
            signal.connect(problems.hear)
        workspace.document_changed.connect(self._offer_note)
        workspace.followed.changed.connect(self._offer_followed)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_desktop)

    # -- what is shown ------------------------------------------------------------------------

    def _wait_for_reading(self) -> None:
        """Something else is shown once a file takes longer than a blink, so that nothing of the old
        document can be taken for the new one, or edited in vain."""
        if self.workspace.reader.name:
            self._opening.say(self.workspace.reader.name)
            self._blink.start()
        else:
            self._blink.stop()
            if self._pages.currentWidget() is self._opening:  # there is no other document
                self._show_document()

    def _show_opening(self) -> None:
        self._pages.setCurrentWidget(self._opening)
        self.docks.set_blank(True)
        self.toolbar.setEnabled(False)

    def _show_document(self) -> None:
        is_open = self.workspace.is_open
        self._pages.setCurrentWidget(self.canvas if is_open else self.welcome)
        self.docks.set_blank(False)
        self.docks.set_shown(is_open)
        self._offer_note()
        if not is_open and self.workspace.followed.greeting is not None:
            self.docks.show("training")
        self.toolbar.setVisible(is_open)
        self.toolbar.setEnabled(True)
        if is_open:
            self.canvas.setFocus()
        else:
            self.status.zoom.setText("")
        self.docks.tidy_soon()
        self._show_name()

    def _hold_still(self, down: int) -> None:
        if self._canvas is not None and self._pages.currentWidget() is self._canvas:
            self._canvas.push(down)

    def _show_name(self) -> None:
        workspace = self.workspace
        if not workspace.is_open:
            self.setWindowTitle("Gradstep")
            self.setWindowModified(False)
            self.menu.show_name("")
            return
        modified = workspace.is_changed
        name = visible(workspace.name).replace("[*]", "[*][*]")  # which Qt takes for one
        self.setWindowTitle(f"{name}[*] · Gradstep")
        self.setWindowModified(modified)
        self.menu.show_name(workspace.name, modified)

    def _count_problems(self) -> None:
        from gradstep.gui.model.problem_rows import count_problems

        count = count_problems(self.workspace)
        self.docks.by_id["problems"].say(f"Problems {count}" if count else "Problems")

    def _offer_note(self) -> None:
        """Show the note of a document that has one, or that is getting one."""
        self.docks.offer("note", self.workspace.document.has_note)

    def _offer_followed(self) -> None:
        """Without a document the training panel has nothing to show but what is followed."""
        if self.workspace.followed.greeting is None:
            self.docks.hide_alone("training")

    def _say(self, level: MessageLevel, text: str) -> None:
        if level == "info":
            self.status.remark(text)
            self.banners.take_back_complaint()
        else:
            self.banners.say(level, text)

    def _dress(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.look = self.workspace.theme
        theme.apply(app, self.look)
        self.welcome.restyle()

    def _follow_desktop(self) -> None:
        if settings().theme == "system":
            self.workspace.set_theme(theme.system())

    def prepare(self) -> None:
        """Make what the first document will need while nothing else is to do."""
        if self._canvas is None and self.looks_ahead:
            self._prepare.start()

    def _prepare_next(self) -> None:
        """One piece of it, so that the window answers in between."""
        if not self.welcome.is_drawn:
            return
        if not self.docks.prepare_one():
            _ = self.canvas
            self._prepare.stop()

    # -- from start to end ----------------------------------------------------------------------

    def report(self, text: str) -> None:
        """Say that something went wrong inside."""
        self.when_furnished(lambda: self.workspace.say(text, "error"))

    def _open(self, path: Path) -> None:
        self.when_furnished(lambda: self.files.open(path))

    def _complain(self, error: GradstepError) -> None:
        self.when_furnished(lambda: self.workspace.complain(error))

    def offer_recovery(self) -> None:
        """Offer what another window did not get to save."""
        from gradstep.gui.dialogs import confirm_dialog
        from gradstep.gui.model.autosave import left_behind

        found = left_behind()
        if found:
            first = found[0]

            def discard() -> None:
                if confirm_dialog.confirm(
                    self,
                    "Unsaved edits",
                    f"Discard the unsaved edits of {first.name}, from {first.when:%d %B, %H:%M}?",
                    "Nothing else holds them.",
                    "Discard",
                    "Keep",
                ):
                    first.discard()
                self.offer_recovery()

            self.banners.offer(first, lambda: self.recover(first), discard, len(found) - 1)

    def recover(self, found: Recovered) -> None:
        """Show unsaved work that another window left behind, and offer what else there is. Where
        there is unsaved work already it gets a window of its own."""
        window = self.open_beside() if self.workspace.is_changed else self
        if not window.files.recover(found, window.autosave, self.offer_recovery):
            self.offer_recovery()

    def open_beside(self) -> MainWindow:
        """Open one more window, on the start page, with an engine process of its own."""
        from gradstep.gui.frame import open_windows
        from gradstep.gui.frame.startup import furnish

        self._dress()  # the look is the application's: another window may have changed it
        new = MainWindow(None, remember=False, look=self.look)
        furnish(new, self.workspace.bridge.engine)
        open_windows.show_beside(new, self)
        return new

    def tidy_folders(self) -> None:
        """Complete or remove, beside the main thread, what a bad end left half done."""
        from gradstep.gui.model import autosave
        from gradstep.gui.model.background_work import Background

        folders = autosave.places()
        Background(self).run(lambda: autosave.tidy(folders), lambda _: None, lambda _: None)

    def _show_file_state(self, found: OnDisk | None) -> None:
        if found is None:
            self.banners.file.hide()
            return
        answers = {
            "reload": self.files.reload,
            "compare": self.files.compare,
            "keep": lambda: self.files.keep_mine(found),
        }
        self.banners.say_changed(found.is_there, answers)

    def end(self) -> None:
        """Close without asking; unsaved edits are left for the next start to offer."""
        self.autosave.close(leave=True)
        self._remember_layout()
        self.workspace.close()

    def reset_layout(self) -> None:
        """Every panel where it was at first."""
        self.docks.reset()
        self._offer_note()
        self.docks.tidy_soon()

    def _restore(self) -> None:
        if not self._remember:
            self.resize(WANTED)
            return
        geometry = settings().window("geometry")
        if geometry is None or not self.restoreGeometry(geometry):
            place_first(self)

    def discard(self) -> None:
        """Close without asking; unsaved edits are lost."""
        self.workspace.give_up_changes()
        self.close()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.UpdateRequest:
            _lay_out()
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.is_furnished:
            self.prepare()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            self.painted.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        came = event.type() is QEvent.Type.ActivationChange and self.isActiveWindow()
        if came and self._canvas is not None:
            self._keys.hold_focus()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.is_furnished:
            event.accept()
            return
        if self.workspace.is_saving or not self.files.may_leave():
            event.ignore()
            return
        self._remember_layout()
        self.autosave.close()
        for beside in self.findChildren(QWidget):  # panels that float, the guide
            if beside.isWindow():
                beside.hide()
        self.workspace.close()
        event.accept()

    def _remember_layout(self) -> None:
        if self._remember:
            settings().set_window("geometry", self.saveGeometry())
            settings().set_window("state", self.docks.current_layout())

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
            self._open(path)


class _Pages(QStackedWidget):
    """pushed: by how many pixels the strips above have moved it down, before its size follows."""

    pushed = Signal(int)

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self.pushed.emit(event.pos().y() - event.oldPos().y())


def _lay_out() -> None:
    """Lay out whatever waits for that before it is painted. Left to itself Qt goes up by one widget
    at a time, and paints in between."""
    for _ in range(NESTED):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)


def _dropped(event: QDropEvent) -> Path | None:
    """The one file that is being dropped; None for anything else."""
    urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
    return Path(urls[0].toLocalFile()) if len(urls) == 1 else None
