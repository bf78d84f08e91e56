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
    told: tuple[str, int, int] | None = None

    def tell(text: str, done: int, total: int) -> None:
        nonlocal told
        told = text, done, total

    try:
        with progress_to(tell):
            yield
    except KeyboardInterrupt:
        print(f"gradstep: stopped{'' if told is None else _while(*told)}", file=sys.stderr)
        raise


def _while(text: str, done: int, total: int) -> str:
    count = f", after {done:,} of {total:,}" if total else ""
    return f" while {text[:1].lower()}{text[1:]}{count}"
