"""The picture of a large graph at three zooms, beside each other: whole, in the middle, at 100 %.

python -m tests.bench.zooms OUT.webp [NODES]
"""

from __future__ import annotations

import os
import sys

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from gradstep.gui.look import theme
from tests.bench.drawing import Easel, document, middle

NODES = 50_000
SIZE = 480, 320  # pixels of each
GAP = 8
QUALITY = 90  # of a .webp
ZOOMS = (None, 0.25, 1.0)  # None: the whole graph


def picture(nodes: int) -> QImage:
    """Of a graph of so many nodes."""
    easel = Easel()
    easel.view.resize(*SIZE)
    easel.first(document(nodes))
    easel.view.minimap.hide()
    width, height = SIZE
    across = len(ZOOMS) * (width + GAP) - GAP
    found = QImage(across, height, QImage.Format.Format_RGB32)
    found.fill(Qt.GlobalColor.white)
    painter = QPainter(found)
    for place, scale in enumerate(ZOOMS):
        _look(easel, scale, middle(nodes))
        painter.drawPixmap(QPoint(place * (width + GAP), 0), easel.view.viewport().grab())
    painter.end()
    easel.close()
    return found


def _look(easel: Easel, scale: float | None, box: int) -> None:
    easel.wholly()
    if scale is not None:
        easel.view.camera.zoom_to(scale)
        easel.view.camera.look_at(easel.view.box_rect(box).center())
    while easel.view.camera.zooming:
        QApplication.processEvents()


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication([])
    theme.apply(app, theme.DARK)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else NODES
    if not picture(count).save(sys.argv[1], quality=QUALITY):
        sys.exit(f"zooms: cannot write {sys.argv[1]}")
