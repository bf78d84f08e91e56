"""Graphs of several shapes, of any size: each has something in it that grows with the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from tests.bench.compiling import network

_WIDTH = 8
_START = np.zeros((1, _WIDTH), np.float32)
_ROWS = 16  # of the table that is looked things up in


def chain(ops: int) -> Document:
    """Each operation on the one before it and one of two constants."""
    build = GraphBuilder()
    h = build.variable("x", shape=(_WIDTH,))
    scale, shift = (build.constant(np.float32(v), name=n) for v, n in ((0.99, "w"), (0.01, "b")))
    for number in range((ops - 4) // 2):
        h = call("AddV2", call("Mul", h, scale, name=f"mul{number}"), shift, name=f"add{number}")
    return _trained(build, h, {"x": np.ones(_WIDTH)})


def tree(ops: int) -> Document:
    """Sums of sums of products of the same two variables."""
    build = GraphBuilder()
    a, b = (build.variable(name, shape=(_WIDTH,)) for name in "ab")
    layer = [call("Mul", a, b, name=f"leaf{i}") for i in range((ops - 3) // 2)]
    while len(layer) > 1:
        layer = [_sum_of(layer[i : i + 2]) for i in range(0, len(layer), 2)]
    return _trained(build, layer[0], {"a": np.full(_WIDTH, 0.1), "b": np.full(_WIDTH, 0.1)})


def lookups(ops: int) -> Document:
    """Rows of one table, each looked up by itself: its gradient is their rows put together."""
    build, axis = GraphBuilder(), np.int32(0)
    table = build.variable("table", shape=(_ROWS, _WIDTH))
    indices = build.constant(np.array([1, 3], np.int32), name="indices")
    zero = build.constant(axis, name="axis")
    rows = [call("GatherV2", table, indices, zero) for _ in range((ops - 4) // 2)]
    h = rows[0]
    for other in rows[1:]:
        h = call("AddV2", h, other)
    return _trained(build, h, {"table": np.full((_ROWS, _WIDTH), 0.1)})


def branches(ops: int) -> Document:
    """One cond after another, all asking the same."""
    build = GraphBuilder()
    h = build.variable("x", shape=(_WIDTH,))
    asked = build.placeholder("asked", "bool", ())
    for _ in range((ops - 3) // 9):
        taken = h
        h = tf.cond(
            asked,
            lambda taken=taken: call("Tanh", taken),
            lambda taken=taken: call("Neg", taken),
        )
    document = _trained(build, h, {"x": np.ones(_WIDTH)})
    return document.with_(feeds={"asked:0": Constant(np.array(True))})


def unrolled(ops: int) -> Document:
    """A recurrent network: its steps take their parts of one tensor, and what each gives is put
    together in one."""
    build, steps = GraphBuilder(), (ops - 6) // 4
    xs = build.placeholder("xs", shape=(steps, 1, _WIDTH))
    w, h = build.variable("w", shape=(_WIDTH, _WIDTH)), build.constant(_START, name="h0")
    found = []
    for x in tf.unstack(xs):
        h = call("Tanh", call("AddV2", call("MatMul", h, w), x))
        found.append(h)
    document = _trained(build, tf.stack(found), {"w": np.eye(_WIDTH)})
    given = np.full((steps, 1, _WIDTH), 0.1, np.float32)
    return document.with_(feeds={"xs:0": Constant(given)})


def updates(ops: int) -> Document:
    """One variable, written again and again, by turns in a branch and outside."""
    build = GraphBuilder()
    count = build.variable("count")
    asked = build.placeholder("asked", "bool", ())
    with build.as_default():
        after = count
        for number in range((ops - 4) // 6):
            with build.control_dependencies([after.ref.op]):
                after = call("AssignAdd", count, 1.0)
                if number % 2:
                    after = tf.cond(
                        asked,
                        lambda: call("AssignAdd", count, 1.0),
                        lambda: call("Identity", count),
                    )
    return Document(
        graph=build.build(),
        fetches=(after.ref,),
        initial={"count": Constant(np.float32(0))},
        feeds={"asked:0": Constant(np.array(True))},
    )


def loops(ops: int) -> Document:
    """One loop after another, each of two iterations."""
    build = GraphBuilder()
    h = build.variable("x", shape=(_WIDTH,))
    with build.as_default():
        for _ in range((ops - 3) // 12):
            _, h = tf.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, call("Tanh", h)), [0, h])
    return _trained(build, h, {"x": np.ones(_WIDTH)})


def training(ops: int) -> Document:
    """Residual blocks, each in a scope with its variables, with all of which a group of
    assignments starts once it is a GraphDef."""
    drawn = network(ops)
    return Document(
        graph=drawn.graph,
        request=replace(drawn.request, wrt=()),
        feeds={f"{name}:0": Constant(value) for name, value in drawn.feeds.items()},
        initial={name: Constant(value) for name, value in drawn.initial.items()},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.01}),),
    )


def _sum_of(terms: list[Tensor]) -> Tensor:
    return terms[0] if len(terms) == 1 else call("AddV2", *terms)


def _trained(build: GraphBuilder, y: Tensor, initial: Mapping[str, np.ndarray]) -> Document:
    """All there is, summed, and its gradients."""
    axes = np.arange(len(y.shape.dims or ()), dtype=np.int32)
    loss = call("Sum", y, axes, name="loss")
    return Document(
        graph=build.build(),
        request=GradientRequest.to(loss.ref.op, *initial),
        initial={name: Constant(value.astype(np.float32)) for name, value in initial.items()},
    )


_ALL = (chain, tree, training, lookups, branches, updates, loops, unrolled)
SHAPES = {one.__name__: one for one in _ALL}
