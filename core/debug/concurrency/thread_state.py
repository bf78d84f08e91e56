"""What runs beside the main program, and in which state it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gradstep.core.graph.model import TensorRef

MAIN = "main"  # the name of the program's own thread
ENDS = ("OutOfRangeError", "CancelledError")  # what ends a thread beside it


@dataclass(frozen=True, slots=True)
class Thread:
    """Runs again and again, as a thread of TensorFlow's QueueRunner does, until its run fails with
    OutOfRangeError or CancelledError.

    targets, fetches: operations and tensors that each of its runs computes.
    closes: operation that runs once when the thread has ended: what closes the queue.
    """

    name: str
    targets: tuple[str, ...] = ()
    fetches: Sequence[TensorRef] = ()
    closes: str = ""


class Condition(StrEnum):
    """What a thread could do now."""

    READY = "ready"
    BLOCKED = "blocked"  # until others have changed the queue
    DEADLOCK = "deadlock"  # blocked, and so are all who could end that
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ThreadState:
    """text: what it waits for, or why it ended. run, step: where it stands, of so many steps; op:
    what it does next; current: it is the one that commands move."""

    name: str
    condition: Condition
    text: str
    run: int
    step: int
    steps: int
    op: str
    current: bool
