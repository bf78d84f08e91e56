"""`FILE.npz:KEY`: the file that is named in the place of a value, and what of it."""

from __future__ import annotations

import re

from gradstep.core.errors import USAGE, GradstepError

_PARTED = re.compile(r"(.+\.(?:npz|safetensors|csv|tsv|txt)):(.*)", re.IGNORECASE | re.DOTALL)


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
