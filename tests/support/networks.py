"""A small network and a way to run what is derived from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder

Arrays = Mapping[TensorRef, np.ndarray]


def evaluate(graph: Graph, fetches: Sequence[TensorRef], feeds: Arrays) -> list[np.ndarray]:
    return Session(graph).run(fetches, feeds)


def network(nonlinear: str = "Tanh") -> Graph:
    """loss = sum(f(x * w) + b): `mul`, `f`, `add`, `loss`; x, w are [3], b is [1]."""
    build = GraphBuilder()
    x, w, b = (build.placeholder(n, shape=s) for n, s in (("x", [3]), ("w", [3]), ("b", [1])))
    product = build.one("Mul", x, w, name="mul")
    total = build.one("AddV2", build.one(nonlinear, product, name="f"), b, name="add")
    build.one("Sum", total, np.array([0], np.int32), name="loss")
    return build.build()
