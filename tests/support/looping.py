"""Programs with loops, in a debug session, and what is to be seen where it stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Stop
from gradstep.core.engine.backend import Backend
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.random_loops import RandomLoops


def power(builder: GraphBuilder) -> Tensor:
    """2 ** 3, by multiplying three times."""
    x, n = builder.placeholder("x", shape=()), builder.placeholder("n", "int32", ())
    _, y = tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, tf.multiply(y, x, name="times")), [0, 1.0]
    )
    return tf.identity(y, name="y")


def nested(builder: GraphBuilder) -> Tensor:
    """The sum of i * x for i < 3, the product by adding x up i times."""
    x, n = builder.placeholder("x", shape=()), builder.placeholder("n", "int32", ())

    def times(i: Tensor) -> Tensor:
        _, sum = tf.while_loop(
            lambda j, s: j < i, lambda j, s: (j + 1, tf.add(s, x, name="plus")), [0, 0.0], name="in"
        )
        return sum

    _, y = tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y + times(i)), [0, 0.0], name="out"
    )
    return tf.identity(y, name="y")


def branched(builder: GraphBuilder) -> Tensor:
    """A product in every second run; in the others the loop is in the branch not taken. In the
    loop, every second iteration multiplies."""
    x, n = builder.placeholder("x", shape=()), builder.placeholder("n", "int32", ())
    runs = builder.one("AssignAdd", builder.variable("runs", shape=()), 1.0, name="count")

    def product() -> Tensor:
        def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            even = tf.equal(tf.floormod(i, 2), 0)
            return i + 1, tf.cond(even, lambda: tf.multiply(y, x, name="times"), lambda: -y)

        return tf.while_loop(lambda i, y: i < n, body, [0, x], name="while")[1]

    odd = tf.greater(tf.floormod(runs, 2.0), 0.5)
    return tf.identity(tf.cond(odd, lambda: -x, product), name="y")


def session(build: Any = power, n: int = 3, backend: Backend | None = None) -> DebugSession:
    builder = GraphBuilder()
    with builder.as_default():
        fetch = build(builder).ref
    graph = builder.build()
    feeds = {TensorRef("x"): np.float32(2), TensorRef("n"): np.int32(n)}
    initial = {"runs": np.float32(0)} if "runs" in graph else {}
    program = Program(graph, graph, fetches=(fetch,), feeds=feeds, initial=initial)
    return DebugSession(program, backend)


def random_session(seed: int, differentiated: bool = False) -> DebugSession:
    """Random loops; differentiated: with the gradients of the first of their results."""
    builder = GraphBuilder()
    with builder.as_default():
        made = RandomLoops(
            tf, seed, lambda name, kind, shape: builder.placeholder(name, kind, shape)
        )
        fetches = tuple(y.ref for y in made.ys)
    graph = builder.build()
    feeds = {TensorRef(name): np.asarray(value) for name, value in made.feeds.items()}
    if not differentiated:
        return DebugSession(Program(graph, graph, fetches=fetches, feeds=feeds))
    wrt = tuple(x.ref for x in made.xs)
    derived = differentiate(graph, GradientRequest(of=fetches[:1], wrt=wrt))
    there = tuple(derived.gradients[x] for x in wrt if x in derived.gradients)
    return DebugSession(
        Program(
            derived.graph,
            graph,
            fetches=(*fetches, *there),
            feeds=feeds,
            gradients=derived.gradients,
            derived=(derived,),
        )
    )


def places(stop: Stop) -> list[tuple[int, int]]:
    return [(place.iteration, place.step) for place in stop.inside]


def seen(found: DebugSession, *names: str) -> list[float | None]:
    values = (found.frame().value(name) for name in names)
    return [None if value is None else float(value) for value in values]


def position(stop: Stop) -> str:
    """As `run_to` takes it."""
    return f"{stop.run}:{stop.step}" + "".join(f"/{i}:{step}" for i, step in places(stop))
