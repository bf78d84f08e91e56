"""Values and derivatives of functions that build a few ops, as the tests of ops compare them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.interpret import evaluate

Build = Callable[..., Tensor]


def derivatives(build: Build, x: Any, order: int, weights: Any = 1.0) -> list[np.ndarray]:
    """The value at `x` and as many derivatives of its (weighted) sum."""
    x = np.asarray(x)
    builder = GraphBuilder()
    with builder.as_default():
        given = builder.placeholder("x", str(x.dtype), x.shape)
        y = build(given)
        wanted, current = [y.ref], y * builder.constant(np.asarray(weights, x.dtype))
    for _ in range(order):
        result = differentiate(builder.build(), GradientRequest((current.ref,), (given.ref,)))
        builder = GraphBuilder(result.graph)
        current = builder.get(result.gradients[given.ref])
        wanted.append(current.ref)
    return evaluate(builder.build(), wanted, {"x": x})


def gradients(build: Build, *values: Any) -> list[np.ndarray | None]:
    """The value of some tensors, and its gradient to each of them."""
    builder, feeds = GraphBuilder(), {}
    with builder.as_default():
        inputs = []
        for index, value in enumerate(np.asarray(v) for v in values):
            feeds[f"x{index}"] = value
            inputs.append(builder.placeholder(f"x{index}", str(value.dtype), value.shape))
        y = build(*inputs)
    request = GradientRequest((y.ref,), tuple(x.ref for x in inputs))
    result = differentiate(builder.build(), request)
    found: list[np.ndarray | None] = evaluate(result.graph, [y.ref], feeds)
    for x in inputs:
        ref = result.gradients.get(x.ref)
        found.append(None if ref is None else evaluate(result.graph, [ref], feeds)[0])
    return found
