"""A document's graph as a picture file, without a window and without running anything."""

from __future__ import annotations

from PySide6.QtCore import QEventLoop, QTimer

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.gui.app import application
from gradstep.gui.canvas.paint import picture_export
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.theme import apply, theme_for
from gradstep.gui.model.workspace import Workspace

_LONGEST_MS = 30_000  # for the layout of a large graph


def picture(document: Document, suffix: str, theme: str = "light") -> bytes:
    """The whole graph as a ".png" (two pixels per scene unit) or ".svg" file.

    theme: "dark", "light" or "system". Raises GradstepError for another suffix.
    """
    look = theme_for(theme)
    apply(application(windowless=True), look)
    workspace = Workspace(theme=look)  # its engine is never started
    workspace.open_document(document)
    stage = SceneModel(workspace, workspace)
    _wait_for_places(stage)
    return picture_export.to_bytes(suffix, stage.arrays, stage.facts, look)


def _wait_for_places(stage: SceneModel) -> None:
    if not stage.laying_out:
        return
    loop = QEventLoop()
    stage.placed.connect(loop.quit)
    QTimer.singleShot(_LONGEST_MS, loop.quit)
    loop.exec()
    if stage.laying_out:
        raise GradstepError("the graph could not be laid out in time", kind="DeadlineExceededError")
