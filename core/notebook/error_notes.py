"""Errors in a Python traceback, with where and what to do below the message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradstep.core.errors import GradstepError


@contextmanager
def add_notes() -> Iterator[None]:
    """What is raised inside says in its traceback at which operation, and what can be done. Also
    the decorator of what is public."""
    try:
        yield
    except GradstepError as error:
        said = getattr(error, "__notes__", ())
        for note in _notes(error):
            if note not in said:
                error.add_note(note)
        raise


def _notes(error: GradstepError) -> Iterator[str]:
    if error.place:
        index = "" if error.index is None else f", element {[*error.index]}"
        yield f"at:   {error.place}{index}"
    if error.hint:
        yield f"hint: {error.hint}"
