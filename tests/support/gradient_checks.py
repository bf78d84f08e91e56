"""The first and second derivatives of every record in the op table, against differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.table import OpDef
from tests.support.derivative_excuses import (
    NO_SECOND_DERIVATIVE,
    ONLY_FIRST_OUTPUT,
    SECOND_ONLY_FOR_FIRST_INPUT,
    WITHOUT_DERIVATIVE,
)
from tests.support.differences import Differences
from tests.support.interpret import evaluate
from tests.support.op_cases import KNOWN, Case, make

CLOSE = 2e-6
# Of one sample: the derivatives by differences of a weighted sum of (these tensors, or of gradients
# with respect to them; with respect to these). They are the same whatever is known of the shapes.
Numbers = dict[tuple[tuple[TensorRef, ...], tuple[TensorRef, ...]], Differences]
# Tensors that are differentiated, and the placeholders of the gradients that they start with.
Weighted = dict[TensorRef, TensorRef]


def check_gradient(definition: OpDef, levels: Sequence[str] = (KNOWN,)) -> list[int]:
    """First and second derivatives agree with central differences in float64, whichever of
    `levels` is known of the shapes; where that is not all, second ones of the first sample alone,
    for what they go through has first ones of its own. For each sample that is differentiable, and
    each level with second ones: how many orders were compared; what is left out is excused, with a
    reason, in derivative_excuses.py."""
    if not definition.gradient.differentiable:
        return []
    assert definition.samples is not None
    orders = []
    samples = [s for s in definition.samples(np.random.default_rng(7)) if s.differentiable]
    for sample in samples:
        numbers: Numbers = {}
        for known in levels:
            case = make(definition, sample, np.float64, known)
            if known == KNOWN or sample is samples[0]:
                orders.append(check_gradient_of(case, numbers))
            else:
                check_gradient_of(case, numbers, second=False)
    return orders


def check_gradient_of(case: Case, numbers: Numbers, second: bool = True) -> int:
    """How many orders of derivatives there were to compare: 0, 1 or 2."""
    wrt = _differentiable(case)
    if case.definition.type in ONLY_FIRST_OUTPUT:
        case.outputs = case.outputs[:1]
    if not wrt:
        return 0
    feeds = dict(case.feeds)
    what = tuple(case.outputs), tuple(wrt)
    if what not in numbers:
        numbers[what] = Differences(case.graph, case.outputs, feeds)
    weighted = _weigh(case.builder, case.outputs, numbers[what], feeds)
    if not weighted:
        return 0
    first = _against_differences(case.graph, weighted, wrt, feeds, numbers[what])
    if not second or case.definition.type in NO_SECOND_DERIVATIVE:
        return 1
    if case.definition.type in SECOND_ONLY_FOR_FIRST_INPUT:
        wrt = wrt[:1]
    with_gradient = tuple(ref for ref in wrt if ref in first.gradients)
    gradients = [*dict.fromkeys(first.gradients[ref] for ref in with_gradient)]
    what = with_gradient, tuple(wrt)
    if what not in numbers:
        numbers[what] = Differences(first.graph, gradients, feeds)
    builder = GraphBuilder(first.graph)
    again = _weigh(builder, gradients, numbers[what], feeds)
    if not again:  # no gradient at all, as the numbers say, too
        return 1
    through = [*weighted.values()]  # so that gradients are asked of all that came of them
    _against_differences(builder.build(), again, wrt, feeds, numbers[what], through)
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


def _weigh(
    builder: GraphBuilder, refs: Sequence[TensorRef], numeric: Differences, feeds: dict[Any, Any]
) -> Weighted:
    """What makes a weighted sum of all elements of `refs`, as `numeric` does: the weight of each is
    the gradient that it starts with, which is fed. Operations for the sum would be two thirds of
    what is differentiated."""
    weighted: Weighted = {}
    tensors = [x for x in map(builder.get, refs) if _has_parts(x)]
    for x, values in zip(tensors, numeric.weights, strict=True):
        weights = builder.placeholder("weights", x.dtype, x.shape)
        feeds[weights.ref.short] = values
        weighted[x.ref] = weights.ref
    return weighted


def _against_differences(
    graph: Graph,
    weighted: Weighted,
    wrt: list[TensorRef],
    feeds: dict[Any, Any],
    numeric: Differences,
    through: Sequence[TensorRef] = (),
) -> Differentiation:
    """through: what is differentiated with respect to, too, and not compared."""
    request = GradientRequest((*weighted,), (*wrt, *through), grad_ys=(*weighted.values(),))
    result = differentiate(graph, request)
    with_gradient = [ref for ref in wrt if ref in result.gradients]
    values = evaluate(result.graph, [result.gradients[ref] for ref in with_gradient], feeds)
    found = dict(zip(with_gradient, values, strict=True))
    for ref in wrt:
        gradient = found.get(ref, np.zeros(np.shape(feeds[ref.short])))
        assert gradient.shape == np.shape(feeds[ref.short])
        if not numeric.miss(ref, gradient) <= CLOSE / 2:  # each element alone says where
            np.testing.assert_allclose(
                gradient,
                numeric.gradient(ref),
                rtol=CLOSE,
                atol=CLOSE if ref in found else CLOSE / 2,
                err_msg=str(ref) if ref in found else f"None for {ref}",
            )
    return result
