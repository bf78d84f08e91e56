"""Who waits for a queue, in a run without the threads that would fill it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradstep.core.errors import GradstepError
from gradstep.core.program.questions.loaded_document import Loaded


@contextmanager
def name_threads(loaded: Loaded, way: str) -> Iterator[None]:
    """What waits for a queue is told of the document's threads, where it has any. way: to let them
    run; "" where they do."""
    try:
        yield
    except GradstepError as error:
        waits = error.kind == "DeadlineExceededError"
        if waits and loaded.document.threads and way:
            error.hint = f"let the document's threads run: {way}; or {error.hint}"
        raise
