"""Saving the exporter of a framework, to be put where that framework is."""

from __future__ import annotations

from pathlib import Path

from gradstep.core.capture.exporter_files import exporter_text
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.gui.model.workspace import Workspace


def save_exporter(workspace: Workspace, framework: str, path: Path) -> None:
    """Write the exporter of "torch" or "jax" to a file, soon."""

    def written(_: None) -> None:
        workspace.say(f"{path.name} is written: import it in your program, and call its save(…)")

    def write() -> None:
        replace_file(path, exporter_text(framework).encode())

    workspace.background.run(write, written, workspace.complain)
