"""From the first picture of the window to a window that can do everything."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from gradstep.core.errors import GradstepError
from gradstep.core.program.trust.example_index import is_bundled
from gradstep.gui.model.background_work import Background

if TYPE_CHECKING:
    from gradstep.core.host.file_reader import FileReader
    from gradstep.core.host.remote_engine import EngineChoice
    from gradstep.gui.frame.main_window import MainWindow

# What the window's parts import, so that the start page is painted before and answers meanwhile. A
# name that is missing here is imported all the same, with what needs it.
READER = "gradstep.core.host.file_reader"
BESIDE = (  # by a thread: nothing of Qt's is in it
    "numpy.ma",
    READER,
    "gradstep.core.host.engine_client",
    "gradstep.core.io.native.gradstep_file",
    "gradstep.core.document.block_insertion",
    "gradstep.core.ops.typing.flatten_loops",
    "gradstep.core.layout.nested_scopes",
    "gradstep.core.engine.run.variable_map",
    "gradstep.core.data.array_files",
    "gradstep.core.data.value_text",
    "gradstep.core.document.clipboard",
    "gradstep.core.document.named_edits",
    "gradstep.core.document.required_python",
    "gradstep.core.autodiff.explain.gradient_paths",
    "gradstep.core.graph.block_kinds",
    "gradstep.core.program.trust.code_trust",
    "gradstep.core.host.tensors.axis_layout",
    "gradstep.core.io.native.document_diff",
    "gradstep.core.debug.motion.legal_moves",
    "gradstep.core.capture.training_lines",
)
HERE = (  # by the main thread, one in a turn of the event loop; none takes long
    "gradstep.gui.model.debugger",
    "gradstep.gui.model.followed_training",
    "gradstep.gui.model.workspace",
    "gradstep.gui.actions.action_table",
    "gradstep.gui.actions.action_set",
    "gradstep.gui.frame.toolbar",
    "gradstep.gui.frame.late_menus",
    "gradstep.gui.frame.banners",
    "gradstep.gui.model.autosave",
    "gradstep.gui.frame.document_files",
    "gradstep.gui.model.file_watch",
    "gradstep.gui.canvas.scene.scene_arrays",
    "gradstep.gui.canvas.scene.overlay_state",
    "gradstep.gui.canvas.scene.scene_model",
    "gradstep.gui.canvas.interact.canvas_keys",
    "gradstep.gui.canvas.interact.canvas_drops",
    "gradstep.gui.canvas.view",
    "gradstep.gui.frame.window_commands",
)
PATIENCE = 1000  # milliseconds that a document may take before the window shows without it
RECOVERY = 200  # milliseconds until unsaved work of another window is offered


def furnish(window: MainWindow, engine: EngineChoice = None) -> None:
    """Give the window a workspace, whose engine process starts with the next turn of the event
    loop. engine: what starts it."""
    from gradstep.gui.model.workspace import Workspace

    workspace = Workspace(engine, window.look, window)
    window.furnish(workspace)
    QTimer.singleShot(0, workspace.start)


class Start(QObject):
    """Shows a bare window, then furnishes it. With a document, the window shows when that is there,
    so that nothing else is seen before it. `error`: why it could not be done."""

    def __init__(self, window: MainWindow, engine: EngineChoice, document: Path | None) -> None:
        super().__init__(window)
        self.error: GradstepError | None = None
        self._window, self._engine, self._document = window, engine, document
        self._background = Background(self)
        self._left: deque[Callable[[], object]] = deque(partial(import_module, n) for n in HERE)
        self._left += self._furnish, self._open, self._look_ahead
        self._process: FileReader | None = None

    def begin(self) -> None:
        if self._document is None:
            self._window.painted.connect(self._load, Qt.ConnectionType.QueuedConnection)
            self._window.show()
        else:
            self._load()

    def _load(self) -> None:
        self._background.run(partial(_import_beside, self._document), self._begin, self._fail)

    def _begin(self, process: FileReader | None) -> None:
        self._process = process
        self._go_on()

    def _go_on(self) -> None:
        """One piece in a turn of the event loop, so that the window answers in between."""
        try:
            self._left.popleft()()
        except Exception as error:  # nothing works without it
            self._fail(GradstepError(f"{type(error).__name__}: {error}", kind="InternalError"))
            return
        if self._left:
            QTimer.singleShot(0, self, self._go_on)

    def _furnish(self) -> None:
        furnish(self._window, self._engine)

    def _open(self) -> None:
        window = self._window
        if self._process is not None:
            window.workspace.reader.take(self._process)
        QTimer.singleShot(RECOVERY, window, window.offer_recovery)
        QTimer.singleShot(RECOVERY, window, window.tidy_folders)
        if self._document is not None:
            window.workspace.document_opened.connect(self._show)
            window.workspace.message.connect(self._show)
            QTimer.singleShot(PATIENCE, self, self._show)
            window.files.open(self._document)

    def _look_ahead(self) -> None:
        self._background.run(_import_ahead, self._prepare, self._fail)

    def _prepare(self, _: object) -> None:
        self._window.prepare()
        self._window.workspace.reader.be_ready()

    def _show(self, *_: object) -> None:
        if self._document is not None:
            self._document = None
            self._window.show()

    def _fail(self, error: GradstepError) -> None:
        self.error = error
        QApplication.exit(1)


def _import_beside(document: Path | None) -> FileReader | None:
    """The process that will read the document, if it takes one: it starts meanwhile."""
    process = None
    for name in BESIDE:
        module = import_module(name)
        if name == READER and document is not None and not is_bundled(document):
            process = module.FileReader()
    return process


def _import_ahead() -> None:
    """What the first document needs, and the palette: every op type and every block."""
    import gradstep.core.ops.catalogue  # noqa: F401
    from gradstep.core.layers.block_table import all_blocks

    list(all_blocks())
