"""The threads of a document as records of its file, and back."""

from __future__ import annotations

from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.native import file_schema


def write_thread(thread: Thread) -> file_schema.ThreadRecord:
    return file_schema.ThreadRecord(
        name=thread.name,
        targets=list(thread.targets),
        fetches=[str(ref) for ref in thread.fetches],
        closes=thread.closes,
    )


def read_thread(record: file_schema.ThreadRecord) -> Thread:
    """The inverse of `write_thread`. Raises GradstepError."""
    fetches = tuple(TensorRef.parse(name) for name in record.fetches)
    return Thread(record.name, tuple(record.targets), fetches, record.closes)
