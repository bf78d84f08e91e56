"""A document in which threads fill a queue that the main program empties."""

from __future__ import annotations

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder

FEEDERS = ("one", "two")
ROWS = 2  # that each run of a feeder puts in


def queue_document(capacity: int, batch: int) -> Document:
    """Feeder "one" puts 11, 11.5, 12, 12.5, … into the queue "q", "two" 21, 21.5, …; `take` takes a
    batch out."""
    b = GraphBuilder()
    with b.as_default():
        q = tf.FIFOQueue(capacity, tf.float32, shapes=[[]], name="q")
        b.op("Identity", q.dequeue_many(batch, name="take"), name="batch")
        for name in FEEDERS:
            count = b.one("AssignAdd", b.variable(f"{name}_count"), 1.0, name=f"{name}_more")
            rows = b.one("Pack", count, count + 0.5, axis=0, name=f"{name}_rows")
            q.enqueue_many([rows], name=f"{name}_put")
    starts = {f"{n}_count": Constant(np.float32(10 * i)) for i, n in enumerate(FEEDERS, 1)}
    return Document(
        graph=b.build(),
        fetches=(TensorRef("batch"),),
        initial=starts,
        threads=tuple(Thread(name, (f"{name}_put",)) for name in FEEDERS),
    )


def trained_queue(capacity: int, batch: int) -> Document:
    """Two feeders fill the queue "q", and a number is trained on what comes out of it."""
    b = GraphBuilder()
    with b.as_default():
        q = tf.FIFOQueue(capacity, tf.float32, shapes=[[]], name="q")
        rows = b.one("Identity", q.dequeue_many(batch, name="take"), name="batch")
        y = b.one("Mul", rows, b.variable("w", shape=()), name="y")
        r = b.one("LeakyRelu", y, name="r", alpha=0.25)
        b.one("Sum", r, np.array([0], np.int32), name="loss")
        by = b.constant(np.float32(1), name="by")
        for name in FEEDERS:
            count = b.one("AssignAdd", b.variable(f"{name}_count"), by, name=f"{name}_more")
            half = b.constant(np.float32(0.5), name=f"{name}_half")
            pack = b.one("Pack", count, b.one("AddV2", count, half), axis=0, name=f"{name}_rows")
            q.enqueue_many([pack], name=f"{name}_put")
    starts = {f"{n}_count": Constant(np.float32(10 * i)) for i, n in enumerate(FEEDERS, 1)}
    return Document(
        graph=b.build(),
        request=GradientRequest.to("loss", "w"),
        fetches=(TensorRef("batch"),),
        initial={**starts, "w": Constant(np.float32(-0.5))},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.01}),),
        threads=tuple(Thread(name, (f"{name}_put",)) for name in FEEDERS),
    )
