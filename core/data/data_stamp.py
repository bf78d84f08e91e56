"""Whether the files behind a column's text are as they were: a stamp of each, to be compared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from gradstep.core.data.built_in_sets import SETS
from gradstep.core.data.file_owner import file_owner
from gradstep.core.data.file_place import is_pattern, split_place
from gradstep.core.data.image_files import IMAGE_SUFFIXES
from gradstep.core.data.image_paths import matching
from gradstep.core.document.packed_rows import packed_name
from gradstep.core.errors import GradstepError

Stamp = tuple[int, ...]
NOT_THERE: Stamp = (-1,)


def names_files(text: str) -> bool:
    """Whether a column's rows are in files: not in the text, the document, or the program."""
    name = text[1:].partition("|")[0].partition(":")[0].strip()
    return text.startswith("@") and not packed_name(text) and name not in SETS


def data_stamp(text: str) -> Stamp | None:
    """Of what `@FILE`, a folder of images or a pattern names; None where that is no file. What is
    not there has a stamp, too. To be compared in one process alone."""
    if not names_files(text):
        return None
    owner = file_owner()
    if owner is not None:
        return owner.stamp(text)
    try:
        return _of_place(Path(split_place(text[1:])[0]).expanduser())
    except (OSError, ValueError, GradstepError):
        return NOT_THERE


def _of_place(path: Path) -> Stamp:
    if path.is_dir():
        with os.scandir(path) as entries:
            return _of_several((e.name, e.stat()) for e in entries if _is_image(e.name))
    if is_pattern(str(path)) and not path.exists():
        return _of_several(_matches(path))
    return _of_one(path.stat())


def _matches(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    for each in matching(path, str(path)):
        yield str(each), each.stat()


def _of_several(files: Iterable[tuple[str, os.stat_result]]) -> Stamp:
    """The same in whatever order they are listed."""
    found = sorted((name, _of_one(seen)) for name, seen in files)
    return len(found), hash(tuple(found))


def _of_one(seen: os.stat_result) -> Stamp:
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def _is_image(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in IMAGE_SUFFIXES
