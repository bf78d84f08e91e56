"""The files beside one that was opened, where its format keeps parts of it in others."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_MOST = 2000  # files; a model has one for each weight at most


def files_beside(path: str | os.PathLike[str], folders: Iterable[str] = ()) -> list[str]:
    """The regular files in its folder, and in these folders in that; itself and hidden ones left
    out. A folder that cannot be looked into has none."""
    own = Path(path)
    found = _files_in(own.parent, own.name)
    for name in folders:
        if not (own.parent / name).is_symlink():
            found += _files_in(own.parent / name, "")
    return sorted(found[:_MOST])


def _files_in(folder: Path, own: str) -> list[str]:
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
    return found


def _may_be_a_part(name: str, own: str) -> bool:
    return name != own and not name.startswith(".")
