"""Queues: what comes out in which order, and what they refuse; measured with TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder

Kind = Any
FIFO = lambda **more: tf.FIFOQueue(3, tf.int32, **{"shapes": [[]], **more})  # noqa: E731


class Driven:
    """A queue, and operations on it: `put` takes rows, `take(n)` gives them."""

    def __init__(self, made: Kind, fast: bool) -> None:
        self.b = GraphBuilder()
        with self.b.as_default():
            self.queue = queue = made()
            self.rows = [self.b.placeholder(f"x{i}", d) for i, d in enumerate(queue.dtypes)]
            self.ops = {
                "put": queue.enqueue_many(self.rows),
                "put_one": queue.enqueue(self.rows),
                "close": queue.close(),
                "cancel": queue.close(cancel_pending_enqueues=True),
            }
            self.n = self.b.placeholder("n", "int32")
            self.many, self.up_to = queue.dequeue_many(self.n), queue.dequeue_up_to(self.n)
            self.size = queue.size()
        self.session = Session(self.b.build(), fast=fast)

    def run(self, name: str, *rows: Any) -> None:
        feeds = {x.ref: np.asarray(row) for x, row in zip(self.rows, rows, strict=False)}
        self.session.run([], feeds, [self.ops[name].name])

    def take(self, count: int, or_less: bool = False) -> Any:
        found = self.up_to if or_less else self.many
        parts = found if isinstance(found, list) else [found]
        values = self.session.run([part.ref for part in parts], {self.n.ref: np.int32(count)})
        return [value.tolist() for value in values]

    @property
    def count(self) -> int:
        return int(self.session.run([self.size.ref])[0])


@pytest.fixture(params=[False, True], ids=["recorded", "fast"])
def fast(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_random_order_is_that_of_tensorflow(fast: bool) -> None:
    q = Driven(lambda: tf.RandomShuffleQueue(20, 0, tf.int32, shapes=[[]], seed=7), fast)
    q.run("put", range(9))
    assert q.take(4) == [[3, 8, 2, 4]]
    q.run("put", range(20, 24))
    assert q.take(9) == [[1, 7, 22, 21, 20, 5, 6, 23, 0]]
    kept = Driven(lambda: tf.RandomShuffleQueue(10, 3, tf.int32, shapes=[[]], seed=5), fast)
    kept.run("put", range(8))
    assert [kept.take(1)[0] for _ in range(3)] == [[7], [4], [0]]
    with pytest.raises(GradstepError, match=r"has 2 of 4 elements and keeps 3"):
        kept.take(4)
    kept.run("close")
    assert kept.take(2) == [[1, 2]]


def test_the_others_keep_an_order(fast: bool) -> None:
    pairs = Driven(lambda: tf.PriorityQueue(9, tf.string, shapes=[[]]), fast)
    pairs.run("put", np.array([3, 1, 2, 1]), np.array([b"c", b"a", b"b", b"A"], object))
    assert pairs.take(4) == [[1, 1, 2, 3], [b"a", b"A", b"b", b"c"]]
    padded = Driven(lambda: tf.PaddingFIFOQueue(9, tf.int32, shapes=[[None]]), fast)
    padded.run("put_one", [1, 2, 3])
    padded.run("put_one", [4])
    assert padded.take(2) == [[[1, 2, 3], [4, 0, 0]]]
    assert padded.take(0) == [[]]


def test_what_has_no_room_stays_out(fast: bool) -> None:
    q = Driven(FIFO, fast)
    with pytest.raises(GradstepError, match=r"is full \(3 of 3\), 2 of 5 are still to be put in"):
        q.run("put", range(5))
    assert q.count == 3
    with pytest.raises(GradstepError, match="nothing that is running can enqueue more") as error:
        q.take(4)
    assert error.value.message.endswith("3 taken already are lost")
    assert "run fifo_queue_EnqueueMany or fifo_queue_enqueue first" in error.value.hint
    assert q.count == 0
    q.run("put", [7])
    q.run("close")
    q.run("put", [])  # nothing is put in, so it is no matter
    assert q.take(3, or_less=True) == [[7]]


REFUSED = [
    (FIFO, lambda q: q.take(-1), "DequeueManyOp requested -1 < 0 elements"),
    (FIFO, lambda q: q.take(-2, or_less=True), "DequeueUpToOp requested -2 < 0 elements"),
    (
        FIFO,
        lambda q: q.run("put", [[1, 2]]),
        "Shape mismatch in tuple component 0. Expected [1], got [1,2]",
    ),
    (
        lambda: tf.FIFOQueue(5, [tf.int32, tf.int32]),
        lambda q: q.run("put", [1, 2], [1, 2, 3]),
        "All input tensors must have the same size in the 0th dimension. Component 1 has 3, and "
        "should have 2",
    ),
    (
        lambda: tf.RandomShuffleQueue(3, 5, tf.int32, shapes=[[]]),
        lambda q: q.count,
        "min_after_dequeue 5 must be < capacity 3",
    ),
    (
        lambda: FIFO(shared_name="sh"),
        lambda q: (q.run("close"), q.run("cancel")),
        "Queue 'sh' is already closed.",
    ),
]


@pytest.mark.parametrize(("made", "act", "text"), REFUSED, ids=[text for _, _, text in REFUSED])
def test_refusals_in_tensorflows_words(made: Kind, act: Kind, text: str, fast: bool) -> None:
    with pytest.raises(GradstepError) as error:
        act(Driven(made, fast))
    assert error.value.message == text
    assert error.value.hint


def test_misfits_are_said_while_drawing() -> None:
    b = GraphBuilder()
    with b.as_default():
        queue = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[2], []])
        handle, x = queue.queue_ref, b.placeholder("x")
    for attempt, text in (
        (
            lambda: b.op("QueueEnqueueV2", handle, x),
            "have: resource, float32-> expected: ",
        ),
        (
            lambda: b.op("QueueDequeueV2", handle, component_types=(tf.int32,)),
            "Signature mismatch, have: resource->int32 expected: resource->float32, int32",
        ),
        (lambda: tf.FIFOQueue(3, tf.int32, shapes=[[], []]), "must have the same length as dtypes"),
        (lambda: queue.enqueue({"a": 1}), "You must enqueue a dictionary in a Queue with names"),
    ):
        with b.as_default(), pytest.raises((GradstepError, ValueError), match=text):
            attempt()
    assert [str(part.shape) for part in queue.dequeue_many(4)] == ["[4, 2]", "[4]"]
    assert [str(part.shape) for part in queue.dequeue_up_to(4)] == ["[?, 2]", "[?]"]
