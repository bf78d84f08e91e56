"""`tf.train`'s producers and batches: pipelines of queues.

What TensorFlow's queue runners would run are operations that nothing else needs: the document's
threads are made of them (core/document/queue_threads.py), and so are they where a graph is
imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_creation import constant
from gradstep.core.ops.api.tf_queues import (
    FIFOQueue,
    PaddingFIFOQueue,
    QueueBase,
    RandomShuffleQueue,
)
from gradstep.core.ops.api.tf_random import random_shuffle
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call

_PRODUCER = "input_producer"


def limit_epochs(tensor: TensorLike, num_epochs: int | None = None, name: str = "") -> Tensor:
    """`tensor`, `num_epochs` times; then it fails with OutOfRangeError, which ends a thread."""
    given = constant(tensor)
    if num_epochs is None:
        return given
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    builder = given.builder
    with builder.scope(name or "limit_epochs") as scope:
        epochs = builder.variable("epochs", DType.INT64)
        builder.variables.initial[epochs.ref.op] = np.zeros((), np.int64)
        count = builder.one("CountUpTo", epochs, limit=num_epochs)
    with builder.control_dependencies([count.ref.op]):
        return builder.one("Identity", given, name=f"{scope}/")


def input_producer(
    input_tensor: TensorLike,
    element_shape: Sequence[int] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of the rows of `input_tensor`, over and over, or so many times."""
    with builder_of(()).scope(name or _PRODUCER) as scope:
        rows = constant(input_tensor)
        return _producer(rows, num_epochs, shuffle, seed, capacity, shared_name, scope)


def range_input_producer(
    limit: int,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of the whole numbers from 0 to `limit` - 1."""
    with builder_of(()).scope(name or _PRODUCER) as scope:
        rows = call("Range", *(np.int32(x) for x in (0, limit, 1)), name="range")
        return _producer(rows, num_epochs, shuffle, seed, capacity, shared_name, scope)


def string_input_producer(
    string_tensor: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of strings: of file names, mostly."""
    with builder_of(()).scope(name or _PRODUCER) as scope:
        rows = constant(string_tensor, DType.STRING)
        return _producer(rows, num_epochs, shuffle, seed, capacity, shared_name, scope)


def _producer(
    rows: Tensor,
    num_epochs: int | None,
    shuffle: bool,
    seed: int | None,
    capacity: int,
    shared_name: str | None,
    scope: str,
) -> QueueBase:
    """Made inside `scope`, whose name the queue has."""
    if shuffle:
        rows = random_shuffle(rows, seed=seed)
    rows = limit_epochs(rows, num_epochs)
    sizes = list(rows.shape.dims or ())[1:]
    queue = FIFOQueue(capacity, rows.dtype, [sizes], shared_name=shared_name, name=f"{scope}/")
    queue.enqueue_many([rows])
    _closes(queue)
    return queue


def batch(
    tensors: Any,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of `tensors`: a tensor, a list of them, or by name."""
    listed, names = _listed(tensors)
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    with listed[0].builder.scope(name or "batch") as scope:
        queue = kind(capacity, *_element(listed, shapes, enqueue_many), names, shared_name)
        _fill(queue, tensors, enqueue_many, num_threads)
        return _batches(queue, batch_size, allow_smaller_final_batch, scope)


def shuffle_batch(
    tensors: Any,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of `tensors` in random order, from at least `min_after_dequeue` elements."""
    listed, names = _listed(tensors)
    with listed[0].builder.scope(name or "shuffle_batch") as scope:
        element = _element(listed, shapes, enqueue_many)
        queue = RandomShuffleQueue(capacity, min_after_dequeue, *element, names, seed, shared_name)
        _fill(queue, tensors, enqueue_many, num_threads)
        return _batches(queue, batch_size, allow_smaller_final_batch, scope)


def _listed(tensors: Any) -> tuple[list[Tensor], list[str] | None]:
    if isinstance(tensors, dict):
        return [constant(x) for x in tensors.values()], list(tensors)
    many = tensors if isinstance(tensors, list | tuple) else [tensors]
    return [constant(x) for x in many], None


def _element(tensors: Sequence[Tensor], shapes: Any, rows: bool) -> tuple[list[DType], list[Any]]:
    """Types and shapes of what one element of the queue consists of."""
    if shapes is None:
        shapes = [list(x.shape.dims or ())[1 if rows else 0 :] for x in tensors]
    return [x.dtype for x in tensors], shapes


def _fill(queue: QueueBase, tensors: Any, rows: bool, times: int) -> None:
    """One operation for each thread that is to fill the queue, and what closes it."""
    for _ in range(times):
        (queue.enqueue_many if rows else queue.enqueue)(tensors)
    _closes(queue)


def _batches(queue: QueueBase, count: TensorLike, or_less: bool, scope: str) -> Any:
    take = queue.dequeue_up_to if or_less else queue.dequeue_many
    return take(count, name=f"{scope}/")


def _closes(queue: QueueBase) -> None:
    """What a queue runner runs when its threads have ended, and when they are to end."""
    queue.close()
    queue.close(cancel_pending_enqueues=True)


FUNCTIONS = {
    "train.batch": batch,
    "train.input_producer": input_producer,
    "train.limit_epochs": limit_epochs,
    "train.range_input_producer": range_input_producer,
    "train.shuffle_batch": shuffle_batch,
    "train.string_input_producer": string_input_producer,
}
