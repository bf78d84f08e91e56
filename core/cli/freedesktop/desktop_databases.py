"""The databases that desktops keep of menu entries, file types and icons, made anew."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Container
from pathlib import Path

_LONGEST = 60  # seconds
_CACHE = "mimeinfo.cache"  # what update-desktop-database writes


def update_databases(home: Path) -> list[str]:
    """Let desktops know of what changed below `home`, the user's data folder. What could not be
    done, in words."""
    applications, icons = home / "applications", home / "icons" / "hicolor"
    commands = [
        ("update-desktop-database", "-q", str(applications)),
        ("update-mime-database", str(home / "mime")),
    ]
    if (icons / "icon-theme.cache").exists():
        commands.append(("gtk-update-icon-cache", "-q", "-f", "-t", str(icons)))
    elif icons.exists():
        os.utime(icons)  # without a cache, a theme is read again when its folder is newer
    said = [_run(command) for command in commands if Path(command[-1]).is_dir()]
    return [text for text in said if text]


def _run(command: tuple[str, ...]) -> str:
    """What went wrong; "" for nothing."""
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not installed: log out and in for desktops to see the change"
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_LONGEST, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]} did not run: {error}"
    said = done.stderr.strip().rpartition("\n")[2]
    return f"{command[0]} failed: {said}" if done.returncode else ""


def remove_derived(home: Path, made: Container[Path]) -> None:
    """What the databases' own commands left in folders that are Gradstep's (`made`), and in which
    nothing else is that they were derived from."""
    applications, mime = home / "applications", home / "mime"
    if applications in made and _names(applications) == {_CACHE}:
        (applications / _CACHE).unlink()
    if mime in made and not _names(mime / "packages"):
        shutil.rmtree(mime, ignore_errors=True)


def _names(folder: Path) -> set[str]:
    return {*os.listdir(folder)} if folder.is_dir() else set()
