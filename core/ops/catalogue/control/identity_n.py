"""Ops that pass their inputs on: several at once, as copies, against differentiation."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.ops.build.builder import OpView, Tensor
from gradstep.core.ops.catalogue.control.identity_ops import copy_calls
from gradstep.core.ops.declare.declared_gradient import Gradient
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_memory import View
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.shape_rules import same_as_first
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import unref


def _each(ctx: InferContext) -> tuple[TensorType, ...]:
    if not ctx.types:
        raise ctx.fail(
            "Attr 'T' of 'IdentityN' Op passed list of length 0 less than minimum 1.",
            hint="connect at least one input",
        )
    return tuple(TensorType(kind.dtype, kind.shape) for kind in ctx.types)


op(
    "IdentityN",
    inputs="input*",
    outputs="output*",
    type_attrs={"T": "types(input)"},
    formula="input[0]",
    infer=_each,
    kernel=lambda xp, *inputs: inputs,
    gradient=lambda op, *grads: list(grads),
    samples=lambda rng: [
        Sample((rng.normal(size=3),)),
        Sample((rng.normal(size=3), rng.normal(size=(2, 2)), np.array(2, np.int32))),
    ],
    arithmetic="exact",
    doc="The same values; where a custom gradient is put on several of them at once.",
)


def _disabled(op: OpView, g: Tensor) -> NoReturn:
    message = str(op.get_attr("message")).encode()
    raise GradstepError(
        f"Gradient explicitly disabled. Reason: {message!r}",
        kind="LookupError",
        node=op.name,
        hint="override its gradient, or stop the gradient before it",
    )


op(
    "PreventGradient",
    inputs="input",
    outputs="&output",
    attrs={"message": ""},
    type_attrs={"T": "input"},
    formula="input",
    infer=same_as_first,
    kernel=Kernels(lambda xp, x: x, calls=copy_calls),
    gradient=Gradient(_disabled, differentiable=False),
    samples=unary(),
    arithmetic="exact",
    memory=View(),
    doc="The same value; a gradient that comes to it is an error.",
)

for _type, _input, _output, _doc in (
    ("Snapshot", "input", "output", "A copy of the value as it is now."),
    ("DeepCopy", "x", "y", "A copy of the value in memory of its own."),
):
    op(
        _type,
        inputs=_input,
        outputs=_output,
        type_attrs={"T": _input},
        formula=_input,
        infer=unref,
        kernel=Kernels(lambda xp, x: xp.array(x), calls=copy_calls),
        samples=unary(),
        arithmetic="exact",
        doc=_doc,
    )
