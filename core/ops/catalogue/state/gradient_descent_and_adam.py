"""The ops that apply a gradient to a variable.

Sources: TensorFlow's kernels, whose Adam puts epsilon outside the bias correction (the form
that Kingma and Ba call epsilon-hat). The order of operations is theirs, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import Writes
from gradstep.core.ops.declare.result_memory import Elementwise
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import merge_shapes, one_floating_type, want_rank
from gradstep.core.ops.declare.ufunc import Calls, from_calls
from gradstep.core.ops.numerics.adam_calls import adam_calls
from gradstep.core.ops.numerics.fused_functions import fused


def _updates(count: int) -> Any:
    """Type rule for `count` ref variables first, one gradient last, and scalars between."""

    def rule(ctx: InferContext) -> TensorType:
        return TensorType(one_floating_type(ctx, ctx.types), _updated_shape(ctx, count), ref=True)

    return rule


def _resource_updates(count: int) -> Any:
    """The same for resource variables, whose handles tell no element type."""

    def rule(ctx: InferContext) -> tuple[TensorType, ...]:
        one_floating_type(ctx, ctx.types[count:])
        _updated_shape(ctx, count)
        return ()

    return rule


def _updated_shape(ctx: InferContext, count: int) -> Shape:
    shape = ctx.types[0].shape
    for kind in (*ctx.types[1:count], ctx.types[-1]):
        shape = merge_shapes(ctx, shape, kind.shape)
    for index in range(count, len(ctx.types) - 1):
        want_rank(ctx, index, 0)
    return shape


def _descend(xp: Any, var: Any, alpha: Any, delta: Any) -> Any:
    return var - delta * alpha


def _descend_calls(xp: Any, var: Any, alpha: Any, delta: Any, *, out: Any, room: Any) -> Calls:
    step = room(delta.shape, delta.dtype)
    yield xp.multiply, delta, alpha, step
    yield xp.subtract, var, step, out


def _descend_samples(rng: np.random.Generator) -> list[Sample]:
    return [Sample((rng.normal(size=3), np.array(0.1), rng.normal(size=3)))]


op(
    "ApplyGradientDescent",
    inputs="&var alpha delta",
    outputs="&out",
    attrs={"use_locking": False},
    type_attrs={"T": "var"},
    formula="var - delta * alpha",
    infer=_updates(1),
    kernel=Kernels(fused(_descend), out=from_calls(_descend_calls), calls=_descend_calls),
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    memory=Elementwise("var"),
    samples=_descend_samples,
    doc="One step of gradient descent.",
)
op(
    "ResourceApplyGradientDescent",
    inputs="var:variable alpha delta",
    outputs="",
    attrs={"use_locking": False},
    type_attrs={"T": "delta"},
    formula="var - delta * alpha",
    infer=_resource_updates(1),
    kernel=Kernels(fused(_descend), out=from_calls(_descend_calls), calls=_descend_calls),
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    memory=Elementwise("var"),
    samples=_descend_samples,
    doc="One step of gradient descent on a resource variable.",
)


def _adam(
    xp: Any,
    var: Any,
    m: Any,
    v: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
    *,
    use_nesterov: bool,
) -> Any:
    alpha = lr * xp.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
    new_m = m + (grad - m) * (1.0 - beta1)
    new_v = v + (xp.square(grad) - v) * (1.0 - beta2)
    step = new_m * beta1 + (1.0 - beta1) * grad if use_nesterov else new_m
    return var - (step * alpha) / (xp.sqrt(new_v) + epsilon), new_m, new_v


def _adam_samples(rng: np.random.Generator) -> list[Sample]:
    def draw() -> tuple[Any, ...]:
        rates = [np.array(x) for x in (0.81, 0.998, 0.01, 0.9, 0.999, 0.1)]
        state = rng.normal(size=3), rng.normal(size=3), rng.uniform(0, 1, 3)
        return (*state, *rates, rng.normal(size=3))

    return [Sample(draw(), {"use_nesterov": nesterov}) for nesterov in (False, True)]


_ADAM_FORMULA = (
    "var - lr * sqrt(1 - beta2_power) / (1 - beta1_power) * "
    "adam_step(m, beta1, grad, use_nesterov) / "
    "(sqrt(v + (grad**2 - v) * (1 - beta2)) + epsilon)"
)

op(
    "ApplyAdam",
    inputs="&var &m &v beta1_power beta2_power lr beta1 beta2 epsilon grad",
    outputs="&out",
    attrs={"use_locking": False, "use_nesterov": False},
    type_attrs={"T": "var"},
    formula=_ADAM_FORMULA,
    infer=_updates(3),
    kernel=Kernels(fused(_adam), calls=adam_calls),
    state=Writes((0, 1, 2)),
    gradient=NOT_DIFFERENTIABLE,
    memory=Elementwise("var m v"),
    samples=_adam_samples,
    doc="One step of Adam on var and its two moments.",
)
op(
    "ResourceApplyAdam",
    inputs="var:variable m:variable v:variable beta1_power beta2_power lr beta1 beta2 epsilon grad",
    outputs="",
    attrs={"use_locking": False, "use_nesterov": False},
    type_attrs={"T": "grad"},
    formula=_ADAM_FORMULA,
    infer=_resource_updates(3),
    kernel=Kernels(fused(_adam), calls=adam_calls),
    state=Writes((0, 1, 2)),
    gradient=NOT_DIFFERENTIABLE,
    memory=Elementwise("var m v"),
    samples=_adam_samples,
    doc="One step of Adam on a resource variable and its two moments.",
)
