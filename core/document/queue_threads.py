"""The threads of a document: after an edit, and those that an imported graph needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.engine.run.blocked_on_queue import queue_of
from gradstep.core.graph.model import Graph, Operation, TensorRef, predecessors

PUT = ("QueueEnqueueV2", "QueueEnqueueManyV2", "QueueEnqueue", "QueueEnqueueMany")
CLOSE = ("QueueCloseV2", "QueueClose")


def relabel_thread(thread: Thread, name_of: Callable[[str], str]) -> Thread:
    """With operation names put through `name_of`."""
    return replace(
        thread,
        targets=tuple(map(name_of, thread.targets)),
        fetches=tuple(TensorRef(name_of(ref.op), ref.index) for ref in thread.fetches),
        closes=thread.closes and name_of(thread.closes),
    )


def threads_without(threads: tuple[Thread, ...], gone: Collection[str]) -> tuple[Thread, ...]:
    """What is left of threads when operations have been deleted; none that does nothing."""
    left = [
        replace(
            thread,
            targets=tuple(name for name in thread.targets if name not in gone),
            fetches=tuple(ref for ref in thread.fetches if ref.op not in gone),
            closes="" if thread.closes in gone else thread.closes,
        )
        for thread in threads
    ]
    return tuple(thread for thread in left if thread.targets or thread.fetches)


def enqueuers(graph: Graph) -> tuple[Thread, ...]:
    """A thread for each operation that puts something into a queue and that no other needs, as
    TensorFlow's QueueRunners are. GraphDef does not hold those: they are guessed."""
    ends = [*map(graph.operations.__getitem__, graph.of_types(PUT))]
    if ends:
        used = {name for op in graph for name in predecessors(op)}
        ends = [op for op in ends if op.name not in used]
    return tuple(Thread(op.name, (op.name,), closes=_closing(graph, op)) for op in ends)


def closing_operations(graph: Graph) -> Iterator[str]:
    """The operations that close a queue."""
    return (op.name for op in graph if op.type in CLOSE)


def _closing(graph: Graph, op: Operation) -> str:
    """What closes the queue of `op`, and lets what waits there go on."""
    queue = queue_of(graph, op)
    found = (graph[name] for name in closing_operations(graph))
    gentle = (c.name for c in found if not c.attrs.get("cancel_pending_enqueues"))
    return next((name for name in gentle if queue_of(graph, graph[name]) == queue), "")
