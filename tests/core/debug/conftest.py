"""Programs to debug: the tutorial network in training, a gather that fails, a NaN that spreads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.train.optimizers import apply_updates

ADAM = {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 0.1}


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def trained(
    b: GraphBuilder, loss: str, initial: dict[str, np.ndarray], feeds: dict[str, np.ndarray]
) -> Program:
    """The program that trains `initial`'s variables by Adam to make `loss` small."""
    request = GradientRequest.to(loss, *initial)
    derived = differentiate(b.build(), request)
    builder = GraphBuilder(derived.graph)
    pairs = [(name, builder.get(derived.gradients[TensorRef(name)])) for name in initial]
    updates = apply_updates(builder, "Adam", ADAM, pairs)
    return Program(
        graph=builder.build(),
        forward=b.build(),
        request=request,
        gradients=derived.gradients,
        edges=derived.edges,
        fetches=(*request.of, *derived.gradients.values()),
        targets=updates.targets,
        feeds={TensorRef.parse(name): value for name, value in feeds.items()},
        initial={**initial, **updates.initial},
        slots=updates.slots,
    )


@pytest.fixture
def tutorial() -> Program:
    b = GraphBuilder()
    data, labels = (b.placeholder(name, shape=(2,)) for name in ("data", "labels"))
    c, k = (b.variable(name, shape=(2,)) for name in ("c", "k"))
    d, e = b.one("AddV2", data, c, name="d"), b.one("AddV2", c, k, name="e")
    a = b.one("Mul", d, e, name="a")
    b.op("SoftmaxCrossEntropyWithLogits", a, labels, name="loss")
    initial = {"c": floats(0.06, -0.04), "k": floats(0.05, 0.13)}
    return trained(b, "loss", initial, {"data": floats(1, 2), "labels": floats(0, 1)})


@pytest.fixture
def dynamic(tutorial: Program) -> Program:
    """The tutorial network with a Python function in it: shapes after it are known late."""
    graph = tutorial.forward
    b = GraphBuilder()
    kind = (DType.FLOAT32,)
    for op in graph:
        if op.name == "e":
            inputs = [b.get(ref) for ref in op.inputs if ref is not None]
            b.one("PyFunc", *inputs, name="e0", token="add", Tin=kind * 2, Tout=kind)
            b.one("Reshape", b.get("e0"), np.array([2], np.int32), name="e1")
            b.one("AddV2", b.get("e1"), b.get("c"), name="e")
        else:
            b.add(op)
    initial = {name: tutorial.initial[name] for name in ("c", "k")}
    feeds = {str(ref): array for ref, array in tutorial.feeds.items()}
    made = trained(b, "loss", {"c": initial["c"]}, feeds)
    return replace(made, initial={**made.initial, **initial}, functions={"add": lambda x, y: x * y})


@pytest.fixture
def gather() -> Program:
    b = GraphBuilder()
    params = b.placeholder("params", shape=(5,))
    indices = b.placeholder("indices", "int32", (3,))
    before = b.one("Neg", params, name="before")
    b.one("GatherV2", before, indices, b.constant(0, name="axis"), name="b")
    b.one("Neg", b.get("b"), name="after")
    return Program(
        graph=b.build(),
        forward=b.build(),
        fetches=(TensorRef("after"),),
        feeds={
            TensorRef("params"): floats(1, 2, 3, 4, 5),
            TensorRef("indices"): np.array([0, 1, 6], np.int32),
        },
    )


@pytest.fixture
def countdown() -> Program:
    """n = n - 1, then log(n): finite for two runs from n = 3, infinite in the third (run 2), NaN
    from the fourth on."""
    b = GraphBuilder()
    n = b.variable("n", shape=())
    b.one("AssignSub", n, 1.0, name="less")
    with b.scope("net"):
        b.one("Log", b.get("less"), name="log")
    b.one("AddV2", b.get("net/log"), 1.0, name="y")
    return Program(
        graph=b.build(),
        forward=b.build(),
        fetches=(TensorRef("y"),),
        initial={"n": np.float32(3)},
    )


@pytest.fixture
def chain() -> Callable[[int], Program]:
    """A long chain of operations on a counter."""

    def make(length: int) -> Program:
        b = GraphBuilder()
        x = b.one("AssignAdd", b.variable("n", shape=(2,)), [1.0, 2.0], name="count")
        for number in range(length):
            x = b.one("Neg", x, name=f"n{number}")
        return Program(
            graph=b.build(), forward=b.build(), fetches=(x.ref,), initial={"n": floats(0, 0)}
        )

    return make
