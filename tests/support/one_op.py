"""One op on given inputs, outside of any session: its value, and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.table import lookup
from tests.support.interpret import call_kernel, evaluate


def run(type: str, /, *inputs: Any, **attrs: Any) -> Any:
    """What the op's kernel gives."""
    operation = Operation(type, type, attrs=attrs)
    with np.errstate(all="ignore"):
        return call_kernel(lookup(type), operation, [np.asarray(x) for x in inputs])[0]


def value_and_gradients(type: str, /, *inputs: np.ndarray, **attrs: Any) -> tuple[Any, list[Any]]:
    """The op's value, and the gradient of its sum for each input (None where there is none); of
    complex values, of the real parts plus twice the imaginary ones."""
    builder = GraphBuilder()
    tensors = [builder.placeholder(f"x{i}", str(x.dtype), x.shape) for i, x in enumerate(inputs)]
    y = builder.one(type, *tensors, **attrs)
    feeds: dict[Any, Any] = {f"x{i}": x for i, x in enumerate(inputs)}
    (value,) = evaluate(builder.build(), [y.ref], feeds)
    loss = y
    if y.dtype.is_complex:
        kind = DType.FLOAT64
        loss = builder.one("Real", y, Tout=kind) + builder.one("Imag", y, Tout=kind) * 2.0
    if not loss.dtype.is_floating:
        return value, [None] * len(inputs)
    refs = tuple(t.ref for t in tensors)
    result = differentiate(builder.build(), GradientRequest((loss.ref,), refs))
    found = [result.gradients.get(ref) for ref in refs]
    values = iter(evaluate(result.graph, [ref for ref in found if ref], feeds))
    return value, [None if ref is None else next(values) for ref in found]
