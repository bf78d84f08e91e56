"""Older files, brought up one format version at a time, on plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.io.native.file_schema import VERSION

Migration = Callable[[dict[str, Any]], dict[str, Any]]

# MIGRATIONS[n] turns a document of version n into one of version n + 1.
MIGRATIONS: Mapping[int, Migration] = dict.fromkeys(range(1, VERSION), lambda raw: raw)


def migrate(
    raw: dict[str, Any],
    version: int,
    current: int = VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> dict[str, Any]:
    """`raw` as a document of version `current`. Raises GradstepError when there is no way there."""
    if version > current:
        raise GradstepError(
            f"saved by a newer Gradstep (file format {version}; this one reads up to {current})",
            kind="FileError",
            hint="update Gradstep, or save the file from the newer one in an older format",
        )
    for step in range(version, current):
        if step not in migrations:
            raise GradstepError(
                f"there is no file format {step}", kind="FileError", hint="the file is damaged"
            )
        raw = {**migrations[step](raw), "version": step + 1}
    return raw
