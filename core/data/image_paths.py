"""Which images `@digits/*.png` and `@folder/` name, in the order in which people count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from gradstep.core.data.file_place import halves, is_pattern
from gradstep.core.data.image_files import IMAGE_SUFFIXES
from gradstep.core.errors import USAGE, GradstepError

MOST = 1 << 20  # files
_IMAGES = f"give a file, or a folder of images ({', '.join(IMAGE_SUFFIXES)})"
_NUMBER = re.compile(r"([0-9]+)")


def names_images(place: str, folder: Path) -> bool:
    """Whether a `place` is a folder or a pattern. folder: in which it begins, unless it is
    absolute."""
    whole = folder / Path(place).expanduser()
    return whole.is_dir() or (is_pattern(place) and not whole.exists())


def image_paths(place: str, folder: Path) -> list[tuple[Path, str]] | None:
    """The files of a folder or pattern, each with its name for the user; None for a `place` that is
    neither. folder: in which it begins, unless it is absolute. Raises GradstepError where there are
    none."""
    if not names_images(place, folder):
        return None
    whole = folder / Path(place).expanduser()
    if whole.is_dir():
        found = (each for each in whole.iterdir() if each.suffix.lower() in IMAGE_SUFFIXES)
        nothing = f"cannot open {place}: it is a folder without images"
        return _named(found, folder, nothing, _IMAGES)
    return _named(matching(whole, place), folder, f"no file is called {place}", "mend the pattern")


def natural_key(name: str) -> tuple[list[int | str], str]:
    """Sorts 2.png before 10.png."""
    parts = _NUMBER.split(name.casefold())
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], name


def matching(whole: Path, place: str) -> Iterator[Path]:
    """The files that a pattern names; place: as it was written. Raises GradstepError."""
    fixed, wild = halves(whole)
    try:
        yield from (each for each in Path(*fixed).glob("/".join(wild)) if each.is_file())
    except (ValueError, NotImplementedError) as error:
        raise GradstepError(
            f"{place} is no pattern: {error}", kind=USAGE, hint="write FOLDER/*.png"
        ) from None


def _named(found: Iterable[Path], folder: Path, nothing: str, hint: str) -> list[tuple[Path, str]]:
    paths = _listed(found, nothing)
    if not paths:
        raise GradstepError(nothing, kind="FileError", hint=hint)
    if len(paths) > MOST:
        raise GradstepError(
            f"there are more than {MOST:,} images", kind="FileError", hint="name fewer of them"
        )
    names = [_name(path, folder) for path in paths]
    return sorted(zip(paths, names, strict=True), key=lambda each: natural_key(each[1]))


def _listed(found: Iterable[Path], nothing: str) -> list[Path]:
    try:
        return [*islice(found, MOST + 1)]
    except OSError as error:
        raise GradstepError(
            f"{nothing}: {error.strerror}", kind="FileError", hint="check the folder"
        ) from None


def _name(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
