"""Gradstep in the menu of the user's desktop, with its icon and file type; and out of it again."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.freedesktop.desktop_databases import remove_derived, update_databases
from gradstep.core.cli.freedesktop.entry_files import data_home, entry_files
from gradstep.core.cli.freedesktop.written_files import WrittenFiles
from gradstep.core.errors import GradstepError
from gradstep.core.installation import command_path, extra_command

RECORD = "desktop.json"  # in Gradstep's own data folder
_INSTEAD = {
    "darwin": "there is no application bundle: start it in a terminal, as gradstep FILE",
    "win32": "right-click a .gradstep file, choose 'Open with' and there {command}",
}


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Write the entry, or take it away. Raises GradstepError: UnavailableError where desktops are
    not of that kind, or for root on another's behalf; FileError."""
    _ensure_a_user_of_such_a_desktop()
    record = WrittenFiles(data_home() / "gradstep" / RECORD)
    return _install(record, app) if args.what == "install" else _uninstall(record)


def _install(record: WrittenFiles, app: Application) -> Answer:
    command = _command()
    files = entry_files(command, app.icon)
    written = record.put(files)
    stale, left = record.remove(but=files)
    record.forget_folders()
    notes = update_databases(data_home()) if written or stale else []
    done = "is in the menu, and opens .gradstep files" if written else "was in the menu already"
    lines = [f"Gradstep {done}: {command}", *_left_lines(left), *notes]
    data = {
        "command": str(command),
        "written": [str(path) for path in written],
        "unchanged": [str(path) for path in files if path not in written],
        "removed": [str(path) for path in stale],
        "left": {str(path): why for path, why in left.items()},
        "notes": notes,
    }
    return Answer(data, "\n".join(lines))


def _uninstall(record: WrittenFiles) -> Answer:
    home, made = data_home(), record.folders
    removed, left = record.remove()
    notes = update_databases(home) if removed else []
    remove_derived(home, made)
    record.forget_folders()
    done = "Gradstep is out of the menu" if removed else "Gradstep was not in the menu"
    done = "Not all of it could be taken away:" if left else done
    data = {
        "removed": [str(path) for path in removed],
        "left": {str(path): why for path, why in left.items()},
        "notes": notes,
    }
    return Answer(data, "\n".join([done, *_left_lines(left), *notes]), 1 if left else 0)


def _left_lines(left: dict[Path, str]) -> list[str]:
    return [f"left {path}: {why}" for path, why in left.items()]


def _ensure_a_user_of_such_a_desktop() -> None:
    if sys.platform in _INSTEAD:
        raise GradstepError(
            "this command knows Linux desktops only",
            kind="UnavailableError",
            hint=_INSTEAD[sys.platform].format(command=command_path() or "gradstep"),
        )
    if "SUDO_UID" in os.environ and os.geteuid() == 0:
        raise GradstepError(
            "a menu entry is for one user, and this is root for another",
            kind="UnavailableError",
            hint="write gradstep desktop without sudo: it needs no rights but yours",
        )


def _command() -> Path:
    """What the entry starts. Raises GradstepError (UnavailableError) where there is none."""
    found = command_path()
    if found is None:
        raise GradstepError(
            "there is no `gradstep` here for a menu entry to start",
            kind="UnavailableError",
            hint=f"{extra_command()} makes one",
        )
    return found
