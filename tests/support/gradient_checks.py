"""The first and second derivatives of every record in the op table, against differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.table import OpDef
from tests.support.derivative_excuses import (
    NO_SECOND_DERIVATIVE,
    ONLY_FIRST_OUTPUT,
    SECOND_ONLY_FOR_FIRST_INPUT,
    WITHOUT_DERIVATIVE,
)
from tests.support.differences import differences
from tests.support.interpret import evaluate
from tests.support.op_cases import KNOWN, Case, make

# Of one sample: the derivative by differences of (a loss of these tensors, or of the gradients with
# respect to them; with respect to this). It is the same whatever is known of the shapes.
Numbers = dict[tuple[tuple[TensorRef, ...], TensorRef], np.ndarray]


def check_gradient(definition: OpDef, levels: Sequence[str] = (KNOWN,)) -> list[int]:
    """First and second derivatives agree with central differences in float64, whichever of
    `levels` is known of the shapes. For each sample that is differentiable, and each level: how
    many orders were compared; what is left out is excused, with a reason, in
    derivative_excuses.py."""
    if not definition.gradient.differentiable:
        return []
    assert definition.samples is not None
    orders = []
    for sample in definition.samples(np.random.default_rng(7)):
        if sample.differentiable:
            numbers: Numbers = {}
            made = [make(definition, sample, np.float64, known) for known in levels]
            orders += [check_gradient_of(case, numbers) for case in made]
    return orders


def check_gradient_of(case: Case, numbers: Numbers) -> int:
    """How many orders of derivatives there were to compare: 0, 1 or 2."""
    wrt = _differentiable(case)
    if case.definition.type in ONLY_FIRST_OUTPUT:
        case.outputs = case.outputs[:1]
    if not wrt:
        return 0
    outputs = evaluate(case.graph, case.outputs, case.feeds)
    feeds = dict(case.feeds)
    loss = _weighted(case.builder, case.outputs, outputs, feeds)
    if loss is None:
        return 0
    what = tuple(case.outputs)
    first, found = _against_differences(case.graph, loss, wrt, feeds, numbers, what)
    if case.definition.type in NO_SECOND_DERIVATIVE:
        return 1
    if case.definition.type in SECOND_ONLY_FOR_FIRST_INPUT:
        wrt = wrt[:1]
    builder = GraphBuilder(first.graph)
    what = tuple(r for r in wrt if r in first.gradients)
    gradients = [first.gradients[ref] for ref in what]
    again = _weighted(builder, gradients, [found[ref] for ref in what], feeds)
    if again is None:  # no gradient at all, as the numbers say, too
        return 1
    _against_differences(builder.build(), again, wrt, feeds, numbers, what)
    return 2


def _differentiable(case: Case) -> list[TensorRef]:
    """The fed inputs that a gradient can be asked for."""
    left_out, _ = WITHOUT_DERIVATIVE.get(case.definition.type, ((), ""))
    return [
        t.ref
        for index, t in enumerate(case.tensors)
        if t.ref.short in case.feeds and index not in left_out and _has_parts(t)
    ]


def _has_parts(x: Tensor) -> bool:
    return x.dtype.is_floating or x.dtype.is_complex


def _parts(x: Tensor) -> list[Tensor]:
    """The real tensors that `x` consists of."""
    if not x.dtype.is_complex:
        return [x]
    kind = DType.FLOAT64 if x.dtype is DType.COMPLEX128 else DType.FLOAT32
    return [x.builder.one(name, x, Tout=kind) for name in ("Real", "Imag")]


def _weighted(
    builder: GraphBuilder, refs: Sequence[TensorRef], values: Sequence[Any], feeds: dict[Any, Any]
) -> TensorRef | None:
    """A scalar that every element of `refs`, which have such values, has its own share in. The
    shares are fed, so that they tell nothing of a shape, and add no operations that only tests
    want: two thirds of what is differentiated would be theirs."""
    total = None
    parts = [
        (part, np.size(value))
        for ref, value in zip(refs, values, strict=True)
        if _has_parts(x := builder.get(ref))
        for part in _parts(x)
    ]
    for number, (part, size) in enumerate(parts):
        shares = builder.placeholder("shares", part.dtype, [None])
        feeds[shares.ref.short] = 0.7 * np.arange(size, dtype=part.dtype.numpy) + (0.3 + number)
        flat = builder.one("Reshape", part, np.array([-1], np.int32))
        share = builder.one("Sum", flat * shares, np.array([0], np.int32))
        total = share if total is None else total + share
    return None if total is None else total.ref


def _against_differences(
    graph: Graph,
    loss: TensorRef,
    wrt: list[TensorRef],
    feeds: dict[Any, Any],
    numbers: Numbers,
    what: tuple[TensorRef, ...],
) -> Any:
    result = differentiate(graph, GradientRequest((loss,), tuple(wrt)))
    with_gradient = [ref for ref in wrt if ref in result.gradients]
    values = evaluate(result.graph, [result.gradients[ref] for ref in with_gradient], feeds)
    found = dict(zip(with_gradient, values, strict=True))
    for ref in wrt:
        if (what, ref) not in numbers:
            numbers[what, ref] = differences(graph, loss, ref, feeds)
        numeric = numbers[what, ref]
        if ref not in found:
            np.testing.assert_allclose(numeric, 0, atol=1e-6, err_msg=f"None for {ref}")
            continue
        assert found[ref].shape == numeric.shape
        np.testing.assert_allclose(found[ref], numeric, rtol=2e-6, atol=2e-6, err_msg=str(ref))
    return result, found
