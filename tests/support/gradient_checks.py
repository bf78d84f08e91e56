"""The first and second derivatives of every record in the op table, against differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
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
from tests.support.differences import differences
from tests.support.interpret import evaluate
from tests.support.op_cases import KNOWN, Case, make

CLOSE = 2e-6
# Of one sample: the derivative by differences of (a weighted sum of these tensors, or of gradients
# with respect to them; with respect to this). It is the same whatever is known of the shapes.
Numbers = dict[tuple[tuple[TensorRef, ...], TensorRef], np.ndarray]
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
    outputs = evaluate(case.graph, case.outputs, feeds)
    weighted = _weigh(case.builder, case.outputs, outputs, feeds)
    if not weighted:
        return 0
    what = tuple(case.outputs)
    first, found = _against_differences(case.graph, weighted, wrt, feeds, numbers, what)
    if not second or case.definition.type in NO_SECOND_DERIVATIVE:
        return 1
    if case.definition.type in SECOND_ONLY_FOR_FIRST_INPUT:
        wrt = wrt[:1]
    builder = GraphBuilder(first.graph)
    what = tuple(r for r in wrt if r in first.gradients)
    gradients = [first.gradients[ref] for ref in what]
    again = _weigh(builder, gradients, [found[ref] for ref in what], feeds)
    if not again:  # no gradient at all, as the numbers say, too
        return 1
    through = [*weighted.values()]  # so that gradients are asked of all that came of them
    _against_differences(builder.build(), again, wrt, feeds, numbers, what, through)
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


def _are_close(found: np.ndarray, numeric: np.ndarray) -> bool:
    """By the measure of NumPy's assert_allclose; where there is a NaN or an infinity, that says."""
    with np.errstate(invalid="ignore"):
        return bool((np.abs(found - numeric) <= CLOSE + CLOSE * np.abs(numeric)).all())


def _weigh(
    builder: GraphBuilder, refs: Sequence[TensorRef], values: Sequence[Any], feeds: dict[Any, Any]
) -> Weighted:
    """What makes a weighted sum of all elements of `refs`, which have such values: the weight of
    each is the gradient that it starts with, which is fed. Operations for the sum would be two
    thirds of what is differentiated."""
    weighted: Weighted = {}
    number = 0
    for ref, value in zip(refs, values, strict=True):
        x = builder.get(ref)
        if not _has_parts(x):
            continue
        weights = builder.placeholder("weights", x.dtype, x.shape)
        feeds[weights.ref.short] = _weights(np.asarray(value), number)
        weighted[ref] = weights.ref
        number += 2 if x.dtype.is_complex else 1
    return weighted


def _weights(value: np.ndarray, number: int) -> np.ndarray:
    """Others for each element, and for the two parts of a complex one. Of x + iy with the gradient
    a + ib, the sum has ax + by."""
    steps = 0.7 * np.arange(value.size).reshape(value.shape)
    weights = steps + (0.3 + number)
    if value.dtype.kind == "c":
        weights = weights + 1j * (weights + 1)
    return weights.astype(value.dtype)


def _against_differences(
    graph: Graph,
    weighted: Weighted,
    wrt: list[TensorRef],
    feeds: dict[Any, Any],
    numbers: Numbers,
    what: tuple[TensorRef, ...],
    through: Sequence[TensorRef] = (),
) -> Any:
    """through: what is differentiated with respect to, too, and not compared."""
    request = GradientRequest((*weighted,), (*wrt, *through), grad_ys=(*weighted.values(),))
    result = differentiate(graph, request)
    with_gradient = [ref for ref in wrt if ref in result.gradients]
    values = evaluate(result.graph, [result.gradients[ref] for ref in with_gradient], feeds)
    found = dict(zip(with_gradient, values, strict=True))
    for ref in wrt:
        if (what, ref) not in numbers:
            numbers[what, ref] = differences(graph, weighted, ref, feeds)
        numeric = numbers[what, ref]
        if ref not in found:
            np.testing.assert_allclose(numeric, 0, atol=1e-6, err_msg=f"None for {ref}")
            continue
        assert found[ref].shape == numeric.shape
        if not _are_close(found[ref], numeric):  # told much sooner than NumPy does, who says where
            np.testing.assert_allclose(
                found[ref], numeric, rtol=CLOSE, atol=CLOSE, err_msg=str(ref)
            )
    return result, found
