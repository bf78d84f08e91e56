"""Sizes, strides and gaps of windows may be any number that a document says: what is too large is
refused in words, and windows that are larger than the image cost what the image does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import Tensor
from gradstep.core.ops.catalogue.neural.sliding_windows import Axis
from gradstep.core.ops.declare.table import OpDef, Sample, all_ops
from tests.support import op_cases
from tests.support.each_case import each_of

_NAMES = {"ksize", "ksizes", "strides", "dilations", "rates", "explicit_paddings"}
SLIDING = [
    pytest.param(d, id=d.type)
    for d in all_ops()
    if d.samples is not None and d.subject == "neural" and _NAMES & d.attrs.keys()
]


def _samples(definition: OpDef, large: int) -> Iterator[Sample]:
    """Two samples, each with one number of one attribute made large."""
    assert definition.samples is not None
    for sample in definition.samples(np.random.default_rng(1))[:2]:
        for name in _NAMES & sample.attrs.keys():
            values = sample.attrs[name]
            for i in range(len(values)):
                changed = (*values[:i], large, *values[i + 1 :])
                yield replace(sample, attrs={**sample.attrs, name: changed})


def _failure(definition: OpDef, sample: Sample) -> str:
    """Of running it forward and backward: the error's kind, empty for none."""
    try:
        _run(definition, sample)
    except GradstepError as error:
        return error.kind
    return ""


def _run(definition: OpDef, sample: Sample) -> None:
    case = op_cases.make(definition, sample, np.float32)
    build, found = case.builder, [*case.outputs]
    if definition.gradient.differentiable:
        grads: list[Any] = gradients([build.get(case.outputs[0])], case.tensors)
        found += [grad.ref for grad in grads if isinstance(grad, Tensor)]
    Session(build.build()).run(found, case.feeds)


@pytest.mark.parametrize("large", [2**31 - 1, 2**31, 2**63 - 1])
@pytest.mark.parametrize("definition", SLIDING)
def test_large_numbers_work_or_are_refused_in_words(definition: OpDef, large: int) -> None:
    for sample in _samples(definition, large):
        assert _failure(definition, sample) != "InternalError", sample.attrs


@each_of("size", [0, 1, 5])
@each_of("stride", [1, 2, 7])
@each_of("window", [1, 3, 12])
@each_of("dilation", [1, 3])
def test_without_idle_taps_outputs_see_the_same(
    size: int, stride: int, window: int, dilation: int
) -> None:
    out, reach = -(-size // stride), (window - 1) * dilation + 1
    before = max((out - 1) * stride + reach - size, 0) // 2
    whole = Axis(size, window, stride, dilation, before, out)
    less = whole.without_idle_taps()
    assert less.window <= max(1, (size - 1) // dilation + 1 + (out - 1) * stride)
    assert _seen(less) == _seen(whole)


def _seen(axis: Axis) -> list[list[int]]:
    """The elements that each output sees, in the order of taps."""
    found: list[list[int]] = [[] for _ in range(axis.out)]
    for tap in range(axis.window):
        outputs, elements = axis.within(tap)
        for out, element in zip(range(axis.out)[outputs], range(axis.size)[elements], strict=True):
            found[out].append(element)
    return found
