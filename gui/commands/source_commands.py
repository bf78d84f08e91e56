"""Opening the line that an operation is from in the user's editor."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QProcess

from gradstep.core.errors import GradstepError
from gradstep.core.graph.foreign_origin import ForeignOrigin
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace

# Editors with a window, by the way in which they take a line.
_GOES = ("code", "codium", "code-insiders", "cursor", "windsurf")  # -g file:line
_COLON = ("subl", "zed", "lite-xl")  # file:line
_PLUS = ("gvim", "gedit", "kate", "mousepad", "pluma", "xed", "geany", "emacs")  # +line file
_LOOKED_FOR = (*_GOES, *_COLON, "kate", "gedit")

Which = Callable[[str], str | None]


@says_why
def open_source(workspace: Workspace, origin: ForeignOrigin) -> None:
    """Open the file at the line, if it is on this machine and is still the same there."""
    path = source_path(workspace, origin)
    command = editor_command(path, origin.line, settings().editor, os.environ, shutil.which)
    started, _ = QProcess.startDetached(command[0], command[1:])
    if not started:
        raise GradstepError(f"{command[0]} did not start", kind="FileError", hint=_HINT)


def source_path(workspace: Workspace, origin: ForeignOrigin) -> Path:
    """Where the source is here: as the trace says, or seen from the document's folder or the
    current one. Raises GradstepError where it is not there, or has another line there: what a
    stranger's trace names is not opened for that alone."""
    run, own = workspace.document.recorded, workspace.path
    told = "" if run is None else run.paths.get(origin.file, "")
    folders = [Path.cwd(), *([] if own is None else Path(own).resolve().parents)]
    places = [Path(told)] if told else []
    for path in (*places, *(folder / origin.file for folder in folders)):
        if path.suffix == ".py" and path.is_file() and _has_line(path, workspace, origin):
            return path
    raise GradstepError(
        f"{origin.file} is not on this machine, or is another one by now",
        kind="FileError",
        hint="the lines around are shown as they were when the trace was written",
    )


def _has_line(path: Path, workspace: Workspace, origin: ForeignOrigin) -> bool:
    run = workspace.document.recorded
    text = None if run is None else run.sources.get(origin.file)
    try:
        there = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    if text is None:
        return 0 < origin.line <= len(there)
    lines = text.splitlines()
    if not 0 < origin.line <= min(len(lines), len(there)):
        return False
    return lines[origin.line - 1].strip() == there[origin.line - 1].strip()


def editor_command(
    path: Path, line: int, setting: str, environment: Mapping[str, str], which: Which
) -> list[str]:
    """What starts an editor at a line: the setting's command, $VISUAL if that has a window, or one
    that is installed. Raises GradstepError where there is none."""
    if setting:
        return [
            part.replace("{file}", str(path)).replace("{line}", str(line))
            for part in shlex.split(setting)
        ]
    visual = shlex.split(environment.get("VISUAL", ""))
    for words in ([*visual] if visual else None, *([name] for name in _LOOKED_FOR)):
        if words and which(words[0]) and Path(words[0]).name in (*_GOES, *_COLON, *_PLUS):
            return [*words, *_arguments(Path(words[0]).name, path, line)]
    raise GradstepError("there is no editor to open it in", kind="FileError", hint=_HINT)


def _arguments(editor: str, path: Path, line: int) -> list[str]:
    if editor in _GOES:
        return ["-g", f"{path}:{line}"]
    return [f"{path}:{line}"] if editor in _COLON else [f"+{line}", str(path)]


_HINT = (
    "set $VISUAL to an editor with a window (code, subl, kate, gedit…), or in the settings file "
    "sources/editor=code -g {file}:{line}"
)
