"""Summing a gradient back to what was broadcast, over which axes and where it adds nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.autodiff.reverse.unbroadcast import sum_to_shape_of
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of
from tests.support.networks import evaluate

FROM_TO = [
    ((2, 3), (2, 3), ()),
    ((2, 3), (3,), (0,)),
    ((2, 3), (1, 3), (0,)),
    ((2, 3), (2, 1), (1,)),
    ((2, 3), (), (0, 1)),
    ((4, 2, 3), (2, 1), (0, 2)),
    ((4, 2, 3), (1, 3), (0, 1)),
    ((4, 2, 3), (1,), (0, 1, 2)),
    ((4, 1, 3), (4, 1, 1), (2,)),
    ((1, 1), (1, 1), ()),
    ((1, 3), (1,), (0, 1)),
]


@each_of("known", [True, False])
@each_of(("have", "want", "axes"), FROM_TO)
def test_the_sum_is_over_what_was_broadcast(
    have: tuple[int, ...], want: tuple[int, ...], axes: tuple[int, ...], known: bool
) -> None:
    build = GraphBuilder()
    grad = build.placeholder("grad", shape=have if known else [None] * len(have))
    x = build.placeholder("x", shape=want)
    with build.as_default():
        found = sum_to_shape_of(grad, x)
    values = np.arange(np.prod(have, dtype=int), dtype=np.float32).reshape(have)
    feeds: dict[TensorRef, Any] = {grad.ref: values, x.ref: np.zeros(want, np.float32)}
    [got] = evaluate(build.build(), [found.ref], feeds)
    np.testing.assert_array_equal(got, values.sum(axis=axes).reshape(want))


@each_of("borrowed", ["AddV2", "Sub"])
@each_of(("x", "y"), [((3,), ()), ((2, 3), (3,)), ((2, 3), (2, 1)), ((2,), (4, 3))])
def test_a_borrowed_gradient_that_cannot_be_one_of_its_input_is_refused(
    x: tuple[int, ...], y: tuple[int, ...], borrowed: str
) -> None:
    """What arrives has a shape that the input cannot have been broadcast to."""
    build = GraphBuilder()
    given = build.placeholder("x", shape=x), build.placeholder("w", shape=x)
    attrs = {"token": "f", "Tout": (DType.FLOAT32,), "shapes": (Shape(y),)}
    build.one("PyFunc", *given, name="y", **attrs)
    overrides = (Override(borrowed, "y", OverrideKind.OP),)
    request = replace(GradientRequest.to("y", "x"), overrides=overrides)
    with pytest.raises(GradstepError, match="Incompatible shapes") as caught:
        differentiate(build.build(), request)
    assert caught.value.kind != "InternalError"


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (1, 1), ()])
def test_where_nothing_was_broadcast_nothing_is_added(shape: tuple[int, ...]) -> None:
    build = GraphBuilder()
    grad, x = build.placeholder("grad", shape=shape), build.placeholder("x", shape=shape)
    with build.as_default():
        assert sum_to_shape_of(grad, x) is grad
    assert build.size == 2


def test_an_axis_of_one_is_not_summed_over() -> None:
    """Of a gradient that is of size 1 there, too: only the other axis is."""
    build = GraphBuilder()
    grad, x = build.placeholder("grad", shape=(1, 3)), build.placeholder("x", shape=(1, 1))
    with build.as_default():
        sum_to_shape_of(grad, x)
    graph = build.build()
    (total,) = (op for op in graph if op.type == "Sum")
    axes = total.inputs[1]
    assert axes is not None
    assert evaluate(graph, [axes], {})[0].tolist() == [1]
