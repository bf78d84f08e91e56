"""What the command line gets from outside of core: devices and the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.host.device_services import DeviceServices


class Application(Protocol):
    """The parts that main.py puts together."""

    def devices(self) -> DeviceServices:
        """The devices of this machine."""

    def window(self, path: Path | None, engine: str = "") -> int:
        """Show the window, on a document if a path is given; the exit status. engine: where that
        runs, see gradstep.core.host.remote_engine; "": as the window's settings say."""

    def shot(self, path: Path | None, out: Path, **look: Any) -> None:
        """Save a picture of the window, on a document if a path is given. look: step, inside,
        theme, size, scale, select, show, compare, profile, colour and memory, as in
        gradstep.gui.automation.shot. Raises GradstepError."""

    def picture(self, document: Document, suffix: str) -> bytes:
        """The document's graph as a file of a format that is drawn, by its suffix. Raises
        GradstepError."""

    def icon(self, pixels: int) -> bytes:
        """The program's icon, so wide and high, as a PNG file."""

    def tour(self, folder: Path) -> int:
        """Play the tutorial through the window, pictures into `folder`; the exit status."""


@dataclass(frozen=True)
class Answer:
    """What a verb found: an object for --json, text for people, and the exit status."""

    data: Mapping[str, Any]
    text: str
    status: int = 0
