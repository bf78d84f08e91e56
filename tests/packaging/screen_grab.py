"""A picture of the whole screen, into a file, and how many colours are on it."""

from __future__ import annotations

import sys

from PySide6.QtGui import QGuiApplication


def main(out: str) -> None:
    app = QGuiApplication(sys.argv[:1])
    image = app.primaryScreen().grabWindow(0).toImage()
    image.save(out)
    seen = {
        image.pixel(x, y) for x in range(0, image.width(), 4) for y in range(0, image.height(), 4)
    }
    sys.stdout.write(f"{len(seen)}\n")


main(sys.argv[1])
