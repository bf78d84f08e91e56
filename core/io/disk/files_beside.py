"""The files beside one that was opened, where its format keeps parts of it in others."""

from __future__ import annotations

import os
from pathlib import Path

_MOST = 2000  # files; a model has one for each weight at most


def files_beside(path: str | os.PathLike[str]) -> list[str]:
    """The regular files in its folder, itself and hidden ones left out. Empty where the folder
    cannot be looked into."""
    own = Path(path)
    return _files(own.parent, own.name)


def files_in(path: str | os.PathLike[str], folder: str) -> list[str]:
    """Those in a folder of that name beside it."""
    beside = Path(path).parent / folder
    return [] if beside.is_symlink() else _files(beside, "")


def _files(folder: Path, own: str) -> list[str]:
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False) and _may_be_a_part(entry.name, own):
                    found.append(entry.path)
                if len(found) == _MOST:
                    break
    except OSError:
        return []
    return sorted(found)


def _may_be_a_part(name: str, own: str) -> bool:
    return name != own and not name.startswith(".")
