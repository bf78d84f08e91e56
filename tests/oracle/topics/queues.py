"""Queues: their order, what blocks, what closing does, and the words of their errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program as Debugged
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.document.queue_threads import enqueuers
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.tensor import OpView
from tests.oracle.program import Program
from tests.oracle.table import Case, checks

BLOCKS = "what blocks for ever is said to, at once"
NUMBERED = "TensorFlow counts the queues of a process before their names"


def ran(p: Program, *ops: OpView, **feeds: Any) -> None:
    p.run([], feeds, tuple(op.name for op in ops))


def blocks(case: Case, run: Any, says: str, *path: str) -> None:
    case.error(run, *path, says=f"would block: {says}", why=BLOCKS)


@checks("queues")
def queues(case: Case) -> None:
    _fifo(case)
    _losing_and_keeping(case)
    _pairs(case)
    _other_kinds(case)
    _sessions(case)
    _random(case)
    _runners(case)


def _fifo(case: Case) -> None:
    with Program() as p:
        q = tf.FIFOQueue(3, tf.float32, shapes=[[]], name="q")
        x = p.placeholder("x")
        one, many, size = q.enqueue(1.0), q.enqueue_many(x), q.size()
        ran(p, many, x=[1, 2, 3])
        case.value(p.run(size), "size_after_enqueue_many_3")
        entry = "enqueue_full_blocks (timeout 200ms)"
        blocks(case, lambda: ran(p, one), "queue 'q' is full (3 of 3)", entry)
        d = q.dequeue()
        sums = p.run([d, d + 100.0])
        case.value(np.array(sums), "one_dequeue_node_two_consumers_same_run")
        case.value(p.run(size), "size_after")
        other = q.dequeue()
        case.value(sorted(map(float, p.run([d, other]))), "two_dequeue_nodes_same_run_sorted")
        case.value(p.run(size), "size_empty")
        entry = "dequeue_empty_blocks (timeout 200ms)"
        blocks(case, lambda: p.run(d), "queue 'q' has 0 of 1 element", entry)
        ran(p, many, x=[4])
        two = q.dequeue_many(2)
        entry = "dequeue_many_not_enough_blocks"
        blocks(case, lambda: p.run(two), "queue 'q' has 1 of 2 elements", entry)
        case.value(p.run(size), "size_after_cancelled_dequeue_many")
        case.value(p.run(q.is_closed()), "is_closed_before")
        ran(p, many, x=[3, 1, 2])
        case.value([int(p.run(d)) for _ in range(3)], "fifo_order")
        ran(p, many, x=[8, 9, 10])
        ran(p, close := q.close())
        up_to = q.dequeue_up_to(2)
        case.value([p.run(up_to), p.run(up_to)], "dequeue_up_to_after_close_gets_rest")
        case.value(p.run(q.is_closed()), "is_closed_after")
        case.error(lambda: ran(p, one), "enqueue_after_close")
        case.error(lambda: p.run(two), "dequeue_many_after_close_insufficient")
        case.value(p.run(size), "size_kept")
        case.error(lambda: p.run(d), "dequeue_after_close_empty")
        case.error(lambda: ran(p, close), "close_twice")
        case.error(lambda: p.run(up_to), "dequeue_up_to_empty_closed")


def _losing_and_keeping(case: Case) -> None:
    with Program() as p:
        q = tf.FIFOQueue(5, tf.float32, shapes=[[]], name="fifo_queue")
        two, one, size = q.dequeue_many(2), q.enqueue(1.0), q.size()
        ran(p, one)
        entry = "timed_out_dequeue_many_LOSES_the_elements_it_had_taken"
        case.given(entry)
        lost = "" if _raises(lambda: p.run(two), "DeadlineExceededError") else "nothing was raised"
        case.derived(lost, "", entry, "raised", how=BLOCKS)
        case.value(p.run(size), entry, "size_0.5s_later (1 element was enqueued)")
        ran(p, one)
        ran(p, q.close())
        entry = "closed_dequeue_many_insufficient_KEEPS_elements"
        case.given(entry)
        text = "is closed and has insufficient elements (requested 2, current size 1)"
        case.error(lambda: p.run(two), entry, "raised", says=text, why=NUMBERED)
        case.value(p.run(size), entry, "size_after")
    with Program() as p:
        q = tf.FIFOQueue(5, tf.float32, name="fifo_queue_2")
        one, many = q.dequeue(), q.dequeue_many(2)
        case.graph(str(one.shape), "dequeue_without_shapes_static_shape")
        case.derived(many.dtype, tf.float32, "dequeue_many_without_shapes", how="it is made")
        case.error(lambda: p.run(many), "dequeue_many_without_shapes_run")


def _raises(run: Any, kind: str) -> bool:
    try:
        run()
    except Exception as error:
        return getattr(error, "kind", "") == kind
    return False


def _pairs(case: Case) -> None:
    with Program() as p:
        q = tf.FIFOQueue(5, [tf.float32, tf.int32], shapes=[[2], []], name="pair")
        x = p.placeholder("x")
        ran(p, q.enqueue(([1.0, 2.0], 5)), q.enqueue_many(([[3.0, 4.0]], [6])))
        case.value(p.run(q.dequeue()), "pair_dequeue")
        case.value(p.run(q.dequeue_many(1)), "pair_dequeue_many")
        case.error(lambda: q.enqueue(([1.0, 2.0, 3.0], 5)), "enqueue_wrong_shape_static")
        case.error(lambda: q.enqueue(([1.0, 2.0], 5.5)), "enqueue_wrong_dtype")
        case.value(q.enqueue(([1.0, 2.0], 5, 6)).type, "enqueue_wrong_arity")
        wrong = q.enqueue((x, 5))
        case.error(lambda: ran(p, wrong, x=[1, 2, 3]), "enqueue_wrong_shape_runtime")
        names = tf.FIFOQueue(5, [tf.float32, tf.int32], shapes=[[], []], names=["a", "b"])
        ran(p, names.enqueue({"a": 1.0, "b": 2}))
        case.value(p.run(names.dequeue()), "named_dequeue")


def _other_kinds(case: Case) -> None:
    with Program() as p:
        q = tf.RandomShuffleQueue(10, 2, tf.int32, shapes=[[]], seed=3)
        ran(p, q.enqueue_many([[1, 2, 3, 4, 5]]))
        one, size = q.dequeue(), q.size()
        got = [int(p.run(one)) for _ in range(3)]
        entry = "shuffle_queue"
        case.value(set(got) < {1, 2, 3, 4, 5}, entry, "is_permutation_subset")
        text = "queue 'random_shuffle_queue' has 0 of 1 element and keeps 2 (min_after_dequeue)"
        blocks(case, lambda: p.run(one), text, entry, "min_after_dequeue_blocks")
        case.value(p.run(size), entry, "size")
        ran(p, q.close())
        got += [int(p.run(one)), int(p.run(one))]
        how = "all come out, in an order that the seed says and the recording does not"
        case.derived(sorted(got), [1, 2, 3, 4, 5], entry, "after_close_drains_below_min", how=how)
        text = "is closed and has insufficient elements (requested 1, current size 0)"
        case.error(lambda: p.run(one), entry, "then", says=text, why=NUMBERED)
        padding = tf.PaddingFIFOQueue(5, tf.float32, shapes=[[None]])
        ran(p, padding.enqueue([[1.0]]))
        ran(p, padding.enqueue([[1.0, 2.0, 3.0]]))
        case.value(p.run(padding.dequeue_many(2)), "padding_queue_dequeue_many")
        priorities = tf.PriorityQueue(5, tf.string, shapes=[[]])
        for number, text in ((20, "b"), (10, "a"), (30, "c")):
            ran(p, priorities.enqueue((np.int64(number), text)))
        taken = [_plain(p.run(priorities.dequeue())) for _ in range(3)]
        case.value(taken, "priority_queue")


def _plain(pair: Sequence[Any]) -> list[Any]:
    number, text = (x.item() for x in pair)
    return [number, text.decode() if isinstance(text, bytes) else text]


def _sessions(case: Case) -> None:
    with Program() as p:
        q = tf.FIFOQueue(5, tf.float32, shapes=[[]])
        one, size = q.enqueue(1.0), q.size()
        ran(p, one)
        found = {"a": int(p.run(size))}
        p.restart()
        case.value({**found, "b": int(p.run(size))}, "queue_state_is_per_session")


def _random(case: Case) -> None:
    entry = "random_transformation"
    with Program() as p:
        fixed, drawn = tf.constant(np.random.rand()), tf.random_uniform([])
        same, varies = ({float(p.run(x)) for _ in range(3)} for x in (fixed, drawn))
        case.value(len(same) == 1, entry, "numpy_random_at_build_time_is_constant")
        case.value(len(varies) == 3, entry, "tf.random_uniform_varies")
        first, second = p.run([tf.random_uniform([], seed=7) for _ in range(2)])
        case.value(bool(first == second), entry, "same_op_seed_two_threads_get_same_value")


def _runners(case: Case) -> None:
    """Producers whose queue runners are threads: one over training data, one for validation."""
    entry = "queue_runner_epoch"
    with Program() as p:
        rows = np.arange(6), np.arange(100, 103)
        queues = [tf.train.input_producer(x, num_epochs=1, shuffle=False) for x in rows]
        first, second = (queue.dequeue() for queue in queues)
    case.value(_drained(p, first.ref), entry, "train")
    case.value(_drained(p, second.ref), entry, "valid")
    says = "FIFOQueue '_0_input_producer' is closed and has insufficient elements (requested 1, "
    case.derived(_ending(p, first.ref).startswith(says), True, entry, "end_error", how=NUMBERED)
    entry = "no_queue_runners_started_hangs"
    case.given(entry)
    blocked = _raises(lambda: p.run(first), "DeadlineExceededError")
    case.derived(blocked, True, entry, "raised", how=BLOCKS)
    case.skip("here the thread is said to have failed, and why", "num_epochs_needs_local_init")


def _runs(p: Program, ref: TensorRef) -> Iterator[Any]:
    """What fetching the tensor gives, run after run, with the enqueuers as threads."""
    graph = p.builder.build()
    initial, threads = p.builder.variables.initial, enqueuers(graph)
    program = Debugged(graph, graph, fetches=(ref,), initial=initial, threads=threads)
    running = Scheduler(program)
    while True:
        stop = running.command("continue_")
        if stop.reason is not Reason.END:
            raise stop.error or AssertionError(stop)
        yield running.session.frame().value(ref)


def _drained(p: Program, ref: TensorRef) -> list[int]:
    found: list[int] = []
    with suppress(GradstepError):
        found.extend(map(int, _runs(p, ref)))
    return found


def _ending(p: Program, ref: TensorRef) -> str:
    try:
        return f"no error after {list(_runs(p, ref))}"
    except GradstepError as error:
        return error.message
