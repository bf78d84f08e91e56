"""The queues that threads leave behind when they have run as long as they can."""

from __future__ import annotations

import numpy as np

from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.debug.history.first_variables import first_variables
from gradstep.core.document.document import Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.program.prefill_queues import prefill_queues


def test_threads_run_until_each_waits_or_has_ended() -> None:
    """One puts in five names, and closes their queue; another takes each, and puts in what it made
    of it, until there is none; a third has no room for a fourth element."""
    b = GraphBuilder()
    with b.as_default():
        names, data, full = (
            tf.FIFOQueue(size, tf.float32, shapes=[[]], name=name)
            for name, size in (("names", 2), ("data", 50), ("full", 3))
        )
        b.one("CountUpTo", b.variable("n", "int32", ()), name="count", limit=5)
        with b.control_dependencies(["count"]):
            names.enqueue(1.0, name="put")
        data.enqueue(b.one("Neg", names.dequeue(), name="made"), name="pass_on")
        full.enqueue(2.0, name="fill")
        names.close(name="close_names")
        data.close(name="close_data")
    threads = (
        Thread("made", ("pass_on",), (), "close_data"),
        Thread("named", ("put",), (), "close_names"),
        Thread("filled", ("fill",)),
    )
    program = derive(Document(b.build(), initial={"n": Constant(np.int32(0))}, threads=threads))
    backend = NumpyBackend()
    found = prefill_queues(program, backend, first_variables(program, backend))
    assert {name: (len(queue.items), queue.closed) for name, queue in found.items()} == {
        "names": (0, True),
        "data": (5, True),
        "full": (3, False),
    }
