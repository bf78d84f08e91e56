"""`FILE.npz:KEY`, `FOLDER/*.png`: which files are named in the place of a value, and what of them.

Loads nothing that starts threads: a command that is to be confined looks here.
"""

from __future__ import annotations

import re
from pathlib import Path

from gradstep.core.errors import USAGE, GradstepError

_PARTED = re.compile(
    r"(.+\.(?:npz|safetensors|index|csv|tsv|txt|parquet|ckpt(?:-\d+)?(?:-\d+-of-\d+)?)):(.*)",
    re.IGNORECASE | re.DOTALL,
)
_WILD = re.compile(r"[*?\[]")


def split_place(place: str) -> tuple[str, str]:
    """The file's path, and the name in it or the columns of it, "" for none. Raises GradstepError
    where no file is named."""
    found = _PARTED.fullmatch(place)
    path, part = (found[1], found[2].strip()) if found else (place, "")
    if not path.strip() or path.startswith(":"):
        raise GradstepError(
            "there is no file after @",
            kind=USAGE,
            hint="write @FILE.npy, @FILE.npz:KEY or @FILE.csv:COLUMN",
        )
    return path, part


def is_pattern(place: str) -> bool:
    """Whether a path names files by `*`, `?` or `[…]`."""
    return _WILD.search(place) is not None


def fixed_folder(place: str) -> str:
    """The folder in which all files that a pattern names are."""
    return str(Path(*halves(Path(place))[0]))


def halves(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts before the first that is a pattern, and the others."""
    parts = path.parts
    first = next((i for i, part in enumerate(parts) if is_pattern(part)), len(parts))
    return parts[:first], parts[first:]
