"""Queues that nothing fills, and those that a thread or the run itself does."""

from __future__ import annotations

import pytest

from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings


def queued(fill: bool = True, **parts: object) -> Document:
    """Takes a number from a queue, into which `put` puts one."""

    def draw(b: GraphBuilder) -> None:
        queue = b.one("FIFOQueueV2", component_types=(DType.FLOAT32,), name="queue")
        if fill:
            b.op("QueueEnqueueV2", queue, b.constant(1.0, name="one"), name="put")
        b.op("QueueDequeueV2", queue, component_types=(DType.FLOAT32,), name="take")

    return drawn(draw, fetches=["take"], **parts)


def test_a_queue_that_nothing_puts_into() -> None:
    (found,) = findings(queued(fill=False), "starved-queue")
    assert found.node == "take"
    assert "nothing in the graph puts anything in" in found.text


def test_a_queue_that_something_could_fill_and_nothing_runs() -> None:
    (found,) = findings(queued(targets=("take",)), "starved-queue")
    assert "no run or thread executes put, which puts something in" in found.text


@pytest.mark.parametrize(
    "parts", [{"targets": ("put",)}, {"threads": (Thread("filler", targets=("put",)),)}]
)
def test_what_a_thread_or_the_run_fills_is_not_starved(parts: dict[str, object]) -> None:
    assert not findings(queued(**parts), "starved-queue")


def test_a_queue_that_nobody_takes_from_is_not_starved() -> None:
    document = queued(fill=False).with_(fetches=(), targets=("queue",))
    assert not findings(document, "starved-queue")
