"""Examples of queues: what fills them runs beside the program, in threads of its own."""

from __future__ import annotations

import numpy as np

from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops import api as tf
from tests.examples import sessions
from tests.examples.drawing import Drawing, constant
from tests.examples.expect import fails, value
from tests.support.oracle import case

GROUP = sessions.GROUP


def queue_train_validation() -> Document:
    """Numbers: TensorFlow's, `queues` (queue_runner_epoch)."""
    seen = case("queues")["queue_runner_epoch"]
    d = Drawing()
    for part, count in (("train", 2), ("valid", 1)):
        _filled(d, part, seen[part], count)
    runs = range(len(seen["valid"]))
    return d.document(
        "Queues: training data, and data to validate with",
        """
        Two queues, each filled by a thread of its own, as TensorFlow's queue runners do it. The
        panel **Threads** says where each thread stands, and what it waits for.

        1. Press F10 until `train/batch` would block: its queue is empty. Blocked is a state: F10
        tries again.
        2. Choose the thread `train` and step it: `train/fill` puts in what the queue has room
        for, and waits with the rest. Back in `main`, the batch is there.
        3. F5 lets all threads go on in turn, until the run of the main one ends.
        4. After three runs both files have been read once. `train/epoch` ends the thread, that
        closes the queue, and the fourth run is told: OutOfRangeError, the end of the data.

        A look at `train/queue` shows what is in it, at every step, also of runs long past.
        """,
        """
        train/epochs train/epoch train/once train/fill train/close
        . train/rows train/queue train/batch
        . . train/count

        valid/epochs valid/epoch valid/once valid/fill valid/close
        . valid/rows valid/queue valid/batch
        . . valid/count
        """,
        fetches="train/batch valid/batch",
        threads=tuple(
            Thread(part, (f"{part}/fill",), closes=f"{part}/close") for part in ("train", "valid")
        ),
        expectations=(
            *(
                value(
                    "train/batch", seen["train"][2 * run : 2 * run + 2], "Two at a time.", run=run
                )
                for run in runs
            ),
            *(
                value("valid/batch", seen["valid"][run : run + 1], "One at a time.", run=run)
                for run in runs
            ),
            fails(
                "train/batch",
                "OutOfRangeError",
                "is closed and has insufficient elements (requested 2, current size 0)",
                "After one epoch the queue is closed, and empty.",
                run=len(runs),
            ),
        ),
    )


def _filled(d: Drawing, part: str, rows: list[int], count: int) -> None:
    """A queue of the rows, once, and a batch of `count` from it."""
    with d.g.as_default(), d.g.scope(part):
        queue = tf.FIFOQueue(3, tf.int32, shapes=[[]], name="queue")
        given = d.g.constant(np.array(rows, np.int32), name="rows")
        epochs = d.g.variable("epochs", DType.INT64)
        d.initial[epochs.ref.op] = constant(0, "int64")
        d.g.one("CountUpTo", epochs, limit=1, name="epoch")
        (once,) = d.g.op("Identity", given, name="once", control_inputs=[f"{part}/epoch"])
        queue.enqueue_many([once], name="fill")
        queue.close(name="close")
        queue.dequeue_many(d.g.constant(np.int32(count), name="count"), name="batch")


def queue_deadlock() -> Document:
    d = Drawing()
    with d.g.as_default():
        questions = tf.FIFOQueue(3, tf.float32, shapes=[[]], name="questions")
        answers = tf.FIFOQueue(3, tf.float32, shapes=[[]], name="answers")
        question = d.fed("question", 21.0)
        with d.g.control_dependencies(["answer"]):
            questions.enqueue(question, name="ask")
        answers.dequeue(name="answer")
        two = d.g.constant(2.0, name="two")
        twice = d.g.one("Mul", questions.dequeue(name="heard"), two, name="twice")
        answers.enqueue(twice, name="reply")
    return d.document(
        "Queues: a deadlock",
        """
        Two programs wait for each other: one for an answer, the other for a question.

        The main program waits for the answer before it asks: see the control dependency (the
        dashed wire) from `answer` to `ask`. The thread `worker` waits for a question before it
        answers. TensorFlow would hang; here it is said who waits for what.

        1. Press F5: all threads go on in turn, until none can. The panel **Threads** says so.
        2. Choose either thread: the inspector says what it waits for.
        3. Without the dependency `ask` comes first, and the answer is 42.
        """,
        """
        answers answer ask
        question . . .
        questions heard twice reply
        . two
        """,
        targets=("ask",),
        fetches="answer",
        threads=(Thread("worker", ("reply",)),),
        expectations=(
            fails(
                "answer",
                "DeadlineExceededError",
                "deadlock: main waits to dequeue: queue 'answers' has 0 of 1 element; "
                "worker waits to dequeue: queue 'questions' has 0 of 1 element",
                "It is said who waits for what.",
            ),
        ),
    )


EXAMPLES = (queue_train_validation, queue_deadlock)
