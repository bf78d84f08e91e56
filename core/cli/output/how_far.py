"""Saying how far a command had come that Ctrl+C breaks off."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gradstep.core.progress import progress_to


@contextmanager
def says_how_far() -> Iterator[None]:
    """Inside, what is broken off (KeyboardInterrupt) is said on standard error, with how far it
    told that it was."""
    said = "stopped"

    def tell(text: str, done: int, total: int) -> None:
        nonlocal said
        count = f", after {done:,} of {total:,}" if total else ""
        said = f"stopped while {text[:1].lower()}{text[1:]}{count}"

    try:
        with progress_to(tell):
            yield
    except KeyboardInterrupt:
        print(f"gradstep: {said}", file=sys.stderr)
        raise
