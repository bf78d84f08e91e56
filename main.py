"""Gradstep: the composition root, and the command `gradstep` itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradstep.core.cli.command_line import main

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.host.device_services import DeviceServices


class Gradstep:
    """The parts of the program, each imported when it is needed. See
    gradstep.core.cli.application_protocol.Application."""

    def devices(self) -> DeviceServices:
        from gradstep.gpu.devices import Devices

        return Devices()

    def window(self, path: Path | None, engine: str = "") -> int:
        from gradstep.gui.app import run_window

        status: int = run_window(path, engine)
        return status

    def shot(self, path: Path | None, out: Path, **look: Any) -> None:
        from gradstep.gui.automation.shot import shot

        shot(path, out, **look)

    def picture(self, document: Document, suffix: str) -> bytes:
        from gradstep.gui.document_picture import picture

        data: bytes = picture(document, suffix)
        return data

    def icon(self, pixels: int) -> bytes:
        from gradstep.gui.look.icons import application_png

        data: bytes = application_png(pixels)
        return data

    def tour(self, folder: Path) -> int:
        from gradstep.gui.automation.tour import tour

        status: int = tour(folder)
        return status


def run() -> int:
    return main(sys.argv[1:], Gradstep())


if __name__ == "__main__":
    sys.exit(run())
